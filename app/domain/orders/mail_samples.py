"""Mails about orders with made-up contents, for the owner who looks at them before customers do."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.models import Product, ProductImage
from app.domain.delivery.declaration import DeliveryMethod
from app.domain.delivery.deliveries import delivery_of
from app.domain.orders.mail_contents import Letter, OrderMailKind, RefundFacts, order_mail
from app.domain.orders.mails import PicturesOf, at_home
from app.domain.orders.models import CANCELLED, COLLECTED, SUBMITTED, Order, OrderLine
from app.domain.orders.shop_contact import ShopContact
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.sites import activity
from app.domain.sites.sites import currency_of
from app.domain.work.mailing import Mail
from app.extensions import db

NUMBER = 1024
STATES = {OrderMailKind.COLLECTED: COLLECTED, OrderMailKind.CANCELLED: CANCELLED, OrderMailKind.REFUNDED: COLLECTED}
MADE_UP = (("Kettle", 2, 2_450), ("Mug", 1, 900))  # In a shop without products.


def sample_mail(
    clock: Clock, site_id: int, kind: OrderMailKind, to: str, key: str, pictures_of: PicturesOf, shop: ShopContact
) -> Mail:
    """Return a mail of a kind about an order that does not exist, of products of the shop. Its link leads to the page
    that looks orders up."""
    lines = _lines(site_id)
    total = sum(line.quantity * line.unit_price for line in lines)
    delivery = delivery_of(site_id)
    is_paid = kind in (OrderMailKind.COLLECTED, OrderMailKind.REFUNDED) or (
        kind is OrderMailKind.READY and not delivery.collection and delivery.methods[0].is_paid_in_advance
    )
    paid_at = clock.now() - timedelta(hours=1) if is_paid else None
    order = Order(
        number=NUMBER,
        status=STATES.get(kind, SUBMITTED),
        currency=currency_of(site_id),
        total=total,
        paid_at=paid_at,
        paid_amount=total if paid_at else 0,
        lines=lines,
    )
    if not delivery.collection:
        _deliver(order, delivery.methods[0])
    pictures = at_home(shop, pictures_of(site_id, lines))
    refund = RefundFacts(lines[-1].unit_price)
    instructions = delivery.payment_instructions
    letter = Letter(shop, f"{shop.home}orders/find", pictures, refund, payment_instructions=instructions)
    return order_mail(kind, order, letter, to, key)


def _deliver(order: Order, method: DeliveryMethod) -> None:
    """Let a method deliver the order of a shop in which nothing is collected."""
    order.delivery_method, order.delivery_days = method.name, method.days
    order.delivery_payment, order.delivery_price = method.payment.value, method.least_price
    order.total += order.delivery_price


def note_test(author: Author, kind: OrderMailKind) -> None:
    """Record that a test was sent. Call it in a transaction."""
    summary = f"Sent themselves a test of the email “{kind.value}”"
    activity.record(author, "settings.order_mails", ("settings", "order-mails"), summary)


def _lines(site_id: int) -> list[OrderLine]:
    """Return two lines: of products with photographs, as far as there are any."""
    products = _products(site_id)
    if not products:
        return [OrderLine(sku=name, name=name, options={}, quantity=n, unit_price=price) for name, n, price in MADE_UP]
    quantities = [quantity for _, quantity, _ in MADE_UP]
    return [_line(product, quantity) for product, quantity in zip(products, quantities, strict=False)]


def _products(site_id: int) -> list[Product]:
    """Return a product for each line, as far as there are any, those with photographs first. Each is the first along an
    index: a query that sorts by photographs would read the whole catalogue."""
    sold = Product.site_id == site_id, Product.enabled, Product.price > 0
    is_sold = select(Product.id).where(Product.id == ProductImage.product_id, *sold).exists()
    pictured = select(ProductImage.product_id).where(ProductImage.site_id == site_id, is_sold).order_by(ProductImage.id)
    others_sold = select(Product.id).where(*sold).order_by(Product.price, Product.id)
    found: list[Product] = []
    for column, query in ((ProductImage.product_id, pictured), (Product.id, others_sold)):
        while len(found) < len(MADE_UP):
            first = query.where(column.not_in([product.id for product in found])).limit(1).scalar_subquery()
            loaded = select(Product).where(Product.id == first).options(selectinload(Product.variants))
            product = db.session.scalar(loaded)
            if product is None:
                break
            found.append(product)
    return found


def _line(product: Product, quantity: int) -> OrderLine:
    variant = next(iter(product.variants), None)
    options = dict(variant.options) if variant else {}
    sku = variant.sku if variant else product.sku
    price = variant.price if variant and variant.price else product.price
    return OrderLine(
        product_id=product.id, sku=sku, name=product.name, options=options, quantity=quantity, unit_price=price
    )

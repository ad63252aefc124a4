"""Stock changes by orders. They raise the product's revision, so that an editor that was opened before cannot write the
old stock back, and the activity log names the order."""

from __future__ import annotations

from app.domain.catalogue.models import Product, Variant
from app.domain.catalogue.product_rules import LARGEST_STOCK
from app.domain.orders.models import OrderLine
from app.domain.orders.offers import Offer
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.sites import audit


def take(clock: Clock, line: OrderLine, offer: Offer, number: int) -> int:
    """Take a line from stock, and return how many of it are missing; nothing is taken where stock is not counted. The
    product must be locked."""
    if offer.stock is None:
        return 0
    line.stock_taken = min(line.quantity, offer.stock)
    if line.stock_taken:
        _count(clock, offer.product, offer.variant, -line.stock_taken, number, f"took {line.stock_taken} of")
    return line.quantity - line.stock_taken


def give_back(clock: Clock, line: OrderLine, offer: Offer, number: int) -> None:
    """Return to stock what a line had taken, unless stock is not counted any more. The product must be locked."""
    taken, line.stock_taken = line.stock_taken, 0
    if taken and offer.stock is not None:
        _count(clock, offer.product, offer.variant, taken, number, f"was cancelled and gave back {taken} of")


def _count(clock: Clock, product: Product, variant: Variant | None, by: int, number: int, summary: str) -> None:
    holder = variant or product
    before = holder.stock or 0
    holder.stock = min(before + by, LARGEST_STOCK)
    product.revision += 1
    what = f"stock of {variant.sku}" if variant else "stock"
    audit.record(
        Author(product.site_id, f"Order {number}", clock),
        "product.stock",
        ("product", str(product.id)),
        f"Order {number} {summary} {product.name}",
        before={what: before},
        after={what: holder.stock},
    )

"""What sells: the units of each product sold in the last 90 days, the best-selling products, products that customers
buy in one order, the sales of days, and the stock that sales will have used up soon."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import BigInteger, ColumnElement, Integer, case, cast, column, distinct, func, or_, select, values

from app.domain.catalogue.models import Product, Variant
from app.domain.orders.models import COLLECTED, SUBMITTED, Order, OrderLine, ProductSales
from app.domain.shared.clock import Clock, ends_at, starts_at
from app.domain.shared.paging import batched
from app.domain.shared.records import UtcDateTime
from app.domain.sites.models import Site
from app.extensions import db

LATELY = timedelta(days=90)
LATEST_ORDERS_OF_SITE = 1_000  # However many there are, reading these takes a few milliseconds.
LATEST_ORDERS = 200  # Of a product: older ones say less, and a product that sells well would have tens of thousands.
RATE = timedelta(days=30)  # Sales per day are those of this time.
DAY = 86_400  # Seconds.
# Lines of more orders are not summed up for a page: a database would read the lines of all orders ever for them.
LATEST_ORDERS_OF_SPAN = 2_000
FEWEST_ORDERS = 2  # One customer's basket says nothing of others.


def count_sales(clock: Clock, site_id: int) -> int:
    """Store the units sold in the last 90 days where they have changed, and return the number of products with a
    change, which are indexed again. One that is just being deleted is left out. Call it in a transaction."""
    # Another count of the site waits until the commit, and nothing else does.
    db.session.execute(select(Site.id).where(Site.id == site_id).with_for_update(key_share=True))
    sold = _count_units(clock, site_id)
    rows = db.session.scalars(select(ProductSales).where(ProductSales.site_id == site_id))
    stored = {row.product_id: row for row in rows}
    changed = [id for id in sold.keys() | stored.keys() if id not in stored or stored[id].units != sold.get(id)]
    locked = _lock_products(changed)
    for product_id in locked:
        row, units = stored.get(product_id), sold.get(product_id)
        if row is None and units is not None:
            db.session.add(ProductSales(product_id=product_id, site_id=site_id, units=units))
        elif row is not None and units is not None:
            row.units = units
        elif row is not None:
            db.session.delete(row)
    return len(locked)


def _lock_products(product_ids: Collection[int]) -> list[int]:
    """Return the ids of those products that still exist, locked against deletion until the commit. One that another
    transaction is just deleting or changing is skipped: the next count has it."""
    there = select(Product.id).with_for_update(read=True, key_share=True, skip_locked=True)
    return [
        id
        for some in batched(sorted(product_ids))
        for id in db.session.scalars(there.where(Product.id.in_(some)).order_by(Product.id))
    ]


def units_sold(site_id: int, product_ids: Collection[int]) -> dict[int, int]:
    """Return the units of the products sold in the last 90 days, as they were counted last, by product; those without
    sales are left out."""
    units = select(ProductSales.product_id, ProductSales.units).where(ProductSales.site_id == site_id)
    return {
        id: sold
        for some in batched(sorted(product_ids))
        for id, sold in db.session.execute(units.where(ProductSales.product_id.in_(some)))
    }


def products_with_sales(site_id: int) -> int:
    """Return the number of products with sales."""
    counted = select(func.count()).select_from(ProductSales).where(ProductSales.site_id == site_id)
    return db.session.scalar(counted) or 0


def _count_units(clock: Clock, site_id: int) -> dict[int, int]:
    query = (
        select(OrderLine.product_id, func.sum(OrderLine.quantity))
        .join(Order, Order.id == OrderLine.order_id)
        .join(Product, Product.id == OrderLine.product_id)
        .where(Order.site_id == site_id, Order.status.in_((SUBMITTED, COLLECTED)))
        .where(Order.submitted_at > clock.now() - LATELY)
        .group_by(OrderLine.product_id)
    )
    return {product_id: int(units) for product_id, units in db.session.execute(query) if product_id is not None}


def selling_products(site_id: int, now: datetime, most: int) -> list[str]:
    """Return the SKUs of the enabled products that are in the most of the latest orders, `most` at most; a large order
    counts no more than a small one. One query."""
    latest = (
        select(Order.id)
        .where(Order.site_id == site_id, Order.status.in_((SUBMITTED, COLLECTED)), Order.submitted_at > now - LATELY)
        .order_by(Order.submitted_at.desc())
        .limit(LATEST_ORDERS_OF_SITE)
    )
    orders = func.count(distinct(OrderLine.order_id))
    query = (
        select(Product.sku)
        .join(OrderLine, OrderLine.product_id == Product.id)
        .where(Product.site_id == site_id, Product.enabled, OrderLine.order_id.in_(latest))
        .group_by(Product.id, Product.sku)
        .order_by(orders.desc(), Product.id)
        .limit(most)
    )
    return list(db.session.scalars(query))


def bought_together(site_id: int, product_id: int, most: int) -> list[str]:
    """Return the SKUs of the enabled products in the latest orders of a product, the commonest first, `most` at most:
    in two queries, and in one where there are none."""
    if not (ids := _commonest_companions(site_id, product_id, most)):
        return []
    sold = select(Product.id, Product.sku).where(Product.site_id == site_id, Product.id.in_(ids), Product.enabled)
    skus = {row.id: row.sku for row in db.session.execute(sold)}
    return [skus[id] for id in ids if id in skus]


def _commonest_companions(site_id: int, product_id: int, most: int) -> list[int]:
    """Return the ids of the products in the latest orders of a product, the commonest first. Only orders are read, not
    the catalogue, which is far larger."""
    latest = (
        select(OrderLine.order_id)
        .join(Order, Order.id == OrderLine.order_id)
        .where(OrderLine.site_id == site_id, OrderLine.product_id == product_id)
        .where(Order.status.in_((SUBMITTED, COLLECTED)))
        .order_by(OrderLine.id.desc())
        .limit(LATEST_ORDERS)
    )
    orders = func.count(distinct(OrderLine.order_id))
    query = (
        select(OrderLine.product_id)
        .where(OrderLine.site_id == site_id, OrderLine.order_id.in_(latest))
        .where(OrderLine.product_id.is_not(None), OrderLine.product_id != product_id)
        .group_by(OrderLine.product_id)
        .having(orders >= FEWEST_ORDERS)
        .order_by(orders.desc(), OrderLine.product_id)
        .limit(most)
    )
    return [id for id in db.session.scalars(query) if id is not None]


def customers_of(site_id: int, product_id: int, first: date, last: date) -> int:
    """Return how many different customers ordered a product from one day of UTC to another; an order without a contact
    is of a customer of its own."""
    customer = func.coalesce(func.nullif(Order.contact_email, ""), func.nullif(Order.contact_phone, ""), Order.id)
    begin = datetime(first.year, first.month, first.day, tzinfo=UTC)
    ordered = select(func.count(customer.distinct())).join(OrderLine, OrderLine.order_id == Order.id)
    of_product = (Order.site_id == site_id) & (OrderLine.product_id == product_id)
    in_days = Order.submitted_at.between(begin, begin + (last - first) + timedelta(days=1))
    return db.session.scalar(ordered.where(of_product, in_days)) or 0


@dataclass(frozen=True, slots=True)
class Sales:
    """Orders and the sum of their totals, in minor units."""

    orders: int = 0
    revenue: int = 0


def sales_by_day(site_id: int, currency: str, dates: Sequence[date], zone: ZoneInfo) -> Mapping[date, Sales]:
    """Return the sales of days of a time zone by when the orders were placed, in one statement that reads a range of an
    index for each day; days without an order are missing. Cancelled orders, and those in another currency than the
    shop has now, do not count."""
    spans = [(place, starts_at(day, zone), ends_at(day, zone)) for place, day in enumerate(dates)]
    columns = column("place", Integer), column("begins", UtcDateTime), column("ends", UtcDateTime)
    days = values(*columns, name="days").data(spans).cte("days")
    query = (
        select(days.c.place, func.count(), func.sum(Order.total))
        .join(Order, (Order.submitted_at >= days.c.begins) & (Order.submitted_at < days.c.ends))
        .where(*_is_sale(site_id, currency))
        .group_by(days.c.place)
    )
    return {dates[place]: Sales(number, int(revenue)) for place, number, revenue in db.session.execute(query)}


def sales_between(site_id: int, currency: str, begin: datetime, end: datetime) -> Sales:
    """Return the sales of a span of time, as `sales_by_day` counts them."""
    query = select(func.count(), func.coalesce(func.sum(Order.total), 0)).where(
        *_is_sale(site_id, currency), Order.submitted_at >= begin, Order.submitted_at < end
    )
    number, revenue = db.session.execute(query).one()
    return Sales(number, int(revenue))


def _is_sale(site_id: int, currency: str) -> tuple[ColumnElement[bool], ...]:
    return (Order.site_id == site_id, Order.status.in_((SUBMITTED, COLLECTED)), Order.currency == currency)


def latest_since(site_id: int, begin: datetime, end: datetime) -> datetime:
    """Return the time since which there are LATEST_ORDERS_OF_SPAN orders up to the end of a span of time; its beginning
    where it has no more."""
    placed = (
        select(Order.submitted_at)
        .where(Order.site_id == site_id, Order.status.in_((SUBMITTED, COLLECTED)))
        .where(Order.submitted_at >= begin, Order.submitted_at < end)
        .order_by(Order.submitted_at.desc())
    )
    return db.session.scalar(placed.offset(LATEST_ORDERS_OF_SPAN - 1).limit(1)) or begin


@dataclass(frozen=True, slots=True)
class SoldProduct:
    """The units of a product that were sold, and their revenue at the prices of the orders' lines, in minor units."""

    product_id: int
    units: int
    revenue: int


def top_products(
    site_id: int, currency: str, begin: datetime, end: datetime, most: int, *, by_revenue: bool
) -> list[SoldProduct]:
    """Return the products that sold best in a span of time, by revenue or by units, `most` at most; what is not in the
    catalogue any more is left out."""
    units = func.sum(OrderLine.quantity)
    revenue = func.sum(cast(OrderLine.unit_price, BigInteger) * OrderLine.quantity)
    query = (
        select(OrderLine.product_id, units, revenue)
        .join(Order, Order.id == OrderLine.order_id)
        .where(*_is_sale(site_id, currency), Order.submitted_at >= begin, Order.submitted_at < end)
        .where(OrderLine.product_id.is_not(None))
        .group_by(OrderLine.product_id)
        .order_by((revenue if by_revenue else units).desc(), OrderLine.product_id)
        .limit(most)
    )
    return [SoldProduct(id, int(sold), int(total)) for id, sold, total in db.session.execute(query) if id is not None]


@dataclass(frozen=True, slots=True)
class RunningOut:
    """A product, or one of its variants, whose stock lasts a few days more. `per_day` are the units sold a day."""

    product_id: int
    options: Mapping[str, str]
    stock: int
    per_day: float

    @property
    def days_left(self) -> int:
        """The whole days that the stock lasts if it sells on as it did."""
        return int(self.stock / self.per_day)


def running_out(site_id: int, now: datetime, days: int, most: int) -> list[RunningOut]:
    """Return the products and variants that shoppers see and whose stock is used up within so many days if they sell as
    in RATE, or since LATEST_ORDERS_OF_SPAN orders, the first to run out first, `most` at most. What is sold out already
    is left out."""
    begin = latest_since(site_id, now - RATE, now)
    seconds = max(DAY, int((now - begin).total_seconds()))
    sold = (
        select(OrderLine.product_id, OrderLine.variant_id, func.sum(OrderLine.quantity).label("units"))
        .join(Order, Order.id == OrderLine.order_id)
        .where(Order.site_id == site_id, Order.status.in_((SUBMITTED, COLLECTED)), Order.submitted_at >= begin)
        .where(OrderLine.product_id.is_not(None))
        .group_by(OrderLine.product_id, OrderLine.variant_id)
        .subquery()
    )
    stock = cast(case((sold.c.variant_id.is_(None), Product.stock), else_=Variant.stock), BigInteger)
    query = (
        select(Product.id, Variant.options, stock, sold.c.units)
        .join(Product, Product.id == sold.c.product_id)
        .outerjoin(Variant, Variant.id == sold.c.variant_id)
        .where(Product.site_id == site_id, Product.enabled, stock > 0)
        .where(stock * seconds < sold.c.units * (days + 1) * DAY)
        # What was sold before the product had variants says nothing about any of them.
        .where(or_(sold.c.variant_id.is_not(None), ~Product.variants.any()))
        .order_by(stock * 1.0 / sold.c.units, Product.id, sold.c.variant_id)
        .limit(most)
    )
    rows = db.session.execute(query)
    return [RunningOut(id, options or {}, int(left), int(units) * DAY / seconds) for id, options, left, units in rows]

"""The plans of the admin's pages, lists and bulk tasks on PostgreSQL: which of them read a large table from end to end,
and how long their slowest statement takes beside reading every product once."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from itertools import islice

from flask import Flask
from sqlalchemy import delete, insert, select, text

from app import ports
from app.domain.bundles.product_tables import export_table
from app.domain.catalogue.listing import ProductList
from app.domain.catalogue.models import Product
from app.domain.merchandising.membership import product_groups
from app.domain.merchandising.models import Node, Tree
from app.domain.orders import sales
from app.domain.orders.models import Order, OrderLine
from app.domain.search.engine import IndexName
from app.domain.search.index import outbox
from app.domain.search.index.documents import product_documents
from app.domain.search.models import OutboxEntry
from app.domain.seo.sitemap.generator import stored_candidates
from app.domain.shared.author import Author
from app.domain.shared.paging import batched
from app.domain.sites.models import AuditEntry
from app.domain.taxonomy.models import Kind, Taxonomy, TaxonomyTask
from app.domain.taxonomy.tasks import assignments, queue, runner, unfinished
from app.extensions import db
from app.operations.loading import loading_for_good
from app.operations.work_context import work_context
from app.transaction import transaction
from bench.measuring import Yardstick, at_most, heading, seconds
from bench.scale import plans
from bench.scale.analytics import EMAIL, count_searches
from bench.scale.plans import Piece, Scan, Statement
from bench.scale.stock import HOST
from tests.page_client import PageClient

ORDERS, ENTRIES, CHANGES, ROWS = 30_000, 50_000, 1_000, 5_000
SLOWEST = 1.0  # Of reading every product once.
LAST_ID = 2**31 - 1
NOTHING = Yardstick("the goal", 0, "")
UNLIMITED = ("csv", "download", "shop.zip")
PRODUCTS = "/admin/catalogue/products"
LISTS = (
    *(f"{PRODUCTS}?q={words}" for words in ("cable", "canon+ink", "IC-78685544", "zzzzqqq", "cable&sort=price")),
    *(f"{PRODUCTS}?shown={shown}" for shown in ("enabled", "disabled")),
    *(f"{PRODUCTS}?stock={stock}" for stock in ("in", "out", "uncounted")),
    *(f"{PRODUCTS}?completeness={how}" for how in ("complete", "incomplete", "unclassified", "gone")),
    *(f"{PRODUCTS}?sort={order}" for order in ("name", "sku", "price", "-price", "stock")),
    *(f"{PRODUCTS}?p={page}" for page in (2, 500)),
    f"{PRODUCTS}?manufacturer=HP",
    f"{PRODUCTS}?level=computers",
    f"{PRODUCTS}?missing=product-colour",
    f"{PRODUCTS}?attribute=product-colour",
    f"{PRODUCTS}?attribute=product-colour&value=Black",
    f"{PRODUCTS}/lookup?q=cable",
    f"{PRODUCTS}/manufacturers?q=zz",
    f"{PRODUCTS}/classify?level=printing",
    "/admin/find?q=cable",
    "/admin/orders?q=customer+7",
    "/admin/orders?p=50",
    *(f"/admin/?days={days}" for days in (1, 90)),
    "/admin/activity?p=50",
    "/admin/search/terms?q=cable",
    "/admin/search/terms/rest/products?q=cable",
    "/admin/search/analytics/top?days=90&p=5",
    "/admin/catalogue/taxonomy/worklist?level=printing",
    "/admin/catalogue/taxonomy/worklist?order=changed",
    "/admin/catalogue/taxonomy/worklist?p=50",
)


def examine_pages(app: Flask) -> None:
    """Print what each page and each bulk task asks of the database of the application, which has a large shop."""
    with app.app_context():
        site_id = _fill_books()
        _gather_statistics()
        paths = [*_plain_paths(app), *LISTS, *_paths_of_records(site_id)]
        yardstick = Yardstick("reading every product", 1000 * seconds(_read_all), "ms")
    with loading_for_good():
        client = PageClient(app, HOST).signed_in(EMAIL)
    heading(f"Pages of the admin, {len(paths)} of them; reading every product takes {yardstick.value:,.0f} ms")
    examined = [_examine(app, path, partial(_get, client, path)) for path in paths]
    _judge("a page", examined, SLOWEST * yardstick)
    heading("Bulk tasks, a few batches of each")
    with app.app_context():
        tasks = [_examine(app, name, work) for name, work in _bulk_tasks(site_id)]
    _judge("a batch", tasks, SLOWEST * yardstick)


Examined = tuple[Piece, list[tuple[Statement, Scan]]]


def _examine(app: Flask, name: str, work: Callable[[], object]) -> Examined:
    with app.app_context():
        work()  # For the first time much is read that a process keeps.
    with app.app_context():
        piece, scans = plans.examine(name, work)
    slowest = f"slowest {piece.slowest_time:>7.1f} ms"
    print(f"     {piece.executed:>4} statements, {slowest}  {name[:110]}", flush=True)
    for scan in sorted({str(scan) for _, scan in scans}):
        print(f"          {scan}", flush=True)
    if os.environ.get("BENCH_STATEMENTS"):
        for statement, scan in scans:
            print(f"          {scan}: {statement.sql}", flush=True)
    return piece, scans


def _judge(what: str, examined: list[Examined], limit: Yardstick) -> None:
    sequential = [name.name for name, scans in examined if any(scan.is_sequential for _, scan in scans)]
    at_most(f"{what} that reads a large table from end to end", len(sequential), NOTHING)
    for name in sequential:
        print(f"          {name}")
    worst = max(examined, key=lambda pair: pair[0].slowest_time)[0]
    at_most(f"the slowest statement of {what}, {worst.name[-40:]}", worst.slowest_time, limit)


def _get(client: PageClient, path: str) -> None:
    answer = client.client.get(path, base_url=client.base)
    if answer.status_code != 200:
        print(f"          {path} answers {answer.status_code}")
    assert answer.data is not None


def _read_all() -> None:
    db.session.scalar(text("select max(length(description)) from products"))
    db.session.rollback()


def _plain_paths(app: Flask) -> list[str]:
    rules = [rule.rule for rule in app.url_map.iter_rules() if "GET" in (rule.methods or ()) and not rule.arguments]
    left_out = ("/admin/login", *UNLIMITED)
    return sorted(path for path in rules if path.startswith("/admin/") and not path.endswith(left_out))


def _paths_of_records(site_id: int) -> Iterator[str]:
    """Pages of single records that count or list products."""
    product_id = db.session.scalar(select(Product.id).where(Product.site_id == site_id).limit(1))
    yield f"{PRODUCTS.removesuffix('s')}/{product_id}"
    yield f"/admin/search/terms/{product_id}"
    for taxonomy_id in db.session.scalars(select(Taxonomy.id).where(Taxonomy.site_id == site_id).limit(1)):
        base = f"/admin/catalogue/taxonomy/{taxonomy_id}"
        yield base
        yield from (f"{base}/{page}" for page in ("activation-impact", "review", "revisions", "data", "restore"))
        yield f"{base}/level?level=printing-printers"
        yield f"{base}/removal?level=printing-printers"
    for tree_id in db.session.scalars(select(Tree.id).where(Tree.site_id == site_id).limit(1)):
        base = f"/admin/merchandising/{tree_id}"
        yield base
        yield from (f"{base}/{page}" for page in ("filters", "landing", "removal"))
    for node_id in db.session.scalars(select(Node.id).where(Node.site_id == site_id).order_by(Node.id).limit(2)):
        base = f"/admin/merchandising/category/{node_id}"
        yield base
        yield from (f"{base}/{page}" for page in ("landing", "landing/pages", "move", "removal"))
    yield f"/admin/orders/{db.session.scalar(select(Order.id).where(Order.site_id == site_id).limit(1))}"


def _bulk_tasks(site_id: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Each does a batch; what it changes is taken back, except by the tasks of the taxonomy."""
    yield "a level given to the products of a manufacturer", partial(_task_batch, site_id, _assign_level)
    _end_tasks(site_id)
    recompute = partial(queue.request, kind=Kind.RECOMPUTE, parameters={})
    yield "completeness computed anew", partial(_task_batch, site_id, recompute)
    _end_tasks(site_id)
    yield "changes applied to the index", partial(_apply_changes, site_id)
    yield "documents for the index", lambda: list(islice(product_documents(site_id), 3_000))
    yield "products for the sitemap", lambda: list(islice(stored_candidates(Product, site_id), 2))
    yield "sales counted", partial(_taken_back, partial(sales.count_sales, ports.clock(), site_id))
    yield "groups of products that categories take alike", partial(product_groups, site_id)
    yield "products exported as a table", lambda: list(islice(export_table(site_id), 1_000))


def _task_batch(site_id: int, request: Callable[[Author], TaxonomyTask]) -> None:
    """Do a batch of the task of the site that is under way, or of one that is requested now."""
    if not unfinished(site_id):
        with transaction():
            request(Author(site_id, "bench", ports.clock()))
    runner.work_off(work_context(), site_id, for_at_most=timedelta(0))


def _end_tasks(site_id: int) -> None:
    with transaction():
        for task in unfinished(site_id):
            db.session.delete(task)


def _assign_level(author: Author) -> TaxonomyTask:
    of_site = Product.site_id == author.site_id, Product.taxonomy_level_id.is_not(None)
    level_id = db.session.scalars(select(Product.taxonomy_level_id).where(*of_site).limit(1)).one()
    chosen = assignments.chosen_products(author.site_id, (), ProductList(manufacturer="HP"))
    return assignments.assign_level(author, chosen, str(level_id))


def _apply_changes(site_id: int) -> None:
    outbox.set_aside(site_id)
    batch = outbox.oldest_entries(site_id, IndexName.PRODUCTS, LAST_ID)
    outbox.settle(site_id, [entry.id for entry in batch])
    db.session.rollback()


def _taken_back(work: Callable[[], object]) -> None:
    work()
    db.session.rollback()


def _fill_books() -> int:
    """Make a user of every role, orders, entries of the activity log and counted searches, once; return the site."""
    site_id = count_searches()
    _leave_few_changes(site_id)
    if db.session.scalar(select(Order.id).where(Order.site_id == site_id).limit(1)):
        return site_id
    for numbers in batched(range(ORDERS), ROWS):
        with transaction():
            db.session.execute(insert(Order), [_order(site_id, number) for number in numbers])
            db.session.execute(insert(OrderLine), [_line(site_id, number) for number in numbers])
    for numbers in batched(range(ENTRIES), ROWS):
        with transaction():
            db.session.execute(insert(AuditEntry), [_entry(site_id, number) for number in numbers])
    return site_id


def _leave_few_changes(site_id: int) -> None:
    """Most changes are in the index, as after the rebuild that follows a large import."""
    kept = select(OutboxEntry.id).where(OutboxEntry.site_id == site_id).order_by(OutboxEntry.id.desc()).limit(CHANGES)
    with transaction():
        db.session.execute(delete(OutboxEntry).where(OutboxEntry.id.not_in(kept)))


def _order(site_id: int, number: int) -> dict[str, object]:
    at = ports.clock().now() - timedelta(minutes=10 * number)
    times = {"created_at": at, "updated_at": at, "submitted_at": at}
    status = "COLLECTED" if number > 200 else "SUBMITTED"
    names = {"contact_name": f"Customer {number}", "contact_email": f"customer{number}@home.test"}
    return {"id": f"o-{number}", "site_id": site_id, "number": number + 1, "status": status, **names, **times} | {
        "currency": "gbp",
        "total": 2_500,
    }


def _line(site_id: int, number: int) -> dict[str, object]:
    named = {"sku": f"S-{number}", "name": "A product", "quantity": 1, "unit_price": 2_500}
    return {"order_id": f"o-{number}", "site_id": site_id, "position": 0, **named}


def _entry(site_id: int, number: int) -> dict[str, object]:
    chance = random.Random(number)
    return {
        "site_id": site_id,
        "at": ports.clock().now() - timedelta(minutes=number),
        "actor": f"User {chance.randrange(20)}",
        "action": chance.choice(("product.change", "rule.change", "synonym.add")),
        "subject_type": "product",
        "subject_id": str(chance.randrange(10_000)),
        "summary": "Changed a product",
    }


def _gather_statistics() -> None:
    """What autovacuum does within a minute or two of so many changes."""
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("vacuum analyze"))

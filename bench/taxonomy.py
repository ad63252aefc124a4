"""The taxonomy at its limit: 2,000 levels with 6,000 attributes and 100,000 classified products.

Requests go through the whole application, without a network and a browser. BENCH_DATABASE_URL names an empty database
to measure on instead of SQLite.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, insert, select, update
from werkzeug.test import TestResponse

from app.domain.catalogue.models import INDEXED_SEPARATELY, Product, ProductAttributeValue
from app.domain.sites.accounts import Role
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.queries import level_counts
from app.domain.taxonomy.stored_tree import stored_records
from app.extensions import db
from app.operations.loading import loading_for_good
from app.transaction import transaction
from bench.measuring import (
    Yardstick,
    at_most,
    heading,
    median,
    milliseconds,
    percentile,
    run,
    seconds,
    sized,
    workspace,
)
from bench.shop import empty_shop, settings
from bench.yardsticks import bare_edit, json_round_trip, plain_statement
from tests.factories import WHEN, make_site, make_taxonomy, make_user
from tests.page_client import PageClient

PRODUCTS = sized(100_000)
LEVELS = 2_000
BATCH = 5_000
BASE = "/admin/catalogue/taxonomy"
KINDS = f"{BASE}/kinds"
# Of a bare page and commit, of the tree's JSON written and read, and of every product changed plainly.
EDIT, PAGE, FIELDS = 30, 80, 8
SAVE, IMPACT, COUNTS = 14, 8, 2
ACTIVATION = 15
JSON = "application/json"
VALUES = [f"Value {number}" for number in range(12)]


def main() -> None:
    heading(f"Taxonomy: {LEVELS:,} levels, {3 * LEVELS:,} attributes, {PRODUCTS:,} classified products")
    with workspace() as directory:
        app = _app(directory)
        with app.app_context():
            site_id = _shop()
            leaves = _leaf_ids(_stored(site_id))
        with loading_for_good():
            client = PageClient(app).signed_in_by_form("admin@bench.test").client  # Whoever edits has seen these pages.
        with app.app_context():
            bare, tree = bare_edit(), json_round_trip(_stored(site_id))
            plain = plain_statement("every product changed plainly", _change_plainly)
        _counts(app, site_id, tree)
        _editor(client, leaves, bare)
        _fields(client, leaves, bare)
        _worklist(client, bare)
        _save_and_impact(client, app, site_id, tree)
        _activation(client, app, site_id, bare, plain)


def _app(directory: Path) -> Flask:
    database = os.environ.get("BENCH_DATABASE_URL")
    app = empty_shop(settings(directory) | ({"DATABASE_URL": database} if database else {}))
    app.config["WTF_CSRF_ENABLED"] = False
    return app


def _shop() -> int:
    """A site with the taxonomy `kinds`, which is active, a small one to switch to, and the products."""
    with transaction():
        site = make_site()
        make_user(site, Role.ADMIN, email="admin@bench.test")
        kinds = make_taxonomy(site, _tree(), active=True, id="kinds")
        make_taxonomy(site, [{"name": "Everything"}], id="other", name="Other")
        site_id, leaves = site.id, _leaf_ids(kinds.root_levels)
    for start in range(0, PRODUCTS, BATCH):
        with transaction():
            _add_products(site_id, leaves, range(start, start + BATCH))
    return site_id


def _tree() -> list[dict[str, Any]]:
    """Ten levels at the top, nine below each, the others below those: a number, a choice of its own and a colour that
    it defines anew for each level."""
    leaves = LEVELS - 10 - 10 * 9
    counts = [leaves // 90 + (place < leaves % 90) for place in range(90)]
    return [
        _level(f"{top}", [_level(f"{top}-{mid}", _leaves(f"{top}-{mid}", counts[9 * top + mid])) for mid in range(9)])
        for top in range(10)
    ]


def _leaves(above: str, count: int) -> list[dict[str, Any]]:
    return [_level(f"{above}-{number}", []) for number in range(count)]


def _level(key: str, children: list[dict[str, Any]]) -> dict[str, Any]:
    own = {"attributeId": f"n{key}", "name": f"Size {key}", "type": "NUMBER", "validation": {"mandatory": True}}
    choice = {"attributeId": f"c{key}", "name": f"Kind {key}", "type": "SINGLE_SELECT", "allowedValues": VALUES}
    colour = {"attributeId": "colour", "name": "Colour", "type": "MULTI_SELECT", "allowedValues": VALUES}
    attributes = [own, choice, colour]
    return {"levelId": f"l{key}", "name": f"Level {key}", "attributes": attributes, "children": children}


def _leaf_ids(root_levels: list[dict[str, Any]]) -> list[str]:
    ids = (str(level["levelId"]) for level in stored_records(root_levels))
    return [level_id for level_id in ids if level_id.count("-") == 2]


def _add_products(site_id: int, leaves: list[str], numbers: range) -> None:
    first = (db.session.scalar(select(func.max(Product.id))) or 0) + 1
    products = [_product(site_id, first + place, leaves[number % len(leaves)]) for place, number in enumerate(numbers)]
    db.session.execute(insert(Product), products, execution_options=INDEXED_SEPARATELY)
    values = [row for product in products for row in _values(product)]
    db.session.execute(insert(ProductAttributeValue), values)


def _product(site_id: int, number: int, level_id: str) -> dict[str, Any]:
    key = level_id.removeprefix("l")
    held = {f"n{key}": number % 50, f"c{key}": VALUES[number % 12], "colour": [VALUES[number % 11], "Value 11"]}
    return {
        "id": number,
        "site_id": site_id,
        "sku": f"B-{number}",
        "name": f"Product {number}",
        "seo_name": f"product-{number}",
        "price": 1_000,
        "created_at": WHEN,
        "updated_at": WHEN,
        "taxonomy_level_id": level_id,
        "taxonomy_attributes": held,
        "completeness_score": 33,
    }


def _values(product: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for attribute_id, value in product["taxonomy_attributes"].items():
        for text in value if isinstance(value, list) else [str(value)]:
            yield {
                "site_id": product["site_id"],
                "product_id": product["id"],
                "attribute_id": attribute_id,
                "value": text,
            }


def _change_plainly() -> None:
    db.session.execute(update(Product).values(completeness_score=0), execution_options=INDEXED_SEPARATELY)


def _stored(site_id: int) -> list[dict[str, Any]]:
    return db.session.get_one(Taxonomy, (site_id, "kinds")).root_levels


def _counts(app: Flask, site_id: int, tree: Yardstick) -> None:
    def count(_: int) -> None:
        with app.app_context():
            level_counts(site_id, db.session.get_one(Taxonomy, (site_id, "kinds")))

    at_most("counts of all levels, with the tree read", median(milliseconds(count, range(7))), COUNTS * tree)


def _editor(client: FlaskClient, leaves: list[str], bare: Yardstick) -> None:
    page = milliseconds(lambda _: _ok(client.get(KINDS)), range(5))
    at_most("editor, first page at the server, cold", page[0], PAGE * bare)
    at_most("editor, first page at the server", median(page[1:]), PAGE * bare)
    edits: dict[str, Callable[[int], dict[str, str]]] = {
        "rename": lambda n: {"edit": "level.rename", "level": leaves[n], "name": f"Renamed {n}"},
        "add": lambda n: {"edit": "level.add", "parent": "l1-1", "name": f"Added {n}"},
        "move": lambda n: {"edit": "level.move", "level": leaves[40 + n], "parent": "l5-5"},
        "delete": lambda n: {"edit": "level.delete", "level": leaves[80 + n]},
    }
    _post(client, "level.delete", level="l9-8")  # Makes room for those that are added.
    for name, fields in edits.items():
        times = milliseconds(lambda n, fields=fields: _post(client, **fields(n)), range(20))
        at_most(f"editor, {name} a level, p95", percentile(times, 0.95), EDIT * bare)
    times = milliseconds(lambda _: _ok(_htmx(client, f"{KINDS}/draft/undo", {})), range(20))
    at_most("editor, undo, p95", percentile(times, 0.95), EDIT * bare)
    panel = milliseconds(lambda n: _ok(client.get(f"{KINDS}/level?level={leaves[n]}", headers=HTMX)), range(20))
    at_most("editor, panel of a level, p95", percentile(panel, 0.95), EDIT * bare)
    _ok(_htmx(client, f"{KINDS}/draft/discard", {}))


HTMX = {"HX-Request": "true"}


def _post(client: FlaskClient, edit: str, **fields: str) -> None:
    _ok(_htmx(client, f"{KINDS}/draft", {"edit": edit, **fields}))


def _htmx(client: FlaskClient, path: str, form: dict[str, str]) -> TestResponse:
    return client.post(path, data=form, headers=HTMX)


def _fields(client: FlaskClient, leaves: list[str], bare: Yardstick) -> None:
    path = "/admin/catalogue/product/taxonomy/fields"
    times = milliseconds(lambda level_id: _ok(client.get(f"{path}?levelId={level_id}")), leaves[:40])
    at_most("fields of a level on the product page, p95", percentile(times, 0.95), FIELDS * bare)


def _worklist(client: FlaskClient, bare: Yardstick) -> None:
    """Every product misses something."""
    path = f"{BASE}/worklist"
    pages = milliseconds(
        lambda query: _ok(client.get(f"{path}{query}")), ["", "?sort=changed", "?level=l1", "?level=l1-1-1"]
    )
    at_most("worklist, slowest of its pages", max(pages), PAGE * bare)
    rows = milliseconds(lambda number: _ok(_htmx(client, f"{path}/{number}", {"revision": "1"})), range(1, 21))
    at_most("worklist, a row, p95", percentile(rows, 0.95), EDIT * bare)


def _save_and_impact(client: FlaskClient, app: Flask, site_id: int, plain: Yardstick) -> None:
    with app.app_context():
        tree = copy.deepcopy(_stored(site_id))
    changed = json.dumps({"rootLevels": _changed(tree)})
    impact = milliseconds(lambda _: _ok(client.post(f"{KINDS}/impact", data=changed, content_type=JSON)), range(5))
    at_most("impact of a large change", median(impact), IMPACT * plain)
    revision = client.get(f"{KINDS}/data").get_json()["taxonomy"]["revision"]
    saves = milliseconds(lambda body: _ok(_put(client, body)), [_save_of(tree, revision + n) for n in range(5)])
    at_most("structure save", median(saves), SAVE * plain)


def _changed(tree: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without a branch of 200 levels and the kinds of another, one moved elsewhere, and half the colours gone."""
    _removed, thinned, moved, target, *others = copy.deepcopy(tree)
    for level in thinned["children"]:
        level["attributes"] = level["attributes"][2:]
    target["children"] += moved["children"]
    moved["children"] = []
    for leaf in target["children"][0]["children"]:
        leaf["attributes"][2]["allowedValues"] = VALUES[:6]
    return [thinned, moved, target, *others]


def _save_of(tree: list[dict[str, Any]], revision: int) -> str:
    tree[0]["name"] = f"Saved on {revision}"
    return json.dumps({"revision": revision, "name": "Kinds", "description": "", "rootLevels": tree})


def _put(client: FlaskClient, body: str) -> TestResponse:
    return client.put(f"{KINDS}/structure", data=body, content_type=JSON)


def _activation(client: FlaskClient, app: Flask, site_id: int, bare: Yardstick, plain: Yardstick) -> None:
    preview = 1000 * seconds(lambda: _ok(client.get(f"{BASE}/other/activation-impact")))
    at_most("activation, preview", preview, PAGE * bare)
    took = seconds(lambda: _ok(client.post(f"{BASE}/activate/other", json={"confirmName": "Other"})))
    at_most(f"activation: {PRODUCTS:,} products archived and cleared", took, ACTIVATION * plain)
    with app.app_context():
        left = select(func.count()).where(Product.site_id == site_id, Product.taxonomy_level_id.is_not(None))
        if db.session.scalar(left):
            raise SystemExit("Some products kept their level.")


def _ok(answer: TestResponse) -> None:
    if answer.status_code >= 300:
        raise SystemExit(f"{answer.request.path}: {answer.status}\n{answer.text[:2_000]}")


if __name__ == "__main__":
    run(main)

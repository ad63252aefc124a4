"""The demo shop shows every feature, and reads like a shop."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from app.demo.shop import BUNDLE, HOST, NAME
from app.domain.sites.accounts import DEMO_PASSWORD
from app.domain.taxonomy.tree import AttributeType, TaxonomyTree
from app.domain.taxonomy.validation.structure import check_structure
from app.domain.taxonomy.values import check_values


def document(name: str) -> Any:
    return json.loads((BUNDLE / name).read_text(encoding="utf-8"))


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (BUNDLE / name).read_text(encoding="utf-8").splitlines()]


TAXONOMY = document("taxonomy.json")["taxonomies"][0]


@pytest.fixture(scope="module")
def products() -> list[dict[str, Any]]:
    return rows("products.jsonl")


@pytest.fixture(scope="module")
def tree() -> TaxonomyTree:
    return TaxonomyTree.parse(TAXONOMY["rootLevels"])


def test_there_are_three_hundred_and_no_two_are_the_same(products: list[dict[str, Any]]):
    assert len(products) == 300
    for field in ("sku", "name", "description", "upc"):
        assert len({product[field] for product in products}) == 300, field


def test_the_shop_is_the_same_each_time(products: list[dict[str, Any]]):
    assert products == rows("products.jsonl")


def test_there_is_some_of_everything(products: list[dict[str, Any]]):
    brands = Counter(product["manufacturer"] for product in products)
    assert 20 <= len(brands) <= 30
    assert any(product["stock"] == 0 for product in products)
    assert any(product["stock"] is None for product in products)
    assert any(product["rating"] is None for product in products)
    assert any(not product["enabled"] for product in products)
    assert sum(product["compareAtPrice"] is not None for product in products) > 20
    assert sum("variants" in product for product in products) > 100
    assert sum(bool(product["searchTerms"]) for product in products) > 60


def test_barcodes_are_valid(products: list[dict[str, Any]]):
    for product in products:
        digits = [int(digit) for digit in product["upc"]]
        assert len(digits) == 13
        assert (sum(digits[::2]) + 3 * sum(digits[1::2])) % 10 == 0


def test_the_taxonomy_is_sound_three_levels_deep_and_has_every_type(tree: TaxonomyTree):
    assert check_structure(TAXONOMY["rootLevels"]).problems == ()
    assert max(len(tree.path(level_id)) for level_id in tree.levels) == 3
    types = {attribute.type for found in tree.attributes_by_id().values() for attribute in found}
    assert types == set(AttributeType)


def test_every_value_keeps_the_rules(products: list[dict[str, Any]], tree: TaxonomyTree):
    for product in products:
        classified = product["taxonomy"]
        _, dropped = check_values(tree.applicable_attributes(classified["levelId"]), classified["attributes"])
        assert dropped == [], product["sku"]


def test_every_level_at_the_end_has_products(products: list[dict[str, Any]], tree: TaxonomyTree):
    used = {product["taxonomy"]["levelId"] for product in products}
    assert used == {level_id for level_id in tree.levels if not tree.siblings(level_id)}


def test_every_named_sku_is_there(products: list[dict[str, Any]]):
    known = {product["sku"] for product in products}
    named = {sku for collection in rows("collections.jsonl") for sku in collection["skus"]}
    waiting = list(document("merchandising.json")["trees"][0]["nodes"])
    while waiting:
        node = waiting.pop()
        named |= set(node.get("products", ()))
        waiting += node["children"]
    assert named <= known


def test_the_site_and_its_users_are_those_that_the_code_names():
    site = document("site.json")
    assert (site["name"], site["domains"][0]) == (NAME, {"host": HOST, "primary": True})
    assert {user["password"] for user in document("users.json")} == {DEMO_PASSWORD}

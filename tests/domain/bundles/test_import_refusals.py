"""What an import leaves out, and how it says where and why."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node, Tree
from app.domain.shared.author import Author
from app.domain.sites import sites
from app.domain.taxonomy import tasks
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.taxonomies import rename_parameters
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db
from app.transaction import transaction
from tests.domain.bundles.conftest import (
    HOST,
    LEVELS,
    TAXONOMY,
    Take,
    one,
    product,
    refusals,
    write_bundle,
)
from tests.fakes.clock import StoppedClock


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"sku": ""}, "sku"),
        ({"sku": "x" * 65}, "sku"),
        ({"sku": 7}, "sku"),
        ({"name": " "}, "name"),
        ({"price": "12"}, "price"),
        ({"price": 12.5}, "price"),
        ({"price": True}, "price"),
        ({"price": -1}, "price"),
        ({"price": 10**12}, "price"),
        ({"seoName": "Not A Slug"}, "seoName"),
        ({"stock": -1}, "stock"),
        ({"rating": 6}, "rating"),
        ({"rating": 10**350}, "rating"),
        ({"enabled": "yes"}, "enabled"),
        ({"canonicalUrl": "javascript:alert(1)"}, "canonicalUrl"),
        ({"createdAt": "yesterday"}, "createdAt"),
        ({"createdAt": "2026-02-30T10:00:00Z"}, "createdAt"),
        ({"createdAt": "2026-02-03T10:00:00"}, "createdAt"),
        ({"images": "a.jpg"}, "images"),
        ({"colour/size": 1}, "colour/size"),
        ({"taxonomy": {"level": "tents"}}, "taxonomy/level"),
        ({"taxonomy": []}, "taxonomy"),
        ({"taxonomy": {}}, "taxonomy/levelId"),
        ({"variants": [{"sku": "V", "options": {}}]}, "variants/0/options"),
        ({"variants": [{"sku": "V", "options": {"Size": 4}}]}, "variants/0/options"),
        ({"variants": [{"sku": "V", "options": {"S": "M"}, "colour": 1}]}, "variants/0/colour"),
        ({"variants": ["M"]}, "variants/0"),
    ],
)
def test_a_bad_row_is_named_and_left_out_and_the_rest_comes_in(take: Take, row: dict[str, Any], field: str):
    report = take(products=[product("T-1"), product("T-2") | row, product("T-3")])
    assert ("products.jsonl", 2, field) in refusals(report)
    assert (report.of("products").added, report.of("products").refused) == (2, 1)
    assert list(db.session.scalars(select(Product.sku).order_by(Product.sku))) == ["T-1", "T-3"]


def test_a_missing_field_is_named(take: Take):
    report = take(products=[{"sku": "T-1"}])
    assert refusals(report) == [("products.jsonl", 1, "name"), ("products.jsonl", 1, "price")]


def test_a_sku_twice_names_the_first_line(take: Take):
    report = take(products=[product(), product(name="Other")])
    assert refusals(report) == [("products.jsonl", 2, "sku")]
    assert "line 1" in report.refusals[0].reason
    assert one().name == "Tent T-1"


def test_bad_values_are_dropped_and_reported_and_the_product_is_kept(take: Take):
    values = {"sleeps": "many", "colour": ["Moss", "Pink"], "tog": 4}
    report = take(taxonomy=TAXONOMY, products=[product(taxonomy={"levelId": "tents", "attributes": values})])
    assert one().taxonomy_attributes == {"colour": ["Moss"]}
    assert {(found.attribute_id, found.code, found.count) for found in report.dropped.values()} == {
        ("sleeps", "wrong_type", 1),
        ("colour", "not_allowed", 1),
        ("tog", "not_applicable", 1),
    }
    assert report.dropped[("colour", "not_allowed")].examples[0]["sku"] == "T-1"


def test_a_bad_value_leaves_the_stored_one_in_place_and_the_same_bundle_again_changes_nothing(take: Take):
    def classified(**values: object) -> list[dict[str, object]]:
        return [product(taxonomy={"levelId": "tents", "attributes": values})]

    take(taxonomy=TAXONOMY, products=classified(sleeps=2, colour=["Moss"]))
    for changed in (1, 0):
        report = take(products=classified(sleeps="many", colour=["Clay"]))
        assert one().taxonomy_attributes == {"sleeps": 2, "colour": ["Clay"]}
        assert (report.of("products").changed, report.dropped_in_all) == (changed, 1)


def test_a_word_that_was_renamed_since_the_bundle_was_made_becomes_the_new_one(take: Take, clock: StoppedClock):
    take(taxonomy=TAXONOMY)
    levels = deepcopy(LEVELS)
    levels[0]["attributes"][1]["allowedValues"] = ["Fern", "Clay"]
    renames = [ValueRename("tents", "colour", "Moss", "Fern")]
    rename = rename_parameters("shop", TaxonomyTree.parse(levels), renames, clock.now())
    with transaction():
        site_id = sites.site_at(HOST).id
        db.session.get_one(Taxonomy, (site_id, "shop")).root_levels = levels
        tasks.request(Author(site_id, "Mia", clock), tasks.Kind.RENAME_VALUES, rename)
    report = take(products=[product(taxonomy={"levelId": "tents", "attributes": {"colour": ["Clay", "Moss"]}})])
    assert one().taxonomy_attributes == {"colour": ["Clay", "Fern"]}
    assert report.dropped == {}


def test_parts_that_cannot_be_taken_leave_their_product_in(take: Take):
    bad = product(
        searchTerms=["a,b", "tea\ncup"],
        images=["https://elsewhere.test/a.jpg", "media/gone.jpg"],
        taxonomy={"levelId": "caravans"},
    )
    report = take(taxonomy=TAXONOMY, products=[bad])
    assert refusals(report) == [
        ("products.jsonl", 1, "searchTerms/0"),
        ("products.jsonl", 1, "searchTerms/1"),
        ("products.jsonl", 1, "images/0"),
        ("products.jsonl", 1, "images/1"),
        ("products.jsonl", 1, "taxonomy/levelId"),
    ]
    assert (one().search_terms, one().taxonomy_level_id, one().images) == ([], None, [])


def test_names_are_made_unique_and_leave_wished_ones_free(take: Take):
    same = [product(f"T-{n}", name="Tent") for n in range(3)]
    take(products=[*same, product("T-9", name="Else", seoName="tent-2")])
    found = dict(db.session.execute(select(Product.sku, Product.seo_name)).all())
    assert found == {"T-0": "tent", "T-1": "tent-3", "T-2": "tent-4", "T-9": "tent-2"}


def test_a_name_or_variant_of_another_product_is_refused(take: Take):
    variant = {"sku": "V", "options": {"Size": "M"}}
    take(products=[product("T-1", seoName="tent", variants=[variant])])
    report = take(products=[product("T-2", seoName="tent"), product("T-3", variants=[variant])])
    assert refusals(report) == [("products.jsonl", 1, "seoName"), ("products.jsonl", 2, "variants/0/sku")]


def test_a_line_of_a_document_is_named_and_only_the_smallest_record_left_out(take: Take):
    trees = {
        "trees": [
            {
                "name": "Shop",
                "facets": [{"facetId": "price", "display": "slider"}, {"facetId": "inStock", "display": "toggle"}],
                "landingRules": [{"facetId": "price"}, {"facetId": "manufacturer", "minProducts": 0}],
                "nodes": [
                    {"name": "A", "slug": "Not a slug"},
                    {"name": "B", "source": {"levels": ["caravans"]}, "colour": "red"},
                    {"name": "C", "source": {"levels": ["caravans", "tents"]}, "children": [{"name": ""}]},
                    {"name": "C"},
                    {"name": "D", "slug": "c"},
                ],
            }
        ]
    }
    report = take(taxonomy=TAXONOMY, merchandising=trees)
    places = {field.removeprefix("trees/0/"): line for _, line, field in refusals(report)}
    assert set(places) == {
        "facets/0/display",
        "landingRules/0/facetId",
        "landingRules/1/minProducts",
        "nodes/0/slug",
        "nodes/1/colour",
        "nodes/2/source/levels/0",
        "nodes/2/children/0/name",
        "nodes/4/slug",
    }
    lines = json.dumps(trees, indent=1).splitlines()
    assert "slider" in lines[places["facets/0/display"] - 1]
    assert "caravans" in lines[places["nodes/2/source/levels/0"] - 1]
    kept = list(db.session.scalars(select(Node.path).order_by(Node.position)))
    assert kept == ["c", "c-2"]
    tree = db.session.scalars(select(Tree)).one()
    assert tree.facets == [{"facetId": "inStock", "display": "toggle"}]
    assert tree.default_landing_rules == []


def test_a_report_does_not_grow_with_what_a_hostile_bundle_holds(take: Take, tmp_path: Path):
    invented = {f"invented-{number}" * 20: "x" for number in range(1_500)}
    folder = write_bundle(
        tmp_path / "hostile",
        taxonomy=TAXONOMY,
        products=[product(taxonomy={"levelId": "tents", "attributes": invented})],
    )
    for number in range(120):
        (folder / f"stray-{number}.txt").write_text("")
    report = take(folder)
    assert report.dropped_in_all == 1_500
    assert len(report.dropped) == 1_001 and max(len(name) for name, _ in report.dropped) == 80
    assert len(report.skipped) == 100 and any("only the first are listed" in note for note in report.notes)


def test_long_rows_go_in_by_smaller_batches(take: Take):
    rows = [product(f"T-{number}", description="<p>" + "long " * 9_900 + "</p>") for number in range(200)]
    assert take(products=rows).of("products").added == 200

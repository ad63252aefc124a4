"""What shoppers lose by a changed taxonomy: categories, landing pages, rules and golden searches."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node, Placement, Tree
from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.seo.landing.pages import LandingPage, LandingPages
from app.domain.seo.shopper_impact import ShopperImpact, shopper_impact
from app.domain.sites.models import Site
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.validation.structure import check_structure
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.trees import choice, level
from tests.factories import WHEN, make_golden, make_product, make_rule, make_site, make_taxonomy
from tests.statements import statements

COLOUR = [choice("colour", "Moss", "Clay")]
TREE = [level("camping", level("tents"), level("stoves"), attributes=COLOUR)]
WITHOUT_TENTS = [level("camping", level("stoves"), attributes=COLOUR)]


@pytest.fixture
def site(context: None) -> Site:
    """Camping takes all levels of that name, Tents the tents alone; one of both tents is placed in Offers by hand."""
    with transaction():
        made = make_site()
        make_taxonomy(made, TREE, active=True, id="kinds")
        tree = Tree(site_id=made.id, name="Shop", primary=True, updated_at=WHEN)
        db.session.add(tree)
        db.session.flush()
        own = {"site_id": made.id, "tree_id": tree.id, "updated_at": WHEN}
        rules = [{"facetId": "colour"}, {"facetId": "manufacturer", "minProducts": 1}]
        nodes = [
            Node(name="Camping", slug="camping", path="camping", source_levels=["camping"], landing_rules=rules, **own),
            Node(name="Tents", slug="tents", path="tents", source_levels=["tents"], landing_rules=rules, **own),
            Node(name="Offers", slug="offers", path="offers", **own),
            Node(name="Hidden", slug="hidden", path="hidden", visible=False, source_levels=["tents"], **own),
        ]
        db.session.add_all(nodes)
        db.session.flush()
        tent = make_product(made, "TENT-1", taxonomy_level_id="tents")
        make_product(made, "TENT-2", taxonomy_level_id="tents")
        make_product(made, "STOVE-1", taxonomy_level_id="stoves", manufacturer="Fell")
        make_product(made, "TENT-3", taxonomy_level_id="tents", enabled=False)
        db.session.add(Placement(site_id=made.id, node_id=nodes[2].id, product_id=tent.id))
        return made


def pages(shop: Shop, node: ShopNode) -> LandingPages:
    values = (("colour", "Moss"), ("colour", "Clay"), ("manufacturer", "Fell"))
    return LandingPages(
        tuple(
            LandingPage(
                facet, value, facet, value.lower(), f"/c/{node.path}/{facet}/{value.lower()}", 3, value, "", "", ""
            )
            for facet, value in values
        )
    )


def impact_of(levels: list[dict[str, Any]], taxonomy_id: str = "kinds") -> ShopperImpact:
    taxonomy = db.session.scalars(select(Taxonomy).where(Taxonomy.id == taxonomy_id)).one()
    return shopper_impact(taxonomy, check_structure(levels).tree, pages)


def test_categories_that_lose_products_are_named_those_left_empty_first(site: Site) -> None:
    found = impact_of(WITHOUT_TENTS)
    assert [(one.path, one.before, one.after, one.is_emptied) for one in found.categories] == [
        ("tents", 2, 0, True),
        ("camping", 3, 1, False),
    ]


def test_a_level_that_moves_away_from_a_category_is_a_loss_too(site: Site) -> None:
    found = impact_of([level("tents"), level("camping", level("stoves"), attributes=COLOUR)])
    assert [(one.path, one.after) for one in found.categories] == [("camping", 1)]


def test_a_change_of_names_alone_takes_nothing(site: Site) -> None:
    assert impact_of([level("camping", level("tents"), level("stoves"), attributes=COLOUR, name="Outdoor")]).is_empty


def test_all_landing_pages_of_an_emptied_category_go(site: Site) -> None:
    found = impact_of(WITHOUT_TENTS)
    assert [page.path for page in found.landing_pages] == [
        "/c/tents/colour/moss",
        "/c/tents/colour/clay",
        "/c/tents/manufacturer/fell",
    ]


def test_the_page_of_a_manufacturer_goes_where_too_few_products_are_left(site: Site) -> None:
    stove = db.session.scalars(select(Product).where(Product.sku == "STOVE-1")).one()
    with transaction():
        stove.manufacturer = "Moor"
    assert "/c/camping/manufacturer/fell" in [page.path for page in impact_of(WITHOUT_TENTS).landing_pages]


def test_landing_pages_of_removed_values_and_attributes_go(site: Site) -> None:
    tents, stoves = level("tents"), level("stoves")
    fewer = impact_of([level("camping", tents, stoves, attributes=[choice("colour", "Clay")])])
    assert [page.path for page in fewer.landing_pages] == ["/c/camping/colour/moss", "/c/tents/colour/moss"]
    none = impact_of([level("camping", tents, stoves)])
    assert {page.path.rpartition("/")[0] for page in none.landing_pages} == {"/c/camping/colour", "/c/tents/colour"}


def test_rules_that_lead_to_what_goes_or_name_it_are_listed(site: Site) -> None:
    with transaction():
        for term, path in (
            ("shelter", "/c/tents"),
            ("green", "/c/camping?colour=Moss"),
            ("moss tarp", "/c/tents/colour/moss"),
            ("tent", "/pages/help"),
            ("stove", "/c/camping"),
        ):
            make_rule(site, term, redirect_url=path)
    found = {one.term: one.reason for one in impact_of(WITHOUT_TENTS).rules}
    assert found == {
        "shelter": "leads to /c/tents",
        "moss tarp": "leads to /c/tents/colour/moss",
        "tent": "names the level “Tents”",
    }
    without_colour = impact_of([level("camping", level("tents"), level("stoves"))]).rules
    assert [one.term for one in without_colour] == ["green", "moss tarp"]


def test_golden_searches_that_name_the_level_or_expect_a_product_of_it_are_listed(site: Site) -> None:
    with transaction():
        make_golden(site, "STOVE-1", query="small tent stove")
        make_golden(site, "TENT-2", query="shelter")
        make_golden(site, "STOVE-1", query="stove")
    found = {one.query: one.reason for one in impact_of(WITHOUT_TENTS).golden_searches}
    assert found == {"small tent stove": "names the level “Tents”", "shelter": "TENT-2 is of “Tents”"}


def test_a_taxonomy_that_is_not_active_has_no_shoppers(site: Site) -> None:
    with transaction():
        make_taxonomy(site, TREE, id="spare", name="Spare")
    assert impact_of([], "spare").is_empty


def test_it_takes_the_same_statements_however_many_products_there_are(app: Flask, site: Site) -> None:
    with statements(app) as few:
        impact_of(WITHOUT_TENTS)
    with transaction():
        for number in range(30):
            make_product(site, manufacturer=f"Maker {number}", taxonomy_level_id="tents")
    with statements(app) as many:
        impact_of(WITHOUT_TENTS)
    assert len(few) == len(many)

"""What an import does, leaves out and says about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.bundles.merchandising_file import trees_document
from app.domain.bundles.report import BrokenBundle
from app.domain.catalogue.models import Collection, Page, Product, ProductAttributeValue, Variant
from app.domain.merchandising.models import Burial, Node, Placement, Tree
from app.domain.search.models import OutboxEntry
from app.domain.shared.problems import Invalid
from app.domain.sites import accounts, sites
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.domain.bundles.conftest import (
    HOST,
    SITE,
    TAXONOMY,
    Take,
    count,
    one,
    product,
    refusals,
    write_bundle,
)
from tests.fakes.clock import StoppedClock
from tests.statements import statements

TREES = {
    "trees": [
        {
            "name": "Shop",
            "primary": True,
            "facets": [{"facetId": "manufacturer", "display": "list"}, {"facetId": "price", "display": "range"}],
            "landingRules": [{"facetId": "manufacturer"}],
            "nodes": [
                {
                    "name": "Camping",
                    "products": ["T-2", "T-1"],
                    "children": [{"name": "Tents", "source": {"levels": ["tents"]}, "children": []}],
                }
            ],
        }
    ]
}
EVERYTHING: dict[str, Any] = {
    "site": SITE,
    "users": [{"email": "mia@shop.test", "displayName": "Mia", "roles": ["MERCHANDISER"], "password": "a long secret"}],
    "taxonomy": TAXONOMY,
    "merchandising": TREES,
    "products": [
        product(taxonomy={"levelId": "tents", "attributes": {"sleeps": 2, "colour": ["Moss"]}}),
        product("T-2", variants=[{"sku": "T-2-M", "options": {"Size": "M"}, "stock": 3}], searchTerms=["tipi"]),
    ],
    "collections": [{"seoName": "summer", "name": "Summer", "skus": ["T-2", "T-1"]}],
    "pages": [{"seoName": "about", "title": "About", "body": "<p>Us</p><script>x</script>"}],
}


def test_a_whole_shop_comes_in(take: Take):
    report = take(host=None, **EVERYTHING)
    assert report.refusals == []
    assert {kind: counts.added for kind, counts in report.counts.items() if counts.added} == {
        "site": 1,
        "users": 1,
        "taxonomies": 1,
        "category trees": 1,
        "categories": 2,
        "products": 2,
        "collections": 1,
        "pages": 1,
    }
    tent = one()
    assert (tent.seo_name, tent.completeness_score) == ("tent-t-1", 100)
    assert count(ProductAttributeValue) == 2
    assert [variant.options for variant in one("T-2").variants] == [{"Size": "M"}]
    assert db.session.scalars(select(Page.body)).one() == "<p>Us</p>"
    assert [node.path for node in db.session.scalars(select(Node).order_by(Node.path))] == ["camping", "camping/tents"]
    site = sites.site_at(HOST)
    assert accounts.roles_of(accounts.get_user("mia@shop.test").id, site.id) == {Role.MERCHANDISER}


def test_the_same_bundle_twice_changes_nothing(take: Take, clock: StoppedClock):
    take(**EVERYTHING)
    before = (one().updated_at, one().revision, count(OutboxEntry), count(AuditEntry))
    version = db.session.scalars(select(Site.config_version)).one()
    clock.move(days=1)
    report = take(**EVERYTHING)
    assert report.changes == 0
    assert report.of("products").unchanged == 2
    assert (one().updated_at, one().revision, count(OutboxEntry), count(AuditEntry)) == before
    assert db.session.scalars(select(Site.config_version)).one() == version


def test_a_dry_run_says_what_would_happen_and_writes_nothing(take: Take):
    report = take(host=None, dry_run=True, **EVERYTHING)
    assert (report.of("products").added, report.of("categories").added, report.of("collections").added) == (2, 2, 1)
    assert report.refusals == []
    assert [count(model) for model in (Site, Product, Tree, Page, OutboxEntry, AuditEntry)] == [0] * 6


def test_a_dry_run_of_changes_counts_them(take: Take):
    take(**EVERYTHING)
    changed = {"trees": [TREES["trees"][0] | {"nodes": [{"name": "Gifts"}]}]}
    report = take(dry_run=True, merchandising=changed, products=[product(price=1), product("T-3")])
    assert report.of("products").as_json() == {"added": 1, "changed": 1, "removed": 0, "unchanged": 0, "refused": 0}
    assert (report.of("categories").added, report.of("categories").removed) == (1, 2)
    assert one().price == 12_900
    assert count(Node) == 2


def test_categories_that_the_bundle_lacks_go_with_an_entry_of_the_activity_log_each(take: Take):
    take(**EVERYTHING)
    paths = {str(node.id): node.path for node in db.session.scalars(select(Node))}
    take(merchandising={"trees": [TREES["trees"][0] | {"nodes": [{"name": "Gifts"}]}]})
    entries = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "category.delete")).all()
    assert {entry.subject_id: entry.before["path"] for entry in entries} == paths
    assert {entry.actor for entry in entries} == {"a test"}


def test_every_change_is_noted_in_the_outbox_in_the_same_transaction(take: Take):
    take(products=[product("T-1"), product("T-2")])
    entries = set(db.session.execute(select(OutboxEntry.kind, OutboxEntry.record_id)).all())
    assert {("product", one("T-1").id), ("product", one("T-2").id)} <= {tuple(entry) for entry in entries}


def test_what_a_row_does_not_say_stays_as_it_is(take: Take, clock: StoppedClock):
    take(products=[product(description="Roomy", stock=4, searchTerms=["tipi"], seoName="my-tent")])
    clock.move(hours=1)
    take(products=[product(price=9_900)])
    tent = one()
    assert (tent.price, tent.description, tent.stock, tent.search_terms) == (9_900, "Roomy", 4, ["tipi"])
    assert (tent.seo_name, tent.revision, tent.updated_at) == ("my-tent", 2, clock.now())


def test_a_row_that_names_only_the_level_leaves_the_values(take: Take):
    values = {"sleeps": 2, "colour": ["Moss"]}
    take(taxonomy=TAXONOMY, products=[product(taxonomy={"levelId": "tents", "attributes": values})])
    assert take(products=[product(taxonomy={"levelId": "tents"})]).of("products").unchanged == 1
    assert one().taxonomy_attributes == values
    take(products=[product(taxonomy={"levelId": "tents", "attributes": {}})])
    assert one().taxonomy_attributes == {}


def test_null_takes_a_value_away(take: Take):
    take(taxonomy=TAXONOMY, products=[product(stock=4, upc="5", taxonomy={"levelId": "tents"})])
    take(products=[product(stock=None, upc=None, taxonomy=None)])
    assert (one().stock, one().upc, one().taxonomy_level_id) == (None, None, None)


def test_a_variant_that_stays_keeps_its_record(take: Take):
    options = [{"sku": f"T-1-{size}", "options": {"Size": size}} for size in ("S", "M", "L")]
    take(products=[product(variants=options[:2])])
    before = {variant.sku: variant.id for variant in one().variants}
    take(products=[product(variants=[options[2], options[1] | {"price": 5}])])
    assert [(variant.sku, variant.price) for variant in one().variants] == [("T-1-L", None), ("T-1-M", 5)]
    assert one().variants[1].id == before["T-1-M"]
    assert count(Variant) == 2


def test_unknown_skus_are_left_out_of_lists(take: Take):
    report = take(
        products=[product()],
        collections=[{"seoName": "summer", "name": "Summer", "skus": ["T-9", "T-1"]}],
        merchandising={"trees": [{"name": "Shop", "nodes": [{"name": "A", "products": ["T-9", "T-1"]}]}]},
    )
    assert [(file, field) for file, _, field in refusals(report)] == [
        ("collections.jsonl", "skus/0"),
        ("merchandising.json", "trees/0/nodes/0/products/0"),
    ]
    assert len(db.session.scalars(select(Collection)).one().entries) == 1


def test_buried_products_come_with_a_category_and_stay_where_the_bundle_is_silent(take: Take):
    def camping(**more: object) -> dict[str, object]:
        return {"trees": [{"name": "Shop", "nodes": [{"name": "Camping"} | more]}]}

    def buried() -> list[str]:
        return list(db.session.scalars(select(Product.sku).join(Burial, Burial.product_id == Product.id)))

    take(**EVERYTHING)
    report = take(merchandising=camping(buried=["T-1", "T-9", "T-1"]))
    assert [field for _, _, field in refusals(report)] == ["trees/0/nodes/0/buried/1"]
    assert (buried(), count(Placement), report.of("orders of categories").changed) == (["T-1"], 2, 1)
    exported = trees_document(db.session.scalars(select(Site.id)).one())
    assert exported["trees"][0]["nodes"][0]["buried"] == ["T-1"]
    assert take(merchandising=camping()).changes == 0
    assert take(merchandising=camping(buried=["T-1"])).changes == 0
    assert take(merchandising=camping(buried=[]), dry_run=True).changes == 1 and buried() == ["T-1"]
    many = take(merchandising=camping(buried=[f"T-{number}" for number in range(501)]))
    assert [field for _, _, field in refusals(many)] == ["trees/0/nodes/0/buried"] and buried() == ["T-1"]
    take(merchandising=camping(buried=[]))
    assert (buried(), count(Placement)) == ([], 2)


def test_a_tree_is_replaced_whole_and_its_nodes_keep_their_records(take: Take):
    take(**EVERYTHING)
    before = dict(db.session.execute(select(Node.path, Node.id)).all())
    node = TREES["trees"][0]["nodes"][0] | {"children": [{"name": "Stoves"}], "visible": False}
    report = take(merchandising={"trees": [TREES["trees"][0] | {"nodes": [node]}]})
    assert report.of("categories").as_json() | {"unchanged": 0} == {
        "added": 1, "changed": 1, "removed": 1, "unchanged": 0, "refused": 0,
    }  # fmt: skip
    after = dict(db.session.execute(select(Node.path, Node.id)).all())
    assert set(after) == {"camping", "camping/stoves"}
    assert after["camping"] == before["camping"]


@pytest.mark.parametrize(
    "slip",
    [
        {"name": "Camping", "seo": {"canonicalOverride": "javascript:alert(1)"}},
        {"name": "Camping", "colour": "green"},
        {"name": "Our tents", "slug": "camping", "visible": "yes"},
        {"name": "Camping", "slug": "Camping!"},
        {"name": "Our tents", "slug": 5},
        {"visible": True},
    ],
)
def test_a_category_that_is_left_out_for_a_slip_stays_as_it_is_with_all_below(take: Take, slip: dict[str, object]):
    take(**EVERYTHING)
    report = take(merchandising={"trees": [TREES["trees"][0] | {"nodes": [slip, {"name": "Boats"}]}]})
    assert refusals(report) != []
    assert report.of("categories").removed == 0
    assert set(db.session.scalars(select(Node.path))) == {"camping", "camping/tents", "boats"}
    assert count(Placement) == 2


def test_a_rule_whose_levels_are_all_unknown_does_not_take_every_product_of_its_manufacturers(take: Take):
    def tents(*levels: str) -> dict[str, object]:
        source = {"levels": levels, "manufacturers": ["Fell"]}
        return {"trees": [{"name": "Shop", "nodes": [{"name": "Tents", "source": source}]}]}

    assert len(refusals(take(taxonomy=TAXONOMY, merchandising=tents("caravans")))) == 1
    stored = db.session.scalars(select(Node)).one()
    assert (stored.source_levels, stored.source_manufacturers) == ([], [])
    take(merchandising=tents("tents", "caravans"))
    take(merchandising=tents("caravans"))
    db.session.refresh(stored)
    assert (stored.source_levels, stored.source_manufacturers) == (["tents"], ["Fell"])


def test_texts_for_search_engines_come_with_a_category_and_a_change_raises_its_revision(take: Take):
    def node(**seo: object) -> dict[str, object]:
        return {"trees": [{"name": "Shop", "nodes": [{"name": "Tents", "seo": seo}]}]}

    take(merchandising=node(metaTitle=" Tents  for all ", metaDescription="Dry."))
    stored = db.session.scalars(select(Node)).one()
    assert (stored.meta_title, stored.meta_description, stored.revision) == ("Tents for all", "Dry.", 1)
    assert take(merchandising=node(metaTitle="Tents for all")).changes == 0
    take(merchandising=node(metaTitle=None))
    db.session.refresh(stored)
    assert (stored.meta_title, stored.meta_description, stored.revision) == (None, "Dry.", 2)
    assert refusals(take(merchandising=node(metaTitle="x" * 301)))[0][2] == "trees/0/nodes/0/seo/metaTitle"


def test_an_import_of_many_categories_looks_for_their_products_once(app: Flask, take: Take):
    def shop(categories: int) -> dict[str, object]:
        nodes = [{"name": f"N {number}", "source": {"levels": ["tents"]}} for number in range(categories)]
        return {"trees": [{"name": "Shop", "nodes": nodes}]}

    take(**EVERYTHING)
    with statements(app) as seen:
        take(merchandising=shop(30))
    of_each = [statement for statement in seen if statement.startswith("SELECT") and "products" in statement]
    assert len(of_each) < 10
    with statements(app) as seen:
        take(merchandising=shop(0))
    assert len([statement for statement in seen if "FROM products" in statement]) < 10


def test_only_one_tree_is_primary(take: Take):
    take(merchandising={"trees": [{"name": "Old", "primary": True}]})
    take(merchandising={"trees": [{"name": "New", "primary": True}]})
    assert list(db.session.scalars(select(Tree.name).where(Tree.primary))) == ["New"]


def test_somebody_known_keeps_name_and_password_and_gets_the_roles_of_the_bundle(take: Take):
    take(users=[{"email": "mia@shop.test", "displayName": "Mia", "roles": ["ADMIN"], "password": "a long secret"}])
    before = accounts.get_user("mia@shop.test").password_hash
    report = take(
        users=[
            {"email": "MIA@shop.test", "displayName": "M", "roles": ["MERCHANDISER"], "password": "another secret"},
            {"email": "nobody", "roles": ["KING"]},
            {"email": "a@b.test", "roles": [], "password": "short"},
        ]
    )
    user = accounts.get_user("mia@shop.test")
    assert (user.display_name, user.password_hash) == ("Mia", before)
    assert accounts.roles_of(user.id, sites.site_at(HOST).id) == {Role.MERCHANDISER}
    assert [field for _, _, field in refusals(report)] == ["1/email", "1/roles/0", "2/password"]


def test_fields_of_the_site_that_cannot_be_taken_are_named(take: Take):
    bad = SITE | {
        "currency": "pounds",
        "timeZone": "Moon/Sea",
        "capabilities": ["a b"],
        "settings": {"listing-page-size": 12, "odd": 1, "posEnabled": "yes", "taxonomy-active-id": "x"},
        "colour": "red",
    }
    report = take(host=None, site=bad)
    assert {field for _, _, field in refusals(report)} == {
        "colour", "currency", "timeZone", "capabilities", "settings/odd", "settings/posEnabled",
        "settings/taxonomy-active-id",
    }  # fmt: skip
    assert sites.site_at(HOST).name == "Fern & Fell"


def test_another_site_is_never_touched(take: Take):
    with transaction():
        other = sites.create_site(StoppedClock(), "other.test", "Other")
    take(products=[product()])
    hosts = [{"host": HOST, "primary": True}, {"host": "other.test"}]
    report = take(site=SITE | {"domains": hosts}, products=[product(price=1)])
    assert [field for _, _, field in refusals(report)] == ["domains/1/host"]
    assert db.session.get_one(Site, other.id).name == "Other"
    assert {record.site_id for record in db.session.scalars(select(Product))} == {sites.site_at(HOST).id}


def test_hosts_of_another_shop_stay_where_they_are(take: Take):
    take(host="copy.test", site=SITE)
    assert [domain.host for domain in sites.site_at("copy.test").domains] == ["copy.test"]


def test_without_a_site_or_its_file_the_import_asks_for_one(take: Take):
    with pytest.raises(Invalid, match=r"site\.json"):
        take(host=None, products=[product()])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("taxonomy.json", "[]"),
        ("taxonomy.json", '{"taxonomies": {}}'),
        ("merchandising.json", '{"trees": [], "more": 1}'),
        ("users.json", "{}"),
        ("site.json", "[]"),
        ("site.json", "{"),
        ("pages.jsonl", "[]\n"),
        ("collections.jsonl", '{"a": 1}\nnonsense\n'),
    ],
)
def test_a_broken_file_stops_before_any_write(take: Take, tmp_path: Path, name: str, content: str):
    folder = write_bundle(tmp_path / "broken", products=[product()])
    (folder / name).write_text(content)
    with pytest.raises(BrokenBundle, match=name.replace(".", r"\.")):
        take(folder)
    assert count(Site) == count(Product) == 0


def test_files_that_are_not_taken_are_named(take: Take):
    report = take(readme={})
    assert [file for file, _ in report.skipped] == ["readme.json"]

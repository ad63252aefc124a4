"""What an import does, leaves out and says about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from itertools import count as count_from
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from app.domain.bundles.importing import import_bundle
from app.domain.bundles.report import BrokenBundle
from app.domain.bundles.task import Transaction
from app.domain.catalogue.models import Collection, Page, Product, ProductAttributeValue, Variant
from app.domain.merchandising.models import Node, Tree
from app.domain.search.models import OutboxEntry
from app.domain.shared.problems import Invalid
from app.domain.sites import accounts, sites
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.roles import Role
from app.domain.taxonomy import tasks
from app.domain.taxonomy.levels.renames import ValueRename
from app.domain.taxonomy.life.revisions import revisions
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.classification import active_taxonomy
from app.domain.taxonomy.products.former_words import rename_parameters
from app.domain.taxonomy.tasks.running import Means, work_off
from app.extensions import db
from app.jobs import events
from app.ports import clock, images
from app.transaction import transaction
from tests.domain.bundles.conftest import HOST, LEVELS, SITE, TAXONOMY, Take, product, refusals, write_bundle
from tests.fakes.clock import StoppedClock

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


def one(sku: str = "T-1") -> Product:
    db.session.expire_all()
    return db.session.scalars(select(Product).where(Product.sku == sku)).one()


def count(model: Any) -> int:
    return db.session.scalar(select(func.count()).select_from(model)) or 0


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


def test_every_change_is_wished_to_be_indexed_in_the_same_transaction(take: Take):
    take(products=[product("T-1"), product("T-2")])
    wished = set(db.session.execute(select(OutboxEntry.kind, OutboxEntry.record_id)).all())
    assert {("product", one("T-1").id), ("product", one("T-2").id)} <= {tuple(wish) for wish in wished}


def test_what_a_row_does_not_say_stays_as_it_is(take: Take, clock: StoppedClock):
    take(products=[product(description="Roomy", stock=4, searchTerms=["tipi"], seoName="my-tent")])
    clock.move(hours=1)
    take(products=[product(price=9_900)])
    tent = one()
    assert (tent.price, tent.description, tent.stock, tent.search_terms) == (9_900, "Roomy", 4, ["tipi"])
    assert (tent.seo_name, tent.revision, tent.updated_at) == ("my-tent", 2, clock.now())


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
        ({"enabled": "yes"}, "enabled"),
        ({"canonicalUrl": "javascript:alert(1)"}, "canonicalUrl"),
        ({"createdAt": "yesterday"}, "createdAt"),
        ({"createdAt": "2026-02-30T10:00:00Z"}, "createdAt"),
        ({"createdAt": "2026-02-03T10:00:00"}, "createdAt"),
        ({"images": "a.jpg"}, "images"),
        ({"colour/size": 1}, "colour/size"),
        ({"taxonomy": {"level": "tents"}}, "taxonomy/level"),
        ({"taxonomy": []}, "taxonomy"),
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


def test_a_word_that_was_renamed_since_the_bundle_was_made_becomes_the_new_one(take: Take, clock: StoppedClock):
    take(taxonomy=TAXONOMY)
    levels = deepcopy(LEVELS)
    levels[0]["attributes"][1]["allowedValues"] = ["Fern", "Clay"]
    rename = rename_parameters("shop", levels, [ValueRename("tents", "colour", "Moss", "Fern")], clock.now())
    with transaction():
        site_id = sites.site_at(HOST).id
        db.session.get_one(Taxonomy, (site_id, "shop")).root_levels = levels
        tasks.request(clock, site_id, tasks.Kind.RENAME_VALUES, rename, "Mia")
    report = take(products=[product(taxonomy={"levelId": "tents", "attributes": {"colour": ["Clay", "Moss"]}})])
    assert one().taxonomy_attributes == {"colour": ["Clay", "Fern"]}
    assert report.dropped == {}


def test_parts_that_cannot_be_taken_leave_their_product_in(take: Take):
    bad = product(
        searchTerms=["a,b"],
        images=["https://elsewhere.test/a.jpg", "media/gone.jpg"],
        taxonomy={"levelId": "caravans"},
    )
    report = take(taxonomy=TAXONOMY, products=[bad])
    assert refusals(report) == [
        ("products.jsonl", 1, "searchTerms/0"),
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


@pytest.mark.parametrize("taxonomy_id", ["new", "worklist", "two words"])
def test_a_taxonomy_whose_id_cannot_be_an_address_is_left_out(take: Take, taxonomy_id: str):
    report = take(taxonomy={"taxonomies": [TAXONOMY["taxonomies"][0] | {"id": taxonomy_id}]})
    assert [field for _, _, field in refusals(report)] == ["taxonomies/0/id"]


def test_taxonomy_problems_name_their_line_and_the_products_still_come_in(take: Take):
    levels = [LEVELS[0] | {"attributes": [*LEVELS[0]["attributes"], {"attributeId": "x", "name": "X", "type": "?"}]}]
    report = take(
        taxonomy={"taxonomies": [TAXONOMY["taxonomies"][0] | {"rootLevels": levels}]},
        products=[product(taxonomy={"levelId": "tents", "attributes": {"x": 1, "sleeps": 2}})],
    )
    assert [field for _, _, field in refusals(report)] == ["taxonomies/0/rootLevels/0/attributes/2/type"]
    assert one().taxonomy_attributes == {"sleeps": 2}


def test_only_the_first_activation_is_done_by_an_import(take: Take):
    take(taxonomy=TAXONOMY)
    other = TAXONOMY["taxonomies"][0] | {"id": "other", "name": "Other"}
    report = take(taxonomy={"taxonomies": [other]})
    assert [field for _, _, field in refusals(report)] == ["taxonomies/0/active"]
    active = active_taxonomy(sites.site_at(HOST).id)
    assert active is not None
    assert active.id == "shop"


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
    report = take(pos={}, readme={})
    assert [file for file, _ in report.skipped] == ["pos.json", "readme.json"]


def asked_for(site_id: int) -> list[str]:
    """What is to be done for the site's products, once the stored events are delivered."""
    events.deliver()
    return [task.kind for task in tasks.unfinished(site_id)]


def test_an_import_that_changes_the_active_taxonomy_has_completeness_worked_out(take: Take):
    take(taxonomy=TAXONOMY, products=[product(taxonomy={"levelId": "tents", "attributes": {"sleeps": 2}})])
    site_id = sites.site_at(HOST).id
    assert asked_for(site_id) == ["RECOMPUTE"]
    with transaction():
        tasks.unfinished(site_id)[0].state = "done"
    take(taxonomy=TAXONOMY)
    assert asked_for(site_id) == []
    levels = [LEVELS[0] | {"name": "Tents and tarps"}]
    take(taxonomy={"taxonomies": [TAXONOMY["taxonomies"][0] | {"rootLevels": levels}]}, dry_run=True)
    assert asked_for(site_id) == []
    take(taxonomy={"taxonomies": [TAXONOMY["taxonomies"][0] | {"rootLevels": levels}]})
    assert asked_for(site_id) == ["RECOMPUTE"]


def dying_after(commits: int) -> Transaction:
    done = 0

    @contextmanager
    def dying() -> Iterator[None]:
        nonlocal done
        with transaction():
            yield
        done += 1
        if done == commits:
            raise SystemExit("killed")

    return dying


@pytest.mark.parametrize("changes", ["another structure", "the first activation"])
def test_an_import_that_dies_after_each_of_its_commits_is_made_up_for_by_the_next(
    take: Take, tmp_path: Path, changes: str
):
    """Also for products that are in no bundle any more: how complete they are follows the taxonomy."""
    active = changes == "another structure"
    before = {"taxonomies": [TAXONOMY["taxonomies"][0] | {"active": active}]}
    take(site=SITE, taxonomy=before, products=[product("OLD")])
    site_id = sites.site_at(HOST).id
    with transaction():
        one("OLD").taxonomy_level_id = "tents"
    work_off(Means(clock(), transaction), site_id)
    weight = {"attributeId": "weight", "name": "Weight", "type": "NUMBER", "validation": {"mandatory": True}}
    levels = [LEVELS[0] | {"attributes": [*LEVELS[0]["attributes"], weight]}]
    bundle = write_bundle(
        tmp_path / "new", taxonomy={"taxonomies": [TAXONOMY["taxonomies"][0] | {"rootLevels": levels}]}
    )
    for commits in count_from(1):
        try:
            import_bundle(bundle, HOST, clock(), images(), dying_after(commits), "a test", 8)
        except SystemExit:
            db.session.rollback()
        else:
            break
    assert commits > 1
    assert "RECOMPUTE" in asked_for(site_id)
    work_off(Means(clock(), transaction), site_id)
    assert one("OLD").completeness_score == 0


def test_a_taxonomy_that_is_active_already_classifies_the_products_of_its_bundle(take: Take):
    """Whether or not the bundle calls it the active one, and in a dry run as well."""
    take(taxonomy=TAXONOMY)
    levels = [*LEVELS, {"levelId": "tarps", "name": "Tarps", "attributes": [], "children": []}]
    new = TAXONOMY["taxonomies"][0] | {"rootLevels": levels, "active": False}
    files = {"taxonomy": {"taxonomies": [new]}, "products": [product(taxonomy={"levelId": "tarps"})]}
    for dry_run in (True, False):
        assert refusals(take(**files, dry_run=dry_run)) == []
    assert one().taxonomy_level_id == "tarps"


def test_an_imported_taxonomy_stands_in_its_log(take: Take):
    take(taxonomy=TAXONOMY)
    levels = [LEVELS[0] | {"name": "Tarps"}]
    take(taxonomy={"taxonomies": [TAXONOMY["taxonomies"][0] | {"rootLevels": levels}]})
    logged = revisions(sites.site_at(HOST).id, "shop", 1).items
    assert [(row.revision, row.saved_by) for row in logged] == [(2, "a test"), (1, "a test")]
    assert any("Tarps" in sentence for sentence in logged[0].changes)

"""What an import does with taxonomies, and what follows for the products."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count as count_from
from pathlib import Path

import pytest

from app.domain.bundles.import_task import Transaction
from app.domain.bundles.importer import import_bundle
from app.domain.shared.author import Author
from app.domain.sites import sites
from app.domain.taxonomy import tasks
from app.domain.taxonomy.lifecycle import activate_taxonomy
from app.domain.taxonomy.revisions import revisions
from app.domain.taxonomy.stored_tree import stored_records
from app.domain.taxonomy.tasks.runner import work_off
from app.domain.taxonomy.taxonomies import active_taxonomy
from app.domain.work.context import WorkContext
from app.extensions import db
from app.jobs import events
from app.ports import clock, images
from app.transaction import transaction
from tests.domain.bundles.conftest import (
    HOST,
    LEVELS,
    SITE,
    TAXONOMY,
    Take,
    one,
    product,
    refusals,
    write_bundle,
)


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


def test_a_slip_in_a_level_or_an_attribute_leaves_the_stored_one_and_costs_no_product_a_value(take: Take):
    sleeps, colour = LEVELS[0]["attributes"]
    stoves = {"levelId": "stoves", "name": "Stoves", "children": [{"levelId": "gas", "name": "Gas stoves"}]}
    row = product(taxonomy={"levelId": "tents", "attributes": {"sleeps": 2, "colour": ["Moss"]}})

    def shop(*levels: object) -> dict[str, object]:
        return {"taxonomies": [TAXONOMY["taxonomies"][0] | {"rootLevels": list(levels)}]}

    take(taxonomy=shop(LEVELS[0], stoves), products=[row])
    slips = shop(
        LEVELS[0] | {"name": "All tents", "attributes": [sleeps | {"kind": "?"}, colour]},
        stoves | {"name": "Cookers", "colour": "red"},
        {"levelId": "boats", "name": ""},
    )
    report = take(taxonomy=slips, products=[row])
    assert [field.removeprefix("taxonomies/0/rootLevels/") for _, _, field in refusals(report)] == [
        "0/attributes/0/kind",
        "1/colour",
        "2/name",
    ]
    assert one().taxonomy_attributes == {"sleeps": 2, "colour": ["Moss"]}
    known = active_taxonomy(sites.site_at(HOST).id)
    assert known is not None
    assert [level["name"] for level in stored_records(known.root_levels)] == ["All tents", "Stoves", "Gas stoves"]
    assert take(taxonomy=slips, products=[row]).changes == 0


def test_only_the_first_activation_is_done_by_an_import(take: Take):
    take(taxonomy=TAXONOMY)
    other = TAXONOMY["taxonomies"][0] | {"id": "other", "name": "Other"}
    report = take(taxonomy={"taxonomies": [other]})
    assert [field for _, _, field in refusals(report)] == ["taxonomies/0/active"]
    active = active_taxonomy(sites.site_at(HOST).id)
    assert active is not None
    assert active.id == "shop"


def requested_tasks(site_id: int) -> list[str]:
    """What is to be done for the site's products, once the stored events are delivered."""
    events.deliver()
    return [task.kind for task in tasks.unfinished(site_id)]


def test_an_import_that_changes_the_active_taxonomy_has_completeness_worked_out(take: Take):
    take(taxonomy=TAXONOMY, products=[product(taxonomy={"levelId": "tents", "attributes": {"sleeps": 2}})])
    site_id = sites.site_at(HOST).id
    assert requested_tasks(site_id) == ["RECOMPUTE"]
    with transaction():
        tasks.unfinished(site_id)[0].state = "done"
    take(taxonomy=TAXONOMY)
    assert requested_tasks(site_id) == []
    levels = [LEVELS[0] | {"name": "Tents and tarps"}]
    take(taxonomy={"taxonomies": [TAXONOMY["taxonomies"][0] | {"rootLevels": levels}]}, dry_run=True)
    assert requested_tasks(site_id) == []
    take(taxonomy={"taxonomies": [TAXONOMY["taxonomies"][0] | {"rootLevels": levels}]})
    assert requested_tasks(site_id) == ["RECOMPUTE"]


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
    work_off(WorkContext(clock(), transaction), site_id)
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
    assert "RECOMPUTE" in requested_tasks(site_id)
    work_off(WorkContext(clock(), transaction), site_id)
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


CARAVANS = product(taxonomy={"levelId": "caravans"})
OTHER_ACTIVE = {"taxonomies": [TAXONOMY["taxonomies"][0] | {"id": "other", "name": "Other"}]}


@pytest.mark.parametrize(
    ("taxonomy", "dry_run", "why"),
    [
        (OTHER_ACTIVE, True, "“shop” is active on this site, while theirs is “other”. Carry this out, make “other”"),
        (OTHER_ACTIVE, False, "“shop” is active on this site, while theirs is “other”. Make “other” active"),
        ({"taxonomies": []}, False, "the active taxonomy does not have it. Add these levels to it, or make"),
    ],
)
def test_products_without_their_level_come_first_with_the_count_and_what_to_do(
    take: Take, taxonomy: dict, dry_run: bool, why: str
):
    take(taxonomy=TAXONOMY)
    rows = [CARAVANS | {"sku": f"T-{number}"} for number in range(3)]
    report = take(taxonomy=taxonomy, products=rows, dry_run=dry_run)
    assert report.notes[0].startswith(f"3 products come without their level: {why}")
    assert "Catalogue › Taxonomy" in report.notes[0]


def test_a_site_without_an_active_taxonomy_is_told_to_have_one(take: Take):
    report = take(products=[CARAVANS])
    assert report.notes[0].startswith("1 product comes without its level: no taxonomy is active on this site.")


def test_a_plan_without_taxonomies_is_named_as_the_reason(take: Take):
    site = SITE | {"capabilities": []}
    report = take(site=site, products=[CARAVANS])
    assert report.notes[0] == "1 product comes without its level: the plan of this site has no taxonomies."


def test_all_is_well_once_what_the_note_says_was_done(take: Take):
    take(taxonomy=TAXONOMY)
    levels = [{"levelId": "caravans", "name": "Caravans", "attributes": [], "children": []}]
    files = {
        "taxonomy": {"taxonomies": [OTHER_ACTIVE["taxonomies"][0] | {"rootLevels": levels}]},
        "products": [CARAVANS],
    }
    take(**files)
    assert one().taxonomy_level_id is None
    with transaction():
        activate_taxonomy(Author(sites.site_at(HOST).id, "Mia", clock()), "other", "Other")
    assert take(**files).refusals == []
    assert one().taxonomy_level_id == "caravans"


def test_reasons_are_counted_and_the_gravest_stand_first(take: Take):
    take(taxonomy=TAXONOMY)
    rows = [CARAVANS | {"sku": f"T-{number}"} for number in range(3)]
    report = take(taxonomy=OTHER_ACTIVE, products=[*rows, product("T-4", price="x"), product("T-5", price="y")])
    assert [(reason.kind, reason.code, reason.count) for reason in report.gravest_first] == [
        ("parts of taxonomies", "other_is_active", 1),
        ("products", "wrong_type", 2),
        ("parts of products", "unknown_level", 3),
    ]
    assert report.gravest_first[1].example.line == 4

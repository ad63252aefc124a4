"""Saving a taxonomy whole, and its change log."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.domain.shared.problems import Invalid, NotFound, StaleRevision
from app.domain.sites.models import AuditEntry, Site, StoredEvent
from app.domain.taxonomy.models import Taxonomy, TaxonomyRevision, TaxonomyTask
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.revisions import base_tree, compare_revisions, revision_of, revisions
from app.domain.taxonomy.saves import SavedTaxonomy
from app.domain.taxonomy.taxonomies import taxonomy_of
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.trees import choice, level, number, text
from tests.factories import make_product, make_site, make_taxonomy
from tests.fakes.clock import StoppedClock
from tests.taxonomy_saves import bring_back, save_structure

CAMPING = [level("camping", level("tents", attributes=[choice("colour", "Moss", "Clay")]), level("stoves"))]


@pytest.fixture
def site(context: None) -> Iterator[Site]:
    with transaction():
        site = make_site()
        make_taxonomy(site, CAMPING, active=True, id="camping")
    yield site


@pytest.fixture
def save(clock: StoppedClock, site: Site):
    def save(levels: list[Any], revision: int | None = 1, name: str = "Kinds", **more: Any) -> SavedTaxonomy:
        with transaction():
            return save_structure(clock, site.id, "camping", revision, name, "", levels, "Mia Moss", **more)

    return save


def stored(site: Site) -> Taxonomy:
    db.session.rollback()
    return taxonomy_of(site.id, "camping")


def written() -> dict[str, int]:
    """Rows of everything that a save leaves behind."""
    tables = (TaxonomyRevision, AuditEntry, StoredEvent, TaxonomyTask)
    return {table.__tablename__: db.session.scalar(select(func.count()).select_from(table)) for table in tables}


def test_a_save_raises_the_revision_and_is_told_to_everybody(site: Site, save, clock: StoppedClock):
    version = site.config_version
    clock.move(hours=1)
    saved = save([*CAMPING, level("new-1", name="Boots")], note=" For spring ")
    assert (saved.taxonomy.revision, saved.ids, saved.taxonomy.updated_at) == (2, {"new-1": "boots"}, clock.now())
    assert [found["levelId"] for found in stored(site).root_levels] == ["camping", "boots"]
    entry = db.session.scalars(select(AuditEntry)).one()
    assert (entry.action, entry.subject_id, entry.actor) == ("taxonomy.save", "camping", "Mia Moss")
    assert entry.after == {"revision": 2, "changes": ["Added the level “Boots”."], "note": "For spring"}
    event = db.session.scalars(select(StoredEvent)).one()
    payload = {"taxonomyId": "camping", "revision": 2, "placedLevels": ["boots"], "definedAttributes": []}
    assert (event.name, event.payload) == ("TaxonomyIndexEvent", payload)
    db.session.refresh(site)
    assert site.config_version > version, "caches are keyed by it"


def test_a_save_names_the_levels_that_are_called_otherwise_for_the_index(site: Site, save):
    tents = CAMPING[0]["children"][0]
    other = {**tents, "otherNames": ["Shelters"]}
    renamed = {**CAMPING[0], "name": "Outdoors", "children": [other, *CAMPING[0]["children"][1:]]}
    saved = save([renamed])
    assert "Changed the other names of the level “Tents” to “Shelters”." in saved.comparison.sentences()
    event = db.session.scalars(select(StoredEvent)).one()
    assert event.payload["renamedLevels"] == ["camping", "tents"]
    assert stored(site).root_levels[0]["children"][0]["otherNames"] == ["Shelters"]


def test_a_save_names_what_documents_hold_otherwise_for_the_index(site: Site, save):
    tents, *others = CAMPING[0]["children"]
    colour, *more = tents["attributes"]
    extra = {"attributeId": "made-of", "name": "Made of", "type": "STRING"}
    moved = {**tents, "attributes": [*more, extra]}
    save([{**CAMPING[0], "children": others}, moved])
    payload = db.session.scalars(select(StoredEvent)).one().payload
    assert payload["placedLevels"] == ["tents"]
    assert payload["definedAttributes"] == ["made-of", colour["attributeId"]]
    assert "renamedLevels" not in payload


def test_a_save_that_changes_nothing_is_a_write_like_any_other(site: Site, save):
    saved = save(CAMPING)
    assert (saved.taxonomy.revision, saved.comparison.is_empty) == (2, True)


@pytest.mark.parametrize("revision", [0, None, 2, 10**30, -1])
def test_a_save_on_another_revision_writes_nothing(site: Site, save, revision: int | None):
    before = written()
    with pytest.raises(StaleRevision) as refused:
        save([], revision=revision)
    assert refused.value.current_revision == 1
    assert (stored(site).revision, len(stored(site).root_levels), written()) == (1, 1, before)


def test_a_revision_that_is_not_told_counts_as_zero(site: Site, save):
    taxonomy = stored(site)
    with transaction():
        taxonomy.revision = 0
    assert save(CAMPING, revision=None).taxonomy.revision == 1


def test_the_refusal_names_who_saved_first(site: Site, save):
    save(CAMPING)
    with pytest.raises(StaleRevision, match="Mia Moss saved this taxonomy"):
        save([])


def test_every_problem_is_told_and_nothing_is_written(site: Site, save):
    before = written()
    with pytest.raises(Invalid) as refused:
        save([level("new-1", name=""), level("tents", attributes=[choice("size")])], name=" ")
    found = {(p.code, getattr(p, "level_id", None), getattr(p, "attribute_id", None)) for p in refused.value.problems}
    assert ("required", None, None) in found, "the taxonomy's own name"
    assert ("name_missing", "new-1", None) in found, "known by the id that was sent"
    assert ("values_missing", "tents", "size") in found
    assert (stored(site).revision, written()) == (1, before)


def test_a_problem_is_told_without_what_would_follow_from_mending_it_by_deletion(site: Site, save):
    with pytest.raises(Invalid) as refused:
        save([level("tents", attributes=[choice("colour", "Moss, light")])])
    assert [problem.code for problem in refused.value.problems] == ["comma_in_value"]


def test_parents_and_order_that_were_sent_count_for_nothing(site: Site, save):
    wrong = level("stoves", parentLevelId="tents", displayOrder=7)
    saved = save([level("camping", level("tents"), wrong, parentLevelId=5, displayOrder="x")])
    found = saved.taxonomy.root_levels[0]["children"]
    assert [(child["parentLevelId"], child["displayOrder"]) for child in found] == [("camping", 0), ("camping", 1)]


def test_ids_that_are_stored_keep_their_form_and_others_must_fit(site: Site, save):
    taxonomy = stored(site)
    with transaction():
        taxonomy.root_levels = [level("über uns", parentLevelId=None, displayOrder=0)]
    assert save([level("über uns")]).taxonomy.root_levels[0]["levelId"] == "über uns"
    with pytest.raises(Invalid, match="may hold only letters"):
        save([level("über alles")], revision=2)


def test_a_taxonomy_of_another_site_is_not_found(site: Site, clock: StoppedClock):
    with transaction():
        other = make_site("other.localhost")
    with pytest.raises(NotFound), transaction():
        save_structure(clock, other.id, "camping", 1, "Mine", "", [], "Mia Moss")


def test_a_renamed_value_follows_on_products(site: Site, save):
    renamed = [level("camping", level("tents", attributes=[choice("colour", "Fern", "Clay")]), level("stoves"))]
    saved = save(renamed, renames=[ValueRename("tents", "colour", "Moss", "Fern")])
    task = db.session.scalars(select(TaxonomyTask)).one()
    assert task.kind == "RENAME_VALUES"
    expected = {"levelId": "tents", "attributeId": "colour", "value": "Moss", "renamed": "Fern"}
    assert (task.parameters["taxonomyId"], task.parameters["renames"]) == ("camping", [expected])
    assert task.parameters["governed"] == [{"levelId": "tents", "attributeId": "colour", "levelIds": ["tents"]}]
    assert saved.comparison.values_removed == ()


def test_a_rename_is_mapped_to_the_ids_that_new_records_got(site: Site, save):
    levels = [level("new-1", name="Bags", attributes=[choice("new-a1", "Fern", name="Tint")])]
    save([*CAMPING, *levels], renames=[ValueRename("new-1", "new-a1", "Moss", "Fern")])
    parameters = db.session.scalars(select(TaxonomyTask)).one().parameters
    assert [(r["levelId"], r["attributeId"]) for r in parameters["renames"]] == [("bags", "tint")]


def test_a_rename_to_a_value_that_is_not_offered_is_refused(site: Site, save):
    with pytest.raises(Invalid) as refused:
        save(CAMPING, renames=[ValueRename("tents", "colour", "Moss", "Puce")])
    assert refused.value.problems[0].pointer == "#/valueRenames/0"


def test_a_taxonomy_that_is_not_active_has_no_products_to_follow(site: Site, save):
    with transaction():
        make_taxonomy(site, CAMPING, active=True, id="other")
    save(CAMPING, renames=[ValueRename("tents", "colour", "Red", "Clay")])
    assert db.session.scalars(select(TaxonomyTask)).all() == []


@pytest.mark.concurrent
def test_of_fifty_saves_at_once_one_wins_and_the_others_write_nothing(app: Flask, site: Site, clock: StoppedClock):
    site_id, outcomes, start = site.id, [], threading.Barrier(50)
    db.session.rollback()

    def save(number: int) -> None:
        with app.app_context():
            start.wait()
            try:
                with transaction():
                    levels = [*CAMPING, level(f"added-by-{number}")]
                    save_structure(clock, site_id, "camping", 1, "Kinds", "", levels, f"Editor {number}")
                outcomes.append(number)
            except StaleRevision as stale:
                outcomes.append(f"stale at {stale.current_revision}")

    threads = [threading.Thread(target=save, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    won = [outcome for outcome in outcomes if isinstance(outcome, int)]
    assert Counter(map(str, outcomes)) == {str(won[0]): 1, "stale at 2": 49}
    taxonomy = stored(site)
    assert (taxonomy.revision, taxonomy.root_levels[-1]["levelId"]) == (2, f"added-by-{won[0]}")
    rows = {"taxonomy_revisions": 2, "audit_entries": 1, "stored_events": 1, "taxonomy_tasks": 0}
    assert written() == rows, "of the losers nothing is left"
    assert db.session.scalars(select(AuditEntry.actor)).one() == f"Editor {won[0]}"


def test_products_do_not_end_up_at_a_new_level_that_is_called_like_theirs(site: Site, save):
    with transaction():
        make_product(site, taxonomy_level_id="tents")
    saved = save([level("camping", level("new-1", name="Tents"), level("stoves"))])
    assert saved.ids == {"new-1": "tents-2"}
    saved = save([level("camping", level("new-1", name="Tents"))], revision=2)
    assert saved.ids == {"new-1": "tents-3"}, "the product still names the first"
    assert save([level("camping", level("new-1", name="Stoves"))], revision=3).ids == {"new-1": "stoves"}


def test_values_do_not_end_up_under_a_new_attribute_that_is_called_like_theirs(site: Site, save):
    tents = level("tents", attributes=[text("new-1", name="Colour")])
    assert save([level("camping", tents)]).ids == {"new-1": "colour-2"}


def test_the_change_log_begins_with_what_was_stored_before_it(site: Site, save):
    assert [row.revision for row in revisions(site.id, "camping", 1).items] == [1]
    save([level("boots")], note="Feet only")
    log = revisions(site.id, "camping", 1).items
    assert [(row.revision, row.saved_by, row.note, row.is_current) for row in log] == [
        (2, "Mia Moss", "Feet only", True),
        (1, "", "", False),
    ]
    assert "Added the level “Boots”." in log[0].changes
    assert base_tree(site.id, "camping", 1).siblings(None) == ["camping"]
    assert base_tree(site.id, "camping", 7) is None


def test_changed_texts_of_the_taxonomy_are_in_the_change_log(site: Site, save):
    save(CAMPING, name="Outdoor")
    assert revisions(site.id, "camping", 1).items[0].changes == ["Renamed the taxonomy “Kinds” to “Outdoor”."]


def test_the_newest_hundred_revisions_are_kept_and_those_below_drafts(site: Site, save, clock: StoppedClock):
    from app.domain.taxonomy.models import TaxonomyDraft
    from tests.factories import make_user

    save(CAMPING)
    with transaction():
        user = make_user(site)
        draft = {"user_id": user.id, "base_revision": 2, "updated_at": clock.now()}
        db.session.add(TaxonomyDraft(site_id=site.id, taxonomy_id="camping", **draft))
    for revision in range(2, 105):
        save(CAMPING, revision=revision)
    kept = db.session.scalars(select(TaxonomyRevision.revision).order_by(TaxonomyRevision.revision)).all()
    assert kept == [2, *range(6, 106)]
    page = revisions(site.id, "camping", 2)
    assert (page.total_items, len(page.items), page.items[0].revision) == (101, 25, 80)


def test_two_revisions_are_compared(site: Site, save):
    save([level("camping")])
    save([level("camping"), level("boots")], revision=2)
    compared = compare_revisions(site.id, "camping", 1, 3)
    assert [found.level_id for found in compared.levels_removed] == ["tents", "stoves"]
    assert [found.level_id for found in compared.levels_added] == ["boots"]
    with pytest.raises(NotFound):
        compare_revisions(site.id, "camping", 1, 9)


def test_an_earlier_revision_comes_back_as_a_new_one(site: Site, save, clock: StoppedClock):
    save([level("boots")], name="Shoes")
    with transaction():
        saved = bring_back(clock, site.id, "camping", 1, 2, "Mia Moss")
    assert (saved.taxonomy.revision, saved.taxonomy.name) == (3, "Kinds")
    assert saved.taxonomy.root_levels == revision_of(site.id, "camping", 1).root_levels
    assert revisions(site.id, "camping", 1).items[0].note == "Restored revision 1"
    with pytest.raises(StaleRevision), transaction():
        bring_back(clock, site.id, "camping", 1, 2, "Mia Moss")


def test_ids_of_an_earlier_revision_keep_their_form_when_it_comes_back(site: Site, save, clock: StoppedClock):
    taxonomy = stored(site)
    with transaction():
        taxonomy.root_levels = [level("über uns", parentLevelId=None, displayOrder=0, attributes=[text("q")])]
    save(CAMPING)
    with transaction():
        saved = bring_back(clock, site.id, "camping", 1, 2, "Mia Moss")
    assert saved.taxonomy.root_levels[0]["levelId"] == "über uns"


def test_a_unit_alone_is_a_change_with_a_place_in_the_history(site: Site, save):
    save([level("camping", attributes=[number("weight")])])
    save([level("camping", attributes=[number("weight", unit="kg")])], revision=2)
    assert revisions(site.id, "camping", 1).items[0].changes == ["Changed the unit of “Weight” (Camping)."]
    assert stored(site).root_levels[0]["attributes"][0]["unit"] == "kg"

"""The editor's draft: on the server, one for each person and taxonomy."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import delete, func, select

from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, NotFound, StaleRevision
from app.domain.sites.models import Site
from app.domain.taxonomy.editor import drafts
from app.domain.taxonomy.editor.attribute_edits import RenameValue
from app.domain.taxonomy.editor.drafts import Edited, Editing, StaleDraft, draft_conflict
from app.domain.taxonomy.editor.level_edits import AddLevel, ChangeLevel, DeleteLevel, Edit, MoveLevel
from app.domain.taxonomy.editor.steps import MOST_STEPS, Step
from app.domain.taxonomy.models import Taxonomy, TaxonomyDraft, TaxonomyRevision, TaxonomyTask
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.trees import choice, level
from tests.factories import make_site, make_taxonomy, make_user
from tests.fakes.clock import StoppedClock
from tests.taxonomy_saves import save_structure

CAMPING = [level("camping", level("tents", attributes=[choice("colour", "Moss", "Clay")]), level("stoves"))]


@pytest.fixture
def site(context: None) -> Iterator[Site]:
    with transaction():
        site = make_site()
        make_taxonomy(site, CAMPING, active=True, id="kinds")
    yield site


@pytest.fixture
def mia(site: Site) -> Draft:
    return Draft(site)


class Draft:
    """Somebody in the editor; every window that shows their draft is one of theirs."""

    def __init__(self, site: Site, clock: StoppedClock | None = None) -> None:
        with transaction():
            self.user_id = make_user(site).id
        self.site, self.site_id = site, site.id
        self.clock = clock or StoppedClock()
        self.author = Author(self.site_id, "Mia Moss", self.clock)

    def opened(self) -> Editing:
        db.session.rollback()
        return drafts.open_draft(self.site_id, "kinds", self.user_id)

    def edit(self, *edits: Edit, token: str | None = None) -> Edited:
        with transaction():
            return drafts.edit(self.author, "kinds", self.user_id, lambda levels: edits, token)

    def undo(self) -> Edited:
        with transaction():
            return drafts.undo(self.author, "kinds", self.user_id)

    def redo(self) -> Edited:
        with transaction():
            return drafts.redo(self.author, "kinds", self.user_id)

    def save(self, note: str = "", token: str | None = None) -> Taxonomy:
        """What is there now, unless `token` says which draft was reviewed."""
        seen = self.opened().token if token is None else token
        with transaction():
            prepared = drafts.prepare_draft(self.site_id, "kinds", self.user_id, seen, note)
            return drafts.save_draft(self.author, self.user_id, seen, prepared).taxonomy


def names(editing: Editing) -> list[str]:
    return [found.name for found in editing.levels.values()]


def stored_drafts() -> int:
    return db.session.scalar(select(func.count()).select_from(TaxonomyDraft)) or 0


def test_nothing_is_written_before_the_first_edit(mia: Draft):
    editing = mia.opened()
    assert (names(editing), editing.steps, editing.version) == (["Camping", "Tents", "Stoves"], (), 0)
    assert stored_drafts() == 0


def test_an_edit_stays_until_the_next_visit(mia: Draft):
    edited = mia.edit(AddLevel("camping", "Lamps"))
    again = mia.opened()
    assert names(again) == names(edited.after) == ["Camping", "Tents", "Stoves", "Lamps"]
    assert (again.applied, again.token) == (1, edited.after.token)
    assert names(edited.before) == ["Camping", "Tents", "Stoves"]


def test_steps_are_taken_back_and_done_again(mia: Draft):
    mia.edit(AddLevel(None, "Toys"))
    mia.edit(ChangeLevel("tents", "Shelters", ""))
    assert names(mia.undo().after) == ["Camping", "Tents", "Stoves", "Toys"]
    assert names(mia.undo().after) == ["Camping", "Tents", "Stoves"]
    assert mia.undo().step is None
    assert names(mia.redo().after) == ["Camping", "Tents", "Stoves", "Toys"]
    mia.edit(DeleteLevel("stoves"))
    assert mia.redo().step is None, "after another edit there is nothing to do again"
    assert names(mia.opened()) == ["Camping", "Tents", "Toys"]


def test_several_edits_at_once_are_one_step(mia: Draft):
    edited = mia.edit(AddLevel("camping", "A"), AddLevel("camping", "B"), AddLevel("camping", "C"))
    assert edited.after.applied == 1
    assert edited.step is not None and edited.step.label == "Added the level “A” and 2 more"
    assert names(mia.undo().after) == ["Camping", "Tents", "Stoves"]


def test_several_edits_of_different_kinds_are_told_by_the_first(mia: Draft):
    edited = mia.edit(DeleteLevel("stoves"), AddLevel("camping", "A"))
    assert edited.step is not None and edited.step.label == "Deleted the level “Stoves” and 1 more"


@pytest.mark.concurrent
def test_of_two_windows_that_edit_at_once_one_is_told_to_look_again(app: Flask, mia: Draft):
    token, result, start = mia.opened().token, [], threading.Barrier(8)
    db.session.rollback()

    def add(number: int) -> None:
        with app.app_context():
            start.wait()
            try:
                mia.edit(AddLevel(None, f"Added by {number}"), token=token)
                result.append("done")
            except StaleDraft:
                result.append("late")

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result) == ["done"] + ["late"] * 7
    assert len(mia.opened().steps) == 1


def test_an_edit_that_changes_nothing_is_no_step(mia: Draft):
    assert mia.edit(ChangeLevel("tents", " Tents ", "")).step is None
    assert stored_drafts() == 0


def test_an_edit_that_cannot_be_done_changes_nothing(mia: Draft):
    with pytest.raises(Invalid):
        mia.edit(AddLevel(None, "Toys"), MoveLevel("camping", "tents", 0))
    assert mia.opened().steps == ()


def test_only_the_draft_that_was_reviewed_is_saved(mia: Draft):
    mia.edit(AddLevel(None, "Toys"))
    reviewed = mia.opened().token
    mia.edit(AddLevel(None, "Stoves"))
    for token in (reviewed, ""):
        with pytest.raises(StaleDraft):
            mia.save(token=token)
    assert (mia.opened().taxonomy.revision, len(mia.opened().done)) == (1, 2)
    assert mia.save().revision == 2


def test_a_window_that_shows_an_earlier_state_is_refused(mia: Draft):
    first = mia.opened().token
    second = mia.edit(AddLevel(None, "Toys"), token=first).after.token
    with pytest.raises(StaleDraft):
        mia.edit(AddLevel(None, "Books"), token=first)
    assert names(mia.edit(AddLevel(None, "Books"), token=second).after)[-2:] == ["Toys", "Books"]


def test_a_draft_begun_after_another_was_discarded_is_another_one(mia: Draft):
    before = mia.edit(AddLevel(None, "Toys")).after.token
    with transaction():
        drafts.discard(mia.site_id, "kinds", mia.user_id)
    mia.clock.move(seconds=5)
    assert mia.edit(AddLevel(None, "Books")).after.token != before


def test_each_person_has_a_draft_of_their_own(mia: Draft, site: Site):
    mia.edit(AddLevel(None, "Toys"))
    assert "Toys" not in names(Draft(site).opened())


def test_problems_name_the_records_of_the_draft(mia: Draft):
    mia.edit(AddLevel("camping", "Tents"))
    (problem,) = mia.opened().problems
    assert (problem.code, problem.level_id) == ("duplicate_name", "new-1")


def test_a_save_makes_a_revision_and_ends_the_draft(mia: Draft):
    mia.edit(AddLevel("camping", "Lamps"))
    assert mia.save().revision == 2
    editing = mia.opened()
    assert (names(editing)[-1], editing.applied, editing.base_revision, stored_drafts()) == ("Lamps", 0, 2, 0)


def test_a_renamed_value_is_renamed_on_products_with_the_save(mia: Draft):
    mia.edit(RenameValue("tents", "colour", "Moss", "Fern"))
    assert [(one.value, one.renamed) for one in mia.opened().renames] == [("Moss", "Fern")]
    mia.save()
    kinds = [task.kind for task in db.session.scalars(select(TaxonomyTask))]
    assert "RENAME_VALUES" in kinds


def test_without_a_change_there_is_nothing_to_save(mia: Draft):
    mia.edit(AddLevel(None, "Toys"))
    mia.undo()
    with pytest.raises(Conflict):
        mia.save()


def test_who_saves_second_keeps_the_draft_and_can_go_on_upon_the_new_revision(mia: Draft, site: Site):
    mia.edit(AddLevel("camping", "Lamps"))
    other = Draft(site)
    other.edit(DeleteLevel("stoves"))
    other.save()
    with pytest.raises(StaleRevision):
        mia.save()
    assert mia.opened().is_stale and names(mia.opened()) == ["Camping", "Tents", "Stoves", "Lamps"]
    with transaction():
        rebased = drafts.rebase_draft(mia.author, "kinds", mia.user_id)
    assert rebased.refused == [] and not mia.opened().is_stale
    assert names(mia.opened()) == ["Camping", "Tents", "Lamps"]
    assert mia.save().revision == 3


def test_a_value_that_somebody_renamed_meanwhile_is_told_as_renamed(mia: Draft, site: Site):
    mia.edit(AddLevel("camping", "Lamps"))
    other = Draft(site)
    other.edit(RenameValue("tents", "colour", "Moss", "Fern"))
    other.save()
    text = draft_conflict(mia.opened()).theirs.sentences()
    assert text == ["Renamed the value “Moss” of “Colour” (Tents) to “Fern”."]


def test_a_draft_that_began_without_any_level_keeps_its_base(mia: Draft, site: Site):
    with transaction():
        make_taxonomy(site, [], id="blank")
        drafts.edit(mia.author, "blank", mia.user_id, AddLevel(None, "Boots"))
    with transaction():
        save_structure(mia.clock, site.id, "blank", 1, "Blank", "", [level("lamps")], "Otto Oak")
    editing = drafts.open_draft(site.id, "blank", mia.user_id)
    assert (dict(editing.base.levels), names(editing)) == ({}, ["Boots"])
    assert draft_conflict(editing).theirs.sentences() == ["Added the level “Lamps”."]
    with transaction():
        assert drafts.rebase_draft(mia.author, "blank", mia.user_id).refused == []
    assert names(drafts.open_draft(site.id, "blank", mia.user_id)) == ["Boots", "Lamps"]


def test_edits_whose_base_nobody_knows_are_told_and_kept_until_they_are_discarded(mia: Draft):
    mia.edit(AddLevel(None, "Toys"))
    other = Draft(mia.site)
    other.edit(DeleteLevel("tents"))
    other.save()
    with transaction():
        db.session.execute(delete(TaxonomyRevision).where(TaxonomyRevision.revision == 1))
    editing = mia.opened()
    assert (names(editing), editing.lost, editing.is_stale) == (
        ["Camping", "Stoves"],
        ("Added the level “Toys”",),
        False,
    )
    for refused in (lambda: mia.edit(AddLevel(None, "Games")), mia.undo, mia.save):
        with pytest.raises(Conflict):
            refused()
    assert mia.opened().lost
    with transaction():
        drafts.discard(mia.site_id, "kinds", mia.user_id)
    assert not mia.opened().lost
    assert names(mia.edit(AddLevel(None, "Games")).after) == ["Camping", "Stoves", "Games"]


def test_a_draft_can_be_read_after_the_taxonomy_was_overwritten(mia: Draft, site: Site):
    """An import changes the row without asking who edits."""
    mia.edit(AddLevel(None, "Toys"))
    with transaction():
        save_structure(mia.clock, site.id, "kinds", 1, "Kinds", "", [level("books")], "Import")
    assert names(mia.opened()) == ["Camping", "Tents", "Stoves", "Toys"]


def test_the_taxonomys_name_changes_at_once_and_the_draft_goes_on(mia: Draft):
    mia.edit(AddLevel(None, "Toys"))
    with transaction():
        drafts.change_details(mia.author, "kinds", mia.user_id, 1, "All kinds", "Of things")
    editing = mia.opened()
    assert (editing.taxonomy.name, editing.is_stale, names(editing)[-1]) == ("All kinds", False, "Toys")


def test_the_taxonomys_name_is_not_changed_on_a_revision_that_another_user_replaced(mia: Draft, site: Site):
    with transaction():
        drafts.change_details(mia.author, "kinds", mia.user_id, 1, "All kinds", "Of things")
    for name in ("Kinds", ""):  # Nothing is said of a wrong name before it is known what it would replace.
        with pytest.raises(StaleRevision) as refused, transaction():
            drafts.change_details(mia.author, "kinds", mia.user_id, 1, name, "Old")
        assert refused.value.current_revision == 2
    taxonomy = mia.opened().taxonomy
    assert (taxonomy.name, taxonomy.description, taxonomy.revision) == ("All kinds", "Of things", 2)


def test_the_oldest_steps_become_one_when_there_are_too_many(mia: Draft):
    mia.edit(ChangeLevel("tents", "First", ""))
    with transaction():
        draft = db.session.scalars(select(TaxonomyDraft)).one()
        there_and_back = (
            Step("", {"stoves": ({"name": a}, {"name": b})}) for a, b in (("Stoves", "X"), ("X", "Stoves"))
        )
        more = [step.as_json() for step in there_and_back] * (MOST_STEPS // 2)
        draft.steps, draft.applied = [*draft.steps, *more][:MOST_STEPS], MOST_STEPS
    mia.edit(ChangeLevel("tents", "Last", ""))
    editing = mia.opened()
    assert (len(editing.steps), editing.steps[0].label) == (MOST_STEPS, "Earlier changes")
    assert names(editing)[1] == "Last" and names(mia.undo().after)[1] == "First"


def test_another_shops_taxonomy_is_not_found(mia: Draft, site: Site):
    with transaction():
        other = make_site("other.localhost")
    with pytest.raises(NotFound):
        drafts.open_draft(other.id, "kinds", mia.user_id)

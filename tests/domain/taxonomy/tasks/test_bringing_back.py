"""With an earlier revision of a taxonomy its words come back, on products as well."""

from __future__ import annotations

from copy import deepcopy

import pytest

from app.domain.taxonomy.impact import impact
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.revisions import describe_changes, renames_between, revision_of
from app.extensions import db
from app.jobs import events
from app.transaction import transaction
from tests.domain.taxonomy.tasks.conftest import LEVELS, Worker, add, counted, product
from tests.fakes.clock import StoppedClock
from tests.taxonomy_saves import bring_back, save_structure


def save_colours(clock: StoppedClock, site_id: int, *colours: str, renames: dict[str, str]) -> int:
    levels = deepcopy(LEVELS)
    levels[0]["attributes"][0]["allowedValues"] = list(colours)
    with transaction():
        known = db.session.get_one(Taxonomy, (site_id, "kit")).revision
        value_renames = [ValueRename("gear", "colour", value, renamed) for value, renamed in renames.items()]
        return save_structure(
            clock, site_id, "kit", known, "Kit", "", levels, "Mia", renames=value_renames
        ).taxonomy.revision


@pytest.mark.parametrize("worked_between", [True, False])
def test_with_an_earlier_revision_its_words_come_back(
    clock: StoppedClock, site_id: int, work: Worker, worked_between: bool
):
    add(site_id, "T-1", "tents", colour=["Moss", "Sky"], sleeps=2)
    save_colours(clock, site_id, "Fern", "Clay", "Sky", renames={"Moss": "Fern"})
    newest = save_colours(clock, site_id, "Pine", "Clay", "Blue", renames={"Fern": "Pine", "Sky": "Blue"})
    if worked_between:
        work()
        assert product("T-1").taxonomy_attributes["colour"] == ["Pine", "Blue"]
    clock.move(seconds=5)
    summaries = describe_changes(site_id, "kit", newest, 1)
    assert summaries == [
        "Renamed the value “Pine” of “Colour” (Gear) to “Moss”.",
        "Renamed the value “Blue” of “Colour” (Gear) to “Sky”.",
    ]
    with transaction():
        bring_back(clock, site_id, "kit", 1, newest, "Mia")
    clock.move(seconds=5)
    events.deliver()
    work()
    assert product("T-1").taxonomy_attributes == {"colour": ["Moss", "Sky"], "sleeps": 2}
    assert counted("T-1") == {("colour", "Moss"), ("colour", "Sky"), ("sleeps", "2")}


def test_the_preview_of_bringing_back_tells_of_the_words_that_come_back(
    clock: StoppedClock, site_id: int, work: Worker
):
    add(site_id, "T-1", "tents", colour=["Moss"], sleeps=2)
    newest = save_colours(clock, site_id, "Fern", "Clay", "Sky", renames={"Moss": "Fern"})
    work()
    taxonomy = db.session.get_one(Taxonomy, (site_id, "kit"))
    wanted = revision_of(site_id, "kit", 1).tree
    found = impact(site_id, taxonomy, wanted, renames_between(site_id, "kit", newest, 1))
    assert [(value.value, value.renamed, value.products) for value in found.values_renamed] == [("Fern", "Moss", 1)]
    assert found.values_removed == ()

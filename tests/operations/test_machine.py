"""The start of a machine: beside others that share everything, and not beside one that runs and does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from flask import Flask

from app.domain.machines import machines
from app.domain.machines.coexistence import MachineFacts
from app.extensions import db
from app.operations.instance import CannotStart
from app.operations.machine import StillRuns, admit, check_alone, check_one_release, check_others
from app.ports import machine_id
from app.transaction import transaction
from tests.fakes.clock import StoppedClock

EMBEDDED = MachineFacts("right", "1.0", "whoosh", "postgresql", "files")
SHARED = MachineFacts("right", "1.0", "opensearch", "postgresql", "s3")
LEFT = replace(EMBEDDED, name="left")
OTHER = "0ther0ther00"

pytestmark = pytest.mark.usefixtures("context")


@dataclass
class Others:
    """Another machine. While this one pauses, time passes, in which the other beats as long as it lives."""

    clock: StoppedClock
    facts: MachineFacts = LEFT
    lives: bool = True
    pauses: int = 0

    def start(self, machine: str = OTHER) -> None:
        with transaction():
            machines.register(self.clock, machine, self.facts)

    def pause(self, seconds: float) -> None:
        self.pauses += 1
        self.clock.move(seconds=seconds)
        if self.lives and self.pauses % 10 == 0:
            with transaction():
                machines.beat(self.clock, OTHER)


@pytest.fixture
def others(clock: StoppedClock) -> Others:
    return Others(clock)


def known() -> dict[str, str]:
    db.session.rollback()
    return {machine.id: machine.name for machine in machines.all_machines()}


def never(_seconds: float) -> None:
    raise AssertionError("There is nothing to wait for.")


def test_the_first_machine_is_noted_and_starts_again_at_once() -> None:
    for is_whole in (True, False, True):
        admit(EMBEDDED, is_whole=is_whole, pause=never)
    assert known() == {machine_id(): "right"}


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_second_machine_is_refused_while_the_first_runs(others: Others, is_whole: bool) -> None:
    others.start()
    with pytest.raises(CannotStart, match=r"The machine left runs this shop already .* SEARCH_ENGINE to opensearch"):
        admit(EMBEDDED, is_whole=is_whole, pause=others.pause)
    assert known() == {OTHER: "left"}
    with pytest.raises(CannotStart):
        admit(SHARED, is_whole=is_whole, pause=others.pause)


def test_machines_that_share_everything_start_beside_each_other(others: Others) -> None:
    others.facts = replace(SHARED, name="left")
    others.start()
    admit(SHARED, is_whole=True, pause=never)
    assert sorted(known().values()) == ["left", "right"]


def test_one_that_died_a_moment_ago_is_waited_for_and_does_not_keep_another_away(others: Others) -> None:
    others.start()
    others.lives = False
    admit(EMBEDDED, is_whole=True, pause=others.pause)
    assert machine_id() in known() and others.pauses <= 61


def test_one_that_is_silent_keeps_nobody_waiting(others: Others, clock: StoppedClock) -> None:
    others.start()
    clock.move(minutes=2)
    admit(EMBEDDED, is_whole=True, pause=never)


def test_a_part_starts_again_whatever_slipped_in_meanwhile(others: Others) -> None:
    admit(EMBEDDED, is_whole=True, pause=never)
    others.start()
    admit(EMBEDDED, pause=never)
    with pytest.raises(CannotStart):
        admit(replace(EMBEDDED, engine="none"), pause=others.pause)
    with pytest.raises(CannotStart):
        admit(EMBEDDED, is_whole=True, pause=others.pause)


def test_parts_of_one_machine_in_containers_of_several_names_do_not_rename_it(
    others: Others, clock: StoppedClock
) -> None:
    admit(EMBEDDED, pause=never)
    started_at = machines.all_machines()[0].started_at
    clock.move(seconds=5)
    others.start()  # A part that starts again on a machine that runs is never refused, whatever its container's name.
    admit(replace(EMBEDDED, name="a container"), pause=never)
    assert known() == {machine_id(): "right", OTHER: "left"}
    own = next(machine for machine in machines.all_machines() if machine.id == machine_id())
    assert (own.started_at, own.seen_at) == (started_at, clock.now())


def test_a_copied_folder_is_another_machine_only_while_the_first_runs(
    others: Others, change_place: Callable[[], None]
) -> None:
    first = machine_id()
    admit(EMBEDDED, is_whole=True, pause=never)
    change_place()
    admit(EMBEDDED, is_whole=True, pause=others.pause)
    assert machine_id() == first, "it was moved: nothing beats under its id"
    change_place()

    def pause(seconds: float) -> None:
        others.clock.move(seconds=seconds)
        with transaction():
            machines.beat(others.clock, first)

    with pytest.raises(CannotStart, match="The machine right runs"):
        admit(EMBEDDED, is_whole=True, pause=pause)
    assert machine_id() != first


@pytest.fixture
def change_place(app: Flask) -> Callable[[], None]:
    """Makes the file of this machine a copy, as it is in a folder that was copied."""

    def change() -> None:
        path = app.config["SHOP"].machine_file
        words = path.read_text()
        path.rename(path.with_suffix(".before"))
        path.write_text(words)

    return change


def test_a_database_without_tables_keeps_no_machine_away(others: Others) -> None:
    db.session.rollback()
    db.drop_all()
    try:
        admit(EMBEDDED, is_whole=True, pause=never)
    finally:
        db.session.rollback()
        db.create_all()


def test_a_folder_that_takes_no_file_keeps_no_part_from_starting(app: Flask) -> None:
    """As on a disk that reads only; what that means for the shop is for the watch over the disks to say."""
    folder = app.config["SHOP"].machine_file.parent
    folder.rename(folder.with_name("elsewhere"))
    folder.touch()
    admit(EMBEDDED, pause=never)
    assert machine_id() == "" and known() == {}


def test_what_only_migrates_is_no_machine_and_is_refused_like_one(others: Others) -> None:
    check_others(EMBEDDED, pause=never)
    assert known() == {}
    others.start()
    with pytest.raises(CannotStart, match="The machine left runs this shop already"):
        check_others(EMBEDDED, pause=others.pause)
    others.facts = replace(SHARED, name="left")
    others.start()
    check_others(SHARED, pause=never)
    assert known() == {OTHER: "left"}


def test_what_needs_the_shop_stopped_is_refused_while_it_runs_on_another_machine(others: Others) -> None:
    admit(SHARED, is_whole=True, pause=never)
    check_alone(pause=never)
    others.start()
    with pytest.raises(
        StillRuns, match=r"runs on the machine left \(last seen 2026-11-20T12:00:\d\dZ\): stop it there"
    ):
        check_alone(pause=others.pause)


def test_a_machine_that_was_stopped_a_moment_ago_is_waited_for(others: Others) -> None:
    others.start()
    others.lives = False
    check_alone(pause=others.pause)
    assert 60 <= others.pauses <= 61


def test_a_database_that_does_not_say_who_runs_keeps_nothing_waiting(others: Others) -> None:
    others.start()
    db.session.rollback()
    db.drop_all()
    try:
        check_alone(pause=never)
        check_one_release()
    finally:
        db.session.rollback()
        db.create_all()


def test_an_upgrade_waits_until_the_one_before_has_reached_every_machine(others: Others, clock: StoppedClock) -> None:
    admit(replace(SHARED, release="1.1"), is_whole=True, pause=never)
    others.facts = replace(SHARED, name="left")
    others.start()
    with pytest.raises(CannotStart, match=r"is not finished \(.*(left 1\.0, right 1\.1|right 1\.1, left 1\.0)\)"):
        check_one_release()
    clock.move(minutes=2)
    check_one_release()
    admit(replace(SHARED, release="1.1"), is_whole=True, pause=never)
    others.facts = replace(SHARED, name="left", release="1.1")
    others.start()
    check_one_release()

"""A machine is its instance folder, whichever host that lies on; a copy of it is another machine."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.domain.machines.identity import MachineFile


def taken(_machine_id: str) -> bool:
    return True


def free(_machine_id: str) -> bool:
    return False


def never(_machine_id: str) -> bool:
    raise AssertionError("Nothing was moved, so there is nothing to find out.")


@pytest.fixture
def machine(tmp_path: Path) -> MachineFile:
    return MachineFile(tmp_path / "here" / "machine.id")


def test_an_id_is_made_once_and_stays(machine: MachineFile, tmp_path: Path) -> None:
    first = machine.id
    assert first and machine.id == MachineFile(tmp_path / "here" / "machine.id").id == first
    assert MachineFile(tmp_path / "there" / "machine.id").id != first
    machine.settle(never)
    assert machine.id == first


def test_a_folder_that_was_moved_is_the_same_machine(machine: MachineFile, tmp_path: Path) -> None:
    first = machine.id
    (tmp_path / "here").rename(tmp_path / "there")
    moved = MachineFile(tmp_path / "there" / "machine.id")
    moved.settle(never)
    assert moved.id == first, "on the same disk it is the same file"


def test_a_folder_that_was_restored_elsewhere_is_the_same_machine(machine: MachineFile, tmp_path: Path) -> None:
    first = machine.id
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    restored = MachineFile(tmp_path / "there" / "machine.id")
    restored.settle(free)
    assert restored.id == first
    restored.settle(never)


def test_a_copy_beside_the_machine_that_runs_is_another(machine: MachineFile, tmp_path: Path) -> None:
    first = machine.id
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    copy = MachineFile(tmp_path / "there" / "machine.id")
    assert copy.id == first
    copy.settle(taken)
    assert copy.id not in ("", first) and machine.id == first
    copy.settle(never)


def test_an_empty_file_as_a_power_cut_leaves_gets_an_id(tmp_path: Path) -> None:
    (tmp_path / "machine.id").touch()
    machine = MachineFile(tmp_path / "machine.id")
    assert machine.id and machine.id == machine.id


def test_a_disk_that_takes_no_file_gives_no_id_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert MachineFile(tmp_path / "file" / "machine.id").id == ""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from tests import kinds_of_database
from tests.kinds_of_database import ABOUT_DATABASES, FROM_OUTSIDE, is_of_the_sample, left_out
from tests.surroundings import ROOT


class Item:
    """As pytest collects it."""

    def __init__(self, file: str, kind: str | None, number: int = 0, marks: tuple[pytest.Mark, ...] = ()) -> None:
        self.nodeid = f"{file}::test[{kind}-{number}]"
        self._marks = marks
        if kind:
            self.callspec = SimpleNamespace(params={"database_kind": kind})

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        return [mark for mark in self._marks if mark.name == name]

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next(iter(self.iter_markers(name)), None)


def item_of(file: str, kind: str | None, number: int = 0, marks: tuple[pytest.Mark, ...] = ()) -> pytest.Item:
    return cast(pytest.Item, Item(file, kind, number, marks))


@pytest.fixture(autouse=True)
def _no_kind_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds_of_database, "NAMED", "")
    monkeypatch.setattr(kinds_of_database, "KINDS", ("sqlite", "postgresql"))


def test_all_run_on_the_first_kind_or_on_none() -> None:
    assert not left_out(
        [item_of("tests/domain/test_it.py", kind, number) for kind in (None, "sqlite") for number in range(40)]
    )


def test_of_the_domain_a_quarter_runs_on_the_second_kind() -> None:
    run = [number for number in range(400) if is_of_the_sample(f"tests/domain/test_it.py::test[postgresql-{number}]")]
    assert 70 < len(run) < 130
    items = [item_of("tests/domain/test_it.py", "postgresql", number) for number in range(400)]
    assert len(left_out(items)) == 400 - len(run)


@pytest.mark.parametrize("file", FROM_OUTSIDE)
def test_of_what_is_called_from_outside_none_does(file: str) -> None:
    items = {item_of(f"{file}test_it.py", "postgresql", number) for number in range(40)}
    assert left_out(items) == items


@pytest.mark.parametrize(
    ("file", "marks"),
    [
        *((f"{file}test_it.py", ()) for file in ABOUT_DATABASES),
        ("tests/domain/test_it.py", (pytest.mark.concurrent.mark,)),
        ("tests/domain/test_it.py", (pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True).mark,)),
    ],
)
def test_what_is_about_databases_runs_on_each(file: str, marks: tuple[pytest.Mark, ...]) -> None:
    assert not left_out([item_of(file, "postgresql", number, marks) for number in range(40)])


def test_kinds_that_are_named_leave_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds_of_database, "NAMED", "sqlite,postgresql")
    assert not left_out([item_of(file, "postgresql") for file in FROM_OUTSIDE])


@pytest.mark.parametrize("named", [*FROM_OUTSIDE, *ABOUT_DATABASES])
def test_what_is_named_is_there(named: str) -> None:
    assert (ROOT / named).is_dir() if named.endswith("/") else (ROOT / named).is_file()

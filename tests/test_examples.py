from __future__ import annotations

from typing import cast

import pytest

from tests import examples


class Item:
    def __init__(self, *marks: str) -> None:
        self._marks = marks

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self._marks else None


def test_thorough_tests_run_with_all_examples_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    items = cast(list[pytest.Item], [Item("thorough"), Item("fault")])
    monkeypatch.setattr(examples, "ALL", False)
    assert examples.thorough(items) == {items[0]}
    monkeypatch.setattr(examples, "ALL", True)
    assert examples.thorough(items) == set()

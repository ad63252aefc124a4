"""JSON from outside is read strictly, every problem at its place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import (
    MOST_UNKNOWN,
    Choice,
    Flag,
    Items,
    Many,
    Moment,
    Number,
    One,
    Record,
    Text,
    Texts,
    TextsByName,
)
from app.domain.shared.schema import Whole as WholeNumber

PIN = Record(sku=Text(required=True), position=WholeNumber(required=True))
RECORD = Record(
    name=Text(required=True),
    size=WholeNumber(),
    weight=Number(allow_none=True),
    on=Flag(),
    tags=Texts(),
    rest=Items(),
    kind=Choice(("A", "B")),
    at=Moment(allow_none=True),
    pins=Many(PIN, 2),
    first=One(PIN, allow_none=True),
    options=TextsByName(),
)
SOUND: dict[str, Any] = {
    "name": "Mug",
    "size": 3,
    "weight": None,
    "on": False,
    "tags": ["a"],
    "rest": [1, None],
    "kind": "B",
    "at": "2026-11-20T21:04:05Z",
    "pins": [{"sku": "A-1", "position": 1}],
    "first": {"sku": "A-1", "position": 1},
    "options": {"Size": "M"},
}


def problems(raw: object) -> list[tuple[str, str]]:
    found: list[Problem] = []
    RECORD.read(raw, "#/0", found)
    return [(problem.code, problem.pointer) for problem in found]


def test_a_sound_record_comes_back_as_a_copy() -> None:
    found = RECORD.load(SOUND)
    assert found == SOUND and found is not SOUND


@pytest.mark.parametrize(
    ("changed", "result"),
    [
        ({"size": 3.0}, ("wrong_type", "#/0/size")),
        ({"size": True}, ("wrong_type", "#/0/size")),
        ({"size": "1_000"}, ("wrong_type", "#/0/size")),
        ({"size": None}, ("wrong_type", "#/0/size")),
        ({"weight": "1"}, ("wrong_type", "#/0/weight")),
        ({"on": "yes"}, ("wrong_type", "#/0/on")),
        ({"tags": ["a", 1]}, ("wrong_type", "#/0/tags")),
        ({"kind": "C"}, ("unknown_kind", "#/0/kind")),
        ({"kind": 1}, ("wrong_type", "#/0/kind")),
        ({"at": "2026-11-20T21:04:05"}, ("invalid_time", "#/0/at")),
        ({"at": "9999-12-31T23:59:59-23:00"}, ("invalid_time", "#/0/at")),
        ({"pins": [{"sku": "A", "position": 1}, {"sku": "B", "position": "2"}]}, ("wrong_type", "#/0/pins/1/position")),
        ({"pins": [1]}, ("wrong_type", "#/0/pins/0")),
        ({"pins": [{}] * 3}, ("too_many", "#/0/pins")),
        ({"first": {"sku": "A-1", "position": 1, "x/y": 2}}, ("unknown_field", "#/0/first/x~1y")),
        ({"options": {"Size": 1}}, ("wrong_type", "#/0/options")),
        ({"options": []}, ("wrong_type", "#/0/options")),
        ({"colour~": 1}, ("unknown_field", "#/0/colour~0")),
    ],
)
def test_what_is_not_of_its_type_is_refused_at_its_place(changed: dict[str, Any], result: tuple[str, str]) -> None:
    assert problems(SOUND | changed) == [result]


def test_all_problems_come_at_once_and_what_is_sound_is_read() -> None:
    found: list[Problem] = []
    assert RECORD.read({"size": "1", "on": True, "x": 1}, "#", found) == {"on": True}
    assert {(one.code, one.pointer) for one in found} == {
        ("unknown_field", "#/x"),
        ("required", "#/name"),
        ("wrong_type", "#/size"),
    }
    with pytest.raises(Invalid, match="must be an object, not a list"):
        RECORD.load([])


def test_only_so_many_unknown_fields_are_named() -> None:
    assert len(problems(SOUND | {f"x{number}": 1 for number in range(5 * MOST_UNKNOWN)})) == MOST_UNKNOWN


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(("A", "2026-11-20T00:00:00Z")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("sku", "position")), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from((*SOUND, "x")), anything))
def test_the_short_way_for_sound_records_agrees_with_marshmallow(changed: dict[str, Any]) -> None:
    raw = SOUND | changed
    assert RECORD.is_sound(raw) == (problems(raw) == [])

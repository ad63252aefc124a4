"""JSON without what one parser shrugs off and the next one trips over."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.shared.strict_json import loads, marks, nesting_depth

TEXTS = st.text() | st.text(alphabet='[]{},"\\a')
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def depth_of(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth_of, inner), default=0)


@given(VALUES)
def test_depth_is_that_of_the_value_whatever_its_texts_hold(value: object) -> None:
    assert nesting_depth(marks(json.dumps(value))) == depth_of(value)
    assert nesting_depth(marks(json.dumps(value, ensure_ascii=False))) == depth_of(value)


@given(st.text(alphabet='[]{},"\\a', max_size=40))
def test_broken_text_is_refused_and_never_breaks_the_reader(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):
            loads(text)
    else:
        assert loads(text) == expected


def test_deep_nesting_is_refused_before_it_is_read() -> None:
    assert loads("[" * 64 + "]" * 64)
    escaped = ('["\\\\",' + "[" * 64, '["\\\\\\"",' + "[" * 64, '["\\"","\\\\",' + "[" * 64)
    for text in ("[" * 65 + "]" * 65, '{"a":' * 65, "[" * 10**6, '["' + "\\a" * 10**6, *escaped):
        with pytest.raises(ValueError):
            loads(text)
    assert [nesting_depth(marks(text)) for text in escaped] == [65, 65, 65]


def test_a_number_that_no_number_here_is_as_long_as_is_refused_in_plain_words() -> None:
    assert loads("1" * 400)
    for digits in ("1" * 401, "1" * 6_000, "1e999"):
        with pytest.raises(ValueError, match="A number is too large"):
            loads(digits)


def test_items_can_be_limited() -> None:
    assert loads("[1,2,3]", 4) == [1, 2, 3]
    assert loads('["1,2,3,4,[]"]', 4) == ["1,2,3,4,[]"]
    with pytest.raises(ValueError, match="too many items"):
        loads("[1,2,3,4]", 4)


def test_bytes_are_read_as_utf_8_alone() -> None:
    assert loads('{"a": "é"}'.encode()) == {"a": "é"}
    for raw in (b'"\xff"', b"\xef\xbb\xbf{}", '"é"'.encode("utf-16"), b'"\xed\xa0\x80"'):
        with pytest.raises(ValueError):
            loads(raw)


def test_half_of_a_surrogate_pair_is_refused_escaped_or_not() -> None:
    assert loads('"\\ud83c\\udfd5"') == "🏕"
    for text in ('"\\ud800"', '"\ud800"', '{"\udfff": 1}', '["a", {"b": ["\ud800"]}]'):
        with pytest.raises(ValueError, match="surrogate"):
            loads(text)

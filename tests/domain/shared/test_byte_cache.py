"""An LRU cache keeps values up to a number of bytes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from app.domain.shared.byte_cache import ByteCache


def counting(most: int) -> ByteCache[str]:
    """A cache of so many values, whatever their size."""
    return ByteCache(most, lambda _: 1)


def test_a_part_is_drawn_once():
    parts = counting(2)
    drawn = [parts.get("a", lambda: "A"), parts.get("a", lambda: "never")]
    assert drawn == ["A", "A"]


def test_a_value_that_is_nothing_is_cached_as_well():
    values = ByteCache[str | None](2, lambda _: 1)
    assert [values.get("a", lambda: None), values.get("a", lambda: "never")] == [None, None]


def test_the_part_not_used_for_longest_goes_first():
    parts = counting(2)
    for key in ("a", "b", "a", "c"):
        parts.get(key, lambda: "old")
    assert parts.get("a", lambda: "new") == "old"
    assert parts.get("b", lambda: "new") == "new"
    assert len(parts) == 2


def test_a_part_that_cannot_be_drawn_is_not_kept():
    parts = counting(2)
    try:
        parts.get("a", lambda: str(1 / 0))
    except ZeroDivisionError:
        assert len(parts) == 0


def test_parts_are_kept_up_to_a_size_and_one_beyond_it_is_not():
    parts = ByteCache[str](10, len)
    for key, size in (("a", 4), ("b", 4), ("large", 11), ("c", 4)):
        assert parts.get(key, partial("x".__mul__, size)) == "x" * size
    assert parts.size == 8
    assert [parts.get(key, lambda: "new") for key in ("b", "c", "a")] == ["xxxx", "xxxx", "new"]


def test_threads_get_whole_parts():
    parts = counting(3)
    with ThreadPoolExecutor(8) as threads:
        got = list(threads.map(lambda n: parts.get(n % 7, lambda: f"part {n % 7}"), range(700)))
    assert [str(part) for part in got] == [f"part {n % 7}" for n in range(700)]
    assert len(parts) == 3

"""Patterns that merchandisers write: no pattern may hang the shop."""

from __future__ import annotations

import time

import pytest

from app.domain.taxonomy.values import matches_whole, pattern_problem

LONG = 10_000
LIMIT = 0.05  # Seconds for one value.

# Each with the stretch of text that engines which try one way after the other choke on.
EVIL = [
    (pattern, bait)
    for bait, patterns in {
        "a": r"""
            (a+)+ (a+)+b (a*)* (a*)*b (a|a)* (a|a)*b (a|aa)+ (a|aa)+$b (a|a?)+b (a?){20}a{20} (a+a+)+b ((a+)+)+b
            (((a*)*)*)*b a*a*a*a*a*a*a*b (.*)(.*)(.*)(.*)(.*)b .*.*.*=.* (.*a){10}b (a.*){10}b ([a-z]+)*0
            ([a-zA-Z]+)*1 (\w+)+! (\w*)*! (\w+\s?)*! (a{1,5})+b (a{0,9}){9}b ^(a+)+$ ^(([a-z])+.)+[A-Z]([a-z])+$
            (?:a+)+?b (a+?)+?b (a|b|ab)*c (ab?)*c (a?b?)*c (x?a)*b (?i)(A+)+B (?s)(.+)+\n (a|[^b])*b ([^b]+)*b
            (a[ab]*)+c (a+|b+)*c ((a|b)*)*c
        """,
        "1": r"""
            (\d+)+x (\d*)*x ^\d*\d*\d*x ([0-9]+,?)*x (\d+\.?\d*)+x ^(\d{1,3})*$x (1|11|111)+x
        """,
        " ": r"""
            \s*\s*\s*x (\s+)*x ^\s+|\s+$x (\s|\t)+x (\x20+)+x
        """,
        "aA1": r"""
            (\w|\d)+! ([a-zA-Z0-9])+@b ^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+$
        """,
        "<a>": r"""
            (<[^>]*>)*x <(.+)+>x (<.*>)+!
        """,
        "é": r"""
            (é+)+x (\pL+)+1
        """,
    }.items()
    for pattern in patterns.split()
]


def test_there_are_sixty_of_them():
    assert len(EVIL) == 60
    assert len(set(EVIL)) == 60


@pytest.mark.parametrize(("pattern", "bait"), EVIL)
def test_an_evil_pattern_takes_no_time(pattern: str, bait: str):
    assert pattern_problem(pattern) is None
    for value in (bait * (LONG // len(bait)), (bait * LONG)[: LONG - 1] + "?"):
        started = time.process_time()
        matches_whole(pattern, value)
        assert time.process_time() - started < LIMIT


REFUSED = r"""
    (?=a)b (?!a)b (?<=a)b (?<!a)b (a)\1 (?P<x>a)(?P=x) (?>a+)b a++b (?(1)a|b) (?#why)a (a a) [a *a
    a{2,1} a{1001} ((a{100}){100}){100} \ (?z)a [z-a] \p{Nothing}
"""


@pytest.mark.parametrize("pattern", [*REFUSED.split(), "a" * 201, "\ud800"])
def test_what_cannot_be_matched_in_linear_time_or_at_all_is_refused_with_a_reason(pattern: str):
    assert pattern_problem(pattern)


def test_a_pattern_must_match_the_whole_value():
    assert matches_whole("IPX[0-8]", "IPX4")
    assert not matches_whole("IPX[0-8]", "IPX4 or so")
    assert not matches_whole("a|ab", "abc")


USUAL = r"""
    IPX[0-8] [A-Z0-9]{8,14} \d{13} (?i)[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,} \pL+ [\pL\pN.,-]+ \d{4}-\d{2}-\d{2}
    https?://[^\s]{1,300} (\w+\s?){1,20} .{1,500} [^<>]{0,300} \pL{1,4} #[0-9a-fA-F]{6} \d{1,3}(\.\d{1,3}){3}
"""


@pytest.mark.parametrize("pattern", USUAL.split())
def test_patterns_that_people_write_fit(pattern: str):
    assert pattern_problem(pattern) is None


@pytest.mark.parametrize(
    "pattern", [r"\pL{1,40}", r".{1,900}x{1,900}", r"(?i)((\pL|a){3}){300}", r"((\pL\pN\pP){5}){9}"]
)
def test_a_pattern_that_takes_much_memory_is_refused_at_once_with_a_way_out(pattern: str):
    started = time.process_time()
    assert pattern_problem(pattern).endswith("Leave how long a value may be to minLength and maxLength.")
    assert time.process_time() - started < 0.02


def test_a_pattern_that_was_stored_under_wider_limits_hinders_no_value() -> None:
    too_large = r"(\pL{1,30}){1,30}"
    assert pattern_problem(too_large)
    assert matches_whole(too_large, "Moss")

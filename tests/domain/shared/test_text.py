"""What any text that people send must satisfy."""

from __future__ import annotations

import re
import sys

import pytest

from app.domain.shared.text import UNPRINTABLE, UNPRINTABLE_IN_BLOCK, block_problems, line_problems

TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize("sign", [*TURNING, "\u2028", "\u2029", "\x00", "\n", "\x85", "\ud800", "\uffff"])
def test_a_line_holds_nothing_that_breaks_or_turns_it(sign: str):
    assert [problem.code for problem in line_problems(f"gpj{sign}.exe", "The name", 200, "#/name")] == ["unprintable"]


@pytest.mark.parametrize("sign", [*TURNING, "\x00", "\x0b", "\ud800", "\uffff"])
def test_a_text_of_several_lines_holds_nothing_that_turns_it(sign: str):
    assert [problem.code for problem in block_problems(f"a{sign}b", "The text", 200, "#/text")] == ["unprintable"]


@pytest.mark.parametrize("pattern", [UNPRINTABLE, UNPRINTABLE_IN_BLOCK])
def test_nothing_that_is_refused_is_printable_to_python(pattern: re.Pattern[str]):
    """So texts that are printable to Python need not be searched."""
    refused = [sign for sign in map(chr, range(sys.maxunicode + 1)) if pattern.match(sign)]
    assert refused and not [sign for sign in refused if sign.isprintable()]


@pytest.mark.parametrize("text", ["👨‍👩‍👧‍👦 family", "می‌خواهم", "שלום\u200e", "❤️", "a\u00adb", "naïve"])
def test_joined_emoji_and_scripts_of_all_directions_are_fine(text: str):
    assert not line_problems(text, "The name", 200, "#/name")
    assert not block_problems(f"{text}\n{text}\u2028", "The text", 200, "#/text")

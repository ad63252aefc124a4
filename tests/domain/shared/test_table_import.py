"""Tables that people send are measured before anything reads them."""

from __future__ import annotations

import contextlib
from time import process_time

import pytest

from app.domain.relevance import rule_import, synonym_import
from app.domain.shared.problems import Invalid
from app.domain.shared.table_import import LONGEST_TABLE, MOST_TABLE_LINES, read_cells

READERS = (synonym_import.read_table, rule_import.read_table, lambda text: list(read_cells(text)))
MUCH_TOO_LONG = ("\n", "\r\n", "\r", "a\n", "->\n", ",\n", "a=b\n", '"\n"\n')

WIDE_AND_LONG = ("," * LONGEST_TABLE, "a," * 250_000, ("x" * 24 + "\n") * 20_000, ('"",' * 6 + "\n") * 20_000)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("line", MUCH_TOO_LONG)
def test_a_table_of_too_many_lines_is_refused_unread_with_the_limit(read, line: str) -> None:
    text = (line * (LONGEST_TABLE // len(line)))[:LONGEST_TABLE]
    began = process_time()
    with pytest.raises(Invalid, match="at most 20,000 go in at once") as refused:
        read(text)
    assert process_time() - began < 0.1
    assert [problem.code for problem in refused.value.problems] == ["too_many_lines"]


def test_as_many_lines_as_go_in_are_read_however_they_end() -> None:
    for end in ("\n", "\r\n", "\r"):
        assert len(list(read_cells(f"a{end}" * MOST_TABLE_LINES))) == MOST_TABLE_LINES
        with pytest.raises(Invalid, match="20,001 lines"):
            list(read_cells(f"a{end}" * (MOST_TABLE_LINES + 1)))


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("text", WIDE_AND_LONG)
def test_what_is_within_the_limits_takes_a_second_at_most(read, text: str) -> None:
    began = process_time()
    with contextlib.suppress(Invalid):
        read(text)
    assert process_time() - began < 1

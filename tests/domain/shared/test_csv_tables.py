"""Tables that people send are measured before anything reads them; no cell of a table is run by a spreadsheet."""

from __future__ import annotations

import contextlib
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.relevance import rule_import, synonym_import
from app.domain.shared.csv_tables import LONGEST_TABLE, MOST_TABLE_LINES, guarded, read_cells, unguarded
from app.domain.shared.problems import Invalid

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


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("  =1+1", "'  =1+1"),
        ("\u3000\u200b@sum", "'\u3000\u200b@sum"),
        ("＝1+1", "'＝1+1"),
        ("\tcmd", "'\tcmd"),
        ("a;=cmd|' /c calc'!a0", "a;'=cmd|' /c calc'!a0"),
        ("a;b; -x;+1", "a;b;' -x;+1"),
        ("=5", "'=5"),
        ("-1+cmd", "'-1+cmd"),
    ],
)
def test_what_a_spreadsheet_would_run_has_an_apostrophe_before_it(text: str, cell: str) -> None:
    assert guarded(text) == cell


@pytest.mark.parametrize("text", ["", "tent", "-5", "-5.25", "+44", "20", "a=b", "café; thé", "men's; 'a'", "50.0%"])
def test_numbers_and_other_texts_stay_as_they_are(text: str) -> None:
    assert guarded(text) == text == unguarded(text)


@given(st.text(alphabet="';=+-@ 1a\t＝\u200b", max_size=20))
def test_what_was_guarded_comes_back_as_it_was(text: str) -> None:
    assert unguarded(guarded(text)) == text

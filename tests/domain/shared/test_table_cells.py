"""What a cell of a table holds so that no spreadsheet runs it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.shared.table_cells import guarded, unguarded


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

"""The line below a list: which of its items are shown, and of how many."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.domain.shared.paging import Paged

ALL = range(1, 102)


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (Paged.cut(ALL[:1], 1, 50), "1 of 1 rule"),
        (Paged.cut(ALL[:2], 1, 50), "1–2 of 2 rules"),
        (Paged.cut(ALL, 2, 50), "51–100 of 101 rules"),
        (Paged.cut(ALL, 3, 50), "101 of 101 rules"),
        (Paged.cut(ALL[:0], 1, 50), "No rules"),
        (Paged(ALL[:50], 1, 50, 1_000, has_more=True), "1–50 of more than 1,000 rules"),
    ],
)
def test_one_item_is_no_range_and_has_no_plural(app: Flask, page: Paged[int], words: str) -> None:
    assert words_of(app, page, "rule") == words


def test_an_irregular_plural_is_named(app: Flask) -> None:
    assert words_of(app, Paged.cut(ALL[:2], 1, 50), "entry", "entries") == "1–2 of 2 entries"
    assert words_of(app, Paged.cut(ALL[:1], 1, 50), "entry", "entries") == "1 of 1 entry"


def words_of(app: Flask, page: Paged[int], *nouns: str) -> str:
    source = "{% from 'admin/macros/pager.html' import pager %}{{ pager(page, href, nouns[0], plural=nouns[1:]|join) }}"
    with app.test_request_context():
        text = app.jinja_env.from_string(source).render(page=page, href=str, nouns=nouns)
    return re.findall(r'<span class="muted">(.*?)</span>', text, re.DOTALL)[0]

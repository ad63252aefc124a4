"""What Test a search says about the parts of a score."""

from __future__ import annotations

import pytest

from app.domain.relevance.explanation import describe_part
from app.domain.search.engine import ScorePart
from app.domain.search.ranking.scoring import points_by_meaning


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        (ScorePart("word", "name", ("rain",), 3), "“rain” in the name"),
        (ScorePart("form", "terms", ("hiking",), 3), "“hiking” in the search terms, another form of the word"),
        (ScorePart("beginning", "name", ("hatchet",), 3), "“hatchet” in the name, as a longer word"),
        (ScorePart("level", None, (), 3), "the best results are mostly of its kind of product"),
        (ScorePart("level_name", None, (), 3), "the words name its kind of product"),
        (ScorePart("meaning", None, (), points_by_meaning(2)), "its meaning is near: rank 3"),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_each_part_is_a_sentence(part: ScorePart, sentence: str) -> None:
    assert describe_part(part) == sentence

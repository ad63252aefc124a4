"""The parts of a score: the reading that counted, bonuses, and lifts that are parts of their own."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from app.domain.search.engine import ScorePart
from app.domain.search.ranking.parts import FieldScore, Reading, bonus_parts, readings, scaled_parts, unit_parts
from app.domain.search.ranking.scoring import ALTERNATIVE_WORTH, CODE_WEIGHT, PHRASE_WEIGHT, field_weight


def scores(of_words: Mapping[tuple[str, str], float]) -> FieldScore:
    return lambda field, word: of_words.get((field, word), 0.0)


def no_forms(_field: str, _word: str) -> tuple[float, tuple[str, ...]]:
    return 0.0, ()


def test_a_unit_is_read_as_its_words_then_as_others_and_the_last_word_as_a_beginning() -> None:
    found = list(readings(("ban",), [("sticky", "tape")], ("red", "ban"), lambda word: [f"{word}d", f"{word}dage"]))
    assert [(each.kind, each.words) for each in found] == [
        ("word", ("ban",)),
        ("alternative", ("sticky", "tape")),
        ("alternative", ("stickytape",)),
        ("word", ("redban",)),
        ("beginning", ("band",)),
        ("beginning", ("bandage",)),
    ]
    assert found[1].worth == ALTERNATIVE_WORTH / 2


def test_words_that_are_not_the_last_are_no_beginnings_and_nothing_is_looked_up_for_them() -> None:
    def never(word: str) -> list[str]:
        raise AssertionError(word)

    assert [each.kind for each in readings(("red",), [], ("red", "ban"), never)] == ["word", "word"]


def test_the_reading_that_comes_nearest_counts_and_none_after_one_that_is_right() -> None:
    name = field_weight("name")
    field_score = scores({("name", "tent"): 2.0, ("name", "shelter"): 3.0})
    ways = [Reading("word", ("tent",), 1.0), Reading("alternative", ("shelter",), 1.0)]
    (nearest,) = unit_parts(3.0 * name, ways, field_score, no_forms)
    assert (nearest.kind, nearest.field, nearest.words, nearest.worth) == (
        "alternative",
        "name",
        ("shelter",),
        3 * name,
    )
    (first,) = unit_parts(2.0 * name, iter(ways), field_score, no_forms)
    assert first.kind == "word"
    assert unit_parts(0.0, ways, field_score, no_forms) == []


def test_words_side_by_side_and_a_code_are_bonuses() -> None:
    field_score = scores({("pairs", "rx45"): 1.0, ("codes", "rx45"): 2.0})
    assert list(bonus_parts(("rx", "45"), field_score)) == [
        ScorePart("side_by_side", "name", ("rx", "45"), PHRASE_WEIGHT),
        ScorePart("code", "codes", ("rx", "45"), 2 * CODE_WEIGHT),
    ]


def test_parts_sum_up_to_the_score_and_a_lift_may_take_away() -> None:
    raw = [ScorePart("word", "name", ("tent",), 3.0), ScorePart("word", "name", ("red",), 1.0)]
    parts = scaled_parts(raw, [("level", 1.5), ("sales", 1.0), ("learned", 0.5)], 6.0)
    assert [(part.kind, part.worth) for part in parts] == [
        ("word", pytest.approx(6.0)),
        ("word", pytest.approx(2.0)),
        ("level", pytest.approx(4.0)),
        ("learned", pytest.approx(-6.0)),
    ]
    assert sum(part.worth for part in parts) == pytest.approx(6.0)
    assert scaled_parts([], [("level", 2.0)], 6.0) == []

"""The parts of a document's score, for explanations, from what its words score in its fields. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from app.domain.search.engine import ScorePart
from app.domain.search.ranking.query import with_neighbours_joined
from app.domain.search.ranking.scoring import (
    ALTERNATIVE_WORTH,
    CODE_WEIGHT,
    COMPOUND_WORTH,
    FIELDS,
    FORM_WORTH,
    PHRASE_WEIGHT,
    PREFIX_WORTH,
    TEXT_FIELDS,
    field_weight,
)
from app.domain.search.text import joined

CLOSE = 1e-3  # Of a score: sums of small floats differ in their last digits.
# What a word scores in a field of one document, without the field's weight; 0 where the field lacks it.
FieldScore = Callable[[str, str], float]
# What the forms of a word score in a text field of one document, counted as one word, and those of them that it has.
FormScore = Callable[[str, str], tuple[float, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Reading:
    """One way in which a unit is found in a document: these words, for this share of what they score. The words among
    `exact` count in no other form."""

    kind: str
    words: tuple[str, ...]
    worth: float
    exact: frozenset[str] = frozenset()


def readings(
    unit: Sequence[str],
    alternatives: Iterable[tuple[str, ...]],
    words: Sequence[str],
    completions: Callable[[str], Iterable[str]],
    exact: frozenset[str] = frozenset(),
) -> Iterator[Reading]:
    """Yield the ways in which a unit of a search may be found. `words` are those of the search, of which those among
    `exact` were typed in quotes; `completions` returns the longer words that its last one may become."""
    yield Reading("word", tuple(unit), 1.0, exact)
    for other in alternatives:
        for spelled in (other, *with_neighbours_joined(other)):
            worth = ALTERNATIVE_WORTH * len(unit) / len(other)
            yield Reading("alternative", spelled, worth, frozenset(spelled).difference(other))
    for first, second in pairwise(words):
        if first in unit or second in unit:
            yield Reading("word", (first + second,), COMPOUND_WORTH, frozenset((first + second,)))
    if words and unit[-1] == words[-1]:
        for longer in completions(words[-1]):
            yield Reading("beginning", (*unit[:-1], longer), PREFIX_WORTH, exact | {longer})


def unit_parts(
    worth: float, ways: Iterable[Reading], field_score: FieldScore, form_score: FormScore
) -> list[ScorePart]:
    """Return the parts of what a unit scores, by the reading that gives that, or comes nearest."""
    best: list[ScorePart] = []
    if not worth:
        return best
    for reading in ways:
        parts = list(_reading_parts(reading, field_score, form_score))
        if parts and (not best or abs(total(parts) - worth) < abs(total(best) - worth)):
            best = parts
        if abs(total(best) - worth) <= CLOSE * worth:
            break
    return best


def _reading_parts(reading: Reading, field_score: FieldScore, form_score: FormScore) -> Iterator[ScorePart]:
    """Yield the parts of each word: those of the word itself, or of all its forms where these score more."""
    for word in reading.words:
        worths = {field: reading.worth * field_weight(field) * field_score(field, word) for field in FIELDS}
        own = [ScorePart(reading.kind, field, (word,), worth) for field, worth in worths.items() if worth]
        formed = [] if word in reading.exact else list(_form_parts(reading, word, form_score))
        yield from formed if total(formed) > total(own) else own


def _form_parts(reading: Reading, word: str, form_score: FormScore) -> Iterator[ScorePart]:
    for field in TEXT_FIELDS:
        score, forms = form_score(field, word)
        if score:
            kind = "form" if reading.kind == "word" and forms != (word,) else reading.kind
            yield ScorePart(kind, field, forms, reading.worth * FORM_WORTH * field_weight(field) * score)


def bonus_parts(words: Sequence[str], field_score: FieldScore) -> Iterator[ScorePart]:
    """Yield what words score side by side in the name, and together as a code."""
    for first, second in pairwise(words):
        if worth := PHRASE_WEIGHT * field_score("pairs", first + second):
            yield ScorePart("side_by_side", "name", (first, second), worth)
    if worth := CODE_WEIGHT * field_score("codes", joined(words)):
        yield ScorePart("code", "codes", tuple(words), worth)


def scaled_parts(raw: Sequence[ScorePart], lifts: Sequence[tuple[str, float]], score: float) -> list[ScorePart]:
    """Return the parts of a score, which sum up to it. What scales the whole score, such as the share of the words that
    the document has, scales each part; each lift (kind and factor) is a part of its own, below zero where it takes
    away."""
    sum_ = total(raw)
    if not sum_:
        return []
    worth = score / prod(factor for _, factor in lifts)
    parts = [ScorePart(part.kind, part.field, part.words, part.worth * worth / sum_) for part in raw]
    for kind, factor in lifts:
        if factor != 1:
            parts.append(ScorePart(kind, None, (), worth * (factor - 1)))
        worth *= factor
    return parts


def total(parts: Iterable[ScorePart]) -> float:
    return sum(part.worth for part in parts)

"""The parts of a document's score, word by word and field by field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.facet_column import Docs
from app.adapters.whoosh.lifts import Lift
from app.adapters.whoosh.matching import Found
from app.adapters.whoosh.scoring import field_scores, place_of
from app.adapters.whoosh.unit_matches import UnitMatch
from app.adapters.whoosh.view import View
from app.adapters.whoosh.vocabulary import Vocabulary
from app.domain.search.engine import ScorePart
from app.domain.search.ranking.query import completions, with_neighbours_joined
from app.domain.search.ranking.scoring import (
    ALTERNATIVE_WORTH,
    CODE_WEIGHT,
    COMPOUND_WORTH,
    FIELDS,
    PHRASE_WEIGHT,
    PREFIX_WORTH,
    field_weight,
)
from app.domain.search.text import joined

_CLOSE = 1e-3  # Of a score: sums of small floats differ in their last digits.


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way in which a unit is found in a document: these words, for this share of what they score."""

    kind: str
    words: tuple[str, ...]
    worth: float


def score_parts(view: View, words: Sequence[str], found: Found, doc: int, score: float) -> tuple[ScorePart, ...]:
    """Return the parts of a document's score, the largest first; they sum up to `score`. What scales the whole score,
    such as the share of the words that the document has, scales each part; each lift is a part of its own, below zero
    where it takes away."""
    raw = [part for unit in found.units for part in _unit_parts(view, unit, words, doc)]
    raw += _bonus_parts(view, words, doc)
    total = _sum(raw)
    if not total:
        return ()
    factors = [(lift, _at(found.docs, lift.factors, doc)) for lift in found.lifts]
    unlifted = score / prod(factor for _, factor in factors)
    parts = [ScorePart(part.kind, part.field, part.words, part.worth * unlifted / total) for part in raw]
    parts += _lift_parts(unlifted, factors)
    return tuple(sorted(parts, key=lambda part: -part.worth))


def _lift_parts(score: float, factors: Sequence[tuple[Lift, float]]) -> Iterator[ScorePart]:
    for lift, factor in factors:
        if factor != 1:
            yield ScorePart(lift.kind, None, (), score * (factor - 1))
        score *= factor


def _unit_parts(view: View, unit: UnitMatch, words: Sequence[str], doc: int) -> list[ScorePart]:
    """Return the parts of a unit's score, by the reading that gives what the unit scores, or comes nearest."""
    worth = _at(unit.match.docs, unit.match.scores, doc)
    if not worth:
        return []
    best: list[ScorePart] = []
    for reading in _readings(view, unit, words):
        parts = _reading_parts(view, reading, doc)
        if parts and (not best or abs(_sum(parts) - worth) < abs(_sum(best) - worth)):
            best = parts
        if abs(_sum(best) - worth) <= _CLOSE * worth:
            break
    return best


def _sum(parts: Sequence[ScorePart]) -> float:
    return sum(part.worth for part in parts)


def _readings(view: View, unit: UnitMatch, words: Sequence[str]) -> Iterator[_Reading]:
    yield _Reading("word", unit.words, 1.0)
    for other in unit.alternatives:
        for spelled in (other, *with_neighbours_joined(other)):
            yield _Reading("alternative", spelled, ALTERNATIVE_WORTH * len(unit.words) / len(other))
    for first, second in pairwise(words):
        if first in unit.words or second in unit.words:
            yield _Reading("word", (first + second,), COMPOUND_WORTH)
    if words and unit.words[-1] == words[-1]:
        for longer in completions(words[-1], Vocabulary(view)):
            yield _Reading("beginning", (*unit.words[:-1], longer), PREFIX_WORTH)


def _reading_parts(view: View, reading: _Reading, doc: int) -> list[ScorePart]:
    parts = []
    for word in reading.words:
        for field in FIELDS:
            worth = reading.worth * field_weight(field) * _field_score(view, field, word, doc)
            if worth:
                parts.append(ScorePart(reading.kind, field, (word,), worth))
    return parts


def _bonus_parts(view: View, words: Sequence[str], doc: int) -> Iterator[ScorePart]:
    for first, second in pairwise(words):
        if worth := PHRASE_WEIGHT * _field_score(view, "pairs", first + second, doc):
            yield ScorePart("side_by_side", "name", (first, second), worth)
    if worth := CODE_WEIGHT * _field_score(view, "codes", joined(words), doc):
        yield ScorePart("code", "codes", tuple(words), worth)


def _field_score(view: View, field: str, term: str, doc: int) -> float:
    scored = field_scores(view, field, term)
    return 0.0 if scored is None else _at(*scored, doc)


def _at(docs: Docs | npt.NDArray[np.int32], scores: npt.NDArray[np.floating], doc: int) -> float:
    at = place_of(docs, doc)
    return 0.0 if at is None else float(scores[at])

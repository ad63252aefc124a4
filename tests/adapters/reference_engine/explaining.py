"""Why a document stands where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod

from app.domain.search.engine import (
    Explanation,
    FieldMatch,
    ScorePart,
    Sort,
)
from app.domain.search.ranking.query import (
    completions,
    with_neighbours_joined,
)
from app.domain.search.ranking.scoring import (
    ALTERNATIVE_WORTH,
    COMPOUND_WORTH,
    FIELDS,
    FORM_WORTH,
    PREFIX_WORTH,
    TEXT_FIELDS,
    field_weight,
)
from app.domain.search.text import query_words
from app.domain.search.word_forms import root
from tests.adapters.reference_engine.documents import sells
from tests.adapters.reference_engine.evaluation import Evaluation
from tests.adapters.reference_engine.matching import Matched


class Explainer:
    """Explains the documents of an evaluation."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation, self.index = evaluation, evaluation.index
        self.documents, self.answer = evaluation.documents, evaluation.answer

    def explanation(self, id: str) -> Explanation:
        words = query_words(self.evaluation.request.words)
        if id not in self.documents.by_id:
            return Explanation(words, False, None, None, (), words)
        matches, missing = self._words_in(id)
        if id not in self.evaluation.kept:
            return Explanation(words, True, None, None, matches, missing)
        score = self.evaluation.scores[id] if self.answer else None
        rank = self.evaluation.placement.pin_rank(id) or self.evaluation.placement.rank(
            self.evaluation.unpinned().index(id)
        )
        parts = self._parts(id, score) if score else ()
        alone = id in self.evaluation.alone
        return Explanation(words, True, rank, score, matches, missing, parts, self._placed(id), by_meaning_alone=alone)

    def _placed(self, id: str) -> str | None:
        is_behind = self.evaluation.request.ranking.sold_out_last and not sells(self.documents.by_id[id])
        is_last = is_behind and self.evaluation.request.sort is Sort.RELEVANCE
        return self.evaluation.placement.placed(id, self.evaluation.group_of(id)) or ("sold_out" if is_last else None)

    def _words_in(self, id: str) -> tuple[tuple[FieldMatch, ...], tuple[str, ...]]:
        fields: dict[str, dict[str, None]] = {}
        missing: list[str] = []
        for unit in self.answer.found.units if self.answer else ():
            present = {word for word, name in self._found_in(unit, id) if fields.setdefault(name, {}) is not None}
            for word, name in self._found_in(unit, id):
                fields[name][word] = None
            if id not in unit.scores:
                missing += [word for word in unit.words if word not in present]
        return tuple(FieldMatch(name, tuple(words)) for name, words in fields.items()), tuple(missing)

    def _found_in(self, unit: Matched, id: str) -> Iterator[tuple[str, str]]:
        """(word, field) of what a unit finds in a document."""
        assert self.answer is not None
        for words in (unit.words, *unit.alternatives):
            if words == unit.words or self.index.has_together(id, words, self.answer.query):
                for word in words:
                    yield from ((word, name) for name in self._fields_with(id, word, unit))

    def _fields_with(self, id: str, word: str, unit: Matched) -> list[str]:
        assert self.answer is not None
        readings = {word, *(a + b for a, b in pairwise(self.answer.query.words) if word in (a, b))}
        if id in unit.scores and unit.own is None:
            readings |= set(completions(word, self.index.vocabulary)) if word == self.answer.query.words[-1] else set()
        is_exact = word in self.answer.query.exact and word in unit.words
        formed = {name for name in TEXT_FIELDS if not is_exact and self.documents.form_score(id, name, word)}
        fields = self.documents.fields[id]
        return [name for name in FIELDS if name in formed or any(word in fields[name] for word in readings)]

    def _parts(self, id: str, score: float) -> tuple[ScorePart, ...]:
        """What the score is made of, scaled to its sum: what counts for all words scales each part."""
        assert self.answer is not None
        if id in self.evaluation.alone:
            return (ScorePart("meaning", None, (), score),)
        raw = list(self.index.bonuses(self.answer.query, id))
        for unit in self.answer.found.units:
            raw += self._unit_parts(unit, id)
        lifts = {kind: factors[id] for kind, factors in self.answer.found.lifts.items()}
        meaning = self.evaluation.by_meaning.get(id, 0.0)
        worth = (score - meaning) / prod(lifts.values())
        scale = worth / sum(part.worth for part in raw)
        parts = [ScorePart(part.kind, part.field, part.words, part.worth * scale) for part in raw]
        for kind, factor in lifts.items():
            if factor != 1:
                parts.append(ScorePart(kind, None, (), worth * (factor - 1)))
            worth *= factor
        if meaning:
            parts.append(ScorePart("meaning", None, (), meaning))
        return tuple(sorted(parts, key=lambda part: -part.worth))

    def _unit_parts(self, unit: Matched, id: str) -> list[ScorePart]:
        """By the reading that gives what the unit scores, or comes nearest."""
        assert self.answer is not None
        worth, words = unit.scores.get(id, 0.0), self.answer.query.words
        readings = [("word", unit.words, 1.0)]
        for other in unit.alternatives:
            share = ALTERNATIVE_WORTH * len(unit.words) / len(other)
            readings += [("alternative", spelled, share) for spelled in (other, *with_neighbours_joined(other))]
        readings += [("word", (a + b,), COMPOUND_WORTH) for a, b in pairwise(words) if {a, b} & set(unit.words)]
        if unit.words[-1] == words[-1]:
            longer = completions(words[-1], self.index.vocabulary)
            readings += [("beginning", (*unit.words[:-1], word), PREFIX_WORTH) for word in longer]
        made = [list(self._reading_parts(id, *reading)) for reading in readings] if worth else []
        return min(filter(None, made), key=lambda parts: abs(sum(part.worth for part in parts) - worth), default=[])

    def _reading_parts(self, id: str, kind: str, words: tuple[str, ...], worth: float) -> Iterator[ScorePart]:
        for word in words:
            own = [(kind, name, (word,), self.documents.field_score(id, name, word)) for name in FIELDS]
            formed = list(self._form_parts(id, kind, word))
            chosen = max(own, formed, key=lambda parts: sum(field_weight(name) * part for _, name, _, part in parts))
            for as_kind, name, found, score in chosen:
                if score:
                    yield ScorePart(as_kind, name, found, worth * field_weight(name) * score)

    def _form_parts(self, id: str, kind: str, word: str) -> Iterator[tuple[str, str, tuple[str, ...], float]]:
        for name in TEXT_FIELDS:
            words = self.documents.fields[id][name]
            forms = tuple(sorted(form for form in words if root(form) == root(word) is not None))
            is_other = kind == "word" and forms != (word,)
            yield "form" if is_other else kind, name, forms, FORM_WORTH * self.documents.form_score(id, name, word)

"""The matches of each unit of a query: a word, or a run of words with its alternatives, `(gearbox OR shifter)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

import numpy as np

from app.adapters.whoosh.facet_column import Docs
from app.adapters.whoosh.scoring import Matches, Scores, member, scores_at, united, word_matches
from app.adapters.whoosh.view import View
from app.domain.search.ranking.query import Query, Unit, required_words
from app.domain.search.ranking.scoring import ALTERNATIVE_WORTH, COMPOUND_WORTH, FIELDS, TEXT_FIELDS, demotion

_IN_TEXT = np.uint16(sum(1 << bit for bit, field in enumerate(FIELDS) if field in TEXT_FIELDS))


@dataclass(frozen=True, slots=True)
class UnitMatch:
    """The matches of one unit of a query. `match` is what the words or their alternatives match; `own` is what the
    words match themselves, None where they have no alternatives. `optional` need not match among the words, nor within
    an alternative."""

    words: tuple[str, ...]
    match: Matches
    own: Matches | None = None
    alternatives: tuple[tuple[str, ...], ...] = ()
    optional: frozenset[str] = frozenset()


def matches_of(view: View, words: Sequence[str]) -> list[Matches]:
    """Return the matches of each word. A document that has two neighbouring words written as one has both."""
    matches = [word_matches(view, word) for word in words]
    for place, (first, second) in enumerate(pairwise(words)):
        one = word_matches(view, first + second)
        if len(one.docs) and (one.fields & _IN_TEXT).any():
            for word, here in ((first, place), (second, place + 1)):
                matches[here] = _with_compound(view, word, matches[here], first + second, one)
    return matches


def _with_compound(view: View, word: str, match: Matches, compound: str, one: Matches) -> Matches:
    written = (one.fields & _IN_TEXT) > 0
    part = Matches(one.docs[written], one.scores[written], one.fields[written])
    key = ("compound", word, len(match.docs), compound)
    return view.recent(key, lambda: united(view, [(match, 1.0), (part, COMPOUND_WORTH)]), Matches.size_in_bytes)


def plain_matches(query: Query, matches: Sequence[Matches]) -> list[UnitMatch]:
    """Return the match of each word by itself, without alternatives."""
    return [UnitMatch((word,), match) for word, match in zip(query.words, matches, strict=True)]


def unit_matches(
    view: View, query: Query, matches: Sequence[Matches], last: Matches | None = None, *, apart: bool = False
) -> list[UnitMatch]:
    """Return the matches of each unit in the order of the words. `matches` are those of the words; `last` is what the
    last one matches as the beginning of longer words. `apart` is that of `Query.units`."""
    begun = [*matches[:-1], last] if last is not None else list(matches)
    if not query.alternatives:
        return plain_matches(query, begun)
    return [_unit_match(view, query, unit, matches, begun) for unit in query.units(apart=apart)]


def _unit_match(
    view: View, query: Query, unit: Unit, matches: Sequence[Matches], begun: Sequence[Matches]
) -> UnitMatch:
    if unit.alternatives is None:
        return UnitMatch(unit.words, begun[unit.place])
    run = slice(unit.place, unit.place + len(unit.words))
    own, longer = (together(view, unit.words, found[run], query.optional) for found in (matches, begun))
    worth = ALTERNATIVE_WORTH * len(unit.words)
    others = [(alternative_matches(view, o, query.optional), worth / len(o)) for o in unit.alternatives]
    return UnitMatch(unit.words, united(view, [(longer, 1.0), *others]), own, unit.alternatives, query.optional)


def alternative_matches(view: View, words: tuple[str, ...], optional: frozenset[str]) -> Matches:
    """Return the matches of a search for these words."""

    def matches() -> Matches:
        return together(view, words, matches_of(view, words), optional)

    return view.recent(("alternative", words, optional.intersection(words)), matches, Matches.size_in_bytes)


def together(view: View, words: Sequence[str], matches: Sequence[Matches], optional: frozenset[str]) -> Matches:
    """Return the documents that all of the required words match, with the sum of the scores of all words."""
    if len(matches) == 1:
        return matches[0]
    names = required_words(words, optional)
    required = [match for word, match in zip(words, matches, strict=True) if word in names]
    docs = reduce(lambda docs, match: docs[member(view, match, docs)], required[1:], required[0].docs)
    scores = np.zeros(len(docs), np.float32)
    fields = np.zeros(len(docs), np.uint16)
    for match in matches:
        scores += scores_at(view, match, docs)
        here = member(view, match, docs)
        fields[here] |= match.fields[np.searchsorted(match.docs, docs[here])]
    return Matches(docs, scores, fields)


def own_words_first(view: View, units: Sequence[UnitMatch], docs: Docs, scores: Scores) -> Scores:
    """Return the scores by which documents that have the words rank above those with only an alternative to them, and
    those with an alternative to one word above those with alternatives to two."""
    missing = missing_units(view, units, docs)
    scores = scores.copy()
    for level in range(1, int(missing.max(initial=0)) + 1):
        lower = missing >= level
        if lower.any() and not lower.all():
            scores[lower] *= demotion(float(scores[lower].max()), float(scores[~lower].min()))
    return scores


def missing_units(view: View, units: Sequence[UnitMatch], docs: Docs) -> Docs:
    """Return for how many units each document has an alternative alone."""
    missing = np.zeros(len(docs), np.intp)
    for unit in units:
        if unit.own is not None:
            missing += ~member(view, unit.own, docs)
    return missing

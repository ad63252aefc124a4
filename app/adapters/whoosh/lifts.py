"""Factors for the scores of documents beside those by words, each with a name in explanations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from app.adapters.whoosh import intent, learned, signals
from app.adapters.whoosh.facet_column import Docs
from app.adapters.whoosh.scoring import Scores
from app.adapters.whoosh.view import View
from app.domain.search.engine import SearchRequest
from app.domain.search.ranking.scoring import Phrase, phrase_of
from app.domain.search.text import LINKING_WORDS


@dataclass(frozen=True, slots=True)
class Lift:
    """A factor for the score of each matching document. `kind` is that of the score part that explains it."""

    kind: str
    factors: Scores


def lifts_of(view: View, request: SearchRequest, words: Sequence[str], docs: Docs, scores: Scores) -> tuple[Lift, ...]:
    """Return the lifts of matching documents, in the order in which they are applied. `words` are those that were
    searched in the end, `scores` what the documents score without lifts."""
    if not len(docs):
        return ()
    # A site's optional words may be part of a name, so all words are tried first.
    may_be_names = phrase_of(words), phrase_of(words, LINKING_WORDS | request.optional)
    by_kind = _by_kind(view, may_be_names, docs, scores)
    by_signal = (Lift(kind, factors) for kind, factors in signals.factors(view, request, docs))
    by_clicks = (Lift(kind, factors) for kind, factors in learned.factors(view, request, docs))
    return (*by_kind, *by_signal, *by_clicks)


def _by_kind(view: View, may_be_names: Sequence[Phrase], docs: Docs, scores: Scores) -> Iterator[Lift]:
    """Yield the lifts of the kind of product that the words mean. A level that they name has that lift alone; of the
    phrases that may be names the first that is one counts."""
    by_share = intent.lifts_by_share(view, docs, scores)
    found = (intent.named(view, phrase, docs) for phrase in dict.fromkeys(may_be_names))
    named = next((mask for mask in found if mask is not None), None)
    if by_share is not None:
        yield Lift("level", by_share if named is None else np.where(named, np.float32(1), by_share))
    if named is not None:
        yield Lift("level_name", intent.lifts_by_name(named))


def lifted(scores: Scores, lifts: Sequence[Lift]) -> Scores:
    return reduce(lambda scores, lift: scores * lift.factors, lifts, scores)

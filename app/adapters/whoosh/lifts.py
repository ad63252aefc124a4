"""The factors for the scores of documents that no word of their own gives them, each with a name in explanations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from app.adapters.whoosh import intent
from app.adapters.whoosh.facet_column import Docs
from app.adapters.whoosh.scoring import Scores
from app.adapters.whoosh.view import View
from app.domain.search.engine import SearchRequest


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
    by_kind = intent.lifts(view, docs)
    return () if by_kind is None else (Lift("level", by_kind),)


def lifted(scores: Scores, lifts: Sequence[Lift]) -> Scores:
    return reduce(lambda scores, lift: scores * lift.factors, lifts, scores)

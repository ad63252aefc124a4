"""Which kind of product the words mean, by the index's own statistics.

The share of a kind's products that answer the words tells what the words name: nearly every laptop answers
"laptop" and only some bags do. Products of a kind are lifted by the square of that share, compared with the
kind that has the largest.
"""

from __future__ import annotations

import numpy as np

from app.adapters.whoosh.facet_column import Docs
from app.adapters.whoosh.scoring import Scores
from app.adapters.whoosh.view import View

KIND_COLUMN = "level"
LIFT = 0.5
# Kinds of few products prove little; this many that do not answer are added to each.
DOUBT = 10


def lifted(view: View, docs: Docs, scores: Scores) -> Scores:
    lift = lifts(view, docs)
    return scores if lift is None else scores * lift


def lifts(view: View, docs: Docs) -> Scores | None:
    """What the score of each document is multiplied by; None for nothing."""
    if not len(docs):
        return None
    kinds = view.facet(KIND_COLUMN)
    codes = kinds.codes[docs]
    everything = view.cached("kinds", lambda: kinds.entry_counts(None))
    share = np.bincount(codes, minlength=len(everything)) / (everything + DOUBT)
    share[0] = 0
    highest = share.max()
    if not highest:
        return None
    lift: Scores = (1 + LIFT * np.square(share / highest)).astype(np.float32)
    by_doc: Scores = lift[codes]
    return by_doc

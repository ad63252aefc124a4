"""The lift of products whose kind the words name (app/domain/search/ranking/intent.py), over arrays."""

from __future__ import annotations

import numpy as np

from app.adapters.whoosh.facet_column import Docs
from app.adapters.whoosh.scoring import Scores
from app.adapters.whoosh.view import View
from app.domain.search.ranking.intent import KIND, lift, share_of_kind


def lifts(view: View, docs: Docs) -> Scores | None:
    """Return the factor by which the score of each document is multiplied; None for no change."""
    kinds = view.facet(KIND)
    codes = kinds.codes[docs]
    everything = view.cached("kinds", lambda: kinds.entry_counts(None))
    share = share_of_kind(np.bincount(codes, minlength=len(everything)), everything)
    share[0] = 0
    largest = share.max()
    if not largest:
        return None
    by_doc: Scores = lift(share, largest).astype(np.float32)[codes]
    return by_doc

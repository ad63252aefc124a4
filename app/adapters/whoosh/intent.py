"""The lifts of products whose kind the words mean (app/domain/search/ranking/scoring.py), over arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.schema import KIND_NAMES
from app.adapters.whoosh.scoring import Scores
from app.adapters.whoosh.view import View
from app.domain.search.ranking.scoring import FIRST_RESULTS, KIND, LIFT_BY_NAME, Phrase, lift_by_share, phrases


def lifts_by_share(view: View, docs: Docs, scores: Scores) -> Scores | None:
    """Return the factor for the score of each document by its level's share in the first results; None for no
    change."""
    kinds = view.facet(KIND)
    levels = kinds.codes[docs]
    first = _first(scores)
    evidence = np.bincount(levels[first], scores[first].astype(np.float64) ** 2, kinds.entries)
    evidence[0] = 0  # Documents without a level.
    largest = evidence.max()
    if not largest:
        return None
    by_doc: Scores = lift_by_share(evidence, largest).astype(np.float32)[levels]
    return by_doc


def _first(scores: Scores) -> npt.NDArray[np.intp]:
    """Return the places of the first results; of equals those that come first."""
    if len(scores) <= FIRST_RESULTS:
        return np.arange(len(scores))
    last = np.partition(scores, -FIRST_RESULTS)[-FIRST_RESULTS]
    above, equal = np.flatnonzero(scores > last), np.flatnonzero(scores == last)
    return np.concatenate((above, equal[: FIRST_RESULTS - len(above)]))


def named(view: View, phrase: Phrase, docs: Docs) -> Mask | None:
    """Return the mask of those among `docs` whose level the phrase names; None for none. Documents of an index that was
    made before it kept the names of levels have none."""
    names = view.cached("names by phrase", lambda: _names_by_phrase(view)).get(phrase)
    if names is None:
        return None
    mask = view.recent(("named", phrase), lambda: view.value_mask(KIND_NAMES, names), lambda mask: mask.nbytes)[docs]
    return mask if mask.any() else None


def _names_by_phrase(view: View) -> Mapping[Phrase, list[str]]:
    names = view.facet(KIND_NAMES).names
    return view.lasting("names by phrase", names, lambda: _by_phrase(names))


def _by_phrase(names: Sequence[str]) -> Mapping[Phrase, list[str]]:
    found: dict[Phrase, list[str]] = {}
    for name in names:
        for phrase in phrases([name]):
            found.setdefault(phrase, []).append(name)
    return found


def lifts_by_name(named: Mask) -> Scores:
    return np.where(named, np.float32(LIFT_BY_NAME), np.float32(1))

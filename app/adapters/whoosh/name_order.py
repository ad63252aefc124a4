"""The order by name across segments, as one number by document that rises with the name."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.schema import SORT_NAME_COLUMN
from app.adapters.whoosh.segment import LARGE, Segment
from app.adapters.whoosh.view import View


def name_keys(view: View) -> npt.NDArray[np.float64]:
    return view.cached("name order", lambda: _name_keys(view))


def _name_keys(view: View) -> npt.NDArray[np.float64]:
    """Return the key of each document. The names of large segments are sorted once and kept for later commits; those of
    small segments are placed between them."""
    large = [segment for segment in view.segments if segment.count >= LARGE]
    names, ranks = view.lasting("names", tuple(segment.id for segment in large), lambda: _sorted_names(large))
    keys = np.empty(view.size)
    position = 0
    small: list[tuple[bytes, int]] = []
    for base, segment in zip(view.bases.tolist(), view.segments, strict=False):
        if segment.count >= LARGE:
            keys[base : base + segment.count] = ranks[position : position + segment.count]
            position += segment.count
        else:
            column = segment.text(SORT_NAME_COLUMN)
            small.extend((column[doc], base + doc) for doc in range(segment.count))
    for place, (name, doc) in enumerate(sorted(small)):
        keys[doc] = bisect_left(names, name) - 0.5 + place / (2 * len(small) + 2)
    return keys


def _sorted_names(segments: Sequence[Segment]) -> tuple[list[bytes], npt.NDArray[np.float64]]:
    columns = [segment.text(SORT_NAME_COLUMN) for segment in segments]
    names = [column[doc] for column in columns for doc in range(len(column))]
    order = sorted(range(len(names)), key=names.__getitem__)
    ranks = np.empty(len(names))
    ranks[order] = np.arange(len(names))
    return [names[doc] for doc in order], ranks

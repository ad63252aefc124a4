"""A commit as readers see it: its segments laid end to end, with what queries need as arrays, made on first use."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from whoosh.util.numeric import byte_to_length

from app.adapters.whoosh.facet_column import FacetColumn, Mask, entry_mask
from app.adapters.whoosh.generations import HeldLock
from app.adapters.whoosh.inverted import ValueColumn
from app.adapters.whoosh.postings import Postings
from app.adapters.whoosh.schema import CARD_COLUMN, DIGEST_COLUMN, ID_COLUMN, SORT_NAME_COLUMN
from app.adapters.whoosh.segment import Segment
from app.domain.search.ranking.analysis import ANALYSIS
from app.domain.shared.byte_cache import ByteCache

T = TypeVar("T")
N = TypeVar("N", bound=np.generic)
RECENT_BYTES = 64 << 20
BESIDE_VALUE = 500  # Bytes of a cached value's key and place.

# A column of more entries is no facet but a code of each document; it is looked through instead of numbered.
FACET_ENTRIES = 20_000
BYTE_LENGTHS = np.array([byte_to_length(byte) for byte in range(256)], np.float64)


class View:
    """One commit of an index for reading. Documents are numbered across segments; `size` counts deleted ones too.

    `generation` and `commit` say which state this is. The pin keeps the generation's files while the view lives. From
    the view of another commit, `before`, is taken over what was made of the segments that both begin with.
    """

    def __init__(
        self,
        generation: str,
        commit: int,
        segments: Sequence[Segment],
        deleted: Sequence[Iterable[int]],
        pin: HeldLock | None = None,
        before: View | None = None,
    ) -> None:
        self.generation, self.commit, self.pin = generation, commit, pin
        self.segments = tuple(segments)
        self.counts = [segment.count for segment in segments]
        self.bases = np.concatenate(([0], np.cumsum(self.counts, dtype=np.int64)))
        self.size = int(self.bases[-1])
        self._based = [(np.int32(base), one) for base, one in zip(self.bases.tolist(), self.segments, strict=False)]
        self.deleted = [frozenset(docs) for docs in deleted]
        self.live = self._live_mask()
        self.documents = self.size - sum(map(len, self.deleted))
        self._cache: dict[Hashable, object] = {}
        self._recent = ByteCache[tuple[Any, int]](RECENT_BYTES, lambda entry: entry[1])
        self._rows: dict[Hashable, Any] = {}
        self._same = 0 if before is None else _common_start(before.segments, self.segments)
        # Only of the view before: what no search needed since the last commit is not worth its memory.
        self._known_rows = dict(before._rows) if before is not None and self._same else {}
        self.kept: dict[str, tuple[object, object]] = {} if before is None else before.kept

    @property
    def is_outdated(self) -> bool:
        """Whether any segment was made by another version of the analysis."""
        return any(segment.analysis != ANALYSIS for segment in self.segments)

    def _live_mask(self) -> Mask | None:
        """Return the mask of documents that are not deleted; None where nothing is, which spares the common case a
        pass."""
        if not any(self.deleted):
            return None
        live = np.ones(self.size, np.bool_)
        for base, docs in zip(self.bases.tolist(), self.deleted, strict=False):
            live[np.fromiter(docs, np.intp, len(docs)) + base] = False
        return live

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the cached value of a key, made by `make` where there is none. Two threads may make the same thing;
        both get a right one."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]  # type: ignore[return-value]

    def recent(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """Return a value like `cached`, from an LRU cache bounded in bytes, for keys of endless variety. `size` counts
        the bytes of a value."""

        def entry() -> tuple[T, int]:
            made = make()
            return made, size(made) + BESIDE_VALUE

        found: T = self._recent.get(key, entry)[0]
        return found

    def lasting(self, name: str, state: object, make: Callable[[], T]) -> T:
        """Return a value like `cached`, but handed on to the views of later commits for as long as `state` stays the
        same."""
        found = self.kept.get(name)
        if found is None or found[0] != state:
            found = self.kept[name] = (state, make())
        return found[1]  # type: ignore[return-value]

    def _end_to_end(self, key: Hashable, read: Callable[[Segment], npt.NDArray[N]]) -> npt.NDArray[N]:
        """Return the rows of all segments, end to end, cached; those that the view before had are not read again."""
        if key not in self._rows:
            known = self._known_rows.pop(key, None)
            first = 0 if known is None else self._same
            parts = [] if known is None else [known[: self.bases[first]]]
            self._rows[key] = np.concatenate([*parts, *map(read, self.segments[first:])])
        return self._rows[key]  # type: ignore[no-any-return]

    def postings(self, field: str, term: bytes) -> Postings | None:
        found = []
        for base, segment in self._based:
            postings = segment.postings(field, term)
            if postings is not None:
                found.append((postings[0] + base, postings[1]))
        if len(found) < 2:
            return found[0] if found else None
        return np.concatenate([docs for docs, _ in found]), np.concatenate([weights for _, weights in found])

    def average_length(self, field: str) -> float:
        total = sum(segment.field_lengths.get(field, 0) for segment in self.segments)
        return total / self.size if total else 1.0

    def length_bytes(self, field: str) -> npt.NDArray[np.uint8]:
        return self._end_to_end(("lengths", field), lambda segment: segment.lengths(field))

    def facet(self, name: str) -> FacetColumn:
        """Return the column of a facet, cached only where documents carry it: addresses can make up any name."""
        facet: FacetColumn | None = self._rows.get(("facet", name))
        if facet is None:
            columns = [segment.values(name) for segment in self.segments]
            facet = self._extended_facet(name, columns) or FacetColumn(columns, self.counts)
            if any(columns):
                self._rows["facet", name] = facet
        return facet

    def _extended_facet(self, name: str, columns: Sequence[ValueColumn | None]) -> FacetColumn | None:
        """Return the facet of the view before with the rows that it lacks; None where it must be made anew."""
        known: FacetColumn | None = self._known_rows.pop(("facet", name), None)
        if known is None:
            return None
        return known.extended(int(self.bases[self._same]), columns[self._same :], self.counts[self._same :])

    def value_mask(self, name: str, values: Sequence[str]) -> Mask:
        """Return the mask of documents that carry any of the values under a name."""
        columns = [segment.values(name) for segment in self.segments]
        if sum(len(column.uniques) for column in columns if column is not None) <= FACET_ENTRIES:
            return self.facet(name).mask(values)
        return np.concatenate([entry_mask(c, n, values) for c, n in zip(columns, self.counts, strict=True)])

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """Return the number of each document under a name, NaN where it has none; cached like a facet."""
        key = "numbers", name
        if key not in self._rows and not any(segment.has_numbers(name) for segment in self.segments):
            return np.full(self.size, np.nan)
        return self._end_to_end(key, lambda segment: segment.numbers(name))

    def document_of(self, document_id: str) -> int | None:
        """Return the number of a live document by its id, None where there is none."""
        for place, segment in enumerate(self.segments):
            doc = segment.document_of(document_id)
            if doc is not None and doc not in self.deleted[place]:
                return int(self.bases[place]) + doc
        return None

    def ids_and_cards(self, docs: npt.NDArray[np.intp]) -> list[tuple[str, Mapping[str, object]]]:
        """Return the ids and cards of documents, as hits show them; all cards are read in one go."""
        pairs = b",".join(self._texts(CARD_COLUMN, docs))
        found: list[tuple[str, Mapping[str, object]]] = json.loads(f"[{pairs.decode()}]")
        return found

    def names(self, docs: npt.NDArray[np.intp]) -> list[str]:
        """The folded names of documents."""
        return [name.decode() for name in self._texts(SORT_NAME_COLUMN, docs)]

    def _texts(self, name: str, docs: npt.NDArray[np.intp]) -> list[bytes]:
        places = self.bases.searchsorted(docs, side="right") - 1
        columns = [segment.text(name) for segment in self.segments]
        in_segment = zip(places.tolist(), (docs - self.bases[places]).tolist(), strict=True)
        return [columns[place][doc] for place, doc in in_segment]

    def digests(self) -> Iterator[tuple[str, str]]:
        for segment, deleted in zip(self.segments, self.deleted, strict=True):
            ids, digests = segment.text(ID_COLUMN), segment.text(DIGEST_COLUMN)
            for doc in range(segment.count):
                if doc not in deleted:
                    yield ids[doc].decode(), digests[doc].decode()


def _common_start(one: Sequence[Segment], other: Sequence[Segment]) -> int:
    """Return the number of segments with which both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(one, other, strict=False)))

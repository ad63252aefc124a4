"""The places of documents in the order by relevance: pins at their positions, then boosts, the others, and buries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from app.domain.search.engine import SearchRequest, Sort


@dataclass(frozen=True, slots=True)
class PlacedDocuments:
    """`pins` maps 0-based places of the whole list to document ids; boosts and buries leave the pinned out, so that no
    document stands twice. `total` counts the whole list."""

    total: int
    pins: Mapping[int, str]
    boosts: tuple[str, ...]
    buries: tuple[str, ...]

    @classmethod
    def of(cls, request: SearchRequest, kept: Collection[str], total: int) -> PlacedDocuments:
        """Place the documents of a request that are among the results; only the order by relevance can be shaped."""
        if not kept or request.sort is not Sort.RELEVANCE:
            return cls(total, {}, (), ())
        pins = pin_places([(pin.position - 1, pin.id) for pin in request.pins if pin.id in kept], total)
        pinned = set(pins.values())
        boosts = tuple(id for id in dict.fromkeys(request.boosts) if id in kept and id not in pinned)
        lifted = pinned.union(boosts)
        buries = tuple(id for id in dict.fromkeys(request.buries) if id in kept and id not in lifted)
        return cls(total, pins, boosts, buries)

    def __bool__(self) -> bool:
        return bool(self.pins or self.boosts or self.buries)

    def slots(self, start: int, end: int) -> tuple[int, list[str | None]]:
        """Return the stretch from place `start` to before `end`: how many documents that are not pinned stand before
        it, and for each place the id of the document pinned there, None for the next one that is not pinned."""
        before = start - sum(place < start for place in self.pins)
        return before, [self.pins.get(place) for place in range(start, min(end, self.total))]

    def rank(self, place: int) -> int:
        """Return the 1-based rank of a document that stands at a 0-based place among those that are not pinned."""
        for taken in sorted(self.pins):
            place += taken <= place
        return place + 1

    def placed(self, document_id: str) -> str | None:
        """Return how the request placed a document: `pinned`, `boosted`, `buried` or None."""
        kinds = (("pinned", self.pins.values()), ("boosted", self.boosts), ("buried", self.buries))
        return next((kind for kind, ids in kinds if document_id in ids), None)

    def pin_rank(self, document_id: str) -> int | None:
        """Return the 1-based rank of a pinned document, None for another."""
        return next((place + 1 for place, pinned in self.pins.items() if pinned == document_id), None)


def pin_places(wanted: Sequence[tuple[int, str]], total: int) -> dict[int, str]:
    """Return the places of pins in a list of `total`. Each keeps its position although others are filtered out; those
    beyond the end stand at the end in their order. A position that is taken yields the next."""
    ids: dict[str, int] = {}
    for place, document_id in wanted:
        ids.setdefault(document_id, max(place, 0))
    standing: dict[int, str] = {}
    free_from = 0
    in_order = sorted(ids.items(), key=lambda pin: pin[1])
    for left, (document_id, place) in zip(range(len(in_order), 0, -1), in_order, strict=True):
        at = min(max(place, free_from), total - left)
        standing[at] = document_id
        free_from = at + 1
    return standing

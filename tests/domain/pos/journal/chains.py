"""Chains as they are written, and the first place at which one breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.domain.pos.journal_chain import (
    FIRST_PREVIOUS_HASH,
    Break,
    ChainedEntry,
    Link,
    StoredEntry,
    break_at_head,
    follow,
    hash_of,
)

SALE = ChainedEntry(1, "SALE", "2026-11-20T21:04:05Z", "s-1", "t-1", "1007", 1250, "CASH", False, FIRST_PREVIOUS_HASH)


def sealed(entry: ChainedEntry) -> StoredEntry:
    return StoredEntry(entry, hash_of(entry))


def chained(entries: Sequence[ChainedEntry]) -> list[StoredEntry]:
    """The entries in one chain, whatever their sequences and previous hashes were."""
    chain: list[StoredEntry] = []
    for sequence, entry in enumerate(entries, 1):
        before = chain[-1].hash if chain else FIRST_PREVIOUS_HASH
        chain.append(sealed(replace(entry, sequence=sequence, previous_hash=before)))
    return chain


def head_of(chain: Sequence[StoredEntry]) -> Link:
    return Link(len(chain), chain[-1].hash) if chain else Link()


def first_break(chain: Sequence[StoredEntry], head: Link) -> Break | None:
    last = Link()
    for place in follow(last, chain):
        if isinstance(place, Break):
            return place
        last = place
    return break_at_head(last, head, max((stored.entry.sequence for stored in chain), default=0))

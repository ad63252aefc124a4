"""The chain of a journal: each entry is hashed with the one before, so that a change shows. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256

import rfc8785

FIRST_PREVIOUS_HASH = "0" * 64


@dataclass(frozen=True, slots=True)
class ChainedEntry:
    """An entry as it is hashed. `at` is RFC 3339 in UTC, to the second; `amount` in minor units, signed."""

    sequence: int
    type: str
    at: str
    session_id: str | None
    transaction_id: str | None
    order_number: str | None
    amount: int | None
    tender_type: str | None
    late: bool
    previous_hash: str


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry with the hash that is stored beside it."""

    entry: ChainedEntry
    hash: str


@dataclass(frozen=True, slots=True)
class Link:
    """A place in a chain: the sequence and the hash of an entry. The first one lies before all entries."""

    sequence: int = 0
    hash: str = FIRST_PREVIOUS_HASH


class Fault(Enum):
    """What is wrong with an entry; `label` completes “Entry 7 …”."""

    CHANGED = "was changed after it was written"
    MISSING = "is missing"
    SURPLUS = "is one too many"
    SWAPPED = "was changed, or was written in another place of the journal"
    UNLINKED = "does not follow the entry before it: entries were inserted, removed or rewritten here"
    TAIL_REMOVED = "is missing, and so are all entries after it"
    TAIL_ADDED = "stands after the head of the journal"
    Z_REPORT_REMOVED = "is missing: a Z report names an entry that the journal does not have"
    HEAD_DIFFERS = "is the last one, but its hash is not that of the head"

    @property
    def label(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Break:
    """The first place at which a chain is broken: the sequence that stands there, or should."""

    sequence: int
    fault: Fault

    @property
    def message(self) -> str:
        return f"Entry {self.sequence:,} {self.fault.label}."


def hash_of(entry: ChainedEntry) -> str:
    """Return the SHA-256, in lower-case hex, over the previous hash and the entry's canonical JSON (RFC 8785). Raises
    rfc8785.CanonicalizationError for values that no entry has, as whole numbers beyond 53 bits."""
    return sha256(f"{entry.previous_hash}".encode() + rfc8785.dumps(dict(entry_json(entry)))).hexdigest()


def entry_json(entry: ChainedEntry) -> dict[str, str | int | bool | None]:
    """Return an entry as the journal's JSON has it, without its hash."""
    return {
        "sequence": entry.sequence,
        "type": entry.type,
        "at": entry.at,
        "sessionId": entry.session_id,
        "transactionId": entry.transaction_id,
        "orderNumber": entry.order_number,
        "amountInPence": entry.amount,
        "tenderType": entry.tender_type,
        "late": entry.late,
        "previousHash": entry.previous_hash,
    }


def follow(link: Link, entries: Iterable[StoredEntry]) -> Iterator[Link | Break]:
    """Yield the place of each entry that follows a place of the chain; at the first break, that, and nothing more."""
    for stored in entries:
        fault = fault_after(link, stored)
        if fault is not None:
            expected = link.sequence + 1
            yield Break(expected if fault is Fault.MISSING else stored.entry.sequence, fault)
            return
        link = Link(stored.entry.sequence, stored.hash)
        yield link


def fault_after(link: Link, stored: StoredEntry) -> Fault | None:
    """Return what is wrong with the entry that stands after a place of the chain; None if nothing is."""
    entry = stored.entry
    if entry.sequence > link.sequence + 1:
        return Fault.MISSING
    if entry.sequence <= link.sequence:
        return Fault.SURPLUS
    is_linked = entry.previous_hash == link.hash
    if not _is_as_written(stored):
        return Fault.CHANGED if is_linked else Fault.SWAPPED
    return None if is_linked else Fault.UNLINKED


def break_at_head(last: Link, head: Link, newest: int) -> Break | None:
    """Compare the last entry of a chain that is whole with the head that is stored beside the journal. `newest` is the
    largest sequence of an entry."""
    if last.sequence < head.sequence:
        return Break(last.sequence + 1, Fault.MISSING if newest > last.sequence else Fault.TAIL_REMOVED)
    if newest > head.sequence:
        return Break(head.sequence + 1, Fault.TAIL_ADDED)
    return None if last.hash == head.hash else Break(last.sequence, Fault.HEAD_DIFFERS)


def _is_as_written(stored: StoredEntry) -> bool:
    try:
        return hash_of(stored.entry) == stored.hash
    except rfc8785.CanonicalizationError:
        return False

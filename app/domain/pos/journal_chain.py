"""The chain of a journal: each entry is hashed with the one before, so that a change shows. Pure."""

from __future__ import annotations

from dataclasses import dataclass
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

    @property
    def hash(self) -> str:
        """SHA-256, in lower-case hex, over the previous hash and the canonical JSON (RFC 8785) of the entry."""
        return sha256(self.previous_hash.encode() + rfc8785.dumps(dict(entry_json(self)))).hexdigest()


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

"""Idempotency keys of clients: a request that comes twice is carried out once. Call these within a transaction."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, and_, delete, exists, or_, select, update

from app.domain.pos.models import PosIdempotencyKey, PosTransaction
from app.domain.shared.author import Author
from app.domain.shared.problems import Unprocessable
from app.domain.shared.records import upsert
from app.extensions import db

KEPT = timedelta(hours=24)
LONGEST_ANSWER = timedelta(seconds=60)  # Longer than a processor with its retries takes.
LONGEST_KEY = 255


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request with a client's key: the user who sent it, the location, its operation and its content. Only `key_hash`
    is stored of the key, since clients may make it of anything."""

    user_id: int
    location_id: int
    operation: str
    key: str
    content: object

    @property
    def key_hash(self) -> str:
        return hashlib.sha256(self.key.encode()).hexdigest()

    @property
    def operation_there(self) -> str:
        """The operation as it is stored: a key belongs to a user, a location and an operation."""
        return f"{self.operation}@{self.location_id}"

    @property
    def hash(self) -> str:
        said = json.dumps(self.content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(said.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Claim:
    """The record claimed under a key. `is_in_progress`: the first request under it may still be being answered."""

    record_id: str
    is_new: bool
    is_in_progress: bool = False


def claim(author: Author, request: KeyedRequest, record_id: str) -> Claim:
    """Claim the key of a request. `record_id` is what the key stands for where it is new; of simultaneous requests one
    is new. Raises Unprocessable where the key was used for another request."""
    now, known = author.now(), _find_key(author, request)
    if known is None or known.expires_at <= now:
        if known is not None:
            expired = PosIdempotencyKey.expires_at <= now
            db.session.execute(delete(PosIdempotencyKey).where(_is(author, request), expired))
        if _is_inserted(author, request, record_id):
            return Claim(record_id, is_new=True)
        known = _find_key(author, request)
    assert known is not None, "what could not be inserted is there"
    if known.request_hash != request.hash:
        raise Unprocessable("This Idempotency-Key was used for another request.", "idempotency_mismatch")
    in_progress = known.status is None and now - known.created_at < LONGEST_ANSWER
    return Claim(known.record_id, is_new=False, is_in_progress=in_progress)


def note_answer(author: Author, request: KeyedRequest, status: int) -> None:
    """Store the status of the answer to a request."""
    db.session.execute(update(PosIdempotencyKey).where(_is(author, request)).values(status=status))


def release(author: Author, request: KeyedRequest) -> None:
    """Release the key of a request that did nothing, so that it may be used again."""
    db.session.execute(delete(PosIdempotencyKey).where(_is(author, request)))


def _find_key(author: Author, request: KeyedRequest) -> PosIdempotencyKey | None:
    query = select(PosIdempotencyKey).where(_is(author, request))
    return db.session.scalar(query.execution_options(populate_existing=True))


def _is_inserted(author: Author, request: KeyedRequest, record_id: str) -> bool:
    """Insert the key; return False when another request under this key was faster, which this one waited for."""
    now = author.now()
    values = {
        "site_id": author.site_id,
        "user_id": request.user_id,
        "operation": request.operation_there,
        "key": request.key_hash,
        "request_hash": request.hash,
        "record_id": record_id,
        "created_at": now,
        "expires_at": now + KEPT,
    }
    inserted = upsert(PosIdempotencyKey).values(**values).on_conflict_do_nothing().returning(PosIdempotencyKey.id)
    return db.session.scalar(inserted) is not None


def _is(author: Author, request: KeyedRequest) -> ColumnElement[bool]:
    """Return the condition of the key's record. The release before stored the operation without the location, which is
    that of the payment: an answer that got lost in an upgrade must not lead to a second payment."""
    of_location = exists().where(
        PosTransaction.id == PosIdempotencyKey.record_id, PosTransaction.location_id == request.location_id
    )
    return and_(
        PosIdempotencyKey.site_id == author.site_id,
        PosIdempotencyKey.user_id == request.user_id,
        PosIdempotencyKey.key == request.key_hash,
        or_(
            PosIdempotencyKey.operation == request.operation_there,
            and_(PosIdempotencyKey.operation == request.operation, of_location),
        ),
    )

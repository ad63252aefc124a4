"""Idempotency keys: a call that is repeated with its key is not done again and gets the same answer, for a day."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.adapters.simulator.models import SimulatorKey
from app.adapters.simulator.storage import reading, writing
from app.adapters.simulator.wire import intent_json, intent_of
from app.domain.pos.processor import AccountRef, Busy, InvalidState, KeyReused

KEPT = timedelta(hours=24)
REFUSED, WORDS = "refused", "words"
Answer = dict[str, Any]


def once(
    ref: AccountRef, key: str, request: tuple[object, ...], now: datetime, act: Callable[[Session], Answer]
) -> Answer:
    """Return the stored answer to a request with this key; without one do `act` and store its answer, or the
    InvalidState that it raised. Other errors of `act` are not stored. Raises what `act` raises, KeyReused when the key
    was used for another request, and Busy while one with the same key goes on."""
    answer = _answer(ref, key, request, now, act)
    if REFUSED in answer:
        raise InvalidState(answer[WORDS], intent_of(answer[REFUSED]))
    return answer


def _answer(
    ref: AccountRef, key: str, request: tuple[object, ...], now: datetime, act: Callable[[Session], Answer]
) -> Answer:
    request_hash = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
    with reading() as session:
        answer = _known(session, ref, key, request_hash, now)
    if answer is not None:
        return answer
    try:
        with writing() as session:
            return _known(session, ref, key, request_hash, now) or _kept(session, ref, key, request_hash, now, act)
    except IntegrityError as error:  # Another one with this key committed first.
        raise Busy("A request with this key is under way.") from error


def _known(session: Session, ref: AccountRef, key: str, request_hash: str, now: datetime) -> Answer | None:
    row = session.get(SimulatorKey, (ref.account_id, key))
    if row is None or row.expires_at <= now:
        return None
    if row.request_hash != request_hash:
        raise KeyReused
    return row.answer


def _kept(
    session: Session,
    ref: AccountRef,
    key: str,
    request_hash: str,
    now: datetime,
    act: Callable[[Session], Answer],
) -> Answer:
    session.execute(delete(SimulatorKey).where(SimulatorKey.expires_at <= now))
    try:
        answer = act(session)
    except InvalidState as refusal:
        answer = {REFUSED: intent_json(refusal.intent), WORDS: refusal.message}
    kept = SimulatorKey(account_id=ref.account_id, key=key, request_hash=request_hash, answer=answer)
    kept.expires_at = now + KEPT
    session.add(kept)
    return answer

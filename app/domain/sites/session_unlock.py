"""The proof that a session bound to a passkey takes at each refresh: an access token of its own that still holds, or an
answer of the passkey to a challenge. So the refresh token that a till stores is worth nothing without its user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import TooManyRequests, Unauthenticated
from app.domain.sites import activity, throttle
from app.domain.sites.models import ApiSession, User, UserPasskey
from app.domain.sites.passkey_ceremonies import Credential, RelyingParty, Unverified, verify_assertion
from app.extensions import db

REFUSED = "passkey.refused"  # In the activity log.
WRONG_ANSWERS = (5, timedelta(minutes=15))
REQUIRED = "This session is unlocked with a passkey: send its answer as `assertion`."
WRONG = "The passkey did not confirm this: its answer is wrong, too late or for something else. Unlock again."


@dataclass(frozen=True, slots=True)
class Assertion:
    """The answer of a passkey (AuthenticationResponseJSON). `challenge` None: the challenge that it names is none of
    ours, over, or was issued for another refresh token."""

    party: RelyingParty
    challenge: bytes | None
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Proof:
    """What is sent with a refresh token. `session_id` is that of the access token, if one was sent and holds."""

    session_id: str | None = None
    assertion: Assertion | None = None


NO_PROOF = Proof()


def check_proof(
    clock: Clock, session: ApiSession, user: User, proof: Proof, is_repeated: bool
) -> Unauthenticated | None:
    """Check the proof where the session needs one. A wrong answer is noted, which is why that refusal is returned, to
    be raised after the commit. `is_repeated`: the refresh token was exchanged a moment ago, so that the same answer may
    come twice.

    Raises Unauthenticated where an answer is missing, and TooManyRequests after many wrong ones, which keeps no right
    one out.
    """
    if session.passkey_id is None or proof.session_id == session.id:
        return None
    if proof.assertion is None:
        raise Unauthenticated("assertion_required", REQUIRED)
    found = select(UserPasskey).where(UserPasskey.id == session.passkey_id, UserPasskey.site_id == session.site_id)
    passkey = db.session.scalar(found.with_for_update())
    try:
        count = _verify(passkey, proof.assertion, is_repeated)
    except Unverified:
        return _note_wrong_answer(clock, session, user)
    if passkey is not None:
        passkey.sign_count, passkey.last_used_at = count, clock.now()
    return None


def _verify(passkey: UserPasskey | None, sent: Assertion, is_repeated: bool) -> int:
    if passkey is None or sent.challenge is None:
        raise Unverified("There is no such passkey or challenge.")
    counted = max(passkey.sign_count - 1, 0) if is_repeated else passkey.sign_count
    known = Credential(passkey.credential_id, passkey.public_key, counted)
    return verify_assertion(sent.party, sent.challenge, sent.answer, known)


def _note_wrong_answer(clock: Clock, session: ApiSession, user: User) -> Unauthenticated:
    if seconds := throttle.count_within(clock, f"assertion:{session.id}", WRONG_ANSWERS):
        raise TooManyRequests(f"Too many wrong answers. Try again in {throttle.spoken(seconds)}.", seconds)
    author = Author(session.site_id, user.display_name, clock)
    activity.record(author, REFUSED, ("user", str(user.id)), "A wrong answer of a passkey was refused")
    return Unauthenticated("assertion_invalid", WRONG)

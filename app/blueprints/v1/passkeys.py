"""The passkeys by which users unlock a till: the options for both ceremonies, registering, the list, and removing."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app import ports
from app.blueprints.callers import rate_limited, relying_party, request_host
from app.blueprints.v1.api import ApiBlueprint, Body, Shape, ShortLine, UtcTime
from app.blueprints.v1.callers import (
    calling_author,
    current_session_id,
    is_other_program,
    requires_session,
    session_of_access_token,
    session_of_caller,
)
from app.domain.pos import sessions
from app.domain.pos.rules import device_problems
from app.domain.shared.problems import Invalid, Unauthenticated
from app.domain.sites import api_sessions, passkeys
from app.domain.sites.passkey_ceremonies import request_options
from app.domain.sites.passkeys import ListedPasskey
from app.domain.sites.session_unlock import Assertion, Proof
from app.transaction import transaction
from app.web.permissions import public
from app.web.tokens import (
    PASSKEY_ASSERTION,
    PASSKEY_REGISTRATION,
    challenge_of,
    issue_challenge,
    key_for,
    read_challenge,
)

PASSKEYS, ASSERTIONS = ("passkeys", 60), ("passkey-assertions", 60)  # A minute.
bp = ApiBlueprint("v1_passkeys", __name__, url_prefix="/v1/auth/passkeys", tag="Tokens")


def _challenge_token() -> fields.Str:
    return fields.Str(
        required=True,
        validate=validate.Length(max=PASSKEY_ASSERTION.longest),
        metadata={"description": "As it came with the options, within five minutes."},
    )


def _from_browser(form: str) -> fields.Dict:
    described = f"What `credential.toJSON()` gives in the browser: the {form} of WebAuthn, level 3."
    return fields.Dict(required=True, metadata={"description": described})


def _for_browser(form: str, reader: str) -> fields.Dict:
    described = f"The {form} of WebAuthn, level 3, for `PublicKeyCredential.{reader}`."
    return fields.Dict(required=True, metadata={"description": described})


class PasskeyBody(Body):
    challenge_token = _challenge_token()
    credential = _from_browser("RegistrationResponseJSON")
    name = ShortLine(metadata={"description": "For people; else that of the device.", "example": "Tilly’s phone"})


class AssertionBody(Body):
    challenge_token = _challenge_token()
    credential = _from_browser("AuthenticationResponseJSON")


class AssertionOptionsBody(Body):
    refresh_token = fields.Str(required=True, validate=validate.Length(max=200))
    device_id = ShortLine(metadata={"description": "As at the refresh."})


class CreationOptionsShape(Shape):
    public_key = _for_browser("PublicKeyCredentialCreationOptionsJSON", "parseCreationOptionsFromJSON")
    challenge_token = fields.Str(required=True, metadata={"description": "Send it back with the new passkey."})


class RequestOptionsShape(Shape):
    public_key = _for_browser("PublicKeyCredentialRequestOptionsJSON", "parseRequestOptionsFromJSON")
    challenge_token = fields.Str(required=True, metadata={"description": "Send it back with the refresh."})


class PasskeyShape(Shape):
    id = fields.Str(required=True)
    name = fields.Str(required=True, allow_none=True, metadata={"description": "null: the app gave it none."})
    created = UtcTime(required=True, attribute="created_at")
    current = fields.Bool(
        required=True, attribute="is_current", metadata={"description": "Whether the caller's session needs it."}
    )


class PasskeysShape(Shape):
    items = fields.List(
        fields.Nested(PasskeyShape),
        required=True,
        metadata={"description": "The one used last first.", "maxItems": passkeys.MOST_KEPT},
    )


@bp.post("/options")
@requires_session
@rate_limited(*PASSKEYS)
@bp.described("passkeyOptions", 401, 403, 429)
@bp.response(200, CreationOptionsShape)
def options() -> dict[str, Any]:
    """The options with which the browser makes a passkey of this device for the caller."""
    token = issue_challenge(PASSKEY_REGISTRATION, current_session_id(), ports.clock().now())
    made = passkeys.registration_options(session_of_caller(), relying_party(), challenge_of(token))
    return {"public_key": made, "challenge_token": token}


@bp.post("")
@requires_session
@rate_limited(*PASSKEYS)
@bp.described("registerPasskey", 401, 403, 409, 415, 429)
@bp.arguments(PasskeyBody)
@bp.response(201, PasskeyShape)
def register(body: dict[str, Any]) -> ListedPasskey:
    """Register a passkey, and bind the caller's session to it.

    From then on a refresh token of the session is worth something only together with an `assertion` by the passkey, or
    with an access token of the session that still holds. What the device (`deviceId`) had before is replaced, and the
    sessions that it unlocked end. A user has at most twenty; the one used longest ago makes room.
    """
    challenge = read_challenge(PASSKEY_REGISTRATION, body["challenge_token"], current_session_id(), ports.clock().now())
    problems = device_problems(None, body.get("name"))
    if challenge is None or problems:
        raise Invalid(problems) if problems else _no_challenge()
    author, credential = calling_author(), body["credential"]
    with transaction():
        return passkeys.register(author, session_of_caller(), relying_party(), challenge, credential, body.get("name"))


@bp.get("")
@requires_session
@rate_limited(*PASSKEYS)
@bp.described("listPasskeys", 401, 403, 429)
@bp.response(200, PasskeysShape)
def list_passkeys() -> dict[str, Any]:
    """The caller's passkeys in this shop."""
    caller = session_of_caller()
    return {"items": passkeys.passkeys_of(caller.site_id, caller.user_id, caller.session_id)}


@bp.delete("/<passkey_id>")
@requires_session
@rate_limited(*PASSKEYS)
@bp.described("removePasskey", 401, 403, 404, 429)
@bp.response(204)
def remove(passkey_id: str) -> None:
    """Remove one of the caller's passkeys: the sessions that it unlocks end, the caller's own as well where it is the
    current one."""
    with transaction():
        passkeys.remove_passkey(calling_author(), session_of_caller().user_id, passkey_id)


@bp.post("/assertionOptions")
@public
@bp.open_to_all
@rate_limited(*ASSERTIONS)
@bp.described("passkeyAssertionOptions", 401, 404, 415, 429)
@bp.arguments(AssertionOptionsBody)
@bp.response(200, RequestOptionsShape)
def assertion_options(body: dict[str, Any]) -> dict[str, Any]:
    """The options with which the browser has the passkey of a session answer, for the next refresh.

    The refresh token is not spent. The challenge is for it alone, and so for one refresh. A session without a passkey
    answers 404 (`passkey_not_found`); what ends a session at a refresh ends it here, too.
    """
    token, key = body["refresh_token"], key_for("refresh-tokens")
    with transaction():
        found = api_sessions.credential_to_unlock(
            ports.clock(), key, token, request_host(), body.get("device_id"), is_other_program
        )
        if isinstance(found, Unauthenticated):
            sessions.apply_end_of_session(ports.clock(), api_sessions.session_id_in(token) or "")
    if isinstance(found, Unauthenticated):
        raise found
    challenge_token = issue_challenge(PASSKEY_ASSERTION, api_sessions.hash_token(token), ports.clock().now())
    made = request_options(request_host(), found, challenge_of(challenge_token))
    return {"public_key": made, "challenge_token": challenge_token}


def sent_proof(refresh_token: str, sent: dict[str, Any] | None) -> Proof:
    """Return what came with a refresh token: an access token, and an AssertionBody if there was one."""
    if sent is None:
        return Proof(session_of_access_token())
    bound_to, now = api_sessions.hash_token(refresh_token), ports.clock().now()
    challenge = read_challenge(PASSKEY_ASSERTION, sent["challenge_token"], bound_to, now)
    return Proof(session_of_access_token(), Assertion(relying_party(), challenge, sent["credential"]))


def _no_challenge() -> Invalid:
    message = "This challenge is over or was issued for another session. Get new options."
    return Invalid.one("challenge_invalid", message, "#/challengeToken")

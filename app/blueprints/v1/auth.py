"""Signing in for a token, exchanging it, signing out, and the user's own devices."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from flask import request
from marshmallow import fields, validate
from werkzeug.exceptions import HTTPException

from app import ports
from app.blueprints.callers import rate_limited, request_host, user_by_credentials
from app.blueprints.v1.api import ApiBlueprint, Body, Shape, ShortLine, UtcTime
from app.blueprints.v1.callers import (
    caller,
    calling_author,
    current_session_id,
    is_other_program,
    requires_session,
    sent_claims,
    sent_token,
)
from app.blueprints.v1.passkeys import AssertionBody, sent_proof
from app.blueprints.v1.pos_agents import PosAgentShape, PosLocationShape, agent_json, location_json
from app.domain.pos import access, agents, sessions
from app.domain.pos.models import PosAgent
from app.domain.pos.rules import device_problems
from app.domain.shared.problems import Forbidden, Invalid, NotFound, Unauthenticated
from app.domain.sites import accounts, api_sessions, devices
from app.domain.sites.accounts import LONGEST_PASSWORD
from app.domain.sites.api_sessions import Audience, Because, Device, Granted
from app.domain.sites.personal_tokens import is_personal
from app.domain.sites.sites import site_by_host
from app.transaction import transaction
from app.web.permissions import public
from app.web.tokens import (
    DEVICE,
    access_token_expiry,
    device_of_token,
    device_token_with_user,
    issue_access_token,
    issue_end_token,
    key_for,
    session_of_end_token,
)

DEVICES = ("devices", 60)  # A minute.
bp = ApiBlueprint("v1_auth", __name__, url_prefix="/v1/auth", tag="Tokens")


class LoginBody(Body):
    email = fields.Str(required=True, validate=validate.Length(max=254), metadata={"example": "admin@demo.test"})
    password = fields.Str(
        required=True, validate=validate.Length(max=LONGEST_PASSWORD), metadata={"example": "demo-password-1"}
    )
    device_id = ShortLine(
        metadata={
            "description": "Binds the session to a device, which is listed at `GET /v1/auth/devices`: every refresh "
            "must then give the same `deviceId`."
        }
    )
    device_name = ShortLine(metadata={"description": "For people.", "example": "Stockroom import"})
    device_token = fields.Str(
        validate=validate.Length(max=DEVICE.longest),
        metadata={
            "description": "The `deviceToken` of the latest sign-in on this device, of whichever user: with it, wrong "
            "passwords from elsewhere keep its users waiting no more. One that is not of this shop, or of before the "
            "user's password was changed, counts as none."
        },
    )
    audience = fields.Enum(
        Audience,
        by_value=True,
        load_default=Audience.API,
        metadata={"description": "`pos` is for a till; its tokens manage nothing."},
    )


class RefreshBody(Body):
    refresh_token = fields.Str(required=True, validate=validate.Length(max=200))
    device_id = ShortLine(
        metadata={
            "description": "Required where the session was opened with one, and then the same: without it the answer "
            "is 400 (`required` at `#/deviceId`), with another the session ends (401 `session_revoked`). Else it "
            "counts for nothing."
        }
    )
    assertion = fields.Nested(
        AssertionBody,
        metadata={
            "description": "The answer of the session's passkey, where the session is bound to one and sends no access "
            "token of its own that still holds: without it 401 `assertion_required`, with a wrong one 401 "
            "`assertion_invalid`, and the refresh token stays as it is."
        },
    )


# Signing out succeeds whatever is sent, so no body breaks a rule.
LOGOUT_BODY: dict[str, Any] = {
    "description": "An object, of which these are read; everything else is passed over.",
    "properties": {
        "endToken": {"description": "A text, the `endToken` of a sign-in or refresh. Where there is neither token."},
        "refreshToken": {"description": "A text. Where there is no access token to send."},
        "reason": {
            "description": f"`{Because.PIN_LOCKOUT.value}`; anything else counts as `{Because.LOGOUT.value}`.",
            "default": Because.LOGOUT.value,
        },
    },
}


class UserShape(Shape):
    id = fields.Str(required=True)
    email = fields.Str(required=True)
    display_name = fields.Str(required=True)
    roles = fields.List(fields.Str(), required=True)


class TokensShape(Shape):
    token = fields.Str(required=True, metadata={"description": "The access token: `Authorization: Bearer <token>`."})
    token_type = fields.Str(required=True, metadata={"example": "Bearer"})
    expires_in = fields.Int(required=True, metadata={"description": "Seconds.", "example": 900})
    expires_at = UtcTime(required=True)
    refresh_token = fields.Str(required=True, metadata={"description": "For one use."})
    end_token = fields.Str(
        required=True,
        metadata={
            "description": "Ends the session (`POST /v1/auth/logout`) and does nothing else, for an app that forgot "
            "its other tokens, as a till does after a PIN that was wrong too often."
        },
    )
    session_id = fields.Str(required=True)
    session_expires_at = UtcTime(required=True, metadata={"description": "24 hours after signing in, whatever comes."})
    user = fields.Nested(UserShape, required=True)
    agent = fields.Nested(
        PosAgentShape, required=True, allow_none=True, metadata={"description": "null: the user is no agent."}
    )
    locations = fields.List(
        fields.Nested(PosLocationShape), required=True, metadata={"description": "Where the user may work at a till."}
    )


class SignedInShape(TokensShape):
    device_token = fields.Str(
        required=True,
        metadata={
            "description": "Store it on the device, in place of the one before, and send it as `deviceToken` at the "
            "next sign-in. It opens nothing; it lasts 400 days."
        },
    )


class DeviceShape(Shape):
    id = fields.Str(required=True)
    name = fields.Str(
        required=True, allow_none=True, metadata={"description": "null: the app gave it no `deviceName`."}
    )
    last_seen_at = UtcTime(required=True, metadata={"description": "The latest sign-in or refresh there."})
    current = fields.Bool(
        required=True, attribute="is_current", metadata={"description": "Whether the caller's session is there."}
    )


class DevicesShape(Shape):
    items = fields.List(
        fields.Nested(DeviceShape),
        required=True,
        metadata={"description": "The one seen last first.", "maxItems": devices.MOST_LISTED},
    )


@bp.post("/login")
@public
@bp.open_to_all
@bp.described("login", 401, 403, 404, 415, 429)
@bp.arguments(LoginBody)
@bp.response(200, SignedInShape)
def login(body: dict[str, Any]) -> dict[str, Any]:
    """Sign in with email address and password.

    The tokens are for the shop at whose host this is asked. An agent gets to know what they may do at a till, and
    where; a work session begins for them. Five wrong passwords for an account within a quarter of
    an hour, in a browser or here, make the next tries wait: for half a minute at most where they came from elsewhere,
    and not at all with the `deviceToken` of an earlier sign-in. Twenty tries a minute from one address make it wait,
    too.
    """
    site = site_by_host(request_host())
    if site is None:
        raise NotFound("There is no shop at this address.")
    site_id, device, token = site.id, _read_device(body), body.get("device_token", "")
    try:
        user = user_by_credentials(
            body["email"], body["password"], device_of_token(token, body["email"], ports.clock().now())
        )
    except Invalid:
        raise Unauthenticated("invalid_credentials", accounts.WRONG) from None
    with transaction():
        granted = api_sessions.open_session(ports.clock(), user, site_id, body["audience"], device)
        program, address = request.user_agent.string, request.remote_addr or ""
        agent = sessions.open_session(ports.clock(), granted.caller, device, program, address)
        listed_as = devices.note_sign_in(ports.clock(), granted.caller, device)
        device_token = device_token_with_user(token, user, ports.clock().now(), listed_as)
        return _tokens_json(granted, agent) | {"device_token": device_token}


@bp.post("/refresh")
@public
@bp.open_to_all
@bp.described("refreshToken", 401, 415, 429)
@bp.arguments(RefreshBody)
@bp.response(200, TokensShape)
def refresh(body: dict[str, Any]) -> dict[str, Any]:
    """Exchange the refresh token for a new pair of tokens.

    Each refresh token works once. Whoever sends a spent one again ends the session (`refresh_reused`), since it may
    have been stolen; only within 20 seconds the same answer is given again, in case the first was lost. A session that
    is bound to a passkey is refreshed only with its `assertion`, or with an access token of the session that still
    holds, sent as bearer. At most 30 times an hour.
    """
    key, token = key_for("refresh-tokens"), body["refresh_token"]
    proof = sent_proof(token, body.get("assertion"))
    with transaction():
        granted = api_sessions.refresh(
            ports.clock(), key, token, request_host(), body.get("device_id"), is_other_program, proof
        )
        if isinstance(granted, Unauthenticated):
            sessions.apply_end_of_session(ports.clock(), api_sessions.session_id_in(token) or "")
        else:
            devices.note_use(ports.clock(), granted.caller.session_id)
    if isinstance(granted, Unauthenticated):
        raise granted
    return _tokens_json(granted, access.find_agent(granted.caller.site_id, granted.caller.user_id))


@bp.post("/logout")
@public
@bp.open_to_all
@bp.described("logout", 403, ignores_query=True)
@bp.doc(
    requestBody={
        "required": False,
        "content": {kind: {"schema": LOGOUT_BODY} for kind in ("application/json", "text/plain")},
    }
)
@bp.response(204)
def logout() -> None:
    """End the session of the access token, which may be over, or else of the refresh or the end token.

    Ends well in any case but one: a personal access token has no session, which the answer says (403
    `personal_token`).

    What a body says that makes no sense counts as not said.
    """
    _refuse_personal_token()
    body = _lenient_body()
    session_id = _session_to_end(body)
    because = Because.PIN_LOCKOUT if body.get("reason") == Because.PIN_LOCKOUT.value else Because.LOGOUT
    if session_id:
        with transaction():
            if because is Because.PIN_LOCKOUT:
                reason = "the PIN of the till was wrong five times"
                api_sessions.end_as_suspicious(ports.clock(), session_id, because, reason)
            else:
                api_sessions.end(ports.clock(), session_id, because)
            sessions.apply_end_of_session(ports.clock(), session_id)


@bp.get("/devices")
@requires_session
@rate_limited(*DEVICES)
@bp.described("listDevices", 401, 403, 429)
@bp.response(200, DevicesShape)
def list_devices() -> dict[str, Any]:
    """The devices on which the caller signed in with a `deviceId`, in this shop."""
    return {"items": devices.devices_of(caller().site_id, caller().user_id, current_session_id())}


@bp.delete("/devices/<device_id>")
@requires_session
@rate_limited(*DEVICES)
@bp.described("removeDevice", 401, 403, 404, 429)
@bp.response(204)
def remove_device(device_id: str) -> None:
    """Remove one of the caller's devices: its sessions end, the caller's own as well where it is the current one, and
    its `deviceToken` counts as none for them. It is listed again when they sign in there."""
    with transaction():
        devices.remove_device(calling_author(), caller().user_id, device_id)


def _read_device(body: Mapping[str, Any]) -> Device:
    """Return the device of the body. Raises Invalid for one that is named after a card."""
    device = Device(body.get("device_id"), body.get("device_name"))
    if problems := device_problems(device.id, device.name):
        raise Invalid(problems)
    return device


def _lenient_body() -> dict[str, Any]:
    """Return the body, empty where it cannot be read. It may be sent as text, which is all that a page can still send
    as it is closed."""
    try:
        body = request.get_json(force=True)
    except (Invalid, HTTPException):
        return {}
    return body if isinstance(body, dict) else {}


def _refuse_personal_token() -> None:
    """Refuse to end the session of a personal access token, whose sender would believe it void. Raises Forbidden."""
    try:
        token = sent_token()
    except Unauthenticated:
        return
    if is_personal(token):
        raise Forbidden(
            "Signing out ends no session here, since a personal access token has none: it stays valid. Revoke it in "
            "the admin under “Access tokens”.",
            "personal_token",
        )


def _session_to_end(body: Mapping[str, Any]) -> str | None:
    with suppress(Unauthenticated):
        return sent_claims().session_id
    refresh_token, end_token = (
        sent if isinstance(sent := body.get(name), str) else "" for name in ("refreshToken", "endToken")
    )
    key = key_for("refresh-tokens")
    session_id = api_sessions.session_of_refresh_token(key, refresh_token, request_host())
    return session_id or session_of_end_token(end_token, ports.clock().now())


def _tokens_json(granted: Granted, agent: PosAgent | None) -> dict[str, Any]:
    caller, now = granted.caller, ports.clock().now()
    places = agents.locations_of(caller.site_id, caller.roles, agent)
    expires_at = access_token_expiry(caller, now)
    return {
        "token": issue_access_token(caller, now),
        "token_type": "Bearer",
        "expires_in": int((expires_at - now).total_seconds()),
        "expires_at": expires_at,
        "refresh_token": granted.refresh_token,
        "end_token": issue_end_token(caller.session_id, now),
        "session_id": caller.session_id,
        "session_expires_at": caller.expires_at,
        "user": {
            "id": str(caller.user_id),
            "email": caller.email,
            "display_name": caller.display_name,
            "roles": sorted(caller.roles),
        },
        "agent": None if agent is None else agent_json(agent),
        "locations": [location_json(place) for place in places],
    }

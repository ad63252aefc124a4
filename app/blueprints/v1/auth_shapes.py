"""Request and answer of signing in."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app.blueprints.v1.agent_shapes import PosAgentShape, PosLocationShape
from app.blueprints.v1.api import Body, Shape
from app.blueprints.v1.fields import ShortLine, UtcTime
from app.domain.sites.api_sessions import Audience, Because
from app.domain.sites.passwords import LONGEST as LONGEST_PASSWORD
from app.tokens.device_tokens import LONGEST_TOKEN


class LoginBody(Body):
    email = fields.Str(required=True, validate=validate.Length(max=254), metadata={"example": "admin@demo.test"})
    password = fields.Str(
        required=True, validate=validate.Length(max=LONGEST_PASSWORD), metadata={"example": "demo-password-1"}
    )
    device_id = ShortLine(
        metadata={"description": "Binds the session to a device: every refresh must then give the same `deviceId`."}
    )
    device_name = ShortLine(metadata={"description": "For people.", "example": "Stockroom import"})
    device_token = fields.Str(
        validate=validate.Length(max=LONGEST_TOKEN),
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


# Signing out succeeds whatever is sent, so no body breaks a rule.
LOGOUT_BODY: dict[str, Any] = {
    "description": "An object, of which these two are read; everything else is passed over.",
    "properties": {
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

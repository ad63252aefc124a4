"""What signing in takes and gives."""

from __future__ import annotations

from marshmallow import fields, validate

from app.blueprints.v1.api import Shape
from app.blueprints.v1.fields import Moment
from app.domain.sites.api_sessions import Audience, Because
from app.domain.sites.passwords import LONGEST as LONGEST_PASSWORD

ONE_LINE = validate.Regexp(r"[^\x00-\x1f\x7f]{1,100}\Z", error="A line of 1 to 100 characters, please.")


class LoginBody(Shape):
    email = fields.Str(required=True, validate=validate.Length(max=254), metadata={"example": "admin@demo.test"})
    password = fields.Str(
        required=True, validate=validate.Length(max=LONGEST_PASSWORD), metadata={"example": "demo-password-1"}
    )
    device_id = fields.Str(
        validate=ONE_LINE, metadata={"description": "Binds the session to a device, which then refreshes with it."}
    )
    device_name = fields.Str(validate=ONE_LINE, metadata={"description": "For people.", "example": "Stockroom import"})
    audience = fields.Enum(
        Audience,
        by_value=True,
        load_default=Audience.API,
        metadata={"description": "`pos` is for a till; its tokens manage nothing."},
    )


class RefreshBody(Shape):
    refresh_token = fields.Str(required=True, validate=validate.Length(max=200))
    device_id = fields.Str(validate=ONE_LINE)


class LogoutBody(Shape):
    refresh_token = fields.Str(
        validate=validate.Length(max=200), metadata={"description": "Where there is no access token to send."}
    )
    reason = fields.Str(
        validate=validate.OneOf([Because.LOGOUT.value, Because.PIN_LOCKOUT.value]), load_default=Because.LOGOUT.value
    )


class UserShape(Shape):
    id = fields.Str(required=True)
    email = fields.Str(required=True)
    display_name = fields.Str(required=True)
    roles = fields.List(fields.Str(), required=True)


class TokensShape(Shape):
    token = fields.Str(required=True, metadata={"description": "The access token: `Authorization: Bearer <token>`."})
    token_type = fields.Str(required=True, metadata={"example": "Bearer"})
    expires_in = fields.Int(required=True, metadata={"description": "Seconds.", "example": 900})
    expires_at = Moment(required=True)
    refresh_token = fields.Str(required=True, metadata={"description": "For one use."})
    session_id = fields.Str(required=True)
    session_expires_at = Moment(required=True, metadata={"description": "24 hours after signing in, whatever comes."})
    user = fields.Nested(UserShape, required=True)
    agent = fields.Raw(required=True, allow_none=True, metadata={"description": "null: the user is no till agent."})
    locations = fields.List(fields.Raw(), required=True, metadata={"description": "Where the user may work at a till."})

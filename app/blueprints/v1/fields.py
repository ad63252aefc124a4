"""Fields that take what they say and nothing like it: marshmallow's own turn "yes" into true and 2.5 into 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, validate

from app.domain.shared.times import rfc3339

LONGEST_NUMBER = 7  # Digits in an address.


class Flag(fields.Boolean):
    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class Whole(fields.Integer):
    """Written as one: 3.0, which JSON Schema would take, is refused as it is in the admin's JSON."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.make_error("invalid", input=value)
        return value


class NumberInAddress(fields.Integer):
    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not (value.isascii() and value.isdigit() and len(value) <= LONGEST_NUMBER):
            raise self.make_error("invalid", input=value)
        return int(value)


class Moment(fields.String):
    """In UTC, to the second."""

    def __init__(self, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(metadata={"format": "date-time"} | dict(metadata or {}), **kwargs)

    def _serialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return rfc3339(value)


class Few(fields.List):
    """Looks at no item of a list that is too long."""

    def __init__(self, inner: fields.Field, most: int, **kwargs: Any) -> None:
        super().__init__(inner, validate=validate.Length(max=most), **kwargs)
        self.most = most

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, list) and len(value) > self.most:
            raise ValidationError(f"At most {self.most:,} at once, please.")
        return super()._deserialize(value, *args, **kwargs)


class Unread(fields.List):
    """A list whose items are described, but read and written by the domain, which tells more about what is wrong."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(value, list):
            raise self.make_error("invalid")
        return value

    def _serialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return value

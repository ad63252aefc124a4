"""Fields of /v1 besides the strict ones of all JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, validate

from app.domain.shared.times import rfc3339

LONGEST_NUMBER = 7  # Digits in an address.
LARGEST_NUMBER = 10**LONGEST_NUMBER - 1
# The rules of texts for the description: regular expressions of ECMA 262, which need anchors.
ANY_TEXT = {"pattern": r"^[^\u0000]*$"}
# The rule of the domain (app/domain/shared/text.py), in which white space of any kind is a space.
_NO_LINE = r"\u0000-\u0008\u000e-\u001b\u007f-\u0084\u0086-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff"
_NO_BLOCK = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff"
_BLANK = r"\s\u001c-\u001f\u0085"
LINE = {"pattern": f"^[^{_NO_LINE}]*[^{_BLANK}{_NO_LINE}][^{_NO_LINE}]*$"}
BLOCK = {"pattern": f"^[^{_NO_BLOCK}]*$"}


class NumberInAddress(fields.Integer):
    """A whole number in ASCII digits; a longer one than any list has counts as the largest."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not (value.isascii() and value.isdigit()):
            raise self.make_error("invalid", input=value)
        return int(value) if len(value) <= LONGEST_NUMBER else LARGEST_NUMBER


class ShortLine(fields.String):
    """A text of 1 to 100 characters without a control character."""

    def __init__(self, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        rule = validate.Regexp(r"[^\x00-\x1f\x7f]{1,100}\Z", error="A line of 1 to 100 characters, please.")
        described = {"pattern": r"^[^\u0000-\u001f\u007f]{1,100}$"}
        super().__init__(validate=rule, metadata=described | dict(metadata or {}), **kwargs)


class UtcTime(fields.String):
    """A time in UTC, to the second."""

    def __init__(self, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(metadata={"format": "date-time"} | dict(metadata or {}), **kwargs)

    def _serialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return None if value is None else rfc3339(value)


class Few(fields.List):
    """A list that is refused when it is too long, before any of its items is read."""

    def __init__(self, inner: fields.Field, most: int, **kwargs: Any) -> None:
        super().__init__(inner, validate=validate.Length(max=most), **kwargs)
        self.most = most

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, list) and len(value) > self.most:
            raise ValidationError(f"At most {self.most:,} at once, please.")
        return super()._deserialize(value, *args, **kwargs)


class Unread(fields.List):
    """A list whose items are described, but read and written by the domain, which says more about what is wrong."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(value, list):
            raise self.make_error("invalid")
        return value

    def _serialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return value

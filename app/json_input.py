"""Strict readers of what clients send.

Python's JSON reader takes NaN, doubled keys and lone surrogates, and fails badly on deep nesting;
PostgreSQL refuses NUL in text. Each of these is answered as an error of the client.
"""

from __future__ import annotations

from typing import Any, NoReturn

from flask import Request
from flask.json.provider import DefaultJSONProvider
from werkzeug.exceptions import BadRequest, UnsupportedMediaType

from app.domain.shared import strict_json
from app.domain.shared.problems import Malformed

MOST_MARKS = 400_000  # Brackets and commas of one body: a taxonomy of 8 MB. Each may take 200 bytes to keep.


class StrictJSON(DefaultJSONProvider):
    """A strict reader of JSON. Raises ValueError, with the reason, for what is not plain and sound JSON."""

    sort_keys = False

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        return strict_json.loads(s, MOST_MARKS)


class ShopRequest(Request):
    def on_json_loading_failed(self, e: ValueError | None) -> NoReturn:
        if e is None:
            raise UnsupportedMediaType("Send JSON, with Content-Type: application/json.")
        raise Malformed.one("malformed_json", f"The body is not valid JSON: {e}")

    def _load_form_data(self) -> None:
        super()._load_form_data()
        for name, values in self.form.lists():
            if "\0" in name or any("\0" in value for value in values):
                raise BadRequest("A field of the form contains a NUL character.")

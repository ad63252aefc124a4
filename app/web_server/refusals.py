"""Refusals before the application sees a request. Each says why, and that it closes the connection."""

from __future__ import annotations

import json

from waitress.utilities import Error


class Refusal(Error):
    """A refusal, written in the form that the address serves: problem+json for /v1, words that also fit into a page
    elsewhere."""

    code = 503
    reason = "Service Unavailable"
    problem = "unavailable"
    retry_after: int | None = None

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path

    def to_response(self, ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        headers = [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
        if self.retry_after is not None:
            headers.append(("Retry-After", str(self.retry_after)))
        if self.path.startswith("/v1/"):
            form, body = "application/problem+json", self._problem()
        else:
            form, body = "text/html; charset=utf-8", f'<p role="alert">{self.body}</p>\n'
        return f"{self.code} {self.reason}", [("Content-Type", form), *headers], body.encode()

    def _problem(self) -> str:
        named = {"type": "about:blank", "title": self.reason, "status": self.code, "detail": self.body}
        return json.dumps(named | {"instance": self.path, "code": self.problem, "errors": []})


class Busy(Refusal):
    retry_after = 2


class TooSlow(Refusal):
    code = 408
    reason = "Request Timeout"
    problem = "request_timeout"

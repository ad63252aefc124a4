"""Limits that every request must keep, strict readers of what clients send, and the headers of every answer: security
and X-Robots-Tag.

Python's JSON reader takes NaN, doubled keys and lone surrogates, and fails badly on deep nesting; PostgreSQL refuses
NUL in text. Each of these is answered as an error of the client.
"""

from __future__ import annotations

from typing import Any, NoReturn
from urllib.parse import urlsplit

from flask import Flask, Request, Response, g, request
from flask.globals import request_ctx
from flask.json.provider import DefaultJSONProvider
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from werkzeug.exceptions import BadRequest, LengthRequired, RequestURITooLarge, UnsupportedMediaType
from werkzeug.middleware.proxy_fix import ProxyFix

from app.config import Config
from app.domain.seo.indexing_decision import NOINDEX
from app.domain.shared import strict_json
from app.domain.shared.problems import Forbidden, Malformed
from app.web.surfaces import current_surface

MAX_QUERY = 8_192  # Characters of the query string.
MAX_PARAMETERS = 250  # A listing reads 20 of 10 values each; those that only track visitors come on top.
MAX_PARAMETER_NAME = 200
MOST_MARKS = 400_000  # Brackets and commas of one body: a taxonomy of 8 MB. Each may take 200 bytes to keep.
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
ADMIN_ROBOTS = "noindex, nofollow"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "X-Content-Type-Options": "nosniff",
}


class StrictJSON(DefaultJSONProvider):
    """A strict reader of JSON. Raises ValueError, with the reason, for what is not plain and sound JSON."""

    sort_keys = False

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        return strict_json.loads(s, MOST_MARKS, g.get("unsound_in") if g else None)


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


class SessionOfPages(SecureCookieSessionInterface):
    """Sessions that are not written to immutable files, which are the same for every client: reading the session, as
    the login extension does after every request, would mark them as varying by cookie. Most visitors have none, and
    for them no key is derived."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        has_session = self.get_cookie_name(app) in request.cookies
        return super().open_session(app, request) if has_session else self.session_class()

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        if "immutable" not in response.headers.get("Cache-Control", ""):
            super().save_session(app, session, response)


def init_guards(app: Flask, config: Config) -> None:
    app.request_class = ShopRequest
    app.json = StrictJSON(app)
    app.session_interface = SessionOfPages()
    app.before_request(_refuse_broken_host)
    app.before_request(_refuse_oversized_query)
    app.before_request(_refuse_body_of_unknown_size)
    app.before_request(_refuse_foreign_origin)
    app.after_request(_set_headers)
    if config.production:
        app.after_request(_require_https)
    if hops := config.trusted_proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]


def _refuse_broken_host() -> Response | None:
    """Answer an invalid Host with plain text: no address can be written for such a host, so not even an error page."""
    if request_ctx.url_adapter is not None:
        return None
    return Response("No shop answers to this host.\n", 404, mimetype="text/plain")


def _refuse_oversized_query() -> None:
    query = request.query_string
    if len(query) > MAX_QUERY:
        raise RequestURITooLarge(f"The query is longer than {MAX_QUERY} characters.")
    if query.count(b"&") >= MAX_PARAMETERS:
        raise BadRequest(f"There are more than {MAX_PARAMETERS} parameters.")
    if len(query) > MAX_PARAMETER_NAME and any(len(name) > MAX_PARAMETER_NAME for name in request.args):
        raise BadRequest(f"The name of a parameter is longer than {MAX_PARAMETER_NAME} characters.")
    if b"%00" in query or "\0" in request.path:
        raise BadRequest("The address contains a NUL character.")


def _refuse_body_of_unknown_size() -> None:
    """Refuse compressed and chunked bodies: the former could unpack to any size, the latter would be cut off at the
    limit unnoticed."""
    if "Transfer-Encoding" in request.headers:
        raise LengthRequired("Send the body with its Content-Length, not in chunks.")
    if request.headers.get("Content-Encoding", "identity") != "identity":
        raise UnsupportedMediaType("Send the body without Content-Encoding.")


def _refuse_foreign_origin() -> None:
    """Refuse a request from another origin that changes something and may carry cookies. Raises Forbidden."""
    if request.method in SAFE_METHODS or not current_surface().takes_cookies:
        return
    fetched_from = request.headers.get("Sec-Fetch-Site")
    if fetched_from is not None:
        foreign = fetched_from not in ("same-origin", "none")
    else:
        origin = request.headers.get("Origin")
        foreign = origin is not None and host_of(origin) != request.host
    if foreign:
        raise Forbidden("This request came from another site.")


def host_of(origin: str) -> str | None:
    """Return the host of an origin; None for what is no address at all, such as `http://[`."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _set_headers(response: Response) -> Response:
    headers = response.headers
    given = {name.lower() for name, _ in headers}
    for name, value in HEADERS.items():
        if name.lower() not in given:
            headers.add(name, value)
    if response.mimetype == "text/html":
        response.vary.add("HX-Request")
    if current_surface().is_private:
        headers.setdefault("Cache-Control", "no-store")
    return response


def _require_https(response: Response) -> Response:
    response.headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    return response


def init_robots(app: Flask) -> None:
    app.after_request(_set_robots)


def _set_robots(response: Response) -> Response:
    """Set X-Robots-Tag of HTML: the page's own decision, else noindex, since fragments, errors and baskets are not to
    be listed; for the admin nofollow as well."""
    if response.mimetype == "text/html" and "X-Robots-Tag" not in response.headers:
        robots = g.decision.robots if "decision" in g and response.status_code == 200 else NOINDEX
        response.headers["X-Robots-Tag"] = ADMIN_ROBOTS if current_surface().is_private else robots
    return response

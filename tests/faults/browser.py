"""Browsers of a shop that the deed `serve` serves."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import current_app
from flask.sessions import SecureCookieSessionInterface

from app.domain.sites import sign_in_sessions
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_user
from tests.faults.shops import SITE, Shop

HOST = "shop.test"


@dataclass
class Browser:
    """One that is signed in at the shop's address, or a shopper's."""

    address: str
    cookie: str = ""

    def get(self, path: str) -> tuple[int, str]:
        return self._open(urllib.request.Request(self.address + path))

    def post(self, path: str, form: dict[str, str]) -> tuple[int, str]:
        return self._open(urllib.request.Request(self.address + path, urlencode(form).encode()))

    def send(self, path: str, body: bytes, content_type: str) -> tuple[int, str]:
        """Send a form, as htmx does."""
        headers = {"Content-Type": content_type, "HX-Request": "true"}
        return self._open(urllib.request.Request(self.address + path, body, headers))

    def _open(self, request: urllib.request.Request) -> tuple[int, str]:
        headers = {"Host": HOST, "Cookie": self.cookie, "Sec-Fetch-Site": "same-origin", "User-Agent": "Mozilla/5.0"}
        for name, value in headers.items():
            request.add_header(name, value)
        try:
            with urllib.request.build_opener(NoRedirect).open(request, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


def form_of_picture(token: str, picture: bytes) -> tuple[bytes, str]:
    """Return a form with a picture, and the boundary of its parts."""
    boundary = "b" * 30
    fields = f'--{boundary}\r\nContent-Disposition: form-data; name="csrf_token"\r\n\r\n{token}\r\n--{boundary}\r\n'
    file = 'Content-Disposition: form-data; name="image"; filename="large.png"\r\nContent-Type: image/png\r\n\r\n'
    return (fields + file).encode() + picture + f"\r\n--{boundary}--\r\n".encode(), boundary


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments: object) -> None:
        return None


def signed_in(shop: Shop, address: str) -> tuple[Browser, str]:
    """An admin's browser, and the token of its forms."""
    with shop.opened() as indexing:
        with transaction():
            user = make_user(db.session.get_one(Site, SITE), Role.ADMIN)
            token = sign_in_sessions.open_session(indexing.clock, user, HOST, SITE)
        serializer = session_serializer()
        cookie = serializer.dumps({"_user_id": token, "_fresh": True, "csrf_token": "a" * 40})
    browser = Browser(address, f"shop={cookie}")
    found = re.search(r'name="csrf_token" value="([^"]+)"', browser.get("/admin/password")[1])
    assert found, "the browser is signed in"
    return browser, found[1]


def session_serializer():  # type: ignore[no-untyped-def]
    current_app.secret_key = "for tests"
    return SecureCookieSessionInterface().get_signing_serializer(current_app)

"""Somebody who is signed in to the admin of a running shop."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from http.cookies import SimpleCookie
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, build_opener
from urllib.request import Request as Asked

from app import ports
from app.domain.sites import accounts
from app.domain.sites.accounts import Role
from app.transaction import transaction
from bench.arrivals import Request, send_request
from bench.made_up import TAXONOMY

EMAIL, PASSWORD = "admin@bench.test", "a long password of the benchmark's"
TAXONOMY_PATH = f"/admin/catalogue/taxonomy/{TAXONOMY}"


@dataclass(frozen=True, slots=True)
class AdminClient:
    port: int
    host: str
    cookie: str
    token: str

    def add_terms(self, product_id: int, word: str) -> Request:
        body = json.dumps({"terms": [word]}).encode()
        return self._request(f"/admin/search/terms/rest/{product_id}/add", "POST", body)

    def structure(self, size: int) -> Request:
        """A tree of so many bytes, to be saved."""
        data = json.loads(send_request(self.port, self._request(f"{TAXONOMY_PATH}/data")).content)["taxonomy"]
        values = [f"A value that is one of many, number {number}" for number in range(100)]
        levels, used = list(data["rootLevels"]), 0
        while used < size - 10_000:
            number = len(levels)
            attribute = {"attributeId": f"a{number}", "name": f"A{number}", "type": "SINGLE_SELECT"}
            levels.append({"name": f"Level {number}", "attributes": [attribute | {"allowedValues": values}]})
            used += len(json.dumps(levels[-1]))
        body = {"revision": data["revision"], "name": data["name"], "rootLevels": levels}
        return self._request(f"{TAXONOMY_PATH}/structure", "PUT", json.dumps(body).encode())

    def _request(self, path: str, method: str = "GET", body: bytes = b"") -> Request:
        headers = {"Host": self.host, "Cookie": self.cookie, "X-CSRFToken": self.token, "Sec-Fetch-Site": "same-origin"}
        return Request(path, method, headers | {"Content-Type": "application/json"}, body)


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_arguments: object) -> None:
        return None


def signed_in(port: int, host: str, site_id: int) -> AdminClient:
    """By the form, as a new user of the site."""
    with transaction():
        user = accounts.create_user(ports.clock(), 8, EMAIL, "Benchmark", PASSWORD)
        accounts.grant(user, site_id, Role.ADMIN)
    cookie, page = _open(port, host, "/admin/login")
    form = {"csrf_token": _token(page), "email": EMAIL, "password": PASSWORD}
    cookie, _ = _open(port, host, "/admin/login", cookie, urlencode(form).encode())
    cookie, page = _open(port, host, "/admin/password", cookie)
    return AdminClient(port, host, cookie, _token(page))


def _token(page: str) -> str:
    found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page)
    assert found, "the form is there"
    return found[1]


def _open(port: int, host: str, path: str, cookie: str = "", form: bytes | None = None) -> tuple[str, str]:
    """The cookies that are held afterwards, and the page."""
    headers = {"Host": host, "Cookie": cookie, "Sec-Fetch-Site": "same-origin", "User-Agent": "Mozilla/5.0"}
    try:
        answer = build_opener(_NoRedirect).open(Asked(f"http://127.0.0.1:{port}{path}", form, headers), timeout=30)
    except HTTPError as redirect:
        answer = redirect
    with answer:
        held = SimpleCookie(cookie)
        for line in answer.headers.get_all("Set-Cookie", []):
            held.load(line)
        pairs = "; ".join(f"{name}={morsel.value}" for name, morsel in held.items())
        return pairs, answer.read().decode()

"""A merchandiser of a small shop, for tests of the catalogue's pages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from app.domain.sites.accounts import Role
from app.ports import EXTENSION
from app.transaction import transaction
from tests.factories import make_site, make_user
from tests.page_client import PageClient, Reading
from tests.snapshots import built


@dataclass
class Merchandiser:
    """`get` and `post` are the page client's; `swap` posts as htmx does and gives the raw answer."""

    pages: PageClient
    site_id: int

    def get(self, path: str, status: int = 200) -> Reading:
        return self.pages.get(path, status)

    def post(self, path: str, form: dict[str, Any], status: int = 302) -> Any:
        return self.pages.post(path, form, status)

    def swap(self, path: str, form: dict[str, Any]) -> TestResponse:
        headers = {"HX-Request": "true", "X-CSRFToken": self.pages.token}
        answer = self.pages.client.post(path, data=form, base_url=self.pages.base, headers=headers, buffered=True)
        answer.request.environ["wsgi.input"].close()  # A large upload lies in a temporary file.
        return answer

    def fragment(self, path: str) -> TestResponse:
        return self.pages.client.get(path, base_url=self.pages.base, headers={"HX-Request": "true"})


def _site_with_merchandiser(host: str) -> tuple[str, int]:
    with transaction():
        site = make_site(host)
        return make_user(site, Role.MERCHANDISER).email, site.id


def merchandiser(app: Flask, host: str = "localhost") -> Merchandiser:
    email, site_id = built(app, partial(_site_with_merchandiser, host), (merchandiser, host))
    app.extensions[EXTENSION].clock.move(seconds=2)  # Hosts are read anew once a second.
    return Merchandiser(PageClient(app, host).signed_in(email), site_id)

"""A browser for tests that looks at every page it is given: what no page may get wrong, no test has to say."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser

import flask
from flask import Flask
from flask_wtf.csrf import generate_csrf
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.blueprints.storefront.blueprint import current_shop
from app.domain.sites.models import User
from app.domain.sites.sign_in_sessions import open_session
from app.domain.sites.sites import site_by_host
from app.extensions import db
from app.ports import clock
from app.transaction import transaction
from tests.factories import PASSWORD


class Reading(HTMLParser):
    """What a page holds, as far as the checks and the tests ask: its tags, and the text of each kind of tag."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, str] = {}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        """Text counts for the tag that was opened last."""
        if self.tags:
            tag = self.tags[-1][0]
            self.texts[tag] = " ".join(f"{self.texts.get(tag, '')} {data}".split())

    def all(self, *names: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.tags if tag in names]

    def value(self, name: str) -> str:
        return next(field["value"] for field in self.all("input") if field.get("name") == name)


def check_page(html: str) -> Reading:
    page = Reading(html)
    assert len(page.all("h1")) == 1 and page.texts["h1"], "a page has one heading"
    assert page.texts["title"].startswith(page.texts["h1"]), "the title begins with the heading"
    ids = Counter(attributes["id"] for _, attributes in page.tags if "id" in attributes)
    assert [name for name, times in ids.items() if times > 1] == [], "ids are unique"
    labelled = {label.get("for") for label in page.all("label")} | {None}
    for field in page.all("input", "select", "textarea"):
        if field.get("type") not in ("hidden", "radio") and "aria-label" not in field:
            assert field.get("id") in labelled - {None}, f"{field} has a label"
    posting = [form for form in page.all("form") if form.get("method") == "post"]
    tokens = [field for field in page.all("input") if field.get("name") == "csrf_token"]
    assert len(tokens) >= len(posting), "every form that posts carries the token"
    assert not [tag for tag, attributes in page.tags if "style" in attributes or "onclick" in attributes]
    return page


class PageClient:
    """`get` and `post` check status and page. `host` is the shop's."""

    def __init__(self, app: Flask, host: str = "localhost") -> None:
        self.host, self.base, self.client, self.token = host, f"http://{host}", app.test_client(), ""

    def get(self, path: str, status: int = 200) -> Reading:
        return self._read(self.client.get(path, base_url=self.base), status)

    def post(self, path: str, form: dict[str, object], status: int = 302) -> TestResponse | Reading:
        sent = {"csrf_token": self.token} | form
        answer = self.client.post(path, data=sent, base_url=self.base)
        return answer if answer.status_code == status == 302 else self._read(answer, status)

    def signed_in_by_form(self, email: str, password: str = PASSWORD) -> PageClient:
        self.get("/admin/login")
        self.post("/admin/login", {"email": email, "password": password})
        self.get("/admin/password")
        return self

    def signed_in(self, email: str) -> PageClient:
        """As signing in through the form leaves a browser and the shop's cache, without its three requests."""
        app = self.client.application
        with app.app_context(), transaction():
            user = db.session.scalars(select(User).where(User.email == email)).one()
            token = open_session(clock(), user, self.host, site_by_host(self.host).id)
        with app.test_request_context(base_url=self.base):
            current_shop()
            self.token = generate_csrf()
            signed_in = {"_user_id": token, "_fresh": True, "csrf_token": flask.session["csrf_token"]}
        with self.client.session_transaction(base_url=self.base) as session:
            session.update(signed_in)
        return self

    def _read(self, answer: TestResponse, status: int) -> Reading:
        assert answer.status_code == status, f"{answer.request.path}: {answer.status_code}\n{answer.text}"
        page = check_page(answer.text)
        self.token = next((f["value"] for f in page.all("input") if f.get("name") == "csrf_token"), self.token)
        return page


def loses_focus(fragment: str) -> list[dict[str, str]]:
    """What of a fragment that is drawn anew every few seconds would lose the focus: it is found again by its id."""
    return [one for one in Reading(fragment).all("a", "button", "summary") if "id" not in one]

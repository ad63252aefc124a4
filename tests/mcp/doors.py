"""The doors of the shop side by side: a page of the admin, the REST of the admin, and a tool. A subject says how the
same thing is done by each of them."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from app.domain.sites.models import Site, User
from app.extensions import db
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.mcp.agent import Agent, ToolResult, token_for


@dataclass(frozen=True, slots=True)
class Said:
    """What a door answered: whether it took what was sent, and its words."""

    accepted: bool
    words: str


@dataclass(frozen=True, slots=True)
class Shop:
    """One merchandiser, with a browser and with an agent."""

    app: Flask
    mia: Merchandiser
    agent: Agent

    def page(self, path: str, form: dict[str, Any], refusal: str = 'class="problem') -> Said:
        """Send a form. A page that took it does not contain `refusal`."""
        answer = self.mia.swap(path, form)
        return Said(answer.status_code < 400 and refusal not in answer.text, html.unescape(answer.text))

    def rest(self, method: str, path: str, body: Any) -> Said:
        pages = self.mia.pages
        answer: TestResponse = pages.client.open(
            path, method=method, json=body, base_url=pages.base, headers={"X-CSRFToken": pages.token}
        )
        return Said(answer.status_code < 400, json.dumps(answer.json, ensure_ascii=False))

    def tool(self, name: str, **arguments: Any) -> ToolResult:
        return self.agent.call(name, **arguments)


@dataclass(frozen=True, slots=True)
class Subject:
    """`prepare` makes the thing anew for each door and returns its id; `state` reads what it came to. A door that is
    not there, or cannot say what is sent, is left out."""

    doors: Mapping[str, Callable[[Shop, int, Any], Said]]
    prepare: Callable[[Site], int]
    state: Callable[[int], Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One case: what is sent, whether it is taken, what holds afterwards, and sentences that each door says."""

    name: str
    subject: Subject
    sent: Any
    accepted: bool
    after: Any
    says: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()


def open_shop(app: Flask) -> Shop:
    mia = merchandiser(app)
    with app.app_context():
        site = db.session.get_one(Site, mia.site_id)
        user = db.session.scalars(db.select(User)).one()
        return Shop(app, mia, Agent(app, token_for(app, user, site)))


def of_tool(result: ToolResult) -> Said:
    return Said(not result.is_error, result.text)

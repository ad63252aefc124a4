"""A shop with pages for the brands of its categories, and what these pages say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from typing import Any

from flask import Flask

from app.domain.merchandising.models import Node, Tree
from app.domain.search.engine import SearchEngine
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.fakes.clock import StoppedClock

Rules = Callable[..., None]


TENTS = "/c/camping/tents"


MOOR, FELL = f"{TENTS}/brand/moor", f"{TENTS}/brand/fell-fern"


MUCH = {"value": "Moor", "heading": "Tents for the moor", "metaTitle": "Moor! | As written", "intro": "Hardy & <dry>."}


def changing(app: Flask, site_id: int, clock: StoppedClock) -> Rules:
    """What changes a category (by its path; none: the tree) and lets the shop notice it."""

    def change(path: str | None, /, **fields: Any) -> None:
        with app.app_context(), transaction():
            model, name = (Node, {"path": path}) if path else (Tree, {})
            record = db.session.query(model).filter_by(site_id=site_id, **name).one()
            for field, value in fields.items():
                setattr(record, field, value)
        clock.move(seconds=1)

    return change


def use(app: Flask, engine: SearchEngine) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=engine)


def engine_of(app: Flask) -> SearchEngine:
    engine: SearchEngine = app.extensions[EXTENSION].search_engine
    return engine


def tags(text: str, start: str) -> list[str]:
    return [unescape(tag) for tag in re.findall(rf"<{start}[^>]*>", text)]


def head(text: str) -> tuple[str, str, list[str]]:
    """Title, robots and canonicals."""
    robots = re.findall('<meta name="robots" content="(.*?)">', text)
    assert len(robots) == 1
    canonicals = re.findall('<link rel="canonical" href="(.*?)">', text)
    return unescape(re.findall("<title>(.*?)</title>", text)[0]), robots[0], [unescape(one) for one in canonicals]


def rail(text: str) -> dict[str, str]:
    """The link of each value of the filters, as its tag."""
    found = re.findall(r'(<a id="f-[^>]*>).*?<span>(.*?)</span>', text, re.DOTALL)
    return {unescape(label): unescape(tag) for tag, label in found}


def data(text: str, kind: str) -> dict[str, Any]:
    scripts = (json.loads(script) for script in re.findall(r'<script type="application/ld\+json">(.*?)</script>', text))
    return next(script for script in scripts if script["@type"] == kind)

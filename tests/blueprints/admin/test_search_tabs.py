"""Every page of the Search section shows the same menu, with the page that it belongs to marked."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import pytest
from flask import Flask

from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.factories import (
    make_judged_search,
    make_judgement_list,
    make_product,
    make_replay,
    make_rule,
    make_synonym,
)
from tests.page_client import Reading

SECTION = "/admin/search"
TEMPLATES = Path(__file__).parents[3] / "app" / "templates" / "admin" / "search"


@pytest.fixture
def shop(app: Flask) -> Merchandiser:
    return merchandiser(app)


def marked(page: Reading) -> list[str]:
    menu = page.tags.index(("nav", {"class": "tabs", "aria-label": "Search"}))
    tabs = takewhile(lambda tag: tag[0] == "a", page.tags[menu + 1 :])
    return [link["href"] for _, link in tabs if link.get("aria-current") == "page"]


@pytest.fixture
def ids(app: Flask, shop: Merchandiser) -> dict[str, object]:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, shop.site_id)
        rule = {"kind": "rule", "remove": False, "term": "mug", "boosts": ["A-1"]}
        judgements = make_judgement_list(site)
        return {
            "judgements": judgements.id,
            "judged": make_judged_search(judgements, "mug").id,
            "rule": make_rule(site).id,
            "synonym": make_synonym(site).id,
            "product": make_product(site, "A-1", search_terms=["mug"]).id,
            "replay": make_replay(site).id,
            "replay_of_rule": make_replay(site, proposal=rule).id,
        }


@pytest.mark.parametrize(
    ("address", "tab"),
    [
        ("", ""),
        ("/analytics", "/analytics"),
        ("/ranking/new", "/ranking"),
        ("/ranking/{rule}", "/ranking"),
        ("/synonyms/{synonym}", "/synonyms"),
        ("/synonyms/import", "/synonyms"),
        ("/golden", "/test"),
        ("/judgements/{judgements}", "/test"),
        ("/judgements/{judgements}/searches/{judged}", "/test"),
        ("/judgements/{judgements}/import", "/test"),
        ("/test", "/test"),
        ("/activity", ""),
        ("/comparisons", "/ranking"),
        ("/replays/{replay}", "/synonyms"),
        ("/replays/{replay_of_rule}", "/ranking"),
        ("/effect/synonym/{synonym}", "/synonyms"),
        ("/effect/rule/{rule}", "/ranking"),
        ("/effect/terms/{product}", "/terms"),
    ],
)
def test_a_page_marks_the_tab_that_it_belongs_to(
    shop: Merchandiser, ids: dict[str, object], address: str, tab: str
) -> None:
    assert marked(shop.get(SECTION + address.format(**ids))) == [SECTION + tab]


def test_the_menu_has_the_seven_pages_and_others_stand_within_them(shop: Merchandiser) -> None:
    page = shop.get(f"{SECTION}/golden")
    menu = page.tags.index(("nav", {"class": "tabs", "aria-label": "Search"}))
    assert len(list(takewhile(lambda tag: tag[0] == "a", page.tags[menu + 1 :]))) == 7
    menu = page.tags.index(("nav", {"class": "tabs within", "aria-label": "Test a search"}))
    within = [link for _, link in takewhile(lambda tag: tag[0] == "a", page.tags[menu + 1 :])]
    assert [link["href"] for link in within] == [SECTION + page for page in ("/test", "/golden", "/judgements")]
    assert [link["href"] for link in within if link.get("aria-current")] == [f"{SECTION}/golden"]


@pytest.mark.parametrize(
    ("kind", "form", "tabs"),
    [
        ("rule", {"term": "mug", "boosts": "A-1"}, ["/ranking"]),
        ("terms", {"product": "A-1", "terms": ""}, ["/terms"]),
        ("synonym", {"type": "EQUIVALENT", "words": ""}, ["/synonyms"]),
        ("nothing", {}, []),
    ],
)
def test_a_comparison_belongs_to_the_page_of_what_is_tried(
    shop: Merchandiser, kind: str, form: dict[str, str], tabs: list[str]
) -> None:
    page = shop.post(f"{SECTION}/try?kind={kind}", form, 200 if kind == "rule" else 400)
    assert marked(page) == [SECTION + tab for tab in tabs]


def test_no_page_of_the_section_lacks_the_menu() -> None:
    base = TEMPLATES / "base.html"
    assert '{% include "admin/search/_tabs.html" %}' in base.read_text()
    pages = {page: page.read_text() for page in TEMPLATES.rglob("*.html") if page != base}
    pages = {page: text for page, text in pages.items() if "{% extends" in text}
    assert len(pages) > 10
    assert [page.name for page, text in pages.items() if '{% extends "admin/search/base.html" %}' not in text] == []
    assert [page.name for page, text in pages.items() if "{% block tabs %}" in text] == []

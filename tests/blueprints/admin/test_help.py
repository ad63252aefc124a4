"""The documentation inside the admin: every page leads to its part of it, and every link leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask

from app.blueprints.admin.help import PARTS, help_of
from app.domain.sites.accounts import Role
from app.web.documentation import DOCUMENTS, document
from tests.blueprints.admin.conftest import SignedIn

ROOT = Path(__file__).resolve().parents[3]
LINK = re.compile(r'href="/admin/help/([\w-]+)(?:#([^"]*))?"')


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS.keys())
def test_the_anchor_of_every_part_exists(part) -> None:
    assert part.anchor in document(part.document).anchors


def test_documents_are_read_alike_whatever_the_locale() -> None:
    read = "from app.web.documentation import DOCUMENTS, document; [document(name) for name in DOCUMENTS]"
    ascii_only = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", read], env=ascii_only, cwd=ROOT, check=True)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_lead_to_anchors_that_exist_and_to_no_file(name: str) -> None:
    html = document(name).html
    for other, anchor in LINK.findall(html):
        assert not anchor or anchor in document(other).anchors, (other, anchor)
    assert re.findall(r'href="(?!https?:|mailto:|/admin/help/|#)[^"]*"', html) == []
    assert len(set(document(name).anchors)) == len(document(name).anchors)


def test_every_page_of_the_admin_has_a_part_of_its_own_section(app: Flask) -> None:
    read = [rule.rule for rule in app.url_map.iter_rules() if "GET" in (rule.methods or ())]
    rules = {rule for rule in read if rule.startswith("/admin/")}
    outside = {"/admin/", "/admin/login", "/admin/login/code", "/admin/login/passkey", "/admin/rest/alerts"}
    outside |= {"/admin/forgotten", "/admin/new-password/<token>", "/admin/invitation/<token>"}
    assert {rule for rule in rules - outside if help_of(rule).anchor == "dashboard"} == set()


@pytest.mark.parametrize(
    ("path", "anchor"),
    [
        ("/admin/", "dashboard"),
        ("/admin/catalogue/products", "products"),
        ("/admin/catalogue/taxonomy", "taxonomy"),
        ("/admin/catalogue/taxonomy/kinds", "editing-a-taxonomy"),
        ("/admin/catalogue/taxonomy/kinds/review", "reviewing-a-change"),
        ("/admin/catalogue/taxonomy/worklist", "worklist"),
        ("/admin/merchandising/category/7", "merchandising-trees"),
        ("/admin/merchandising/category/7/landing", "landing-pages"),
        ("/admin/search/try", "search"),
        ("/admin/search/ranking/7", "rules-and-ranking"),
        ("/admin/settings/search", "search-settings"),
    ],
)
def test_the_longest_beginning_that_fits_counts(path: str, anchor: str) -> None:
    assert help_of(path).anchor == anchor


def test_a_page_has_one_line_that_leads_to_its_part(signed_in: SignedIn) -> None:
    mia = signed_in()
    html = mia.client.get("/admin/search/golden").text
    assert html.count("Learn more about") == 1 and 'href="/admin/help/guide#golden-searches"' in html
    page = mia.get("/admin/help/guide")
    assert page.texts["h1"] == "Guide to the admin"
    assert "golden-searches" in [heading.get("id") for heading in page.all("h3")]


def test_a_missing_page_leads_to_the_beginning(signed_in: SignedIn) -> None:
    missing = signed_in().client.get("/admin/nothing")
    assert missing.status_code == 404 and 'href="/admin/help/guide#guide-to-the-admin"' in missing.text


def test_every_document_is_a_page_and_the_index_lists_them(signed_in: SignedIn) -> None:
    ada = signed_in(Role.ADMIN)
    listed = [link["href"] for link in ada.get("/admin/help").all("a")]
    for name in DOCUMENTS:
        assert f"/admin/help/{name}" in listed
        ada.get(f"/admin/help/{name}")
    ada.get("/admin/help/map", 404)


def test_tables_are_drawn_and_markup_is_text() -> None:
    assert "<table>" in document("glossary").html and "<script" not in document("payments").html

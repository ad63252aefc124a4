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
from app.blueprints.admin.page_tasks import PAGE_TASKS
from app.domain.sites.accounts import Role
from app.web.documentation import DOCUMENTS, document
from app.web.help_tasks import tasks_by_name
from app.web.permissions import DECLARED, Permission, allowed
from tests.blueprints.admin.conftest import SignedIn

ROOT = Path(__file__).resolve().parents[3]
LINK = re.compile(r'href="/admin/help/([\w-]+)(?:#([^"]*))?"')


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS.keys())
def test_the_anchor_of_every_part_exists(part) -> None:
    assert part.anchor in document(part.document).anchors


@pytest.mark.parametrize("row", PARTS)
def test_every_page_with_help_has_tasks_that_exist(row: str) -> None:
    """But for finding things and Help itself, which lead everywhere."""
    tasks = PAGE_TASKS[row].split()
    assert set(tasks) <= set(tasks_by_name())
    assert tasks or row in ("/admin/find", "/admin/keys", "/admin/help")


def test_tasks_are_of_pages_that_have_help() -> None:
    assert set(PAGE_TASKS) == set(PARTS)
    assert set(" ".join(PAGE_TASKS.values()).split()) == set(tasks_by_name()), "every task is beside some page"


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


def test_the_page_of_the_guide_has_the_place_that_help_itself_leads_to(signed_in) -> None:
    assert f'id="{PARTS["/admin/help"].anchor}"' in signed_in().client.get("/admin/help/guide").text


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


def task_links(html: str) -> list[str]:
    return re.findall(r'href="/admin/help/task/([\w-]+)"', html)


def test_help_begins_with_the_tasks_of_the_role(app: Flask, signed_in: SignedIn) -> None:
    for role in (Role.MERCHANDISER, Role.ADMIN, Role.SUPERADMIN):
        page = signed_in(role).client.get("/admin/help").text
        may = {
            name
            for name, task in tasks_by_name().items()
            if allowed([role], Permission(getattr(app.view_functions[task.page], DECLARED)))
        }
        assert set(task_links(page)) == may and len(may) > 20
        assert page.index("What would you like to do?") < page.index("Guide to the admin")


@pytest.mark.parametrize("name", tasks_by_name())
def test_a_task_leads_to_the_page_where_it_is_done(signed_in: SignedIn, name: str) -> None:
    task = tasks_by_name()[name]
    ada = signed_in(Role.SUPERADMIN if task.picture.superadmin else Role.ADMIN)
    page = ada.get(f"/admin/help/task/{name}")
    assert page.texts["h1"] == task.title
    picture = page.all("img")[0]
    assert picture["alt"] == task.picture.alt and int(picture["width"]) > 200 and picture["loading"] == "lazy"
    assert ada.client.get(picture["src"], buffered=True).status_code == 200
    opens = next(link["href"] for link in page.all("a") if link.get("class") == "btn primary")
    assert ada.client.get(opens).status_code == 200


def test_a_task_of_another_role_says_so_and_leads_nowhere(signed_in: SignedIn) -> None:
    mia = signed_in(Role.MERCHANDISER)
    html = mia.client.get("/admin/help/task/invite-colleague").text
    assert "Your role cannot open this page." in html and "btn primary" not in html
    mia.get("/admin/help/task/nothing", 404)


def test_help_is_searched_by_words_and_their_forms(signed_in: SignedIn) -> None:
    mia = signed_in(Role.MERCHANDISER)
    found = mia.client.get("/admin/help?q=adding+synonyms").text
    assert task_links(found)[0] == "add-synonym"
    assert 'href="/admin/help/guide#synonyms"' in found
    assert 'value="adding synonyms"' in found, "the words stay"
    assert "invite-colleague" not in mia.client.get("/admin/help?q=invite+colleague").text
    assert "invite-colleague" in signed_in(Role.ADMIN).client.get("/admin/help?q=invite+colleague").text


def test_a_search_of_help_without_a_result_offers_all_tasks(signed_in: SignedIn) -> None:
    html = signed_in().client.get("/admin/help?q=%3Ci%3Eqwertzuiop").text
    assert "Nothing has “&lt;i&gt;qwertzuiop”" in html
    assert len(task_links(html)) > 20


def test_scripts_get_what_was_found_alone(signed_in: SignedIn) -> None:
    fragment = signed_in().client.get("/admin/help?q=synonym", headers={"HX-Request": "true"}).text
    assert fragment.lstrip().startswith('<div id="help-found"') and "<h1" not in fragment


def test_every_page_has_its_tasks_beside_it(signed_in: SignedIn) -> None:
    mia = signed_in(Role.MERCHANDISER)
    beside = next(one for one in mia.get("/admin/search/synonyms").all("aside") if one["id"] == "help-beside")
    assert beside["hx-get"] == "/admin/help?page=/admin/search/synonyms"
    html = mia.client.get(beside["hx-get"], headers={"HX-Request": "true"}).text
    assert task_links(html) == PAGE_TASKS["/admin/search/synonyms"].split()
    assert "<strong>Add a synonym</strong>" in html and 'href="/admin/help/guide#synonyms"' in html
    page = mia.client.get(beside["hx-get"]).text
    assert "About synonyms" in page and task_links(page)[0] == "add-synonym", "without scripts, too"


def test_help_about_an_address_that_is_none_of_the_admin_is_all_of_it(signed_in: SignedIn) -> None:
    for page in ("/p/tent", "//evil.example", "/adminx", ""):
        html = signed_in().client.get("/admin/help", query_string={"page": page}).text
        assert len(task_links(html)) > 20 and "About " not in html


def test_tables_are_drawn_and_markup_is_text() -> None:
    assert "<table>" in document("glossary").html and "<script" not in document("payments").html

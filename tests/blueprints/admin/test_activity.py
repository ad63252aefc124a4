"""The activity log in the admin: filtered, page by page, one entry, and as a table."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from flask import Flask

from app.domain.relevance import synonyms
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.shared.author import Author, Origin
from app.domain.sites import activity
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient
from tests.statements import statements

PAGE = "/admin/activity"


@pytest.fixture
def admin(signed_in) -> PageClient:
    browser: PageClient = signed_in(Role.ADMIN)
    return browser


def note(app: Flask, clock: StoppedClock, summary: str, **more: object) -> int:
    with app.app_context(), transaction():
        author = Author(1, str(more.get("who", "Mia Moss")), clock, Origin.MCP)
        activity.record(author, "product.save", ("product", "7"), summary, {"price": 1}, {"price": 2})
        db.session.flush()
        return max(db.session.scalars(db.select(AuditEntry.id)))


def text(browser: PageClient, path: str) -> str:
    return browser.client.get(path, base_url=browser.base).text


def test_without_entries_the_page_says_what_it_is_for(admin: PageClient) -> None:
    admin.get(PAGE)
    assert "No activity yet" in text(admin, PAGE)
    assert "No entry matches" in text(admin, f"{PAGE}?q=mug")


def test_a_filter_stays_in_the_form_the_pages_and_the_table(app: Flask, admin: PageClient, clock: StoppedClock) -> None:
    for number in range(60):
        note(app, clock, f"Saved Mug {number}")
    note(app, clock, "Saved Cup")
    page = admin.get(f"{PAGE}?q=mug&origin=mcp&action=product.save")
    assert page.value("q") == "mug"
    links = [link["href"] for link in page.all("a") if "q=mug" in link.get("href", "")]
    older = next(link for link in links if "before=" in link)
    assert "/admin/activity.csv?q=mug&action=product.save&origin=mcp" in links
    second = text(admin, older)
    assert "Saved Mug 9</summary>" in second and "Saved Mug 10</summary>" not in second
    admin.get(older)


def test_a_change_of_search_has_the_words_and_the_undo_of_its_own_page(
    app: Flask, admin: PageClient, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        one_way = SynonymGroup(SynonymType.ONE_WAY, "phone", ("mobile",))
        synonyms.add(Author(1, "Mia Moss", clock), one_way)
        db.session.flush()
        entry_id = max(db.session.scalars(db.select(AuditEntry.id)))
    for page in (PAGE, f"{PAGE}/{entry_id}"):
        shown = text(admin, page)
        assert "<ins>one way</ins>" in shown and "ONE_WAY" not in shown and "MANUAL" not in shown
        assert f'href="/admin/search/activity/{entry_id}"' in shown
    admin.post(f"/admin/search/activity/{entry_id}/undo", {})
    assert f'href="/admin/search/activity/{entry_id}"' not in text(admin, PAGE)


def test_what_cannot_be_looked_for_is_named_and_makes_no_table(admin: PageClient) -> None:
    assert "From: “soon” cannot be looked for." in text(admin, f"{PAGE}?from=soon")
    assert admin.client.get("/admin/activity.csv?from=soon", base_url=admin.base).status_code == 400


def test_the_first_and_the_last_day_of_the_calendar_are_days_as_others(
    app: Flask, admin: PageClient, clock: StoppedClock
) -> None:
    note(app, clock, "Saved Mug")
    for path in (PAGE, f"{PAGE}.csv"):
        answer = admin.client.get(f"{path}?from=0001-01-01&to=9999-12-31", base_url=admin.base)
        assert answer.status_code == 200 and "Saved Mug" in answer.text


def test_an_entry_has_an_address_of_its_own(app: Flask, admin: PageClient, clock: StoppedClock) -> None:
    entry_id = note(app, clock, "Saved Mug")
    page = admin.get(f"{PAGE}/{entry_id}")
    links = [link.get("href") for link in page.all("a")]
    assert f"{PAGE}?thing=product&id=7" in links
    assert "MCP" in text(admin, f"{PAGE}/{entry_id}")
    missing = admin.client.get(f"{PAGE}/4711", base_url=admin.base)
    assert missing.status_code == 404 and "Page not found" in missing.text


def test_the_table_has_every_entry_and_no_formula(app: Flask, admin: PageClient, clock: StoppedClock) -> None:
    note(app, clock, "=1+1")
    note(app, clock, "Saved Mug", who="@nia")
    answer = admin.client.get("/admin/activity.csv", base_url=admin.base)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="activity-2026-11-20.csv"'
    rows = list(csv.reader(StringIO(answer.text.removeprefix("\ufeff"))))
    assert rows[0][:4] == ["Entry", "When (Europe/London)", "Who", "Origin"]
    assert [(row[2], row[3], row[7], row[8]) for row in rows[1:]] == [
        ("'@nia", "MCP", "Saved Mug", "price: 1 → 2"),
        ("Mia Moss", "MCP", "'=1+1", "price: 1 → 2"),
    ]


def test_the_page_asks_the_same_however_much_there_is(app: Flask, admin: PageClient, clock: StoppedClock) -> None:
    def request_status() -> int:
        with statements(app) as seen:
            admin.get(PAGE)
        return len(seen)

    note(app, clock, "Saved Mug")
    few = request_status()
    for number in range(60):
        note(app, clock, f"Saved Mug {number}")
    assert request_status() == few <= 17


def test_the_fragment_is_the_list_alone(admin: PageClient) -> None:
    answer = admin.client.get(PAGE, base_url=admin.base, headers={"HX-Request": "true"})
    assert answer.text.lstrip().startswith('<div id="results"')

"""A user who forgot the password sets a new one by a link in an email."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.sites import account_mails, accounts
from app.domain.sites.models import AccountMail, AuditEntry
from app.extensions import db
from app.jobs import accounts as account_jobs
from app.operations.work_context import work_context
from app.transaction import transaction
from tests.blueprints.admin.account_mails import link_of, sent_mails
from tests.factories import PASSWORD
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient

MERCHANDISER = "merchandiser@shop.test"
NEW = "nine blue kettles"


@pytest.fixture
def browser(app: Flask, site_id: int) -> PageClient:
    client = PageClient(app)
    client.get("/admin/forgotten")
    return client


def request_link(browser: PageClient, email: str = MERCHANDISER) -> str:
    """Request a link and return where the browser is led."""
    return str(browser.post("/admin/forgotten", {"email": email}).location)


def test_a_link_sets_a_new_password_once_and_ends_all_sessions(app: Flask, browser: PageClient) -> None:
    elsewhere = PageClient(app).signed_in_by_form(MERCHANDISER)
    assert request_link(browser) == "/admin/forgotten?sent=1"
    assert browser.get("/admin/forgotten?sent=1").texts["h1"] == "Check your email"
    [mail] = sent_mails(app)
    assert mail.to == MERCHANDISER and mail.subject.startswith("Set a new password")
    link = link_of(mail)
    assert browser.client.get(link).headers["Referrer-Policy"] == "no-referrer"
    assert browser.post(link, {"password": NEW}).location == "/admin/login"
    assert "Password set" in browser.client.get("/admin/login").text
    assert elsewhere.client.get("/admin/").status_code == 302
    assert PageClient(app).signed_in_by_form(MERCHANDISER, NEW).get("/admin/").texts["h1"] == "Dashboard"
    assert browser.get(link, 404).texts["h1"] == "This link no longer works"
    browser.post(link, {"password": PASSWORD}, status=404)
    with app.app_context():
        actions = db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
        assert actions == ["user.reset_request", "user.password"]


def test_an_unknown_address_gets_the_same_answer_and_no_mail(app: Flask, browser: PageClient) -> None:
    assert request_link(browser, "nobody@shop.test") == request_link(browser)
    assert [mail.to for mail in sent_mails(app)] == [MERCHANDISER]


def test_who_cannot_sign_in_gets_no_mail(app: Flask, browser: PageClient) -> None:
    with app.app_context(), transaction():
        accounts.get_user(MERCHANDISER).enabled = False
    request_link(browser)
    assert sent_mails(app) == []


def test_what_is_no_address_is_refused(browser: PageClient) -> None:
    assert browser.post("/admin/forgotten", {"email": "mia"}, status=400).value("email") == "mia"


def test_a_link_holds_for_an_hour(app: Flask, browser: PageClient, clock: StoppedClock) -> None:
    request_link(browser)
    link = link_of(sent_mails(app)[0])
    clock.move(minutes=59)
    assert browser.get(link).texts["h1"] == "Set a new password"
    clock.move(minutes=1)
    browser.get(link, 404)


def test_a_changed_password_ends_the_link_and_the_mail(app: Flask, browser: PageClient) -> None:
    request_link(browser)
    with app.app_context(), transaction():
        accounts.set_password(8, accounts.get_user(MERCHANDISER), NEW)
    assert sent_mails(app) == []
    with app.app_context():
        assert db.session.scalars(select(AccountMail.email)).all() == [None]


def test_a_weak_password_is_refused_and_the_link_still_works(app: Flask, browser: PageClient) -> None:
    request_link(browser)
    link = link_of(sent_mails(app)[0])
    browser.post(link, {"password": "short"}, status=400)
    assert browser.post(link, {"password": NEW}).location == "/admin/login"


@pytest.mark.parametrize("token", ["x", "WzEsWzEsMV1d.x", "é"])
def test_a_forged_link_works_no_more_than_an_old_one(browser: PageClient, token: str) -> None:
    browser.get(f"/admin/new-password/{token}", 404)


def test_an_address_gets_three_mails_an_hour(app: Flask, browser: PageClient) -> None:
    assert {request_link(browser) for _ in range(5)} == {"/admin/forgotten?sent=1"}
    assert len(sent_mails(app)) == 3


def test_the_worker_sends_what_waits(app: Flask, browser: PageClient) -> None:
    request_link(browser)
    with app.app_context():
        [mail_id] = account_mails.due(work_context().clock)
        assert account_jobs.send_mail(mail_id)
        assert db.session.get_one(AccountMail, mail_id).was_sent

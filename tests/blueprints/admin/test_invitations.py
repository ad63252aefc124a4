"""An admin invites users by email; who is invited chooses name and password."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.sites import accounts
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.account_mails import link_of, sent_mails
from tests.factories import make_site, make_user
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient

NIA = "nia@home.test"
CHOSEN = {"displayName": " Nia  Nettle ", "password": "nine blue kettles"}


@pytest.fixture
def admin(signed_in) -> PageClient:
    browser: PageClient = signed_in(Role.ADMIN)
    browser.get("/admin/user/invite")
    return browser


@pytest.fixture
def browser(app: Flask) -> PageClient:
    client = PageClient(app)
    client.get("/admin/login")
    return client


def invite(app: Flask, admin: PageClient) -> str:
    """Invite Nia, and return the link of her mail."""
    assert admin.post("/admin/user/invite", {"email": NIA.upper(), "role": ["MERCHANDISER"]}).location == "/admin/users"
    [mail] = sent_mails(app)
    assert mail.to == NIA and mail.subject.startswith("You are invited")
    return link_of(mail)


def page_of_nia(app: Flask) -> str:
    with app.app_context():
        return f"/admin/user/{accounts.get_user(NIA).id}"


def test_who_is_invited_chooses_name_and_password_once(app: Flask, admin: PageClient, browser: PageClient) -> None:
    link = invite(app, admin)
    assert "Invited" in admin.get("/admin/users").texts["span"] or "Invited" in admin.client.get("/admin/users").text
    assert browser.get(link).texts["h1"] == "Accept the invitation"
    assert browser.post(link, CHOSEN).location == "/admin/login"
    assert PageClient(app).signed_in_by_form(NIA, CHOSEN["password"]).get("/admin/").texts["h1"] == "Dashboard"
    assert "Nia Nettle" in admin.client.get("/admin/users").text
    browser.post(link, CHOSEN, status=404)
    admin.post(f"{page_of_nia(app)}/invitation", {}, status=409)
    with app.app_context():
        actions = db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
        assert actions == ["user.add", "user.accept"]


def test_all_that_is_wrong_is_said_and_the_link_still_works(app: Flask, admin: PageClient, browser: PageClient) -> None:
    page = admin.post("/admin/user/invite", {"email": "nia"}, status=400)
    assert page.value("email") == "nia"
    link = invite(app, admin)
    browser.post(link, {"displayName": "", "password": "short"}, status=400)
    assert browser.post(link, CHOSEN).location == "/admin/login"


def test_a_second_mail_ends_the_link_of_the_first(app: Flask, admin: PageClient, browser: PageClient) -> None:
    first = invite(app, admin)
    admin.post(f"{page_of_nia(app)}/invitation", {})
    browser.get(first, 404)
    assert browser.get(link_of(sent_mails(app)[0])).texts["h1"] == "Accept the invitation"


def test_an_invitation_is_revoked_and_can_be_sent_anew(app: Flask, admin: PageClient, browser: PageClient) -> None:
    link = invite(app, admin)
    admin.post(f"{page_of_nia(app)}/invitation/revoke", {})
    browser.get(link, 404)
    with app.app_context():
        assert accounts.find_user(NIA) is None
    assert browser.get(invite(app, admin)).texts["h1"] == "Accept the invitation"


def test_an_invitation_holds_for_seven_days(
    app: Flask, admin: PageClient, browser: PageClient, clock: StoppedClock
) -> None:
    link = invite(app, admin)
    clock.move(days=6, hours=23)
    assert browser.get(link).texts["h1"] == "Accept the invitation"
    clock.move(hours=1)
    browser.get(link, 404)


def test_a_link_of_one_kind_opens_nothing_of_the_other(app: Flask, admin: PageClient, browser: PageClient) -> None:
    link = invite(app, admin)
    browser.get(link.replace("/invitation/", "/new-password/"), 404)


def test_an_admin_invites_nobody_of_another_shop_and_no_superadmin(app: Flask, admin: PageClient) -> None:
    with app.app_context(), transaction():
        make_user(make_site("other.localhost", "Other"), Role.MERCHANDISER, email="oz@shop.test", name="Oz Oak")
    admin.post("/admin/user/invite", {"email": "oz@shop.test", "role": ["MERCHANDISER"]}, status=400)
    admin.post("/admin/user/invite", {"email": NIA, "role": ["SUPERADMIN"]}, status=400)
    assert sent_mails(app) == []

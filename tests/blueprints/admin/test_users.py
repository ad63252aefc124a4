"""An admin looks after the people of the shop, and of no other."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import event, select

from app.domain.pos.models import PosSession
from app.domain.sites import accounts
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import PASSWORD, make_device, make_site, make_user
from tests.page_client import PageClient

NEW = {"email": "Nia@Shop.test", "displayName": " Nia  Nettle ", "password": "nine blue kettles"}


@pytest.fixture
def admin(signed_in) -> PageClient:
    browser: PageClient = signed_in(Role.ADMIN)
    browser.get("/admin/users")
    browser.get("/admin/user/new")
    return browser


def test_a_new_user_can_sign_in_with_their_role(app: Flask, admin: PageClient) -> None:
    admin.post("/admin/user/new", NEW | {"role": ["MERCHANDISER"]})
    assert "Nia Nettle" in admin.client.get("/admin/users").text
    assert PageClient(app).signed_in_by_form("nia@shop.test", NEW["password"]).get("/admin/").texts["h1"] == "Dashboard"
    with app.app_context():
        entry = db.session.scalars(select(AuditEntry)).one()
        assert (entry.action, entry.after) == ("user.add", {"roles": ["MERCHANDISER"]})


def test_all_that_is_wrong_with_a_new_user_is_said_and_nobody_is_made(app: Flask, admin: PageClient) -> None:
    page = admin.post("/admin/user/new", {"email": "x", "displayName": "Nia", "password": "short"}, status=400)
    assert page.value("displayName") == "Nia"
    assert len([link for link in page.all("a") if link.get("href", "").startswith("#f-")]) == 3
    with app.app_context():
        assert accounts.find_user("x") is None


def test_an_admin_makes_no_superadmin(app: Flask, admin: PageClient) -> None:
    admin.post("/admin/user/new", NEW | {"role": ["SUPERADMIN"]}, status=400)
    merchandiser = _id(app, "merchandiser@shop.test")
    admin.post(f"/admin/user/{merchandiser}", {"displayName": "M", "role": ["SUPERADMIN"]}, status=400)
    with app.app_context():
        assert accounts.find_user("nia@shop.test") is None


@pytest.fixture
def oz(app: Flask) -> str:
    """The address of somebody who works for another shop."""
    with app.app_context(), transaction():
        make_user(make_site("other.localhost", "Other"), Role.MERCHANDISER, email="oz@shop.test", name="Oz Oak")
    return "oz@shop.test"


def test_an_admin_cannot_add_somebody_known_from_another_shop(
    app: Flask, admin: PageClient, oz: str, site_id: int
) -> None:
    page = admin.post("/admin/user/new", NEW | {"email": " OZ@shop.test", "role": ["ADMIN"]}, status=400)
    assert [link.get("href") for link in page.all("a") if link.get("href", "").startswith("#f-")] == ["#f-email"]
    assert page.value("displayName").strip() == NEW["displayName"].strip()
    with app.app_context():
        assert accounts.roles_of(accounts.get_user(oz).id, site_id) == frozenset()
        assert db.session.scalars(select(AuditEntry)).all() == []


def test_an_address_that_is_taken_is_told_only_to_who_would_have_added_it(admin: PageClient, oz: str) -> None:
    request = {"displayName": "Nia", "password": "short", "role": ["ADMIN"]}
    for email in (oz, "nobody@shop.test"):
        page = admin.post("/admin/user/new", request | {"email": email}, status=400)
        assert [a.get("href") for a in page.all("a") if a.get("href", "").startswith("#f-")] == ["#f-password"]


def test_a_superadmin_adds_somebody_known_who_keeps_name_and_password(
    app: Flask, admin: PageClient, signed_in, oz: str
) -> None:
    superadmin: PageClient = signed_in(Role.SUPERADMIN)
    superadmin.get("/admin/user/new")
    superadmin.post("/admin/user/new", NEW | {"email": oz, "role": ["MERCHANDISER"]})
    assert "They keep their name and password." in superadmin.client.get("/admin/users").text
    PageClient(app).signed_in(oz).get("/admin/")
    page = admin.get(f"/admin/user/{_id(app, 'oz@shop.test')}")
    assert page.texts["h1"] == "Oz Oak"
    assert "password" not in {field.get("name") for field in page.all("input")}
    admin.post(f"/admin/user/{_id(app, oz)}/password", {"password": "nine blue kettles"}, status=403)
    admin.post(f"/admin/user/{_id(app, oz)}", {"displayName": "Mine", "role": ["MERCHANDISER"]})
    with app.app_context():
        user = accounts.get_user(oz)
        assert (user.display_name, user.enabled) == ("Oz Oak", True)


def test_roles_and_sign_in_can_be_taken_away(app: Flask, admin: PageClient, signed_in) -> None:
    merchandiser = signed_in(Role.MERCHANDISER)
    user_id = _id(app, "merchandiser@shop.test")
    admin.get(f"/admin/user/{user_id}")
    admin.post(f"/admin/user/{user_id}", {"displayName": "Mo", "role": ["POS_AGENT"], "enabled": "on"})
    assert merchandiser.client.get("/admin/").status_code == 403
    admin.post(f"/admin/user/{user_id}", {"displayName": "Mo", "role": ["POS_AGENT"]})
    assert merchandiser.client.get("/admin/").status_code == 302
    admin.post(f"/admin/user/{user_id}", {"displayName": "Mo", "role": ["MERCHANDISER"], "enabled": "on"})
    assert merchandiser.client.get("/admin/").status_code == 302, "a session that ended stays ended"


def test_saving_what_is_stored_notes_nothing(app: Flask, admin: PageClient) -> None:
    form = {"displayName": "The Merchandiser", "role": ["MERCHANDISER"], "enabled": "on"}
    admin.post(f"/admin/user/{_id(app, 'merchandiser@shop.test')}", form)
    with app.app_context():
        assert db.session.scalars(select(AuditEntry)).all() == []


def test_a_refused_change_keeps_what_was_typed(app: Flask, admin: PageClient) -> None:
    path = f"/admin/user/{_id(app, 'merchandiser@shop.test')}"
    ticked = {field["id"] for field in admin.get(path).all("input") if "checked" in field}
    assert ticked == {"f-role-MERCHANDISER", "f-enabled"}
    page = admin.post(path, {"displayName": "", "role": ["POS_AGENT"]}, status=400)
    assert {field["id"] for field in page.all("input") if "checked" in field} == {"f-role-POS_AGENT"}
    assert page.value("displayName") == ""
    page = admin.post(f"{path}/password", {"password": "short"}, status=400)
    assert page.value("displayName") == "The Merchandiser", "of another form"
    assert {field["id"] for field in page.all("input") if "checked" in field} == ticked


def test_nobody_changes_themselves_nor_an_admin_a_superadmin(app: Flask, admin: PageClient) -> None:
    for email in ("admin@shop.test", "superadmin@shop.test"):
        admin.get(f"/admin/user/{_id(app, email)}")
        admin.post(f"/admin/user/{_id(app, email)}", {"displayName": "X", "role": []}, status=403)
        admin.post(f"/admin/user/{_id(app, email)}/password", {"password": "nine blue kettles"}, status=403)
    with app.app_context():
        assert accounts.get_user("superadmin@shop.test").display_name == "The Superadmin"


def test_a_new_password_signs_the_user_out(app: Flask, admin: PageClient, signed_in) -> None:
    merchandiser = signed_in(Role.MERCHANDISER)
    path = f"/admin/user/{_id(app, 'merchandiser@shop.test')}/password"
    admin.post(path, {"password": "short"}, status=400)
    assert merchandiser.client.get("/admin/").status_code == 200
    admin.post(path, {"password": "nine blue kettles"})
    assert merchandiser.client.get("/admin/").status_code == 302


def test_the_list_takes_as_many_queries_for_many_as_for_few(app: Flask, admin: PageClient, site_id: int) -> None:
    few = _queries(app, admin)
    with app.app_context(), transaction():
        site = db.session.get(Site, site_id)
        assert site is not None
        for _ in range(20):
            make_user(site, Role.MERCHANDISER)
    assert _queries(app, admin) == few


def test_the_activity_page_shows_what_changed(app: Flask, admin: PageClient) -> None:
    assert "No activity yet" in admin.client.get("/admin/activity").text
    admin.post("/admin/user/new", NEW | {"role": ["MERCHANDISER"]})
    admin.get("/admin/activity")
    html = admin.client.get("/admin/activity").text
    assert "Added the user Nia Nettle" in html and "<ins>MERCHANDISER</ins>" in html


def _id(app: Flask, email: str) -> int:
    with app.app_context():
        return accounts.get_user(email).id


def _queries(app: Flask, browser: PageClient) -> int:
    statements: list[str] = []

    def note(_connection, _cursor, statement: str, *_more: object) -> None:
        statements.append(statement)

    with app.app_context():
        event.listen(db.engine, "before_cursor_execute", note)
        browser.get("/admin/users")
        event.remove(db.engine, "before_cursor_execute", note)
    return len(statements)


def test_an_admin_removes_a_device_of_a_user(app: Flask, signed_in) -> None:
    admin, program = signed_in(Role.ADMIN), app.test_client()
    login = {"email": "pos_agent@shop.test", "password": PASSWORD, "deviceId": "phone", "deviceName": "Tilly’s phone"}
    tokens = program.post("/v1/auth/login", json=login | {"audience": "pos"}).json
    bearer = {"Authorization": f"Bearer {tokens['token']}"}
    user_id = tokens["user"]["id"]
    page = admin.get(f"/admin/user/{user_id}")
    address = next(form["action"] for form in page.all("form") if "/devices/" in form.get("action", ""))
    assert "Tilly’s phone" in page.texts["th"]
    merchandiser = signed_in(Role.MERCHANDISER)
    merchandiser.get("/admin/tokens")
    merchandiser.post(address, {}, status=403)
    assert program.get("/v1/auth/devices", headers=bearer).status_code == 200
    assert admin.post(address, {}).location.endswith(f"/admin/user/{user_id}")
    assert program.get("/v1/auth/devices", headers=bearer).status_code == 401
    page = admin.get(f"/admin/user/{user_id}")
    assert not [form for form in page.all("form") if "/devices/" in form.get("action", "")]
    with app.app_context():
        entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "device.remove")).one()
        assert (entry.summary, entry.subject_id) == ("Removed a device of The Pos_Agent", user_id)
        assert db.session.scalars(select(PosSession.end_reason)).one() == "REVOKED"


def test_a_device_is_removed_by_an_admin_of_its_shop_alone(app: Flask, signed_in) -> None:
    admin = signed_in(Role.ADMIN)
    with app.app_context(), transaction():
        user, other = accounts.get_user("pos_agent@shop.test"), make_site("other.localhost", "Other")
        accounts.grant(user, other.id, Role.POS_AGENT)
        device = make_device(other, user, name="Elsewhere").id
        user_id = user.id
    assert "Elsewhere" not in admin.client.get(f"/admin/user/{user_id}").text
    admin.get("/admin/users")
    admin.post(f"/admin/user/{user_id}/devices/{device}/remove", {}, status=404)

"""Users add passkeys of their own and sign in with them, without password and code."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.sites import accounts
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, SignInPasskey
from app.extensions import db
from app.transaction import transaction
from tests.factories import PASSWORD
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient, Reading
from tests.software_authenticator import SoftwareAuthenticator

MERCHANDISER = "merchandiser@shop.test"
SIGN_IN, PASSKEYS = "/admin/login/passkey", "/admin/passkeys"


def options_on(page: Reading) -> dict[str, Any]:
    button = next(button for button in page.all("button") if "data-passkey" in button)
    options: dict[str, Any] = json.loads(unescape(button["data-options"]))
    return options


def begin(browser: PageClient, name: str = "My phone") -> Reading:
    browser.get(PASSKEYS)
    page = browser.post(PASSKEYS, {"name": name, "password": PASSWORD}, status=200)
    assert isinstance(page, Reading)
    return page


def add(browser: PageClient, finger: SoftwareAuthenticator, status: int = 302, **other: object) -> Any:
    page = begin(browser)
    credential = json.dumps(finger.create(options_on(page)))
    sent = {"name": "My phone", "challenge": page.value("challenge"), "credential": credential} | other
    return browser.post(f"{PASSKEYS}/register", sent, status=status)


def answer_of(finger: SoftwareAuthenticator, page: Reading) -> dict[str, object]:
    return {"challenge": page.value("challenge"), "credential": json.dumps(finger.get(options_on(page)))}


def is_signed_in(browser: PageClient) -> bool:
    return browser.client.get("/admin/").status_code == 200


def refused(browser: PageClient, sent: dict[str, object]) -> bool:
    page = browser.post(SIGN_IN, sent, status=400)
    return page.texts["h1"] == "Sign in with a passkey" and not is_signed_in(browser)


@pytest.fixture
def finger(signed_in) -> SoftwareAuthenticator:
    """That of the merchandiser, who added a passkey."""
    made = SoftwareAuthenticator()
    assert add(signed_in(), made).location == PASSKEYS
    return made


@pytest.fixture
def browser(app: Flask, site_id: int) -> PageClient:
    return PageClient(app)


def test_a_passkey_signs_in_alone(app: Flask, browser: PageClient, finger: SoftwareAuthenticator) -> None:
    page = browser.get(f"{SIGN_IN}?next=/admin/search")
    options = options_on(page)
    assert options["allowCredentials"] == [] and options["userVerification"] == "required"
    sent = answer_of(finger, page) | {"next": page.value("next")}
    assert browser.post(SIGN_IN, sent).location == "/admin/search"
    assert is_signed_in(browser)
    with app.app_context():
        actions = db.session.scalars(select(AuditEntry.action)).all()
    assert actions == ["sign_in_passkey.add"]


def test_it_lies_where_its_user_likes_and_a_device_makes_no_second(signed_in, finger: SoftwareAuthenticator) -> None:
    options = options_on(begin(signed_in()))
    assert options["authenticatorSelection"]["residentKey"] == "required"
    assert "authenticatorAttachment" not in options["authenticatorSelection"]
    assert len(options["excludeCredentials"]) == 1


def test_an_answer_is_for_one_try_of_one_browser(
    app: Flask, browser: PageClient, finger: SoftwareAuthenticator
) -> None:
    sent = answer_of(finger, browser.get(SIGN_IN))
    thief = PageClient(app)
    thief.get(SIGN_IN)
    assert refused(thief, sent)
    browser.post(SIGN_IN, sent)
    browser.get("/admin/")
    browser.post("/admin/logout", {})
    browser.get(SIGN_IN)
    assert refused(browser, sent)


def test_an_answer_of_a_passkey_that_does_not_count_signs_in_once(
    app: Flask, signed_in, browser: PageClient, clock: StoppedClock
) -> None:
    """A synced passkey counts no signatures, and the browser's cookie of before can be sent again."""
    synced = SoftwareAuthenticator(counts=False)
    add(signed_in(), synced)
    sent = answer_of(synced, browser.get(SIGN_IN)) | {"csrf_token": browser.token}
    cookie = browser.client.get_cookie("shop")
    assert cookie is not None and browser.post(SIGN_IN, sent).location == "/admin/"
    browser.get("/admin/")
    browser.post("/admin/logout", {})
    for _ in range(2):
        browser.client.set_cookie("shop", cookie.value)
        assert refused(browser, sent)
        clock.move(minutes=2)
    assert browser.post(SIGN_IN, answer_of(synced, browser.get(SIGN_IN))).location == "/admin/"


def test_an_answer_must_come_within_five_minutes(
    browser: PageClient, finger: SoftwareAuthenticator, clock: StoppedClock
) -> None:
    sent = answer_of(finger, browser.get(SIGN_IN))
    clock.move(minutes=5)
    assert refused(browser, sent)


@pytest.mark.parametrize("credential", ["", "{", "[]", "{}", '{"id": "x"}', "[" * 300, '{"id": {"a": 1}}'])
def test_what_is_no_answer_of_a_passkey_is_refused(
    browser: PageClient, finger: SoftwareAuthenticator, credential: str
) -> None:
    assert refused(browser, {"challenge": browser.get(SIGN_IN).value("challenge"), "credential": credential})


@pytest.mark.parametrize("change", [{"verifies_user": False}, {"origin": "http://evil.example"}, {"rp_id": "evil"}])
def test_a_device_that_verified_nobody_or_another_address_is_refused(
    browser: PageClient, finger: SoftwareAuthenticator, change: dict[str, Any]
) -> None:
    for name, value in change.items():
        setattr(finger, name, value)
    assert refused(browser, answer_of(finger, browser.get(SIGN_IN)))


def test_a_stranger_with_the_id_of_a_passkey_is_refused(browser: PageClient, finger: SoftwareAuthenticator) -> None:
    assert refused(browser, answer_of(SoftwareAuthenticator(id=finger.id), browser.get(SIGN_IN)))


def test_a_copy_whose_counter_goes_back_is_refused(
    app: Flask, browser: PageClient, finger: SoftwareAuthenticator
) -> None:
    finger.sign_count = 10
    browser.post(SIGN_IN, answer_of(finger, browser.get(SIGN_IN)))
    finger.sign_count = 5
    copy = PageClient(app)
    assert refused(copy, answer_of(finger, copy.get(SIGN_IN)))


@pytest.mark.parametrize("change", ["password", "password by an older release", "disabled", "removed"])
def test_what_ends_an_account_or_a_passkey_ends_signing_in_with_it(
    app: Flask, signed_in, browser: PageClient, finger: SoftwareAuthenticator, change: str
) -> None:
    with app.app_context(), transaction():
        passkey_id = db.session.scalars(select(SignInPasskey.id)).one()
        user = accounts.get_user(MERCHANDISER)
        if change == "password":
            accounts.set_password(8, user, "nine blue kettles")
        elif change == "password by an older release":
            user.session_version += 1
        elif change == "disabled":
            user.enabled = False
    if change == "removed":
        owner = signed_in()
        owner.get(PASSKEYS)
        assert owner.post(f"{PASSKEYS}/{passkey_id}/remove", {}).location == PASSKEYS
        assert "No passkeys yet" in owner.client.get(PASSKEYS).text
    assert refused(browser, answer_of(finger, browser.get(SIGN_IN)))


def test_what_a_password_of_an_older_release_left_is_not_listed_and_goes_with_the_next_passkey(
    app: Flask, signed_in, finger: SoftwareAuthenticator
) -> None:
    with app.app_context(), transaction():
        accounts.get_user(MERCHANDISER).session_version += 1
    owner = signed_in()
    assert "No passkeys yet" in owner.client.get(PASSKEYS).text
    add(owner, SoftwareAuthenticator())
    with app.app_context():
        assert len(db.session.scalars(select(SignInPasskey)).all()) == 1


def test_nobody_removes_the_passkey_of_another_user(app: Flask, signed_in, finger: SoftwareAuthenticator) -> None:
    with app.app_context():
        passkey_id = db.session.scalars(select(SignInPasskey.id)).one()
    signed_in(Role.ADMIN).post(f"{PASSKEYS}/{passkey_id}/remove", {}, status=404)
    with app.app_context():
        assert db.session.scalars(select(SignInPasskey.id)).all() == [passkey_id]


def test_a_passkey_needs_the_password_and_a_name(app: Flask, signed_in) -> None:
    browser = signed_in()
    browser.get(PASSKEYS)
    browser.post(PASSKEYS, {"name": "My phone", "password": "wrong"}, status=400)
    assert browser.post(PASSKEYS, {"name": " ", "password": PASSWORD}, status=400).texts["h1"] == "Passkeys"
    made_up = json.dumps(SoftwareAuthenticator().create({"challenge": "AAAA", "rp": {"id": "localhost"}}))
    browser.post(f"{PASSKEYS}/register", {"name": "x", "challenge": "made-up", "credential": made_up}, status=409)


def test_a_challenge_of_one_user_registers_nothing_for_another(signed_in) -> None:
    page = begin(signed_in())
    credential = json.dumps(SoftwareAuthenticator().create(options_on(page)))
    sent = {"name": "Mine", "challenge": page.value("challenge"), "credential": credential}
    signed_in(Role.ADMIN).post(f"{PASSKEYS}/register", sent, status=409)


def test_a_passkey_is_registered_once(signed_in, finger: SoftwareAuthenticator) -> None:
    add(signed_in(Role.ADMIN), finger, status=409)


def test_a_broken_answer_registers_nothing(app: Flask, signed_in) -> None:
    add(signed_in(), SoftwareAuthenticator(), status=409, credential="{}")
    with app.app_context():
        assert db.session.scalars(select(SignInPasskey)).all() == []


def test_twenty_passkeys_are_the_most(app: Flask, signed_in) -> None:
    browser = signed_in()
    for _ in range(20):
        add(browser, SoftwareAuthenticator())
    add(browser, SoftwareAuthenticator(), status=409)

"""Two-step sign-in: turned on with an app, required after the password, and got rid of."""

from __future__ import annotations

from html import unescape

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.domain.sites import accounts, second_factors
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, RecoveryCode, SecondFactor
from app.domain.sites.one_time_codes import code_at, step_of
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.account_mails import link_of, sent_mails
from tests.factories import PASSWORD, make_site
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient, Reading

MERCHANDISER = "merchandiser@shop.test"
CODE_PAGE = "/admin/login/code"


class Phone:
    """An authenticator app, whose clock is that of the shop."""

    def __init__(self, clock: StoppedClock, key: str) -> None:
        self.clock, self.key = clock, key.replace(" ", "")

    def code(self, later: int = 0) -> str:
        return code_at(self.key, step_of(self.clock.now()) + later)


def key_on(page: Reading) -> str:
    return page.texts["textarea"]


def codes_on(html: str) -> list[str]:
    return html.partition('id="codes"')[2].partition(">")[2].partition("</textarea>")[0].split()


def turn_on(browser: PageClient, clock: StoppedClock) -> tuple[Phone, list[str]]:
    page = browser.get("/admin/two-step")
    phone = Phone(clock, key_on(page))
    sent = {"csrf_token": browser.token, "setup": page.value("setup"), "code": phone.code(), "password": PASSWORD}
    answer = browser.client.post("/admin/two-step", data=sent)
    assert answer.status_code == 200, answer.text
    return phone, codes_on(answer.text)


def give_password(app: Flask, email: str = MERCHANDISER, password: str = PASSWORD, wanted: str = "") -> PageClient:
    """Return a browser whose user gave the password."""
    browser = PageClient(app)
    browser.get("/admin/login")
    answer = browser.post("/admin/login", {"email": email, "password": password, "next": wanted})
    assert answer.location.startswith(CODE_PAGE)
    browser.get(answer.location)
    return browser


def is_signed_in(browser: PageClient) -> bool:
    return browser.client.get("/admin/").status_code == 200


def actions(app: Flask) -> list[str]:
    with app.app_context():
        return list(db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))


@pytest.fixture
def phone_and_codes(signed_in, clock: StoppedClock) -> tuple[Phone, list[str]]:
    """Of the merchandiser, who turned two-step sign-in on half a minute ago."""
    found = turn_on(signed_in(), clock)
    clock.move(seconds=30)
    return found


@pytest.fixture
def phone(phone_and_codes: tuple[Phone, list[str]]) -> Phone:
    return phone_and_codes[0]


@pytest.fixture
def codes(phone_and_codes: tuple[Phone, list[str]]) -> list[str]:
    return phone_and_codes[1]


def test_the_code_is_needed_after_the_password_and_before_any_session(app: Flask, phone: Phone) -> None:
    browser = give_password(app)
    assert not is_signed_in(browser)
    page = browser.post(CODE_PAGE, {"code": "000000"}, status=400)
    assert "not right" in page.texts["p"]
    assert not is_signed_in(browser)
    assert browser.post(CODE_PAGE, {"code": f"{phone.code()[:3]} {phone.code()[3:]}"}).location == "/admin/"
    assert is_signed_in(browser)


def test_the_page_that_was_wanted_comes_after_the_code(app: Flask, phone: Phone) -> None:
    browser = give_password(app, wanted="/admin/search?x=1")
    page = browser.get(f"{CODE_PAGE}?next=/admin/search?x%3D1")
    assert browser.post(CODE_PAGE, {"code": phone.code(), "next": page.value("next")}).location == "/admin/search?x=1"


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example/admin"])
def test_no_code_leads_out_of_the_admin(app: Flask, phone: Phone, wanted: str) -> None:
    assert give_password(app).post(CODE_PAGE, {"code": phone.code(), "next": wanted}).location == "/admin/"


def test_digits_of_full_width_are_digits(app: Flask, phone: Phone) -> None:
    full = phone.code().translate({ord(digit): 0xFF10 + int(digit) for digit in "0123456789"})
    assert give_password(app).post(CODE_PAGE, {"code": full}).location == "/admin/"


def test_a_code_signs_in_once(app: Flask, phone: Phone) -> None:
    used = phone.code()
    give_password(app).post(CODE_PAGE, {"code": used})
    thief = give_password(app)
    thief.post(CODE_PAGE, {"code": used}, status=400)
    thief.post(CODE_PAGE, {"code": phone.code(-1)}, status=400)
    assert thief.post(CODE_PAGE, {"code": phone.code(1)}).location == "/admin/"


def test_the_code_that_turned_it_on_signs_nobody_in(app: Flask, signed_in, clock: StoppedClock) -> None:
    phone, _ = turn_on(signed_in(), clock)
    give_password(app).post(CODE_PAGE, {"code": phone.code()}, status=400)


def test_who_gave_no_password_reaches_no_code(app: Flask, phone: Phone) -> None:
    stranger = PageClient(app)
    assert stranger.get(CODE_PAGE, 400).texts["h1"] == "Sign in"
    stranger.post(CODE_PAGE, {"code": phone.code()}, status=400)
    assert not is_signed_in(stranger)


def test_the_code_must_follow_within_ten_minutes(app: Flask, phone: Phone, clock: StoppedClock) -> None:
    browser = give_password(app)
    clock.move(minutes=10)
    page = browser.post(CODE_PAGE, {"code": phone.code()}, status=400)
    assert "took too long" in page.texts["li"]
    assert not is_signed_in(browser)


@pytest.mark.parametrize("change", ["password", "disabled", "off"])
def test_what_changed_since_the_password_ends_the_sign_in(app: Flask, phone: Phone, change: str) -> None:
    browser = give_password(app)
    with app.app_context(), transaction():
        user = accounts.get_user(MERCHANDISER)
        if change == "password":
            accounts.set_password(8, user, "nine blue kettles")
        elif change == "disabled":
            user.enabled = False
        else:
            db.session.delete(db.session.get(SecondFactor, user.id))
    browser.post(CODE_PAGE, {"code": phone.code()}, status=400)
    assert not is_signed_in(browser)


def test_guesses_are_slowed_down_however_often_the_password_is_given(
    app: Flask, phone: Phone, clock: StoppedClock
) -> None:
    for _ in range(5):
        give_password(app).post(CODE_PAGE, {"code": "000000"}, status=400)
    browser = give_password(app)
    right = {"csrf_token": browser.token, "code": phone.code()}
    refused = browser.client.post(CODE_PAGE, data=right)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "301")
    clock.move(minutes=5)
    assert give_password(app).post(CODE_PAGE, {"code": phone.code()}).location == "/admin/"
    assert actions(app).count("second_factor.refused") == 5


def guess(app: Flask, code: str, times: int, **more: str) -> None:
    """Of another person, who knows the password."""
    for _ in range(times):
        give_password(app).post(CODE_PAGE, {"code": code, **more}, status=400)


def answer_to(app: Flask, code: str, password: str = PASSWORD) -> TestResponse:
    browser = give_password(app, password=password)
    return browser.client.post(CODE_PAGE, data={"csrf_token": browser.token, "code": code})


def test_who_guesses_codes_of_the_app_bars_no_recovery_code(app: Flask, phone: Phone, codes: list[str]) -> None:
    guess(app, "000000", 5)
    refused = answer_to(app, phone.code())
    assert refused.status_code == 429 and "or use a recovery code" in refused.text
    assert answer_to(app, codes[0]).location == "/admin/"
    assert answer_to(app, phone.code()).status_code == 429, "that was no right code of the app"


def test_a_new_password_ends_the_wait_as_the_refusal_says(app: Flask, phone: Phone) -> None:
    guess(app, "000000", 5)
    refused = unescape(answer_to(app, phone.code()).text)
    assert "another person knows your password: set a new one by “Forgotten your password?”, which ends" in refused
    with app.app_context(), transaction():
        accounts.set_password(8, accounts.get_user(MERCHANDISER), "nine blue kettles")
    assert answer_to(app, phone.code(), "nine blue kettles").location == "/admin/"


def test_guesses_at_recovery_codes_are_slowed_down_apart(
    app: Flask, phone: Phone, codes: list[str], clock: StoppedClock
) -> None:
    guess(app, "aaaa-aaaa-aaaa-aaaa", 20, recovery="1")
    assert answer_to(app, codes[0]).status_code == 429
    assert answer_to(app, phone.code()).location == "/admin/"
    clock.move(hours=1)
    assert answer_to(app, codes[0]).location == "/admin/"


def test_a_right_code_forgives_the_wrong_ones(app: Flask, phone: Phone, clock: StoppedClock) -> None:
    for _ in range(2):
        browser = give_password(app)
        for _ in range(4):
            browser.post(CODE_PAGE, {"code": "000000"}, status=400)
        browser.post(CODE_PAGE, {"code": phone.code()})
        clock.move(seconds=30)


def test_a_recovery_code_signs_in_once_in_any_spelling(app: Flask, codes: list[str]) -> None:
    assert len(codes) == 10
    browser = give_password(app)
    assert browser.get(f"{CODE_PAGE}?recovery=1").texts["h1"] == "Recovery code"
    sent = {"code": codes[0].upper().replace("-", " "), "recovery": "1"}
    browser.post(CODE_PAGE, sent)
    assert "9 are left" in browser.client.get("/admin/two-step").text
    again = give_password(app).post(CODE_PAGE, sent, status=400)
    assert again.texts["h1"] == "Recovery code" and "none of your recovery codes" in again.texts["p"]
    assert actions(app) == ["second_factor.on", "second_factor.recovery", "second_factor.refused"]


def test_the_field_of_the_apps_code_takes_a_recovery_code_and_says_where_it_is_none(
    app: Flask, codes: list[str]
) -> None:
    browser = give_password(app)
    (field,) = (one for one in browser.get(CODE_PAGE).all("input") if one.get("name") == "code")
    assert int(field["maxlength"]) >= len(codes[0])
    refused = browser.post(CODE_PAGE, {"code": f"{codes[0]}x"}, status=400)
    assert refused.texts["h1"] == "Recovery code" and "none of your recovery codes" in refused.texts["p"]
    assert browser.post(CODE_PAGE, {"code": codes[0]}).location == "/admin/"


def test_recovery_codes_are_stored_as_hashes_and_the_seed_alone_makes_no_code(app: Flask, phone: Phone, codes) -> None:
    with app.app_context():
        factor = db.session.scalars(select(SecondFactor)).one()
        stored = set(db.session.scalars(select(RecoveryCode.code_hash)))
    assert len(stored) == 10 and not stored & {code.replace("-", "") for code in codes}
    assert factor.seed.lower() not in phone.key.lower() and phone.key.lower() not in factor.seed.lower()


def test_new_recovery_codes_end_the_old_ones(app: Flask, signed_in, codes: list[str]) -> None:
    browser = signed_in()
    browser.get("/admin/two-step")
    browser.post("/admin/two-step/codes", {"password": "wrong"}, status=400)
    sent = {"csrf_token": browser.token, "password": PASSWORD}
    [new, *_] = codes_on(browser.client.post("/admin/two-step/codes", data=sent).text)
    give_password(app).post(CODE_PAGE, {"code": codes[0], "recovery": "1"}, status=400)
    assert give_password(app).post(CODE_PAGE, {"code": new, "recovery": "1"}).location == "/admin/"


def test_codes_are_shown_on_no_later_page(signed_in, codes: list[str]) -> None:
    assert not any(code in signed_in().client.get("/admin/two-step").text for code in codes)


@pytest.mark.parametrize("wrong", [{"code": "000000"}, {"code": "١٢٣٤٥٦"}, {"password": "wrong"}, {"setup": "made-up"}])
def test_it_is_not_turned_on_without_a_code_and_the_password(
    app: Flask, signed_in, clock: StoppedClock, wrong: dict[str, str]
) -> None:
    browser = signed_in()
    page = browser.get("/admin/two-step")
    sent = {"setup": page.value("setup"), "code": Phone(clock, key_on(page)).code(), "password": PASSWORD}
    again = browser.post("/admin/two-step", sent | wrong, status=409 if "setup" in wrong else 400)
    assert (key_on(again) == key_on(page)) == ("setup" not in wrong), "the app need not be set up anew"
    assert PageClient(app).signed_in_by_form(MERCHANDISER).get("/admin/").texts["h1"] == "Dashboard"


def test_a_setup_is_of_one_user(app: Flask, signed_in, clock: StoppedClock) -> None:
    page = signed_in().get("/admin/two-step")
    admin = signed_in(Role.ADMIN)
    sent = {"setup": page.value("setup"), "code": Phone(clock, key_on(page)).code(), "password": PASSWORD}
    admin.post("/admin/two-step", sent, status=409)


def test_it_is_turned_on_once(signed_in, clock: StoppedClock) -> None:
    browser, twin = signed_in(), signed_in()
    page = twin.get("/admin/two-step")
    turn_on(browser, clock)
    twin = signed_in()
    twin.get("/admin/two-step")
    sent = {"setup": page.value("setup"), "code": Phone(clock, key_on(page)).code(), "password": PASSWORD}
    twin.post("/admin/two-step", sent, status=409)


def test_turning_it_on_signs_its_user_out_in_other_browsers_alone(signed_in, clock: StoppedClock) -> None:
    browser, twin, admin = signed_in(), signed_in(), signed_in(Role.ADMIN)
    turn_on(browser, clock)
    assert is_signed_in(browser) and not is_signed_in(twin) and is_signed_in(admin)


def test_the_password_turns_it_off(app: Flask, signed_in, phone: Phone) -> None:
    browser = signed_in()
    browser.get("/admin/two-step")
    browser.post("/admin/two-step/off", {"password": "wrong"}, status=400)
    assert browser.post("/admin/two-step/off", {"password": PASSWORD}).location == "/admin/two-step"
    assert "is off" in browser.client.get("/admin/two-step").text
    browser.post("/admin/two-step/off", {"password": PASSWORD}, status=409)
    assert PageClient(app).signed_in_by_form(MERCHANDISER).get("/admin/").texts["h1"] == "Dashboard"
    with app.app_context():
        assert db.session.scalars(select(RecoveryCode)).all() == []
    assert actions(app) == ["second_factor.on", "second_factor.off"]


def test_a_forgotten_password_leaves_it_on(app: Flask, phone: Phone) -> None:
    browser = PageClient(app)
    browser.get("/admin/forgotten")
    browser.post("/admin/forgotten", {"email": MERCHANDISER})
    [mail] = sent_mails(app)
    browser.post(link_of(mail), {"password": "nine blue kettles"})
    browser = give_password(app, password="nine blue kettles")
    assert not is_signed_in(browser)
    assert browser.post(CODE_PAGE, {"code": phone.code()}).location == "/admin/"


def test_an_admin_sees_who_has_it_and_turns_it_off(app: Flask, signed_in, phone: Phone) -> None:
    admin = signed_in(Role.ADMIN)
    admin.get("/admin/users")
    assert admin.client.get("/admin/users").text.count(">On<") == 1
    user_page = admin.client.get("/admin/users").text.partition("The Merchandiser</a>")[0].rpartition('href="')[2][:-2]
    admin.get(user_page)
    assert admin.post(f"{user_page}/two-step/off", {}).location == user_page
    admin.post(f"{user_page}/two-step/off", {}, status=409)
    assert PageClient(app).signed_in_by_form(MERCHANDISER).get("/admin/").texts["h1"] == "Dashboard"
    assert actions(app) == ["second_factor.on", "second_factor.off"]


def test_an_admin_does_not_turn_off_that_of_a_superadmin_or_of_another_shop(
    app: Flask, signed_in, clock: StoppedClock
) -> None:
    turn_on(signed_in(Role.SUPERADMIN), clock)
    with app.app_context():
        superadmin = accounts.get_user("superadmin@shop.test").id
    signed_in(Role.ADMIN).post(f"/admin/user/{superadmin}/two-step/off", {}, status=403)
    turn_on(signed_in(), clock)
    with app.app_context(), transaction():
        merchandiser = accounts.get_user(MERCHANDISER)
        accounts.grant(merchandiser, make_site("other.localhost", "Other").id, Role.MERCHANDISER)
        user_id = merchandiser.id
    signed_in(Role.ADMIN).post(f"/admin/user/{user_id}/two-step/off", {}, status=403)
    with app.app_context():
        assert second_factors.is_on(superadmin) and second_factors.is_on(user_id)


def test_programs_sign_in_by_the_password_alone(app: Flask, phone: Phone) -> None:
    answer = app.test_client().post("/v1/auth/login", json={"email": MERCHANDISER, "password": PASSWORD})
    assert answer.status_code == 200, answer.text


def test_the_command_line_turns_it_off(app: Flask, phone: Phone) -> None:
    done = app.test_cli_runner().invoke(args=["user", "two-step-off", MERCHANDISER])
    assert done.exit_code == 0, done.output
    again = app.test_cli_runner().invoke(args=["user", "two-step-off", MERCHANDISER])
    assert again.exit_code == 1 and "is off" in again.output
    assert PageClient(app).signed_in_by_form(MERCHANDISER).get("/admin/").texts["h1"] == "Dashboard"
    assert actions(app) == ["second_factor.on", "second_factor.off"]

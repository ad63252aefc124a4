"""A till that is unlocked with a passkey: its refresh token is worth nothing without the user's finger."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from app.domain.shared.author import Author
from app.domain.sites import accounts, personal_tokens
from app.domain.sites.accounts import Role
from app.domain.sites.models import ApiSession, AuditEntry, UserPasskey
from app.domain.sites.passkey_ceremonies import encode
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.conftest import ApiClient
from tests.factories import make_site
from tests.fakes.clock import StoppedClock
from tests.software_authenticator import SoftwareAuthenticator

PASSKEYS = "/v1/auth/passkeys"
OPTIONS, ASSERTION_OPTIONS = f"{PASSKEYS}/options", f"{PASSKEYS}/assertionOptions"
AGENT = "pos_agent@shop.test"
SignedIn = Callable[..., ApiClient]
Json = dict[str, Any]


@pytest.fixture
def phone(signed_in: SignedIn) -> ApiClient:
    """The till app on the agent's phone."""
    return signed_in(Role.POS_AGENT, audience="pos", deviceId="phone-1", deviceName="Tilly’s phone")


@pytest.fixture
def finger() -> SoftwareAuthenticator:
    return SoftwareAuthenticator()


@pytest.fixture
def bound(phone: ApiClient, finger: SoftwareAuthenticator) -> ApiClient:
    """The phone, whose session is bound to its passkey."""
    answer = register(phone, finger)
    assert answer.status_code == 201, answer.text
    return phone


def register(program: ApiClient, finger: SoftwareAuthenticator, **more: object) -> TestResponse:
    given = program.call("POST", OPTIONS).json
    body = {"challengeToken": given["challengeToken"], "credential": finger.create(given["publicKey"])} | more
    return program.call("POST", PASSKEYS, body)


def options_for(program: ApiClient, refresh_token: str | None = None, device_id: str = "phone-1") -> TestResponse:
    body = {"refreshToken": refresh_token or program.tokens["refreshToken"], "deviceId": device_id}
    return program.call("POST", ASSERTION_OPTIONS, body, token="")


def unlock(program: ApiClient, finger: SoftwareAuthenticator) -> TestResponse:
    given = options_for(program).json
    return refresh(program, {"challengeToken": given["challengeToken"], "credential": finger.get(given["publicKey"])})


def refresh(program: ApiClient, assertion: Json | None, token: str = "") -> TestResponse:
    body = {"refreshToken": program.tokens["refreshToken"], "deviceId": "phone-1"}
    sent = body if assertion is None else body | {"assertion": assertion}
    return program.call("POST", "/v1/auth/refresh", sent, token=token)


def code_of(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, answer.json["code"]


def listed(program: ApiClient) -> list[Json]:
    answer = program.call("GET", PASSKEYS)
    assert answer.status_code == 200, answer.text
    found: list[Json] = answer.json["items"]
    return found


def test_the_options_ask_for_a_passkey_of_the_device_with_its_user_verified(phone: ApiClient) -> None:
    answer = phone.call("POST", OPTIONS)
    assert answer.status_code == 200
    options = answer.json["publicKey"]
    assert options["rp"] == {"id": "localhost", "name": "Fern & Fell"}
    assert (options["user"]["name"], options["user"]["displayName"]) == (AGENT, "The Pos_Agent")
    assert options["authenticatorSelection"]["userVerification"] == "required"
    assert options["authenticatorSelection"]["residentKey"] == "preferred"
    assert options["attestation"] == "none"
    again = phone.call("POST", OPTIONS).json["publicKey"]
    assert again["challenge"] != options["challenge"]
    assert again["user"]["id"] == options["user"]["id"], "so the device replaces its passkey"


def test_other_devices_of_the_user_keep_their_passkeys(phone: ApiClient, signed_in: SignedIn) -> None:
    tablet = signed_in(Role.POS_AGENT, audience="pos", deviceId="tablet")
    handles = {program.call("POST", OPTIONS).json["publicKey"]["user"]["id"] for program in (phone, tablet)}
    assert len(handles) == 2
    for program in (phone, tablet):
        assert register(program, SoftwareAuthenticator()).status_code == 201
    assert [one["current"] for one in listed(phone)].count(True) == 1
    assert len(listed(phone)) == len(listed(tablet)) == 2


def test_a_passkey_is_registered_with_a_name_and_listed(phone: ApiClient, app: Flask) -> None:
    answer = register(phone, SoftwareAuthenticator(), name="Stall")
    assert answer.status_code == 201
    assert answer.json | {"id": ""} == {"id": "", "name": "Stall", "created": "2026-11-20T12:00:00Z", "current": True}
    assert listed(phone) == [answer.json]
    with app.app_context():
        entry = db.session.scalars(select(AuditEntry)).one()
        assert (entry.action, entry.actor, entry.origin) == ("passkey.add", "The Pos_Agent", "API")


def test_without_a_name_a_passkey_has_that_of_its_device(bound: ApiClient) -> None:
    assert [one["name"] for one in listed(bound)] == ["Tilly’s phone"]


def test_a_name_like_a_card_number_is_refused(phone: ApiClient) -> None:
    assert register(phone, SoftwareAuthenticator(), name="4242 4242 4242 4242").status_code == 400
    assert listed(phone) == []


def test_the_refresh_token_alone_is_worth_nothing(bound: ApiClient) -> None:
    assert code_of(refresh(bound, None)) == (401, "assertion_required")
    assert bound.call("GET", PASSKEYS).status_code == 200, "nothing ended"
    assert code_of(refresh(bound, None, token="nonsense")) == (401, "assertion_required")


def test_an_answer_of_the_passkey_refreshes(bound: ApiClient, finger: SoftwareAuthenticator) -> None:
    for _ in range(3):
        answer = unlock(bound, finger)
        assert answer.status_code == 200, answer.text
        bound.tokens = answer.json
    assert bound.call("GET", PASSKEYS).status_code == 200


def test_the_options_of_an_unlock_name_the_one_passkey(bound: ApiClient, finger: SoftwareAuthenticator) -> None:
    answer = options_for(bound)
    assert answer.status_code == 200
    options = answer.json["publicKey"]
    (allowed,) = options["allowCredentials"]
    assert allowed["id"] == finger.get(options)["id"]
    assert (options["rpId"], options["userVerification"]) == ("localhost", "required")
    assert code_of(refresh(bound, None)) == (401, "assertion_required"), "the token was not spent"


def test_an_access_token_that_holds_refreshes_as_well(bound: ApiClient, clock: StoppedClock) -> None:
    answer = refresh(bound, None, token=bound.tokens["token"])
    assert answer.status_code == 200
    bound.tokens = answer.json
    clock.move(minutes=15)
    assert code_of(refresh(bound, None, token=bound.tokens["token"])) == (401, "assertion_required")


def test_an_access_token_of_another_session_does_not(bound: ApiClient, signed_in: SignedIn) -> None:
    other = signed_in(Role.POS_AGENT, audience="pos", deviceId="phone-1")
    assert code_of(refresh(bound, None, token=other.tokens["token"])) == (401, "assertion_required")


def test_a_session_without_a_passkey_refreshes_as_before(phone: ApiClient) -> None:
    assert code_of(options_for(phone)) == (404, "passkey_not_found")
    assert refresh(phone, None).status_code == 200


def test_a_lost_answer_is_given_again_with_the_same_assertion(
    bound: ApiClient, finger: SoftwareAuthenticator, clock: StoppedClock
) -> None:
    given = options_for(bound).json
    assertion = {"challengeToken": given["challengeToken"], "credential": finger.get(given["publicKey"])}
    first = refresh(bound, assertion)
    clock.move(seconds=19)
    again = refresh(bound, assertion)
    assert first.json["refreshToken"] == again.json["refreshToken"]
    assert code_of(refresh(bound, None)) == (401, "assertion_required"), "the lost answer is nobody else's"
    clock.move(seconds=2)
    assert code_of(refresh(bound, assertion)) == (401, "refresh_reused")


def test_two_tabs_that_unlock_at_once_get_the_same_tokens(bound: ApiClient, finger: SoftwareAuthenticator) -> None:
    first, second = options_for(bound).json, options_for(bound).json
    assertions = [
        {"challengeToken": given["challengeToken"], "credential": finger.get(given["publicKey"])}
        for given in (first, second)
    ]
    answers = [refresh(bound, assertion) for assertion in assertions]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json["refreshToken"] == answers[1].json["refreshToken"]


@pytest.mark.concurrent
def test_one_answer_that_is_sent_many_times_at_once_gets_the_same_tokens(
    app: Flask, bound: ApiClient, finger: SoftwareAuthenticator
) -> None:
    given = options_for(bound).json
    assertion = {"challengeToken": given["challengeToken"], "credential": finger.get(given["publicKey"])}
    windows = [replace(bound, client=app.test_client()) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda window: refresh(window, assertion), windows))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json["refreshToken"] for answer in answers}) == 1


@pytest.mark.concurrent
def test_windows_that_register_at_once_leave_the_device_one_passkey(app: Flask, phone: ApiClient) -> None:
    windows = [replace(phone, client=app.test_client()) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda window: register(window, SoftwareAuthenticator()), windows))
    assert {answer.status_code for answer in answers} == {201}
    assert [one["current"] for one in listed(phone)] == [True]


def test_an_answer_is_good_for_one_refresh(bound: ApiClient, finger: SoftwareAuthenticator) -> None:
    finger.counts = False
    given = options_for(bound).json
    assertion = {"challengeToken": given["challengeToken"], "credential": finger.get(given["publicKey"])}
    bound.tokens = refresh(bound, assertion).json
    assert code_of(refresh(bound, assertion)) == (401, "assertion_invalid")


def _copy_of(finger: SoftwareAuthenticator, **changes: Any) -> SoftwareAuthenticator:
    return replace(finger, sign_count=10, **changes)


def _as_registration(finger: SoftwareAuthenticator, options: Json) -> Json:
    answer, made = finger.get(options), finger.create(options | {"rp": {"id": options["rpId"]}})
    answer["response"]["clientDataJSON"] = made["response"]["clientDataJSON"]
    return answer


FORGERIES: dict[str, Callable[[SoftwareAuthenticator, Json], Json]] = {
    "other challenge": lambda finger, options: finger.get(options | {"challenge": "A" * 43}),
    "other origin": lambda finger, options: _copy_of(finger, origin="https://evil.example").get(options),
    "other port": lambda finger, options: _copy_of(finger, origin="http://localhost:8000").get(options),
    "other relying party": lambda finger, options: _copy_of(finger, rp_id="evil.example").get(options),
    "nobody verified": lambda finger, options: _copy_of(finger, verifies_user=False).get(options),
    "other key": lambda finger, options: SoftwareAuthenticator(id=finger.id).get(options),
    "other passkey": lambda _finger, options: SoftwareAuthenticator().get(options),
    "a registration": _as_registration,
    "nonsense": lambda finger, options: {"id": finger.get(options)["id"], "response": {"signature": [1, {}]}},
    "no object": lambda finger, options: finger.get(options) | {"response": None},
    "empty": lambda _finger, _options: {},
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_answer_refreshes_nothing_and_ends_nothing(
    app: Flask, bound: ApiClient, finger: SoftwareAuthenticator, forge: Callable[..., Json]
) -> None:
    given = options_for(bound).json
    assertion = {"challengeToken": given["challengeToken"], "credential": forge(finger, given["publicKey"])}
    assert code_of(refresh(bound, assertion)) == (401, "assertion_invalid")
    with app.app_context():
        latest = db.session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
        assert latest is not None
        assert (latest.action, latest.actor) == ("passkey.refused", "The Pos_Agent")
    assert unlock(bound, finger).status_code == 200


def test_a_challenge_that_the_shop_did_not_sign_is_none(bound: ApiClient, finger: SoftwareAuthenticator) -> None:
    given = options_for(bound).json
    for token in (given["challengeToken"][:-4] + "AAAA", "A" * 100, ""):
        challenge = encode(hashlib.sha256(token.encode()).digest())
        answer = finger.get(given["publicKey"] | {"challenge": challenge})
        refused = refresh(bound, {"challengeToken": token, "credential": answer})
        assert code_of(refused) == (401, "assertion_invalid")


def test_the_challenge_of_a_registration_is_none_of_an_unlock(bound: ApiClient, finger: SoftwareAuthenticator) -> None:
    given, options = bound.call("POST", OPTIONS).json, options_for(bound).json["publicKey"]
    answer = finger.get(options | {"challenge": given["publicKey"]["challenge"]})
    refused = refresh(bound, {"challengeToken": given["challengeToken"], "credential": answer})
    assert code_of(refused) == (401, "assertion_invalid")


def test_a_challenge_holds_for_five_minutes(
    bound: ApiClient, finger: SoftwareAuthenticator, clock: StoppedClock
) -> None:
    given = options_for(bound).json
    clock.move(minutes=5)
    assertion = {"challengeToken": given["challengeToken"], "credential": finger.get(given["publicKey"])}
    assert code_of(refresh(bound, assertion)) == (401, "assertion_invalid")


def test_a_challenge_of_one_session_is_none_of_another(
    bound: ApiClient, finger: SoftwareAuthenticator, signed_in: SignedIn
) -> None:
    other = signed_in(Role.POS_AGENT, audience="pos", deviceId="tablet")
    register(other, SoftwareAuthenticator())
    theirs = options_for(other, device_id="tablet").json
    assertion = {"challengeToken": theirs["challengeToken"], "credential": finger.get(theirs["publicKey"])}
    assert code_of(refresh(bound, assertion)) == (401, "assertion_invalid")


def test_a_counter_that_goes_back_is_that_of_a_copy(bound: ApiClient, finger: SoftwareAuthenticator) -> None:
    finger.sign_count = 7
    bound.tokens = unlock(bound, finger).json
    for stale in (6, 7):
        copy = SoftwareAuthenticator(id=finger.id, key=finger.key, sign_count=stale - 1)
        assert code_of(unlock(bound, copy)) == (401, "assertion_invalid")
    assert unlock(bound, finger).status_code == 200


def test_many_wrong_answers_fill_no_log_and_keep_no_right_one_out(
    app: Flask, bound: ApiClient, finger: SoftwareAuthenticator
) -> None:
    answers = [unlock(bound, SoftwareAuthenticator()).status_code for _ in range(8)]
    assert answers == [401] * 5 + [429] * 3
    with app.app_context():
        noted = select(func.count()).select_from(AuditEntry).where(AuditEntry.action == "passkey.refused")
        assert db.session.scalar(noted) == 5
    assert unlock(bound, finger).status_code == 200


@pytest.mark.parametrize("how", ["origin", "relying party", "nobody verified", "challenge", "nonsense", "empty"])
def test_a_forged_registration_binds_nothing(phone: ApiClient, how: str) -> None:
    finger = SoftwareAuthenticator()
    given = phone.call("POST", OPTIONS).json
    options = given["publicKey"]
    finger.origin = "https://evil.example" if how == "origin" else finger.origin
    finger.rp_id = "evil.example" if how == "relying party" else None
    finger.verifies_user = how != "nobody verified"
    if how == "challenge":
        options = options | {"challenge": "A" * 43}
    made = finger.create(options)
    if how == "nonsense":
        made["response"]["attestationObject"] = "n4GBgYGB"
    sent = {} if how == "empty" else made
    answer = phone.call("POST", PASSKEYS, {"challengeToken": given["challengeToken"], "credential": sent})
    assert answer.status_code == 400
    assert [(one["code"], one["pointer"]) for one in answer.json["errors"]] == [("passkey_invalid", "#/credential")]
    assert listed(phone) == []
    assert refresh(phone, None).status_code == 200


def test_a_registration_needs_a_challenge_of_its_session_that_holds(
    phone: ApiClient, signed_in: SignedIn, clock: StoppedClock
) -> None:
    finger, other = SoftwareAuthenticator(), signed_in(Role.POS_AGENT, audience="pos", deviceId="tablet")
    theirs, mine = other.call("POST", OPTIONS).json, phone.call("POST", OPTIONS).json
    clock.move(minutes=5)
    for given in (theirs, mine):
        body = {"challengeToken": given["challengeToken"], "credential": finger.create(given["publicKey"])}
        answer = phone.call("POST", PASSKEYS, body)
        assert answer.status_code == 400
        assert [one["code"] for one in answer.json["errors"]] == ["challenge_invalid"]
    assert listed(phone) == []


def test_a_passkey_is_registered_once_in_a_shop(bound: ApiClient, finger: SoftwareAuthenticator, signed_in) -> None:
    for program in (bound, signed_in(Role.ADMIN)):
        assert code_of(register(program, finger)) == (409, "passkey_exists")


def test_the_passkey_of_yesterday_is_replaced(
    app: Flask, bound: ApiClient, signed_in: SignedIn, clock: StoppedClock
) -> None:
    yesterday = listed(bound)[0]["id"]
    clock.move(hours=1)
    today = signed_in(Role.POS_AGENT, audience="pos", deviceId="phone-1")
    assert register(today, SoftwareAuthenticator()).status_code == 201
    assert [one["id"] == yesterday for one in listed(today)] == [False]
    assert code_of(options_for(bound)) == (401, "session_revoked")


def test_a_user_has_twenty_passkeys_at_most(app: Flask, signed_in: SignedIn, clock: StoppedClock) -> None:
    program = signed_in(Role.POS_AGENT, audience="pos")
    for _ in range(21):
        clock.move(seconds=1)
        assert register(program, SoftwareAuthenticator()).status_code == 201
    assert len(listed(program)) == 20
    assert listed(program)[0]["current"]


def test_removing_a_passkey_ends_the_sessions_that_it_unlocks(
    app: Flask, bound: ApiClient, signed_in: SignedIn
) -> None:
    tablet = signed_in(Role.POS_AGENT, audience="pos", deviceId="tablet")
    (lost,) = listed(tablet)
    assert not lost["current"]
    answer = tablet.call("DELETE", f"{PASSKEYS}/{lost['id']}")
    assert (answer.status_code, answer.data) == (204, b"")
    assert listed(tablet) == []
    for refused in (bound.call("GET", PASSKEYS), refresh(bound, None), options_for(bound)):
        assert code_of(refused) == (401, "session_revoked")
    assert code_of(tablet.call("DELETE", f"{PASSKEYS}/{lost['id']}")) == (404, "passkey_not_found")
    with app.app_context():
        actions = db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
        assert actions == ["passkey.add", "passkey.remove"]


def test_nobody_removes_or_reads_the_passkey_of_another(app: Flask, bound: ApiClient, signed_in: SignedIn) -> None:
    theirs = listed(bound)[0]["id"]
    with app.app_context(), transaction():
        accounts.grant(accounts.get_user(AGENT), make_site("other.localhost", "Other").id, Role.POS_AGENT)
    elsewhere = ApiClient(app.test_client(), "other.localhost")
    elsewhere.sign_in(AGENT)
    for program in (signed_in(Role.SUPERADMIN), elsewhere):
        assert listed(program) == []
        for named in (theirs, "nothing", "x" * 300):
            assert code_of(program.call("DELETE", f"{PASSKEYS}/{named}")) == (404, "passkey_not_found")
    assert len(listed(bound)) == 1


def test_a_passkey_of_one_shop_unlocks_nothing_at_another(
    app: Flask, bound: ApiClient, finger: SoftwareAuthenticator
) -> None:
    with app.app_context(), transaction():
        accounts.grant(accounts.get_user(AGENT), make_site("other.localhost", "Other").id, Role.POS_AGENT)
    body = {"refreshToken": bound.tokens["refreshToken"], "deviceId": "phone-1"}
    elsewhere = ApiClient(app.test_client(), "other.localhost")
    assert code_of(elsewhere.call("POST", ASSERTION_OPTIONS, body)) == (401, "token_invalid")
    elsewhere.sign_in(AGENT, audience="pos", deviceId="phone-1")
    assert register(elsewhere, SoftwareAuthenticator(origin="http://other.localhost")).status_code == 201
    given = options_for(elsewhere).json
    answer = finger.get(given["publicKey"])
    assertion = {"challengeToken": given["challengeToken"], "credential": answer}
    assert code_of(refresh(elsewhere, assertion)) == (401, "assertion_invalid")
    assert len(listed(bound)) == 1, "another shop's devices are replaced by none here"


def test_removing_the_device_removes_its_passkey(bound: ApiClient, signed_in: SignedIn) -> None:
    tablet = signed_in(Role.POS_AGENT, audience="pos", deviceId="tablet")
    register(tablet, SoftwareAuthenticator())
    phone = next(one["id"] for one in tablet.call("GET", "/v1/auth/devices").json["items"] if not one["current"])
    assert tablet.call("DELETE", f"/v1/auth/devices/{phone}").status_code == 204
    assert [one["current"] for one in listed(tablet)] == [True]
    assert code_of(options_for(bound)) == (401, "session_revoked")


def test_another_password_removes_the_passkeys(app: Flask, bound: ApiClient) -> None:
    with app.app_context():
        with transaction():
            accounts.set_password(8, accounts.get_user(AGENT), "eight green kettles")
        assert db.session.scalars(select(UserPasskey)).all() == []
    assert code_of(options_for(bound)) == (401, "session_revoked")


def test_a_session_whose_passkey_is_gone_needs_one_all_the_same(
    app: Flask, bound: ApiClient, finger: SoftwareAuthenticator
) -> None:
    given = options_for(bound).json
    assertion = {"challengeToken": given["challengeToken"], "credential": finger.get(given["publicKey"])}
    with app.app_context(), transaction():
        db.session.delete(db.session.scalars(select(UserPasskey)).one())
    assert code_of(refresh(bound, None)) == (401, "assertion_required")
    assert code_of(refresh(bound, assertion)) == (401, "assertion_invalid")
    assert code_of(options_for(bound)) == (404, "passkey_not_found")


def test_what_is_suspicious_at_a_refresh_is_so_before_an_unlock(
    app: Flask, bound: ApiClient, finger: SoftwareAuthenticator
) -> None:
    body = {"refreshToken": bound.tokens["refreshToken"]}
    answer = bound.call("POST", ASSERTION_OPTIONS, body, token="")
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (400, "#/deviceId")
    assert code_of(options_for(bound, refresh_token="x" * 40)) == (401, "token_invalid")
    assert code_of(options_for(bound, device_id="phone-2")) == (401, "session_revoked")
    with app.app_context():
        assert db.session.scalars(select(ApiSession.ended_because)).all() == ["DEVICE_CHANGED"]


def test_a_personal_access_token_has_no_passkeys(app: Flask, phone: ApiClient, site_id: int, clock) -> None:
    with app.app_context(), transaction():
        author = Author(site_id, "The Admin", clock)
        token = personal_tokens.make_token(author, accounts.get_user("admin@shop.test").id, "Script", 30).text
    for method, path in (("GET", PASSKEYS), ("POST", OPTIONS), ("DELETE", f"{PASSKEYS}/1")):
        assert code_of(phone.call(method, path, token=token)) == (403, "personal_token")
        assert phone.call(method, path, token="").status_code == 401


def test_behind_https_the_origin_is_the_one_of_the_browser(app: Flask, site_id: int) -> None:
    """Of the scheme and the port at which the browser sees the shop."""
    program = ApiClient(app.test_client(), "localhost:8443")
    program.sign_in(AGENT, audience="pos")
    assert register(program, SoftwareAuthenticator(origin="http://localhost")).status_code == 400
    assert register(program, SoftwareAuthenticator(origin="http://localhost:8443")).status_code == 201
    given = program.client.post(OPTIONS, base_url="https://localhost", headers=_bearer(program)).json
    made = SoftwareAuthenticator(origin="https://localhost").create(given["publicKey"])
    body = {"challengeToken": given["challengeToken"], "credential": made}
    answer = program.client.post(PASSKEYS, base_url="https://localhost", headers=_bearer(program), json=body)
    assert answer.status_code == 201


def _bearer(program: ApiClient) -> dict[str, str]:
    return {"Authorization": f"Bearer {program.tokens['token']}"}

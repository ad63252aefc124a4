"""Nothing but a token that this shop issued, in its time and at its host, opens anything; and no rubbish breaks it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from flask import Flask
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, func, select, update

from app.domain.sites import accounts, staff
from app.domain.sites.accounts import Role
from app.domain.sites.models import ApiSession, Domain, RoleGrant, User
from app.domain.sites.purge import RETENTIONS
from app.domain.sites.sign_in_sessions import SignedIn
from app.extensions import db
from app.tokens.access_tokens import ACCESS
from app.tokens.signed_tokens import ALGORITHM, ISSUER, STANDARD_CLAIMS, key_for
from app.transaction import transaction
from tests.blueprints.v1.conftest import ApiClient
from tests.examples import examples
from tests.factories import make_site
from tests.fakes.clock import StoppedClock
from tests.purging import purged

TAXONOMIES = "/v1/admin/taxonomies"
MERCHANDISER = "merchandiser@shop.test"
CLAIMS = (*STANDARD_CLAIMS, *ACCESS.claims)
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
Forgery = Callable[[dict[str, Any], bytes], str]


def test_a_token_holds_a_quarter_of_an_hour(signed_in, clock: StoppedClock) -> None:
    program = signed_in()
    clock.move(minutes=14, seconds=59)
    assert _status(program) == (200, None)
    clock.move(seconds=1)
    assert _status(program) == (401, "token_expired")
    program.tokens = program.refresh().json
    assert _status(program) == (200, None)


def test_a_session_ends_a_day_after_signing_in_however_busy(signed_in, clock: StoppedClock) -> None:
    program = signed_in()
    for hours in (8, 8, 7.9):
        clock.move(hours=hours)
        program.tokens = program.refresh().json
    assert program.tokens["expiresIn"] == 360
    assert program.tokens["expiresAt"] == program.tokens["sessionExpiresAt"]
    clock.move(minutes=6)
    assert _status(program) == (401, "token_expired")
    assert program.refresh().json["code"] == "session_expired"


def test_a_session_ends_after_half_a_day_without_a_refresh(signed_in, clock: StoppedClock) -> None:
    program = signed_in()
    clock.move(hours=12)
    assert program.refresh().json["code"] == "session_expired"


def test_a_clock_that_is_set_back_signs_nobody_out(signed_in, clock: StoppedClock) -> None:
    program = signed_in()
    clock.move(hours=-1)
    assert _status(program) == (200, None)
    assert program.refresh().status_code == 200


@pytest.mark.parametrize("change", ["disabled", "password", "role"])
def test_what_is_taken_away_is_gone_at_the_next_call(app: Flask, signed_in, change: str) -> None:
    program = signed_in()
    with app.app_context(), transaction():
        user = accounts.get_user(MERCHANDISER)
        if change == "disabled":
            db.session.execute(update(User).where(User.id == user.id).values(enabled=False))
        elif change == "password":
            accounts.set_password(8, user, "nine blue kettles")
        else:
            db.session.execute(delete(RoleGrant).where(RoleGrant.user_id == user.id))
    assert _status(program) == (401, "session_revoked")
    if change != "role":
        assert program.refresh().json["code"] == "session_revoked"


@pytest.mark.parametrize("roles", [["MERCHANDISER"], ["POS_AGENT"]])
def test_a_session_that_an_admin_ended_stays_ended(app: Flask, signed_in, clock, site_id: int, roles) -> None:
    """Whether the user was disabled or lost a role; getting it back revives nothing."""
    program = signed_in()
    with app.app_context():
        admin, user_id = _admin(site_id), accounts.get_user(MERCHANDISER).id
        enabled = roles != ["MERCHANDISER"]
        with transaction():
            staff.change(clock, admin, user_id, "Mia", roles, enabled)
        with transaction():
            staff.change(clock, admin, user_id, "Mia", ["MERCHANDISER"], True)
    assert _status(program) == (401, "session_revoked")
    assert program.refresh().json["code"] == "session_revoked"


def test_a_further_role_ends_nothing(app: Flask, signed_in, clock: StoppedClock, site_id: int) -> None:
    program = signed_in()
    with app.app_context(), transaction():
        user_id = accounts.get_user(MERCHANDISER).id
        staff.change(clock, _admin(site_id), user_id, "Mia", ["MERCHANDISER", "POS_AGENT"], True)
    assert _status(program) == (200, None)


def test_changing_ones_password_in_the_admin_ends_what_programs_have_open(app: Flask, signed_in) -> None:
    app.config["WTF_CSRF_ENABLED"] = False
    program = signed_in()
    browser = app.test_client()
    browser.post("/admin/login", data={"email": MERCHANDISER, "password": "seven green kettles"})
    changed = {"current": "seven green kettles", "password": "nine blue kettles"}
    assert browser.post("/admin/password", data=changed).status_code == 302
    assert _status(program) == (401, "session_revoked")


def test_a_token_of_one_shop_is_none_at_another(app: Flask, signed_in, site_id: int) -> None:
    with app.app_context(), transaction():
        make_site("other.localhost", "Other")
        db.session.add(Domain(site_id=site_id, host="www.localhost", primary=False))
    program = signed_in(Role.SUPERADMIN)
    program.host = "other.localhost"
    assert _status(program) == (401, "token_invalid")
    program.host = "www.localhost"
    assert _status(program) == (200, None)


def test_a_cookie_opens_nothing_and_hinders_nothing(app: Flask, signed_in) -> None:
    app.config["WTF_CSRF_ENABLED"] = False
    browser = app.test_client()
    browser.post("/admin/login", data={"email": "superadmin@shop.test", "password": "seven green kettles"})
    assert browser.get(TAXONOMIES).status_code == 401
    token = signed_in(Role.POS_AGENT).tokens["token"]
    assert browser.get(TAXONOMIES, headers={"Authorization": f"Bearer {token}"}).status_code == 403


def test_no_token_at_all_is_challenged_without_blame(stranger: ApiClient) -> None:
    answer = stranger.call("GET", TAXONOMIES)
    assert (answer.status_code, answer.json["code"]) == (401, "token_invalid")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="shop"'
    blamed = stranger.call("GET", TAXONOMIES, token="x")
    assert blamed.headers["WWW-Authenticate"] == 'Bearer realm="shop", error="invalid_token"'


def _signed(claims: dict[str, Any], key: bytes, algorithm: str = ALGORITHM, **header: Any) -> str:
    return jwt.encode(claims, key, algorithm, headers={"typ": ACCESS.typ} | header)


def _raw(header: object, claims: object, signature: str = "") -> str:
    parts = (json.dumps(part).encode() if not isinstance(part, bytes) else part for part in (header, claims))
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts) + f".{signature}"


def _ending(seconds: int) -> int:
    return int((NOON + timedelta(seconds=seconds)).timestamp())


FORGERIES: dict[str, Forgery] = {
    "no algorithm": lambda claims, _: _raw({"alg": "none", "typ": ACCESS.typ}, claims),
    "no algorithm, in capitals": lambda claims, _: _raw({"alg": "NONE", "typ": ACCESS.typ}, claims, "x"),
    "our header, no signature": lambda claims, key: _signed(claims, key).rpartition(".")[0] + ".",
    "our header and signature, other claims": lambda claims, key: ".".join(
        (_signed(claims, key).split(".")[0], _raw({}, claims | {"sub": "1"}).split(".")[1], _signed(claims, key)[-43:])
    ),
    "a foreign key": lambda claims, _: _signed(claims, b"f" * 32),
    "an empty key": lambda claims, _: _raw({"alg": "HS256", "typ": ACCESS.typ}, claims, "x" * 43),
    "the secret itself": lambda claims, _: _signed(claims, b"a key for tests that is long enough to be one"),
    "a longer hash": lambda claims, key: _signed(claims, key * 2, "HS512"),
    "a key of its own": lambda claims, key: _signed(claims, key, jwk={"kty": "oct", "k": "x"}),
    "a key id": lambda claims, key: _signed(claims, key, kid="../../dev/null"),
    "a key address": lambda claims, key: _signed(claims, key, jku="https://evil.example/keys"),
    "critical extensions": lambda claims, key: _signed(claims, key, crit=["x"], x=1),
    "another kind of token": lambda claims, key: _signed(claims, key, typ="pos-pay+jwt"),
    "no kind": lambda claims, key: jwt.encode(claims, key, ALGORITHM),
    "another audience": lambda claims, key: _signed(claims | {"aud": "pos-reader"}, key),
    "another issuer": lambda claims, key: _signed(claims | {"iss": "elsewhere"}, key),
    "another session": lambda claims, key: _signed(claims | {"sid": "0" * 36}, key),
    "another user": lambda claims, key: _signed(claims | {"sub": "999999"}, key),
    "nested header": lambda _, __: f"{base64.urlsafe_b64encode(b'[' * 1_400).decode()}.e30.x",
    "nested claims": lambda _, key: _raw({"alg": "HS256", "typ": ACCESS.typ}, b"[" * 1_000, "x" * 43),
    "far too long": lambda claims, key: _signed(claims | {"x": "y" * 60_000}, key),
} | {f"no {claim}": lambda claims, key, gone=claim: _signed(_without(claims, gone), key) for claim in CLAIMS}  # type: ignore[misc]


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_token_opens_nothing(app: Flask, signed_in, forgery: str) -> None:
    program = signed_in()
    with app.app_context():
        key = key_for("access-tokens")
    claims = jwt.decode(program.tokens["token"], options={"verify_signature": False})
    assert _status(program, _signed(claims, key)) == (200, None)
    answer = program.call("GET", TAXONOMIES, token=FORGERIES[forgery](claims, key))
    assert (answer.status_code, answer.json["code"]) == (401, "token_invalid")


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_token_opens_no_till(app: Flask, signed_in, forgery: str) -> None:
    program = signed_in(Role.ADMIN, audience="pos")
    with app.app_context():
        key = key_for("access-tokens")
    claims = jwt.decode(program.tokens["token"], options={"verify_signature": False})
    assert program.call("GET", "/v1/pos/locations", token=_signed(claims, key)).status_code == 200
    for path in ("/v1/pos/locations", "/v1/pos/tml_1/transactions"):
        answer = program.call("GET", path, token=FORGERIES[forgery](claims, key))
        assert (answer.status_code, answer.json["code"]) == (401, "token_invalid")


def test_a_token_that_claims_a_later_end_than_its_signature_allows_does_not_exist(app: Flask, signed_in) -> None:
    program = signed_in()
    with app.app_context():
        key = key_for("access-tokens")
    claims = jwt.decode(program.tokens["token"], options={"verify_signature": False})
    assert (claims["iss"], claims["aud"], claims["exp"]) == (ISSUER, ACCESS.audience, _ending(900))
    assert _status(program, _signed(claims | {"exp": _ending(0)}, key)) == (401, "token_expired")


def test_tokens_stand_in_one_header_alone_and_only_as_bearer(signed_in) -> None:
    token = signed_in().tokens["token"]
    client = signed_in().client
    assert client.get(f"{TAXONOMIES}?access_token={token}&token={token}").status_code == 401
    client.set_cookie("Authorization", f"Bearer {token}")
    assert client.get(TAXONOMIES).status_code == 401
    for header in (token, f"Basic {token}", f"Bearer{token}", f"Bearer {token} {token}", f"Bearer {token}, Bearer x"):
        assert client.get(TAXONOMIES, headers={"Authorization": header}).status_code == 401, header
    assert client.get(TAXONOMIES, headers={"Authorization": f"bearer  {token}"}).status_code == 200


HEADER_TEXT = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF), max_size=300)
PIECE = st.one_of(HEADER_TEXT, st.binary(max_size=60).map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
RUBBISH = st.one_of(
    HEADER_TEXT,
    HEADER_TEXT.map("Bearer ".__add__),
    st.lists(PIECE, max_size=5).map(lambda some: f"Bearer {'.'.join(some)}"),
)


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(header=RUBBISH)
@example(header="Bearer " + "x" * 60_000)
@example(header="Bearer " + "." * 2_000)
@example(header="Bearer \xa0\x85")
def test_rubbish_is_401_and_never_500(stranger: ApiClient, header: str) -> None:
    for method, path in (("GET", TAXONOMIES), ("PUT", f"{TAXONOMIES}/x/structure"), ("DELETE", f"{TAXONOMIES}/x")):
        answer = stranger.client.open(
            path, method=method, headers={"Authorization": header.encode("latin-1").decode("latin-1")}
        )
        assert (answer.status_code, answer.json["code"]) == (401, "token_invalid")


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 600), put=st.text("AZaz09-_.=", max_size=3))
def test_a_token_with_any_letter_changed_opens_nothing(stranger: ApiClient, cut: int, put: str) -> None:
    if not stranger.tokens:
        assert stranger.sign_in(MERCHANDISER).status_code == 200
    token = stranger.tokens["token"]
    place = cut % len(token)
    broken = token[:place] + put + token[place + 1 :]
    assert stranger.call("GET", TAXONOMIES, token=broken).status_code == (200 if broken == token else 401)


def test_sessions_that_are_over_are_removed_at_night(app: Flask, signed_in, clock: StoppedClock) -> None:
    signed_in()
    clock.move(hours=47)
    signed_in()
    clock.move(hours=2)
    with app.app_context():
        purged(clock, *RETENTIONS)
        assert db.session.scalar(select(func.count()).select_from(ApiSession)) == 1


def _without(claims: dict[str, Any], name: str) -> dict[str, Any]:
    return {claim: value for claim, value in claims.items() if claim != name}


def _status(program: ApiClient, token: str | None = None) -> tuple[int, str | None]:
    answer = program.call("GET", TAXONOMIES, token=token)
    return answer.status_code, answer.json.get("code")


def _admin(site_id: int) -> SignedIn:
    user = accounts.get_user("admin@shop.test")
    roles = accounts.roles_of(user.id, site_id)
    return SignedIn("t", user.id, user.email, user.display_name, site_id, "Shop", roles, "localhost")

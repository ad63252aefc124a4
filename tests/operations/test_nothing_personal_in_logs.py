"""The logs of a whole visit, failures of the database included, name nobody."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from flask import Flask
from sqlalchemy import select, text

from app.domain.orders.models import Order
from app.domain.sites.accounts import Role
from app.domain.sites.models import ApiSession, SignInSession, Site, User
from app.extensions import db
from app.operations import logs
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.shopper import Shopper
from tests.blueprints.v1.conftest import ApiClient
from tests.factories import PASSWORD, make_user
from tests.page_client import PageClient
from tests.snapshots import built

NAME, EMAIL, PHONE, NOTE = "Wilhelmina Quist", "wilhelmina@quist.test", "+44 20 5550 1234", "Behind the green gate"
STAFF, STAFF_NAME, COLLEAGUE, RENAMED = "zebulon@staff.test", "Zebulon Thrace", "ada@staff.test", "Ada Okonkwo"
HOST = "shop.test"


@pytest.fixture
def database_url(own_database_url: str) -> str:
    """Its schema is changed, so that writing fails."""
    return own_database_url


@pytest.fixture
def site_id(app: Flask) -> int:
    site_id = built(app, small_shop.build)
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        make_user(site, Role.ADMIN, email=STAFF, name=STAFF_NAME)
        make_user(site, Role.MERCHANDISER, email=COLLEAGUE)
    return site_id


@pytest.fixture
def logged(app: Flask, capsys: pytest.CaptureFixture[str]) -> Iterator[list[str]]:
    """What was written once the test has run, line by line."""
    logs.configure("INFO")
    app.config["PROPAGATE_EXCEPTIONS"] = False
    app.testing = False
    lines: list[str] = []
    yield lines
    structlog.reset_defaults()
    logging.getLogger().setLevel(logging.WARNING)


def break_writing(app: Flask, table: str, column: str, value: str) -> None:
    """Storing the value fails, and the database quotes what was to be stored."""
    with app.app_context(), transaction():
        if db.engine.dialect.name == "postgresql":
            db.session.execute(
                text(f"ALTER TABLE {table} ADD CONSTRAINT broken CHECK ({column} <> '{value}') NOT VALID")
            )
            return
        for act in ("INSERT", "UPDATE"):
            db.session.execute(
                text(
                    f"CREATE TRIGGER broken_{table}_{act} BEFORE {act} ON {table} WHEN NEW.{column} = '{value}'"
                    f" BEGIN SELECT RAISE(ABORT, 'broken'); END"
                )
            )


def shop_and_order(app: Flask) -> list[str]:
    """The secrets that the shopper's browser holds afterwards."""
    shopper = Shopper(app)
    shopper.get(f"/search?q={EMAIL}")
    shopper.get("/search", Referer=f"http://shop.test/search?q={EMAIL}")
    shopper.add("S-7", 1)
    basket = shopper.cookie("basket") or ""
    answer = shopper.order(name=NAME, email=EMAIL, phone=PHONE, note=NOTE)
    assert answer.status_code == 303
    shopper.get(answer.location)
    shopper.get(answer.location + "x")
    return [basket, answer.location.rsplit("/", 1)[-1]]


def try_to_order(app: Flask) -> None:
    shopper = Shopper(app)
    shopper.add("S-7", 1)
    break_writing(app, "orders", "contact_name", NAME)
    assert shopper.order(name=NAME, email=EMAIL, phone=PHONE, note=NOTE).status_code >= 500


def work_in_the_admin(app: Flask) -> list[str]:
    """The secret of the session."""
    admin = PageClient(app, HOST).signed_in_by_form(STAFF)
    stranger = PageClient(app, HOST)
    stranger.get("/admin/login")
    stranger.client.post(
        "/admin/login", data={"csrf_token": stranger.token, "email": STAFF, "password": PASSWORD + "x"}
    )
    with app.app_context():
        order = db.session.scalars(select(Order).where(Order.contact_name == NAME)).one()
        colleague = _user(COLLEAGUE).id
    admin.get(f"/admin/orders/{order.id}")
    admin.client.get(f"/admin/orders?q={EMAIL}", base_url=admin.base)
    break_writing(app, "users", "display_name", RENAMED)
    form = {"csrf_token": admin.token, "displayName": RENAMED, "enabled": "1", "role": "MERCHANDISER"}
    assert admin.client.post(f"/admin/user/{colleague}", data=form, base_url=admin.base).status_code == 500
    with admin.client.session_transaction(base_url=admin.base) as session:
        return [str(session["_user_id"])]


def call_the_api(app: Flask) -> list[str]:
    """The tokens of the program."""
    program = ApiClient(app.test_client(), HOST)
    program.sign_in(STAFF, PASSWORD + "x")
    assert program.sign_in(STAFF).status_code == 200
    held = [program.tokens["token"], program.tokens["refreshToken"]]
    program.call("GET", "/v1/admin/taxonomies")
    assert program.refresh().status_code == 200
    return [*held, program.tokens["token"], program.tokens["refreshToken"]]


def _user(email: str) -> User:
    return db.session.scalars(select(User).where(User.email == email)).one()


def hashes(app: Flask) -> list[str]:
    with app.app_context():
        stored = [*db.session.scalars(select(SignInSession.token_hash)), *db.session.scalars(select(Order.token_hash))]
        refresh = [str(row.refresh_hash) for row in db.session.scalars(select(ApiSession))]
        return [*(each for each in stored if each), *refresh, str(_user(STAFF).password_hash)]


def test_a_visit_leaves_nobody_in_the_logs(
    app: Flask, site_id: int, logged: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    secrets = [*shop_and_order(app), *call_the_api(app), *work_in_the_admin(app), *hashes(app)]
    try_to_order(app)
    out, err = capsys.readouterr()
    lines = [json.loads(line) for line in err.splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert len(requests) > 15 and all("path" not in line for line in requests), "the visit was logged"
    assert any("exception" in line for line in lines), "the failures were logged"
    personal = [NAME, EMAIL, PHONE, NOTE, "Quist", "quist", STAFF, STAFF_NAME, COLLEAGUE, "Okonkwo", PASSWORD]
    for canary in [*personal, *secrets]:
        assert len(canary) > 4 and canary not in out + err, canary

"""`personal-data`: shown, exported and erased without a browser, and erased again after a backup was restored."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import select

from app.adapters.erasure_file import ErasureFile
from app.domain.orders.models import Order
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.ports import STORES
from app.transaction import transaction
from tests.factories import make_order, make_site

SAM = "sam@home.test"


@pytest.fixture(autouse=True)
def order_id(app: Flask) -> str:
    with app.app_context(), transaction():
        return make_order(make_site(), status="COLLECTED", number=77).id


def run(app: Flask, *arguments: str, typed: str = "") -> Result:
    return app.test_cli_runner().invoke(args=["personal-data", *arguments], input=typed)


def contact(app: Flask, order_id: str, email: str | None = None) -> str:
    """The order's address, set anew where one is given, as a backup does."""
    with app.app_context(), transaction():
        order = db.session.get_one(Order, order_id)
        if email is not None:
            order.contact_email, order.contact_name = email, "Sam Sedge"
        return order.contact_email


def test_what_is_kept_is_listed_with_what_becomes_of_it(app: Flask) -> None:
    result = run(app, "show", SAM)
    assert result.exit_code == 0
    assert "Orders and baskets: 1. Name, address, phone and note are removed" in result.output


def test_the_export_is_json(app: Flask, tmp_path: Path) -> None:
    assert json.loads(run(app, "export", SAM).output)["orders"]["records"][0]["number"] == 77
    file = tmp_path / "sam.json"
    assert run(app, "export", "77", "--output", str(file)).exit_code == 0
    assert json.loads(file.read_text())["person"] == SAM
    assert file.stat().st_mode & 0o077 == 0
    refused = run(app, "export", "77", "--output", str(file))
    assert (refused.exit_code, "File exists" in refused.output) == (1, True)
    with app.app_context():
        assert (
            db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all() == ["personal_data.export"] * 2
        )


def test_erasing_takes_a_typed_confirmation(app: Flask, order_id: str) -> None:
    refused = run(app, "erase", SAM, typed="yes\n")
    assert (refused.exit_code, contact(app, order_id)) == (1, SAM)
    assert "Nothing was erased" in refused.output
    done = run(app, "erase", SAM, typed=f"{SAM}\n")
    assert (done.exit_code, contact(app, order_id)) == (0, "")
    assert "Orders and baskets: 1" in done.output


def test_what_is_open_is_said(app: Flask, order_id: str) -> None:
    with app.app_context(), transaction():
        db.session.get_one(Order, order_id).status = "SUBMITTED"
    assert "Cannot be erased yet: Order 77 is awaiting collection" in run(app, "show", SAM).output
    refused = run(app, "erase", SAM, "--confirm", SAM)
    assert (refused.exit_code, contact(app, order_id)) == (1, SAM)
    assert "Order 77 is awaiting collection" in refused.output


@pytest.mark.parametrize("arguments", [(), ("sam@home.test", "--again")])
def test_whom_to_erase_is_said_in_one_way(app: Flask, arguments: tuple[str, ...]) -> None:
    assert run(app, "erase", *arguments).exit_code == 1


def test_a_restored_backup_is_erased_again(app: Flask, order_id: str) -> None:
    run(app, "erase", SAM, "--confirm", SAM)
    contact(app, order_id, SAM)
    result = run(app, "erase", "--again")
    assert (result.exit_code, result.output) == (0, "Erased again: 1, postponed: 0\n")
    assert contact(app, order_id) == ""
    assert run(app, "erase", "--again").output == "Erased again: 0, postponed: 0\n"


class SharedList(ErasureFile):
    """A list that every machine of the shop reaches."""

    is_shared = True


def test_whom_one_machine_erased_is_erased_again_at_another(app: Flask, order_id: str, tmp_path: Path) -> None:
    """Also where the list of the one was a file of its own until it became one that machines share."""
    run(app, "erase", SAM, "--confirm", SAM)
    contact(app, order_id, SAM)
    stores, shared = app.extensions[STORES], SharedList(tmp_path / "shared" / "erasures.list")
    app.extensions[STORES] = replace(stores, erasures=shared, erasure_lists=stores.erasure_lists | {"s3": shared})
    assert run(app, "erase", "--again").output == "Erased again: 1, postponed: 0\n"
    contact(app, order_id, SAM)
    nothing = ErasureFile(tmp_path / "another machine" / "erasures.list")
    app.extensions[STORES] = replace(stores, erasures=shared, erasure_lists={"files": nothing, "s3": shared})
    assert run(app, "erase", "--again").output == "Erased again: 1, postponed: 0\n"


def test_who_is_postponed_after_a_restore_is_said(app: Flask, order_id: str) -> None:
    run(app, "erase", SAM, "--confirm", SAM)
    contact(app, order_id, SAM)
    with app.app_context(), transaction():
        db.session.get_one(Order, order_id).status = "SUBMITTED"
    result = run(app, "erase", "--again")
    assert result.exit_code == 1
    assert "Not erased yet: Order 77 is awaiting collection" in result.output

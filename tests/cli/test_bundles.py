"""`flask bundle`, `site`, `user` and `demo` as an operator types them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import func, select

from app.domain.catalogue.models import Product
from app.domain.sites import accounts, sites
from app.domain.sites.accounts import DEMO_PASSWORD
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.settings import settings_of
from app.extensions import db
from tests.domain.bundles.conftest import SITE, TAXONOMY, product, write_bundle

Run = Callable[..., Result]


@pytest.fixture
def run(app: Flask) -> Run:
    runner = app.test_cli_runner()

    def ran(*arguments: object, **more: object) -> Result:
        return runner.invoke(args=[str(argument) for argument in arguments], **more)

    return ran


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    bad = product("T-2", price="cheap")
    odd = product("T-3", taxonomy={"levelId": "tents", "attributes": {"colour": "Pink"}})
    return write_bundle(tmp_path / "bundle", site=SITE, taxonomy=TAXONOMY, products=[product(), bad, odd], readme={})


def test_an_import_prints_what_it_did_and_where_it_did_not(run: Run, bundle: Path):
    result = run("bundle", "import", bundle)
    assert result.exit_code == 0, result.output
    assert "Imported into shop.test" in result.output
    assert "products.jsonl:2 price: “price” must be a whole number, not a text." in result.output
    assert "colour: 1 × not_allowed (line 3: Colour has no value “Pink”.)" in result.output
    assert "Skipped readme.json" in result.output


def test_the_report_is_had_as_json(run: Run, bundle: Path):
    report = json.loads(run("bundle", "import", bundle, "--site", "other.test", "--json").output)
    assert report["site"] == "other.test"
    assert report["counts"]["products"] == {"added": 2, "changed": 0, "removed": 0, "unchanged": 0, "refused": 1}
    assert report["refused"] == [
        {
            "file": "products.jsonl",
            "line": 2,
            "field": "price",
            "reason": "“price” must be a whole number, not a text.",
        }
    ]
    assert report["droppedValues"][0]["attributeId"] == "colour"
    assert report["skipped"] == [{"file": "readme.json", "reason": "Unknown file."}]


def test_a_dry_run_leaves_the_database_as_it_was(run: Run, app: Flask, bundle: Path):
    result = run("bundle", "import", bundle, "--dry-run")
    assert "Would change shop.test" in result.output
    with app.app_context():
        assert db.session.scalar(select(func.count()).select_from(Site)) == 0


def test_a_broken_bundle_tells_by_its_exit_status_and_its_place(run: Run, bundle: Path):
    (bundle / "pages.jsonl").write_text("{}\nnonsense\n")
    result = run("bundle", "import", bundle)
    assert result.exit_code == 1
    assert "pages.jsonl:2: This is not valid JSON" in result.stderr
    assert "Traceback" not in result.output


def test_an_export_goes_back_in_elsewhere(run: Run, bundle: Path, tmp_path: Path):
    run("bundle", "import", bundle)
    result = run("bundle", "export", tmp_path / "out.zip")
    assert "2 products" in result.output
    assert run("bundle", "import", tmp_path / "out.zip", "--site", "copy.test").exit_code == 0
    assert "copy.test\tFern & Fell" in run("site", "list").output


def test_the_site_of_a_bundle_finds_what_came_with_it(run: Run, bundle: Path):
    """No rebuild is requested: what waits is applied, as a worker does it."""
    run("bundle", "import", bundle)
    assert json.loads(run("index", "status").stdout)["engine"]["state"] == "HEALTHY"
    assert "2 missing" not in run("index", "reconcile").output
    assert json.loads(run("index", "status").stdout)["productsIndexed"] == 2


def test_a_site_made_by_command_can_be_searched(run: Run):
    run("site", "create", "shop.test", "--name", "Shop")
    status = run("index", "status")
    assert status.exit_code == 0 and json.loads(status.stdout)["productsIndexed"] == 0


@pytest.fixture
def two_sites(run: Run, tmp_path: Path) -> None:
    """A staging site with all that a bundle carries, and an empty live one."""
    whole = {
        "site": {
            "name": "Staging",
            "staging": True,
            "domains": [{"host": "staging.test", "primary": True}],
            "settings": {"listing-page-size": 12, "posMaxTransactionAmount": 5_000},
        },
        "taxonomy": TAXONOMY,
        "products": [product(), product("T-2")],
        "users": [{"email": "mia@shop.test", "roles": ["ADMIN"]}],
        "merchandising": {"trees": [{"name": "Main", "primary": True, "nodes": [{"name": "Tents"}]}]},
        "goldens": [{"query": "tent", "sku": "T-1"}],
    }
    assert run("bundle", "import", write_bundle(tmp_path / "staging", **whole)).exit_code == 0
    assert run("site", "create", "live.test", "--name", "Live").exit_code == 0


def transferred(run: Run, *options: str) -> dict[str, dict[str, int]]:
    result = run("bundle", "transfer", "staging.test", "live.test", "--json", *options)
    assert result.exit_code == 0, result.output
    return json.loads(result.output)["counts"]


@pytest.mark.usefixtures("two_sites")
def test_a_transfer_carries_the_shop_and_leaves_each_site_its_own(run: Run, app: Flask):
    counts = transferred(run)
    assert counts["products"]["added"] == 2
    assert counts["golden searches"]["added"] == 1
    assert "users" not in counts
    with app.app_context():
        live = sites.site_at("live.test")
        assert (live.name, live.staging, len(live.domains)) == ("Live", False, 1)
        stored = settings_of(live.id)
        assert (stored["listing-page-size"], stored["posMaxTransactionAmount"]) == (12, 100_000)
        logged = set(db.session.execute(select(AuditEntry.site_id, AuditEntry.action)).all())
        assert {(live.id, "bundle.transfer_from"), (sites.site_at("staging.test").id, "bundle.transfer_to")} <= logged


@pytest.mark.usefixtures("two_sites")
def test_a_transfer_is_tried_first_and_changes_nothing_a_second_time(run: Run, app: Flask):
    assert transferred(run, "--dry-run")["products"]["added"] == 2
    with app.app_context():
        assert db.session.scalar(select(func.count()).select_from(Product)) == 2
    transferred(run)
    again = transferred(run)
    assert sum(counts[what] for counts in again.values() for what in ("added", "changed", "removed", "refused")) == 0


@pytest.mark.usefixtures("two_sites")
def test_the_file_of_a_transfer_lies_in_the_folder_of_bundles_and_is_gone_afterwards(run: Run, app: Flask):
    folder = app.config["SHOP"].bundle_folder
    assert not folder.exists()
    transferred(run)
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("two_sites")
def test_a_transfer_removes_categories_only_when_told_to(run: Run, tmp_path: Path):
    own = {"trees": [{"name": "Main", "primary": True, "nodes": [{"name": "Sale"}]}]}
    run("bundle", "import", write_bundle(tmp_path / "own", merchandising=own), "--site", "live.test")
    assert transferred(run)["categories"]["removed"] == 0
    assert transferred(run, "--remove")["categories"]["removed"] == 1


@pytest.mark.usefixtures("two_sites")
def test_a_transfer_that_makes_no_sense_is_refused(run: Run):
    for hosts, words in (
        (("live.test", "live.test"), "to itself"),
        (("staging.test", "gone.test"), "no site at gone.test"),
    ):
        result = run("bundle", "transfer", *hosts)
        assert (result.exit_code, words in result.stderr) == (1, True), result.stderr
    unknown = run("bundle", "transfer", "staging.test", "live.test", "--parts", "orders,site")
    assert (unknown.exit_code, "There is no part orders, site" in unknown.stderr) == (2, True)


def test_with_several_sites_an_export_must_name_one(run: Run, tmp_path: Path):
    run("site", "create", "one.test", "--name", "One")
    run("site", "create", "two.test", "--name", "Two")
    result = run("bundle", "export", tmp_path / "out.zip")
    assert result.exit_code == 1
    assert "one.test, two.test" in result.stderr
    assert not (tmp_path / "out.zip").exists()


def test_sites_are_made_and_listed(run: Run):
    assert run("site", "create", "Shop.Example.", "--name", "One").exit_code == 0
    assert run("site", "list").output == "shop.example\tOne\n"
    again = run("site", "create", "shop.example", "--name", "Two")
    assert (again.exit_code, again.stderr) == (1, "shop.example belongs to another site.\n")


@pytest.mark.parametrize("host", ["", "a b", "shop.example:8000", "https://shop.example", "-a.test", "a" * 254, "x/y"])
def test_what_is_no_host_is_refused(run: Run, host: str):
    result = run("site", "create", "--name", "One", "--", host)
    assert result.exit_code == 1
    assert "is not a host name" in result.stderr


@pytest.mark.parametrize("currency", ["xxq", "yen ", "¥", "euro", ""])
def test_what_is_no_currency_is_refused(run: Run, currency: str):
    result = run("site", "create", "shop.test", "--name", "One", "--currency", currency)
    message = f"There is no currency “{currency}”. Give the three letters of ISO 4217, such as gbp.\n"
    assert (result.exit_code, result.stderr) == (1, message)
    assert run("site", "list").output == ""


def test_a_currency_is_taken_in_either_case(run: Run, app: Flask):
    run("site", "create", "shop.test", "--name", "One", "--currency", "JPY")
    with app.app_context():
        assert sites.site_at("shop.test").currency == "jpy"


def test_users_are_made_and_get_roles_and_passwords(run: Run, app: Flask):
    run("site", "create", "shop.test", "--name", "Shop")
    made = run("user", "create", "mia@shop.test", "--role", "ADMIN", "--site", "shop.test")
    assert "set a password with: user set-password mia@shop.test" in made.output
    assert run("user", "create", "mia@shop.test", "--role", "MERCHANDISER").exit_code == 0
    assert run("user", "set-password", "mia@shop.test", input="a long secret\na long secret\n").exit_code == 0
    with app.app_context():
        user = accounts.check_password(8, "mia@shop.test", "a long secret")
        assert {grant.role for grant in user.grants} == {"ADMIN", "MERCHANDISER"}


def test_what_is_wrong_with_a_user_is_said_all_at_once(run: Run, app: Flask):
    run("site", "create", "shop.test", "--name", "Shop")
    result = run("user", "create", "mia", "--role", "ADMIN", "--password", "short")
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 2
    with app.app_context():
        assert accounts.find_user("mia") is None


def test_an_unknown_user_or_site_is_said(run: Run):
    assert run("user", "set-password", "x@y.test", "--password", "a long secret").exit_code == 1
    unknown = run("user", "create", "x@y.test", "--role", "ADMIN", "--site", "gone.test")
    assert unknown.stderr == "There is no site at gone.test.\n"


def test_the_demo_shop_is_made_once(run: Run, app: Flask):
    assert run("demo", "create").exit_code == 0
    with app.app_context():
        assert db.session.scalar(select(func.count()).select_from(Product)) == 300
        for who in ("super", "admin", "merch", "agent"):
            assert accounts.check_password(8, f"{who}@demo.test", DEMO_PASSWORD)
        product = db.session.scalars(select(Product).limit(1)).one()
        product.name = "Mine now"
        db.session.commit()
        product_id = product.id
    assert "already" in run("demo", "create").output
    with app.app_context():
        assert db.session.get_one(Product, product_id).name == "Mine now"


def test_the_demo_shop_leaves_a_shop_of_somebody_else_alone(run: Run, app: Flask):
    run("site", "create", "localhost", "--name", "My shop")
    assert run("demo", "create").exit_code == 0
    with app.app_context():
        assert db.session.scalar(select(func.count()).select_from(Product)) == 0


def test_the_demo_shop_is_refused_in_production(run: Run, app: Flask):
    app.config["SHOP"] = replace(app.config["SHOP"], environment="production")
    result = run("demo", "create")
    assert result.exit_code == 1
    assert "passwords that everybody knows" in result.stderr

"""A bundle's till: locations and agents come in, go out, and come in again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.domain.bundles.exporter import export_bundle
from app.domain.pos import access, agents, locations
from app.domain.pos.models import PosAgent, PosLocation
from app.domain.pos.rules import AgentFields
from app.domain.sites import accounts, sites
from app.domain.sites.accounts import Role
from app.extensions import db
from app.ports import images
from app.transaction import transaction
from tests.domain.bundles.conftest import HOST, SITE, Take, count, write_bundle
from tests.factories import make_location, make_site

TILLY = {"email": "Tilly@shop.test", "displayName": "Tilly Till", "roles": ["MERCHANDISER"]}
FAIR = {
    "id": "tml_fair",
    "displayName": "Fair",
    "address": {"line1": "1 High Street", "city": "Leeds", "country": "GB"},
}
SHOP = {"id": "tml_shop", "displayName": "Shop", "address": {"line1": "2 Low Street", "country": "GB"}}
AGENT = {
    "email": "tilly@shop.test",
    "displayName": "Tilly",
    "enabled": True,
    "canProcessQuickPayments": True,
    "canBuildOrders": False,
    "maxTransactionAmount": 5_000,
    "locations": ["tml_fair"],
}
POS = {"locations": [FAIR, SHOP], "agents": [AGENT]}


def bundle(folder: Path, pos: dict[str, Any], **more: Any) -> Path:
    """The shop keeps its indexes in `folder` as well, so the bundle has a folder of its own there."""
    folder.mkdir(exist_ok=True)
    return write_bundle(folder / "bundle", **({"site": SITE, "users": [TILLY], "pos": pos} | more))


def test_a_till_comes_in_once(take: Take, tmp_path: Path) -> None:
    report = take(bundle(tmp_path, POS))
    assert report.refusals == []
    assert (report.of("locations").added, report.of("agents").added) == (2, 1)
    site_id, user = sites.site_at(HOST).id, accounts.get_user("tilly@shop.test")
    agent = access.find_agent(site_id, user.id)
    assert agent is not None and agent.enabled
    expected = AgentFields("Tilly", can_build_orders=False, max_transaction_amount=5_000, location_ids=("tml_fair",))
    assert agents.fields_of(agent) == expected
    assert accounts.roles_of(user.id, site_id) == {Role.MERCHANDISER, Role.POS_AGENT}
    assert take(bundle(tmp_path, POS)).changes == 0


def test_what_changed_is_written_and_what_is_left_out_stays(take: Take, tmp_path: Path) -> None:
    take(bundle(tmp_path, POS))
    moved = FAIR | {"displayName": "Autumn fair", "enabled": False}
    changed = {"email": "tilly@shop.test", "enabled": False, "maxTransactionAmount": None}
    report = take(
        bundle(tmp_path, {"locations": [moved], "agents": [changed]}, users=[TILLY | {"roles": ["POS_AGENT"]}])
    )
    assert (report.of("locations").changed, report.of("agents").changed) == (1, 1)
    site_id = sites.site_at(HOST).id
    db.session.expire_all()
    assert [place.display_name for place in locations.list_locations(site_id)] == ["Autumn fair", "Shop"]
    agent = access.find_agent(site_id, accounts.get_user("tilly@shop.test").id)
    assert agent is not None and not agent.enabled
    assert agents.fields_of(agent) == AgentFields("Tilly", can_build_orders=False, location_ids=("tml_fair",))


def test_a_dry_run_writes_nothing_and_says_what_it_would(take: Take, tmp_path: Path) -> None:
    report = take(bundle(tmp_path, POS), dry_run=True)
    assert (report.refusals, report.of("locations").added, report.of("agents").added) == ([], 2, 1)
    assert (count(PosLocation), count(PosAgent)) == (0, 0)


def test_bad_rows_are_left_out_with_their_place(take: Take, tmp_path: Path) -> None:
    pos = {
        "locations": [
            FAIR,
            FAIR,
            {"id": "../x", "displayName": " ", "address": {"country": "England"}},
            {"id": "tml_9", "displayName": "Nine", "address": {"street": "x", "country": "GB"}},
        ],
        "agents": [
            AGENT | {"locations": ["tml_fair", "tml_9"]},
            {"email": "who@shop.test"},
            AGENT | {"maxTransactionAmount": 12.5, "pin": "1234"},
            AGENT | {"maxTransactionAmount": 0},
        ],
        "tills": [],
    }
    report = take(bundle(tmp_path, pos))
    places = [(refusal.file, refusal.field) for refusal in report.refusals]
    assert places == [
        ("pos.json", "tills"),
        ("pos.json", "locations/1/id"),
        ("pos.json", "locations/2/id"),
        ("pos.json", "locations/2/displayName"),
        ("pos.json", "locations/2/address/country"),
        ("pos.json", "locations/3/address/street"),
        ("pos.json", "agents/0/locations/1"),
        ("pos.json", "agents/1/email"),
        ("pos.json", "agents/2/pin"),
        ("pos.json", "agents/2/maxTransactionAmount"),
        ("pos.json", "agents/3/email"),
    ]
    assert all(refusal.line for refusal in report.refusals)
    assert (report.of("locations").added, report.of("agents").added) == (1, 0)


def test_the_first_location_is_made_from_the_settings(take: Take, tmp_path: Path) -> None:
    take(bundle(tmp_path, {}, site=SITE | {"settings": {"posProcessorLocationId": "tml_first"}}))
    assert locations.location_at(sites.site_at(HOST).id, "tml_first").display_name == "Fern & Fell"


def test_a_till_goes_out_as_it_came_in(take: Take, tmp_path: Path) -> None:
    take(bundle(tmp_path / "in", POS))
    export_bundle(tmp_path / "out", sites.site_at(HOST), images())
    written = json.loads((tmp_path / "out" / "pos.json").read_text())
    assert [place["id"] for place in written["locations"]] == ["tml_fair", "tml_shop"]
    others = {"canRefund": False, "canDiscount": False, "canTakeCash": True, "canMoveCash": False}
    assert written["agents"] == [AGENT | others]
    assert take(tmp_path / "out").changes == 0


def test_permissions_and_settings_of_cash_travel(take: Take, tmp_path: Path) -> None:
    cash = {"posAllowCash": False, "posCashRounding": 5, "posTipsEnabled": True, "posUnlockRequired": False}
    agent = AGENT | {"canTakeCash": False, "canMoveCash": True}
    take(bundle(tmp_path / "in", POS | {"agents": [agent]}, site=SITE | {"settings": cash}))
    export_bundle(tmp_path / "out", sites.site_at(HOST), images())
    (written,) = json.loads((tmp_path / "out" / "pos.json").read_text())["agents"]
    assert (written["canTakeCash"], written["canMoveCash"]) == (False, True)
    assert cash.items() <= json.loads((tmp_path / "out" / "site.json").read_text())["settings"].items()


def test_who_operates_the_server_may_share_accounts_and_locations_among_shops(take: Take, tmp_path: Path) -> None:
    with transaction():
        other = make_site("other.localhost", "Other")
        make_location(other, FAIR["id"], processor_account_id="acct_theirs")
        make_location(other, "tml_first")
    shared = {"locations": [FAIR | {"processorAccountId": "acct_theirs"}]}
    named = SITE | {"settings": {"posProcessorLocationId": "tml_first"}}
    assert take(bundle(tmp_path, shared, site=named)).refusals == []
    assert locations.location_at(sites.site_at(HOST).id, "tml_first").enabled
    again = take(bundle(tmp_path, {"locations": [FAIR | {"processorAccountId": None}]}))
    assert (again.refusals, take(bundle(tmp_path, shared)).of("locations").changed) == ([], 1)

"""Locations: created at the processor or taken over, changed, and whose money is taken there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace

import pytest

from app.domain.pos import locations, settings
from app.domain.pos.locations import account_of
from app.domain.pos.processor import Address, NoProcessor, ProcessorError
from app.domain.pos.rules import LocationFields
from app.domain.pos.settings import PAGE
from app.domain.shared.problems import Conflict, Invalid, NotFound, StaleRevision
from app.domain.sites.settings import change_settings, settings_of
from app.extensions import db
from app.transaction import WRITING, transaction
from tests.domain.pos.conftest import Staff
from tests.factories import make_location, make_site
from tests.fakes.payment_processor import Call, FakeProcessor

MARKET = LocationFields("Market", Address("1 High Street", "", "Leeds", "", "LS1 1AA", "GB"))


@pytest.fixture
def terminal(processor: FakeProcessor) -> FakeProcessor:
    """It may be called only while no transaction is open."""

    def check_transaction(_call: Call) -> None:
        assert not db.session.info.get(WRITING)
        assert not db.session().in_transaction()

    processor.before_call = check_transaction
    return processor


def test_a_new_location_is_created_at_the_processor_first(staff: Staff, terminal: FakeProcessor) -> None:
    with transaction():
        change_settings(staff.site_id, {"posProcessorAccountId": "acct_shop"})
    untidy = replace(MARKET, display_name="  Market ", address=replace(MARKET.address, country="gb"))
    locations.add(staff.author, transaction, terminal, untidy)
    locations.add(staff.author, transaction, terminal, replace(MARKET, processor_account_id="acct_own"))
    (ours,), (own,) = (terminal.accounts[account].locations.values() for account in ("acct_shop", "acct_own"))
    for created in (ours, own):
        assert (created["display_name"], created["address"]) == ("Market", asdict(MARKET.address))
    assert len(terminal.calls) == 2
    assert locations.location_at(staff.site_id, ours["id"]).address == MARKET.address


def test_nothing_is_kept_of_a_location_that_the_processor_refused(staff: Staff) -> None:
    with pytest.raises(ProcessorError):
        locations.add(staff.author, transaction, NoProcessor(), MARKET)
    assert len(locations.list_locations(staff.site_id)) == 2


def test_what_is_wrong_with_a_location_is_told_before_the_processor_hears_of_it(
    staff: Staff, terminal: FakeProcessor
) -> None:
    fields = LocationFields(" ", Address(line1="x" * 201, country="England"), "acct 1")
    with pytest.raises(Invalid) as refused:
        locations.add(staff.author, transaction, terminal, fields)
    pointers = [problem.pointer for problem in refused.value.problems]
    assert pointers == ["#/displayName", "#/address/line1", "#/address/country", "#/processorAccountId"]
    assert terminal.calls == []


def test_a_location_that_exists_at_the_processor_is_taken_over_once(staff: Staff) -> None:
    locations.add(staff.author, transaction, NoProcessor(), MARKET, "tml_known")
    with pytest.raises(Conflict):
        locations.add(staff.author, transaction, NoProcessor(), MARKET, "tml_known")
    with pytest.raises(Invalid):
        locations.add(staff.author, transaction, NoProcessor(), MARKET, "../tml")


def test_everything_wrong_with_a_location_that_is_taken_over_is_said_at_once(staff: Staff) -> None:
    with pytest.raises(Invalid) as refused:
        locations.add(staff.author, transaction, NoProcessor(), replace(MARKET, display_name=" "), "../tml")
    assert [problem.pointer for problem in refused.value.problems] == ["#/displayName", "#/id"]


def test_an_edited_location_keeps_its_id_and_may_be_disabled(staff: Staff) -> None:
    with transaction():
        assert locations.edit(staff.author, "tml_fair", 1, MARKET, enabled=False)
        assert not locations.edit(staff.author, "tml_fair", 2, MARKET, enabled=False)
    assert [place.location_id for place in locations.list_locations(staff.site_id, enabled_only=True)] == ["tml_shop"]
    with pytest.raises(StaleRevision), transaction():
        locations.edit(staff.author, "tml_fair", 1, MARKET, enabled=True)


def test_another_shops_location_is_not_found(staff: Staff) -> None:
    with transaction():
        make_location(make_site("other.localhost", "Other"), "tml_theirs")
    with pytest.raises(NotFound) as refused:
        locations.location_at(staff.site_id, "tml_theirs")
    assert refused.value.code == "location_not_found"
    with pytest.raises(NotFound), transaction():
        locations.edit(staff.author, "tml_theirs", 1, MARKET, enabled=True)


def test_the_first_location_is_the_one_that_the_setting_names(staff: Staff) -> None:
    with transaction():
        assert locations.seed_first(staff.author) is None
        change_settings(staff.site_id, {"posProcessorLocationId": "tml_first"})
        seeded = locations.seed_first(staff.author)
        assert seeded is not None and (seeded.display_name, seeded.country) == ("Fern & Fell", "GB")
        assert locations.seed_first(staff.author) is None


@pytest.mark.parametrize(
    ("own", "sites", "account"),
    [("acct_own", "acct_shop", "acct_own"), (None, "acct_shop", "acct_shop"), (None, None, "")],
)
def test_money_goes_to_the_account_of_the_location_then_of_the_site(
    staff: Staff, own: str | None, sites: str | None, account: str
) -> None:
    with transaction():
        change_settings(staff.site_id, {"posProcessorAccountId": sites})
    assert account_of(own, settings_of(staff.site_id)) == account


@pytest.fixture
def their_account(staff: Staff) -> str:
    """Of another shop: by its setting; acct_stall is of a location of it."""
    with transaction():
        other = make_site("other.localhost", "Other")
        make_location(other, "tml_theirs", processor_account_id="acct_stall")
        change_settings(other.id, {"posProcessorAccountId": "acct_theirs"})
    return "acct_theirs"


def codes(act: Callable[[], object]) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as refused, transaction():
        act()
    return [(problem.code, problem.pointer) for problem in refused.value.problems]


def test_an_account_of_another_shop_is_for_superadmins_to_share(
    staff: Staff, their_account: str, terminal: FakeProcessor
) -> None:
    theirs = replace(MARKET, processor_account_id=their_account)
    taken = [("account_taken", "#/processorAccountId")]
    with pytest.raises(Invalid):
        locations.add(staff.author, transaction, terminal, theirs)
    assert terminal.calls == [], "the processor heard nothing"
    stall = replace(MARKET, processor_account_id="acct_stall")
    assert codes(lambda: locations.take_over(staff.author, "tml_new", stall)) == taken
    assert codes(lambda: locations.edit(staff.author, "tml_fair", 1, theirs, enabled=True)) == taken
    wanted = replace(settings.stored_settings(staff.site_id), account_id=their_account)
    assert codes(lambda: settings.change(staff.author, PAGE.stored_form(wanted))) == [
        ("account_taken", "#/posProcessorAccountId")
    ]
    with transaction():
        assert locations.edit(staff.author, "tml_fair", 1, theirs, enabled=True, may_share=True)
        assert settings.change(staff.author, PAGE.stored_form(wanted), may_share=True)


def test_a_location_of_another_shop_is_for_superadmins_to_share(staff: Staff, their_account: str) -> None:
    stall, wanted = replace(MARKET, processor_account_id="acct_stall"), settings.stored_settings(staff.site_id)
    named = replace(wanted, location_id="tml_theirs", account_id=their_account, largest=None)
    assert codes(lambda: locations.take_over(staff.author, "tml_theirs", MARKET)) == [("location_taken", "#/id")]
    assert codes(lambda: locations.take_over(staff.author, "tml_theirs", stall)) == [
        ("location_taken", "#/id"), ("account_taken", "#/processorAccountId"),
    ]  # fmt: skip
    assert codes(lambda: settings.change(staff.author, PAGE.stored_form(named))) == [
        ("amount_invalid", "#/posMaxTransactionAmount"), ("account_taken", "#/posProcessorAccountId"),
        ("location_taken", "#/posProcessorLocationId"),
    ]  # fmt: skip
    with transaction():
        settings.change(staff.author, PAGE.stored_form(replace(wanted, location_id="tml_theirs")), may_share=True)
    assert locations.location_at(staff.site_id, "tml_theirs").display_name == "Fern & Fell"
    with transaction():
        locations.edit(staff.author, "tml_theirs", 1, MARKET, enabled=True)
        assert settings.change(
            staff.author, PAGE.stored_form(replace(wanted, location_id="tml_theirs", is_enabled=True))
        )


def test_a_superadmin_takes_over_a_location_of_another_shop(staff: Staff, their_account: str) -> None:
    locations.add(staff.author, transaction, NoProcessor(), MARKET, "tml_theirs", may_share=True)
    assert locations.location_at(staff.site_id, "tml_theirs").display_name == "Market"


def test_what_a_superadmin_shared_stays_when_an_admin_saves_something_else(staff: Staff, their_account: str) -> None:
    theirs = replace(MARKET, processor_account_id=their_account)
    wanted = replace(settings.stored_settings(staff.site_id), account_id=their_account)
    with transaction():
        locations.edit(staff.author, "tml_fair", 1, theirs, enabled=True, may_share=True)
        settings.change(staff.author, PAGE.stored_form(wanted), may_share=True)
    with transaction():
        assert locations.edit(staff.author, "tml_fair", 2, replace(theirs, display_name="Spring"), enabled=True)
        assert settings.change(staff.author, PAGE.stored_form(replace(wanted, is_enabled=True))) == ["Mobile POS"]

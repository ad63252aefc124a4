"""What may be taken, how much of it, and what may be said about it."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.pos import rules
from app.domain.pos.rules import AgentTerms, SiteTerms
from app.domain.shared.problems import DomainError, Forbidden, Unprocessable
from tests.examples import examples

SITE, AGENT = SiteTerms("gbp", True, 100_000), AgentTerms(True, True, None)
CARDS = (
    "4242424242424242",
    "5555 5555 5555 4444",
    "3782-822463-10005",
    "６０１１ 1111 1111 1117",
    "card: 4000000000000002!",
)
ISO_4217 = frozenset(
    """aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob bov brl bsd btn bwp byn bzd cad
cdf che chf chw clf clp cny cop cou crc cuc cup cve czk djf dkk dop dzd egp ern etb eur fjd fkp gel ghs gip gmd gnf gtq
gyd hkd hnl hrk htg huf idr ils inr iqd irr isk jmd jod jpy kes kgs khr kmf kpw krw kwd kyd kzt lak lbp lkr lrd lsl lyd
mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn mxv myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar
ron rsd rub rwf sar sbd scr sdg sek sgd shp sle sll sos srd ssp stn svc syp szl thb tjs tmt tnd top try ttd twd tzs uah
ugx usd usn uyi uyu uyw uzs ved ves vnd vuv wst xaf xag xau xcd xdr xof xpd xpf xpt xsu xts xua xxx yer zar zmw zwl
""".split()  # noqa: SIM905
)


def code_of(refused: pytest.ExceptionInfo[DomainError]) -> str:
    return refused.value.code


@pytest.mark.parametrize("facts", list(product((False, True), repeat=4)))
def test_what_a_payment_is_for_decides_which_permission_it_takes(facts: tuple[bool, ...]) -> None:
    site_allows, agent_quick, agent_orders, is_order = facts
    site, agent = SiteTerms("gbp", site_allows, 100), AgentTerms(agent_quick, agent_orders, None)
    if is_order:
        expected = None if agent_orders else "orders_not_permitted"
    elif not site_allows:
        expected = "quick_payments_disabled"
    else:
        expected = None if agent_quick else "quick_payments_not_permitted"
    if expected is None:
        rules.check_permission(site, agent, is_order)
    else:
        with pytest.raises(Forbidden) as refused:
            rules.check_permission(site, agent, is_order)
        assert code_of(refused) == expected


@given(st.integers(1, 99_999_999), st.none() | st.integers(1, 99_999_999), st.integers(1, 99_999_999))
@settings(max_examples=examples(200))
def test_the_lower_limit_holds_and_may_be_reached(sites: int, agents: int | None, amount: int) -> None:
    site, agent = SiteTerms("gbp", True, sites), AgentTerms(True, True, agents)
    lower = min(sites, agents or sites)
    if 30 <= amount <= lower:
        rules.check_limit(site, agent, amount, "gbp")
        return
    with pytest.raises(Unprocessable) as refused:
        rules.check_limit(site, agent, amount, "gbp")
    if amount > lower:
        source = "AGENT" if agents is not None and agents < sites else "SITE"
        assert refused.value.details == {"maxAmountInPence": lower, "limitSource": source}
    assert code_of(refused) == ("amount_exceeds_limit" if amount > lower else "amount_too_small")


@pytest.mark.parametrize("amount", (0, -1, -(10**30), 100_000_000, 10**30))
def test_no_payment_is_nothing_or_beyond_eight_digits(amount: int) -> None:
    with pytest.raises(Unprocessable) as refused:
        rules.check_amount(amount)
    assert code_of(refused) == "amount_invalid"


def test_every_other_currency_is_refused() -> None:
    assert len(ISO_4217) > 170 and "gbp" not in ISO_4217
    for currency in ISO_4217:
        with pytest.raises(Unprocessable) as refused:
            rules.check_limit(SITE, AGENT, 1_000, currency)
        assert code_of(refused) == "currency_not_supported"


@pytest.mark.parametrize(("currency", "least"), (("gbp", 30), ("eur", 50), ("jpy", 50), ("kwd", 500), ("krw", 1)))
def test_a_card_payment_has_a_minimum_in_every_currency(currency: str, least: int) -> None:
    assert rules.minimum_of(currency) == least


@pytest.mark.parametrize(
    "metadata",
    (
        {"agentId": "9"},
        {"locationId": "tml_other"},
        {"transactionId": "x"},
        {"siteId": "2"},
        {str(number): "x" for number in range(21)},
        {"k" * 41: "x"},
        {"": "x"},
        {"a[b]": "x"},
        {"k": "x" * 501},
        *({"note": card} for card in CARDS),
        {CARDS[0]: "x"},
    ),
)
def test_metadata_that_breaks_a_rule_is_refused_and_not_repeated(metadata: dict[str, str]) -> None:
    with pytest.raises(Unprocessable) as refused:
        rules.check_texts("", metadata)
    assert code_of(refused) == "metadata_invalid"
    assert not any(value in refused.value.message for value in metadata.values() if len(value) > 4)


def is_taken(metadata: dict[str, str]) -> bool:
    try:
        rules.check_texts("x" * 1_000, metadata)
    except Unprocessable:
        return False
    return True


def test_metadata_is_taken_up_to_its_limits() -> None:
    assert is_taken({f"{number:040}": "y" * 500 for number in range(20)})
    assert not is_taken({f"{number:040}": "y" for number in range(21)})
    assert not is_taken({"0" * 41: "y"}) and not is_taken({"note": "y" * 501})


@pytest.mark.parametrize("card", CARDS)
def test_a_card_number_in_the_description_is_refused_and_not_repeated(card: str) -> None:
    with pytest.raises(Unprocessable) as refused:
        rules.check_texts(f"Paid with {card} by Ann", {})
    assert (code_of(refused), card in refused.value.message) == ("description_invalid", False)


@pytest.mark.parametrize(
    ("stored", "sent", "is_other"),
    [
        ("TillApp/1.2", "TillApp/1.3", False),
        ("TillApp/1.2 (iPhone; iOS 19.1)", "TillApp/2 (iPhone; iOS 20) CFNetwork/3000", False),
        ("TillApp (iPhone; iOS 19.1)", "TillApp/1", False),
        ("The Till/1", "The Thief/1", True),
        ("TillApp/1.2", "tillapp/1.2", True),
        ("TillApp/1.2", "", True),
        ("TillApp/1.2", "TillApp 4242424242424242", True),
        ("", "curl/8", False),
        ("curl", "curl", False),
        ("x" * 200, "x" * 300, False),
    ],
)
def test_a_program_is_known_by_its_name_and_not_by_its_version(stored: str, sent: str, is_other: bool) -> None:
    assert rules.is_other_program(stored, sent) is is_other

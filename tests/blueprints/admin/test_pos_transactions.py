"""Payments in the admin: the list, the table for spreadsheets, and one payment."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest
from flask import Flask

from app.blueprints.admin.pos.transactions import BADGES, status_kind
from app.domain.pos.models import PosRefund, PosTransactionEvent, StoredProcessorEvent
from app.domain.pos.states import STATUS_LABELS, TransactionStatus
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.blueprints.admin.pos_till import AtTill, at_till
from tests.factories import make_order
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient
from tests.statements import statements

LIST = "/admin/pos/transactions"


@pytest.fixture
def ada(signed_in: SignedIn) -> PageClient:
    return signed_in(Role.ADMIN)


@pytest.fixture
def till(app: Flask, site_id: int, clock: StoppedClock) -> AtTill:
    return at_till(app, site_id, clock.now())


def text_of(client: PageClient, path: str) -> str:
    return " ".join(client.client.get(path, base_url=client.base).text.split())


def rows_of(client: PageClient, query: str = "") -> list[dict[str, str]]:
    answer = client.client.get(f"{LIST}.csv{query}", base_url=client.base)
    assert answer.status_code == 200 and answer.mimetype == "text/csv"
    return list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))


def found(client: PageClient, query: str) -> set[str]:
    return {row["Transaction"] for row in rows_of(client, query)}


def test_payments_are_listed_newest_first_with_their_totals(ada: PageClient, till: AtTill) -> None:
    till.payment(amount_in_pence=1_000, card_brand="visa", card_last4="4242", created_at=till.now - timedelta(hours=1))
    till.payment("PARTIALLY_REFUNDED", amount_in_pence=5_000, refunded_amount=2_000)
    till.payment("UNKNOWN", amount_in_pence=900)
    ada.get(LIST)
    page = text_of(ada, LIST)
    assert "3 transactions" in page and "£60.00" in page and "£20.00" in page and "£40.00" in page
    assert "Visa •••• 4242" in page and "Outcome unknown" in page
    assert page.index("Partly refunded") < page.index("Visa")


def test_every_filter_narrows_list_and_table_alike(app: Flask, ada: PageClient, till: AtTill) -> None:
    with app.app_context(), transaction():
        order = make_order(db.session.get_one(Site, till.site_id), number=1001)
        order_id = order.id
    old = till.payment(created_at=till.now - timedelta(days=3))
    failed = till.payment("FAILED")
    of_order = till.payment(type="ORDER_PAYMENT", order_id=order_id, order_number="1001")
    odd = till.payment(anomaly="amount_differs", card_last4="4444", processor_intent_id="pi_marmalade")
    for query, wanted in (
        ("", {old, failed, of_order, odd}),
        ("?status=failed", {failed}),
        ("?status=anomaly", {odd}),
        ("?type=order_payment", {of_order}),
        ("?q=1001", {of_order}),
        ("?q=%231001", {of_order}),
        ("?q=4444", {odd}),
        ("?q=pi_marmalade", {odd}),
        ("?q=pi_marm", {odd}),
        ("?q=%25", set()),
        (f"?q={old}", {old}),
        (f"?agent={till.agent_id}&status=failed", {failed}),
        (f"?agent={till.agent_id + 1}", set()),
        (f"?location={till.location_id}&to={(till.now - timedelta(days=1)).date()}", {old}),
        (f"?from={till.now.date()}&to={till.now.date()}", {failed, of_order, odd}),
        ("?from=0001-01-01&to=9999-12-31", {old, failed, of_order, odd}),
    ):
        assert found(ada, query) == wanted, query
        ada.get(f"{LIST}{query}")
        count = len(wanted)
        expected = f"{count} transaction{'' if count == 1 else 's'}" if wanted else "No transaction matches"
        assert expected in text_of(ada, f"{LIST}{query}"), query


def test_what_is_created_waits_for_a_card_as_clients_see_it(ada: PageClient, till: AtTill) -> None:
    creating, pending = till.payment("CREATING", processor_intent_id=None), till.payment("PENDING")
    assert found(ada, "?status=pending") == {creating, pending}


def test_a_fragment_is_the_results_alone(ada: PageClient, till: AtTill) -> None:
    till.payment()
    answer = ada.client.get(f"{LIST}?status=succeeded", base_url=ada.base, headers={"HX-Request": "true"})
    assert answer.text.lstrip().startswith('<div id="results"') and "<html" not in answer.text


def test_the_number_of_a_card_is_not_looked_for_shown_or_left_in_the_address(ada: PageClient, till: AtTill) -> None:
    till.payment()
    number = "4242424242424242"
    answer = ada.client.get(f"{LIST}?q={number}&status=succeeded", base_url=ada.base, headers={"HX-Request": "true"})
    assert number not in answer.text and "looks like a card number" in answer.text
    assert answer.headers["HX-Push-Url"] == f"{LIST}?status=succeeded"


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("", "No transactions yet"),
        ("?status=unknown", "No outcome is unknown"),
        ("?status=anomaly", "Nothing needs attention"),
        ("?q=nothing", "No transaction matches"),
    ],
)
def test_a_list_without_payments_says_why(ada: PageClient, query: str, says: str) -> None:
    ada.get(f"{LIST}{query}")
    assert says in text_of(ada, f"{LIST}{query}")


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("?from=2026-13-45", "From: “2026-13-45” cannot be looked for."),
        ("?status=nope", "Status: “nope” cannot be looked for."),
        ("?agent=tilly&type=succeeded", "Agent: “tilly” cannot be looked for."),
        ("?location=4242424242424242", "Location: that cannot be looked for."),
        ("?from=2026-11-20&to=2026-11-19", "From 2026-11-20 is after to 2026-11-19"),
    ],
)
def test_a_filter_that_cannot_be_read_is_named_and_no_table_is_made_of_it(
    ada: PageClient, till: AtTill, query: str, says: str
) -> None:
    till.payment()
    assert says in text_of(ada, f"{LIST}{query}")
    table = ada.client.get(f"{LIST}.csv{query}", base_url=ada.base)
    assert table.status_code == 400 and table.mimetype != "text/csv" and says in table.text


def test_no_filter_at_all_is_no_problem(ada: PageClient, till: AtTill) -> None:
    till.payment()
    page = text_of(ada, f"{LIST}?q=&from=&to=&status=&type=&agent=&location=")
    assert "1 transaction" in page and "cannot be looked for" not in page


def test_the_table_says_whose_times_it_has_and_keeps_the_digits_of_cards(ada: PageClient, till: AtTill) -> None:
    till.payment(card_last4="0005")
    (row,) = rows_of(ada)
    assert row["Last 4"] == "•••• 0005"
    assert (row["Created (Europe/London)"], "Captured (Europe/London)" in row) == ("2026-11-20 12:00:00", True)


def test_a_page_past_the_last_leads_back(ada: PageClient, till: AtTill) -> None:
    till.payment()
    assert "Nothing on page 9" in text_of(ada, f"{LIST}?p=9")


def test_no_cell_of_the_table_is_run_by_a_spreadsheet(app: Flask, ada: PageClient, site_id: int, till: AtTill) -> None:
    till.payment(description='=HYPERLINK("http://evil.test")', card_brand="@sum")
    (row,) = rows_of(ada)
    assert row["Description"] == '\'=HYPERLINK("http://evil.test")' and row["Card"] == "'@sum"
    assert (
        row["Amount"] == "12.50" and row["Net"] == "12.50" and row["Created (Europe/London)"] == "2026-11-20 12:00:00"
    )


def test_the_list_takes_the_same_statements_however_long_it_is(app: Flask, ada: PageClient, till: AtTill) -> None:
    till.payment()
    with statements(app) as few:
        ada.get(LIST)
    for _ in range(8):
        till.payment()
    with statements(app) as many:
        ada.get(LIST)
    with statements(app) as table:
        assert len(rows_of(ada)) == 9
    assert len(many) == len(few) and len(table) < len(few)


def test_a_payment_is_shown_with_all_that_is_known_of_it(app: Flask, ada: PageClient, till: AtTill) -> None:
    emv = {
        "applicationPreferredName": "VISA DEBIT",
        "dedicatedFileName": "A0000000031010",
        "authorizationCode": "123456",
        "cardholderVerificationMethod": "approval",
    }
    card = {
        "card_brand": "visa",
        "card_last4": "4242",
        "funding": "debit",
        "read_method": "contactless_emv",
        "emv": emv,
    }
    payment_id = till.payment(
        "PARTIALLY_REFUNDED", refunded_amount=250, description="Two mugs", client_metadata={"stall": "7"},
        processor_intent_id="pi_9", **card,
    )  # fmt: skip
    with app.app_context(), transaction():
        own = {"site_id": till.site_id, "transaction_id": payment_id}
        event = {"actor": "Tilly Till", "action": "capture", "status": "SUCCEEDED", "at": till.now}
        refund = {"amount": 250, "reason": "Chipped", "status": "SUCCEEDED", "requested_by": "Ada"}
        times = {"created_at": till.now, "updated_at": till.now}
        news = {"processor": "fake", "event_id": "evt_1", "type": "payment_intent.succeeded", "intent_id": "pi_9"}
        db.session.add_all(
            [
                PosTransactionEvent(**own, **event),
                PosRefund(id="refund-1", **own, **refund, **times),
                StoredProcessorEvent(site_id=till.site_id, **news, received_at=till.now, outcome="applied"),
            ]
        )
    ada.get(f"{LIST}/{payment_id}")
    page = text_of(ada, f"{LIST}/{payment_id}")
    for text in (
        "Payment of £12.50", "Partly refunded", "Two mugs", "stall", "VISA DEBIT", "A0000000031010", "123456", "Debit",
        "Contactless EMV", "pi_9", "Chipped", "Payment intent succeeded", "Applied to this payment",
        "Capture", "£2.50", "£10.00",
    ):  # fmt: skip
        assert text in page, text


def test_a_timeline_begins_once_and_tells_seconds(app: Flask, ada: PageClient, till: AtTill) -> None:
    payment_id = till.payment("PENDING")
    with app.app_context(), transaction():
        own = {"site_id": till.site_id, "transaction_id": payment_id, "actor": "Tilly", "action": "create"}
        for seconds, status in enumerate(("CREATING", "PENDING")):
            at = till.now + timedelta(seconds=seconds)
            db.session.add(PosTransactionEvent(**own, status=status, at=at))
    steps = text_of(ada, f"{LIST}/{payment_id}").partition('<ol class="timeline">')[2].partition("</ol>")[0]
    assert "20 Nov, 12:00:00</time> <p>Begun" in steps and "20 Nov, 12:00:01</time> <p>At the processor" in steps
    assert steps.count("Waiting for a card") == 1


def test_an_anomaly_is_resolved_with_a_note_that_stays(app: Flask, ada: PageClient, till: AtTill) -> None:
    payment_id = till.payment(anomaly="unexpected_payment")
    page = ada.get(f"{LIST}/{payment_id}")
    assert [form for form in page.all("form") if form.get("action", "").endswith("/anomaly")]
    ada.post(f"{LIST}/{payment_id}/anomaly", {"note": "Goods were handed over."})
    assert till.read(payment_id).anomaly is None
    shown = text_of(ada, f"{LIST}/{payment_id}")
    assert "the payment was given up: Goods were handed over." in shown and "The Admin" in shown
    with app.app_context():
        assert db.session.query(AuditEntry).filter_by(action="pos.anomaly_settled").count() == 1
    ada.post(f"{LIST}/{payment_id}/anomaly", {"note": "Again."}, status=409)


@pytest.mark.parametrize("note", ["", "   ", "x" * 201, "He gave 4242 4242 4242 4242 as his card"])
def test_a_note_that_cannot_be_kept_is_refused_and_a_cards_number_not_repeated(
    ada: PageClient, till: AtTill, note: str
) -> None:
    payment_id = till.payment(anomaly="unexpected_payment")
    ada.get(f"{LIST}/{payment_id}")
    answer = ada.client.post(
        f"{LIST}/{payment_id}/anomaly", base_url=ada.base, data={"csrf_token": ada.token, "note": note}
    )
    assert answer.status_code == 400 and "4242 4242 4242 4242" not in answer.text
    assert till.read(payment_id).anomaly == "unexpected_payment"


def test_the_badge_of_a_transaction_is_by_its_status() -> None:
    kinds = {status.value: status_kind(status.value) for status in TransactionStatus}
    assert kinds.keys() >= BADGES.keys() and kinds.keys() == STATUS_LABELS.keys()
    assert (kinds["SUCCEEDED"], kinds["UNKNOWN"], kinds["REFUNDED"]) == ("good", "bad", "")

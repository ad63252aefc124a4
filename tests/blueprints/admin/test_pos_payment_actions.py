"""What staff do about one payment at the processor."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from flask import Flask

from app.domain.pos.models import PosReceiptMail, PosRefund, PosTransaction
from app.domain.pos.processor import AccountRef, IntentRequest
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.blueprints.admin.pos_till import AtTill, at_till
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import REJECTED, TIMEOUT_AFTER, TIMEOUT_BEFORE, FakeProcessor
from tests.page_client import PageClient

LIST = "/admin/pos/transactions"


@pytest.fixture
def ada(signed_in: SignedIn) -> PageClient:
    return signed_in(Role.ADMIN)


@pytest.fixture
def till(app: Flask, site_id: int, clock: StoppedClock) -> AtTill:
    return at_till(app, site_id, clock.now())


class Payment:
    """One that the processor knows."""

    def __init__(self, till: AtTill, processor: FakeProcessor, status: str = "PENDING", **more: object) -> None:
        request = IntentRequest(1_250, "gbp", metadata={"transactionId": "payment-1"})
        self.intent_id = processor.create_intent(AccountRef(), request, "create").id
        self.id, self.till = "payment-1", till
        till.payment(status, id=self.id, processor_intent_id=self.intent_id, **more)

    @property
    def path(self) -> str:
        return f"{LIST}/{self.id}"

    @property
    def status(self) -> str:
        return self.till.read(self.id).status


@pytest.fixture
def payment(till: AtTill, processor: FakeProcessor) -> Payment:
    return Payment(till, processor)


@pytest.fixture
def paid(till: AtTill, processor: FakeProcessor) -> Payment:
    made = Payment(till, processor, "SUCCEEDED")
    processor.tap(made.intent_id)
    return made


def after(ada: PageClient, payment: Payment, action: str, **form: str) -> str:
    """Press a button and return the page that follows."""
    ada.get(payment.path)
    ada.post(f"{payment.path}/{action}", dict(form))
    ada.get(payment.path)  # Shows the news, which the next page does not repeat.
    return payment.status


def news_after(ada: PageClient, payment: Payment, action: str, **form: str) -> str:
    ada.get(payment.path)
    ada.post(f"{payment.path}/{action}", dict(form))
    return " ".join(ada.client.get(payment.path, base_url=ada.base).text.split())


def refunds(app: Flask) -> list[tuple[int, str, str]]:
    with app.app_context():
        return [(r.amount, r.status, r.reason) for r in db.session.query(PosRefund).order_by(PosRefund.created_at)]


def actions_on(page_text: str) -> set[str]:
    return {one for one in ("Check now", "Cancel payment…", "Refund…") if one in page_text}


def test_only_what_can_be_done_is_offered(ada: PageClient, till: AtTill, processor: FakeProcessor) -> None:
    waiting = Payment(till, processor)
    refunded = till.payment("REFUNDED", refunded_amount=1_250)
    of_another = till.payment("SUCCEEDED", processor="stripe")
    pages = [ada.client.get(f"{LIST}/{one}", base_url=ada.base).text for one in (waiting.id, refunded, of_another)]
    assert [actions_on(page) for page in pages] == [{"Check now", "Cancel payment…"}, {"Check now"}, set()]


def test_the_processor_is_asked_how_it_stands(ada: PageClient, payment: Payment, processor: FakeProcessor) -> None:
    assert "The status has not changed" in news_after(ada, payment, "check")
    processor.tap(payment.intent_id)
    assert "The status is updated" in news_after(ada, payment, "check")
    assert payment.status == "SUCCEEDED"


def test_a_lost_creation_is_looked_for_by_the_id_that_it_carries(
    ada: PageClient, till: AtTill, processor: FakeProcessor
) -> None:
    payment = Payment(till, processor, "UNKNOWN")
    with till.app.app_context(), transaction():
        db.session.get_one(PosTransaction, payment.id).processor_intent_id = None
    assert after(ada, payment, "check") == "PENDING"
    assert till.read(payment.id).processor_intent_id == payment.intent_id


def test_a_processor_that_does_not_answer_is_news_and_changes_nothing(
    ada: PageClient, payment: Payment, processor: FakeProcessor
) -> None:
    processor.fail("retrieve_intent", TIMEOUT_BEFORE)
    assert "The payment processor did not answer." in news_after(ada, payment, "check")
    assert payment.status == "PENDING"


def test_a_waiting_payment_is_cancelled(app: Flask, ada: PageClient, payment: Payment) -> None:
    assert "No money was taken" in news_after(ada, payment, "cancel")
    assert payment.status == "CANCELLED"
    with app.app_context():
        assert db.session.query(AuditEntry).filter_by(action="pos.cancel").count() == 1


def test_one_of_the_simulator_that_was_used_before_is_cancelled_and_never_captured(
    app: Flask, ada: PageClient, till: AtTill, clock: StoppedClock
) -> None:
    simulator = FakeProcessor(clock, name="simulator")
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], retired_simulator=simulator)
    payment = Payment(till, simulator)
    with app.app_context(), transaction():
        db.session.get_one(PosTransaction, payment.id).processor = "simulator"
    simulator.tap(payment.intent_id, "stuck_capture")
    assert after(ada, payment, "check") == "AUTHORIZED"
    page = ada.client.get(payment.path, base_url=ada.base).text
    assert actions_on(page) == {"Check now", "Cancel payment…"} and "Capture payment…" not in page
    assert after(ada, payment, "capture") == "AUTHORIZED"
    assert after(ada, payment, "cancel") == "CANCELLED"


def test_a_card_that_was_quicker_wins(ada: PageClient, payment: Payment, processor: FakeProcessor) -> None:
    processor.tap(payment.intent_id)
    assert "Give a refund instead" in news_after(ada, payment, "cancel")
    assert payment.status == "SUCCEEDED"


def test_a_cancellation_without_an_answer_is_unknown(
    ada: PageClient, payment: Payment, processor: FakeProcessor
) -> None:
    processor.fail("cancel_intent", TIMEOUT_AFTER)
    assert "The processor did not answer" in news_after(ada, payment, "cancel")
    assert payment.status == "UNKNOWN"


@pytest.fixture
def held(till: AtTill, processor: FakeProcessor) -> Payment:
    """The card was authorised, and nobody captured it."""
    made = Payment(till, processor, "AUTHORIZED", card_brand="visa", card_last4="4242")
    processor.tap(made.intent_id, "stuck_capture")
    return made


def test_the_money_of_a_card_that_holds_it_is_taken(app: Flask, ada: PageClient, held: Payment) -> None:
    page = " ".join(ada.client.get(held.path, base_url=ada.base).text.split())
    assert "Capture payment…" in page and "Visa •••• 4242 holds £12.50 for this payment. That hold is released" in page
    assert "The money is taken." in news_after(ada, held, "capture")
    assert held.status == "SUCCEEDED"
    assert "Capture payment" not in ada.client.get(held.path, base_url=ada.base).text
    with app.app_context():
        assert db.session.query(AuditEntry).filter_by(action="pos.capture").count() == 1


def test_a_hold_is_released_by_cancelling(ada: PageClient, held: Payment) -> None:
    assert "No money was taken" in news_after(ada, held, "cancel")
    assert held.status == "CANCELLED"


def test_a_capture_without_an_answer_takes_nothing_twice(
    ada: PageClient, held: Payment, processor: FakeProcessor
) -> None:
    processor.fail("retrieve_intent", TIMEOUT_BEFORE)
    assert "The shop checks again automatically" in news_after(ada, held, "capture")
    assert held.status == "UNKNOWN"


def test_a_payment_that_no_card_holds_is_not_captured(ada: PageClient, payment: Payment) -> None:
    assert "No card was held to the reader yet." in news_after(ada, payment, "capture")
    assert payment.status == "PENDING"


def test_a_part_is_refunded_and_then_the_rest(
    app: Flask, ada: PageClient, paid: Payment, processor: FakeProcessor
) -> None:
    assert "£5.00 goes back to the card." in news_after(ada, paid, "refunds", amount="5", reason="Chipped")
    assert paid.status == "PARTIALLY_REFUNDED"
    assert "£7.50 goes back to the card." in news_after(ada, paid, "refunds", amount="", reason="Torn")
    assert paid.status == "REFUNDED" and processor.ledger() == {"payment-1": 0}
    assert refunds(app) == [(500, "SUCCEEDED", "Chipped"), (750, "SUCCEEDED", "Torn")]


def test_a_form_that_is_sent_twice_is_one_refund(
    app: Flask, ada: PageClient, paid: Payment, processor: FakeProcessor
) -> None:
    page = ada.get(paid.path)
    form = {"key": page.value("key"), "amount": "5.00", "reason": "Chipped"}
    for _ in range(2):
        ada.post(f"{paid.path}/refunds", form)
    assert len(refunds(app)) == 1 and processor.made("refund") == 1


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"amount": "5", "reason": ""}, "The reason is missing."),
        ({"amount": "five", "reason": "Chipped"}, "is not an amount"),
        ({"amount": "5", "reason": "4242 4242 4242 4242"}, "card numbers"),
    ],
)
def test_a_refund_that_is_typed_wrongly_is_shown_at_its_field(
    app: Flask, ada: PageClient, paid: Payment, form: dict[str, str], says: str
) -> None:
    ada.get(paid.path)
    answer = ada.client.post(f"{paid.path}/refunds", base_url=ada.base, data={"csrf_token": ada.token} | form)
    assert answer.status_code == 400 and says in answer.text and "4242 4242 4242 4242" not in answer.text
    assert refunds(app) == []
    dialogs = re.findall(r'<dialog id="([a-z-]+)" open', answer.text)
    focused = re.findall(r'<input id="f-([a-z]+)"[^>]* autofocus', answer.text)
    assert dialogs == ["refund"] and focused == ["amount" if "amount" in says else "reason"]
    assert "Couldn’t do that" not in answer.text


def test_more_than_was_paid_is_not_refunded(app: Flask, ada: PageClient, paid: Payment) -> None:
    ada.get(paid.path)
    page = ada.post(f"{paid.path}/refunds", {"amount": "12.51", "reason": "Chipped"}, status=400)
    assert (page.value("amount"), page.value("reason")) == ("12.51", "Chipped")
    assert any("open" in dialog for dialog in page.all("dialog")), "it comes back open at its field"
    assert refunds(app) == []


def test_a_refund_that_the_processor_refuses_is_shown_as_failed(
    app: Flask, ada: PageClient, paid: Payment, processor: FakeProcessor
) -> None:
    processor.fail("refund", REJECTED)
    assert "refused the request" in news_after(ada, paid, "refunds", amount="", reason="Chipped")
    assert [status for _, status, _ in refunds(app)] == ["FAILED"] and paid.status == "SUCCEEDED"


def test_a_refused_refund_stays_bad_news_when_its_form_is_sent_again(
    ada: PageClient, paid: Payment, processor: FakeProcessor
) -> None:
    processor.fail("refund", REJECTED)
    form = {"key": ada.get(paid.path).value("key"), "amount": "5.00", "reason": "Chipped"}
    for _ in range(2):
        assert "refused the request" in news_after(ada, paid, "refunds", **form)
    assert processor.made("refund") == 1


def test_a_refund_without_an_answer_is_unknown(ada: PageClient, paid: Payment, processor: FakeProcessor) -> None:
    processor.fail("refund", TIMEOUT_AFTER)
    assert "did not answer whether it gives back £12.50" in news_after(ada, paid, "refunds", reason="Chipped")


def test_a_merchandiser_moves_no_money(signed_in: SignedIn, paid: Payment) -> None:
    mia = signed_in(Role.MERCHANDISER)
    for action in ("check", "capture", "cancel", "refunds", "anomaly"):
        mia.post(f"{paid.path}/{action}", {"reason": "Mine", "note": "x"}, status=403)
    assert paid.status == "SUCCEEDED"


def test_a_receipt_is_shown_and_sent(app: Flask, ada: PageClient, paid: Payment) -> None:
    page = ada.get(paid.path)
    assert [svg for svg in page.all("svg") if svg.get("class") == "segno"]
    link = next(a["href"] for a in page.all("a") if "/r/" in a.get("href", ""))
    assert link.startswith("http://localhost/r/") and ada.client.get(link).status_code == 200
    assert "on its way" in news_after(ada, paid, "receipt", email="sam@home.test")
    with app.app_context():
        [mail] = db.session.query(PosReceiptMail).all()
        assert (mail.email, mail.link) == ("sam@home.test", link)


def test_receipts_that_were_mailed_ask_for_themselves_again_while_one_is_on_its_way(
    app: Flask, ada: PageClient, paid: Payment
) -> None:
    address = f"{paid.path}/mails"

    def fragment() -> str:
        answer = ada.client.get(address, base_url=ada.base)
        assert answer.status_code == 200
        return answer.text

    asks_again = f'hx-get="{address}"'
    assert asks_again not in fragment()
    ada.post(f"{paid.path}/receipt", {"email": "sam@home.test"})
    assert asks_again in fragment() and "On its way" in fragment()
    assert any(part.get("hx-get") == address for part in ada.get(paid.path).all("div"))
    for state, error, words in (("done", None, "Sent"), ("failed", "Refused.", "Not sent")):
        with app.app_context(), transaction():
            mail = db.session.query(PosReceiptMail).one()
            mail.state, mail.error = state, error
        assert asks_again not in fragment() and words in fragment() and (error or "") in fragment()
    assert ada.client.get(f"{LIST}/nothing/mails", base_url=ada.base).status_code == 404


def test_a_payment_that_was_not_made_has_no_receipt(ada: PageClient, payment: Payment) -> None:
    page = ada.get(payment.path)
    assert not [svg for svg in page.all("svg") if svg.get("class") == "segno"]
    ada.post(f"{payment.path}/receipt", {"email": "sam@home.test"}, status=404)


def test_an_address_that_is_none_is_shown_at_its_field(ada: PageClient, paid: Payment) -> None:
    ada.get(paid.path)
    page = ada.post(f"{paid.path}/receipt", {"email": "sam"}, status=400)
    [field] = [field for field in page.all("input") if field.get("name") == "email"]
    assert (field["value"], field["aria-invalid"]) == ("sam", "true")

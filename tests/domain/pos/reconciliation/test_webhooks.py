"""Events of the processor: each is stored once and followed by reading the payment anew."""

from __future__ import annotations

import itertools

import pytest
from sqlalchemy import func, select

from app.domain.alerts.alerts import open_alerts
from app.domain.pos.ledger import count_unsettled
from app.domain.pos.models import PosTransactionEvent, StoredProcessorEvent
from app.domain.pos.processor import AccountRef, BadSignature, IntentRequest
from app.domain.pos.transactions import timeline_of
from app.domain.pos.webhooks import EventOutcome
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.shop_with_till import ShopWithTill, stored
from tests.examples import ALL
from tests.fakes.payment_processor import SECRET, SIGNATURE, TIMEOUT_BEFORE
from tests.injected_faults import injected

SUCCEEDED = "payment_intent.succeeded"
_OWN = AccountRef()


def events() -> list[StoredProcessorEvent]:
    db.session.rollback()
    return list(db.session.scalars(select(StoredProcessorEvent).order_by(StoredProcessorEvent.id)))


def timeline(transaction_id: str) -> int:
    db.session.rollback()
    query = select(func.count()).where(PosTransactionEvent.transaction_id == transaction_id)
    return db.session.scalar(query) or 0


def test_a_payment_follows_its_event(till: ShopWithTill) -> None:
    payment = till.payment()
    till.tap(payment)
    assert till.event(SUCCEEDED, payment) is EventOutcome.APPLIED
    assert (stored(payment).status, stored(payment).captured_amount, stored(payment).card_last4) == (
        "SUCCEEDED", 1_250, "4242",
    )  # fmt: skip
    (event,) = events()
    assert (event.outcome, event.site_id, event.intent_id) == ("applied", till.site_id, till.intent_of(payment))
    assert event.processed_at == till.clock.now()


def test_an_event_that_comes_twice_does_nothing_more(till: ShopWithTill) -> None:
    payment = till.payment()
    till.tap(payment)
    raw, headers = till.processor.event(SUCCEEDED, till.intent_of(payment))
    assert till.receive(raw, headers) is EventOutcome.APPLIED
    lines, reads = timeline(payment), till.processor.made("retrieve_intent")
    assert till.receive(raw, headers) is EventOutcome.DUPLICATE
    assert (timeline(payment), till.processor.made("retrieve_intent"), len(events())) == (lines, reads, 1)


def test_an_event_that_comes_before_the_answer_to_the_creation_attaches_the_intent(till: ShopWithTill) -> None:
    payment = till.payment("CREATING", attached=False)
    till.tap(payment)
    assert till.event(SUCCEEDED, payment) is EventOutcome.APPLIED
    assert (stored(payment).processor_intent_id, stored(payment).status) == (till.intent_of(payment), "SUCCEEDED")


def test_an_intent_of_other_money_is_not_attached_and_an_admin_hears_of_it(till: ShopWithTill) -> None:
    payment = till.payment("UNKNOWN", attached=False)
    stored(payment)
    with transaction():
        stored_row = db.session.get_one(type(stored(payment)), payment)
        stored_row.amount_in_pence = 999
    assert till.event(SUCCEEDED, payment) is EventOutcome.MISMATCH
    assert stored(payment).processor_intent_id is None
    assert count_unsettled(till.site_id) == 1
    assert [alert.cause for alert in open_alerts(till.site_id)] == ["payment_mismatch"]


def test_what_the_event_said_serves_while_the_processor_is_away(till: ShopWithTill) -> None:
    payment = till.payment()
    till.tap(payment)
    till.processor.fail("retrieve_intent", TIMEOUT_BEFORE)
    assert till.event(SUCCEEDED, payment) is EventOutcome.APPLIED
    assert stored(payment).status == "SUCCEEDED"


def test_money_for_a_payment_that_was_given_up_counts_once_the_processor_confirms_it(till: ShopWithTill) -> None:
    payment = till.payment("CANCELLED", next_check_at=None)
    till.tap(payment)
    till.processor.fail("retrieve_intent", TIMEOUT_BEFORE)
    assert till.event(SUCCEEDED, payment) is EventOutcome.WAITING
    assert stored(payment).status == "CANCELLED"
    till.clock.move(minutes=1)
    till.check()
    assert (stored(payment).status, stored(payment).anomaly) == ("SUCCEEDED", "unexpected_payment")
    assert [event.outcome for event in events()] == ["applied"]
    assert [alert.cause for alert in open_alerts(till.site_id)] == ["payment_anomaly"]


def test_an_event_that_cannot_be_followed_for_a_day_is_given_up(till: ShopWithTill) -> None:
    payment = till.payment("CANCELLED", next_check_at=None)
    till.processor.fail("retrieve_intent", TIMEOUT_BEFORE)
    till.event("payment_intent.canceled", payment)
    till.clock.move(days=1)
    till.check()
    assert [event.outcome for event in events()] == ["expired"]


def test_late_news_of_a_paid_payment_changes_nothing(till: ShopWithTill) -> None:
    payment = till.payment()
    late = till.processor.event("payment_intent.processing", till.intent_of(payment))
    till.tap(payment)
    till.event(SUCCEEDED, payment)
    lines = timeline(payment)
    till.processor.fail("retrieve_intent", TIMEOUT_BEFORE)
    assert till.receive(*late) is EventOutcome.WAITING
    till.clock.move(minutes=1)
    till.check()
    assert stored(payment).status == "SUCCEEDED" and timeline(payment) == lines


@pytest.mark.parametrize(
    ("account", "outcome"), [("acct_other", EventOutcome.UNKNOWN_ACCOUNT), ("acct_ours", EventOutcome.NO_PAYMENT)]
)
def test_events_of_other_accounts_are_stored_and_touch_nothing(
    till: ShopWithTill, account: str, outcome: EventOutcome
) -> None:
    """T31: the metadata names a payment of this shop, on another account."""
    payment = till.payment()
    with transaction():
        change_settings(till.site_id, {"posProcessorAccountId": "acct_ours"})
    intents = till.processor.accounts
    intents[account].intents[till.intent_of(payment)] = intents[""].intents[till.intent_of(payment)]
    raw, headers = till.processor.event(SUCCEEDED, till.intent_of(payment), account)
    assert till.receive(raw, headers) is outcome
    assert stored(payment).status == "PENDING"
    (event,) = events()
    assert (event.outcome, event.processed_at) == (outcome.value, till.clock.now())
    assert event.site_id == (till.site_id if account == "acct_ours" else None)


def test_of_an_event_only_the_refund_is_kept_and_of_a_strangers_payment_nothing(till: ShopWithTill) -> None:
    """Events name customers: in metadata, in the details of cards and in addresses."""
    payment = till.payment("SUCCEEDED", captured_amount=1_250)
    till.tap(payment)
    refund = till.processor.refund(_OWN, till.intent_of(payment), 100, "elsewhere")
    till.event(SUCCEEDED, payment)
    till.event("refund.updated", payment, refund_id=refund.id)
    with transaction():
        change_settings(till.site_id, {"posProcessorAccountId": "acct_ours"})
    theirs = till.processor.create_intent(AccountRef("acct_ours"), IntentRequest(900, "gbp"), "elsewhere")
    till.processor.tap(theirs.id, account_id="acct_ours")
    given = till.processor.refund(AccountRef("acct_ours"), theirs.id, 100, "theirs")
    till.receive(*till.processor.event("refund.updated", theirs.id, "acct_ours", refund_id=given.id))
    assert [event.payload for event in events()] == [{}, {"refundId": refund.id}, {}]


def test_a_disputed_payment_alerts_the_owner_once_and_says_so_in_its_timeline(till: ShopWithTill) -> None:
    payment = till.payment()
    till.tap(payment)
    till.event(SUCCEEDED, payment)
    dispute = till.processor.event("charge.dispute.created", till.intent_of(payment))
    till.processor.fail("retrieve_intent", TIMEOUT_BEFORE)  # A dispute cannot be read anew: its news is enough.
    assert till.receive(*dispute) is EventOutcome.WAITING
    till.clock.move(minutes=1)
    till.check()
    assert till.receive(*dispute) is EventOutcome.DUPLICATE
    till.event("charge.dispute.closed", payment)
    assert (stored(payment).status, stored(payment).anomaly) == ("SUCCEEDED", "disputed")
    (alert,) = open_alerts(till.site_id)
    assert (alert.cause, alert.subject, alert.times) == ("payment_anomaly", payment, 1)
    assert "disputes it" in alert.detail
    steps = [step for step in timeline_of(stored(payment)) if "disputes" in step.detail]
    assert [(step.source, step.status) for step in steps] == [("till", "SUCCEEDED")]
    reported = {step.what: step.detail for step in timeline_of(stored(payment)) if step.source == "processor"}
    assert reported["Charge dispute created"] == "Applied to this payment"


def test_a_dispute_alerts_also_where_something_else_is_wrong_already(till: ShopWithTill) -> None:
    payment = till.payment("SUCCEEDED", captured_amount=1_250, anomaly="refund_failed")
    till.tap(payment)
    till.event("charge.dispute.created", payment)
    assert stored(payment).anomaly == "refund_failed"
    assert [(alert.cause, alert.subject) for alert in open_alerts(till.site_id)] == [("payment_anomaly", payment)]


def test_events_of_the_other_mode_are_stored_and_touch_nothing(till: ShopWithTill) -> None:
    payment = till.payment()
    till.tap(payment)
    till.processor.live = True
    raw, headers = till.processor.event(SUCCEEDED, till.intent_of(payment))
    till.processor.live = False
    assert till.receive(raw, headers) is EventOutcome.WRONG_MODE
    assert stored(payment).status == "PENDING"


def _forged(till: ShopWithTill) -> dict[str, tuple[bytes, dict[str, str]]]:
    """T29: fourteen forgeries of an event that would be taken."""
    raw, headers = till.processor.event(SUCCEEDED, till.intent_of(till.payment()))
    signature = headers[SIGNATURE]
    stamp, digest = (part.partition("=")[2] for part in signature.split(","))

    def dated(seconds: int) -> tuple[bytes, dict[str, str]]:
        till.clock.jump(seconds=seconds)
        made = till.processor.event(SUCCEEDED, till.intent_of(till.payment()))
        till.clock.jump(seconds=-seconds)
        return made

    def under(secret: bytes) -> tuple[bytes, dict[str, str]]:
        return till.processor.event(SUCCEEDED, till.intent_of(till.payment()), secret=secret)

    def signed(value: str) -> tuple[bytes, dict[str, str]]:
        return raw, {SIGNATURE: value}

    return {
        "unsigned": (raw, {}),
        "an empty signature": signed(""),
        "another secret": under(b"another secret"),
        "the empty secret": under(b""),
        "the secret in capitals": under(SECRET.upper()),
        "an edited body": (raw.replace(b"succeeded", b"Succeeded"), headers),
        "a longer body": (raw + b" ", headers),
        "no body": (b"", headers),
        "301 seconds old": dated(-301),
        "301 seconds ahead": dated(301),
        "another stamp": signed(f"t={int(stamp) + 1},v1={digest}"),
        "no stamp": signed(f"v1={digest}"),
        "an older scheme": signed(f"t={stamp},v0={digest}"),
        "half a signature": signed(f"t={stamp},v1={digest[:32]}"),
    }


def test_what_the_processor_did_not_sign_is_refused_and_not_stored(till: ShopWithTill) -> None:
    forged = _forged(till)
    assert len(forged) == 14
    for name, (raw, headers) in forged.items():
        with pytest.raises(BadSignature):
            till.receive(raw, headers)
        assert events() == [], name


FIVE = ("created", "processing", "payment_failed", "succeeded", "charge.refunded")


def _five_events(till: ShopWithTill, payment: str) -> list[tuple[bytes, dict[str, str]]]:
    """Of one payment, each as the payment was then: it was declined once, paid, and partly refunded."""
    intent = till.intent_of(payment)
    made = [till.processor.event(f"payment_intent.{FIVE[0]}", intent, event_id=f"evt_0_{payment}")]
    made.append(till.processor.event(f"payment_intent.{FIVE[1]}", intent, event_id=f"evt_1_{payment}"))
    till.tap(payment, "declined")
    made.append(till.processor.event(f"payment_intent.{FIVE[2]}", intent, event_id=f"evt_2_{payment}"))
    till.tap(payment)
    made.append(till.processor.event(f"payment_intent.{FIVE[3]}", intent, event_id=f"evt_3_{payment}"))
    return made


@pytest.mark.fault("F39")
@pytest.mark.parametrize("is_away", [False, True], ids=["the processor answers", "the processor is away"])
def test_all_orders_of_five_events_with_duplicates_end_alike(till: ShopWithTill, is_away: bool) -> None:
    """T30, F39: 120 orders, each with every event twice, or a quarter of them where examples are spared. Where the
    processor is away, what the events said themselves leads to the same end."""
    ends = set()
    orders = list(itertools.permutations(range(5)))[:: 1 if ALL else 4]
    for order in orders:
        injected(10)
        payment = till.payment("CREATING", attached=False)
        sent = _five_events(till, payment)
        refund = till.processor.refund(_OWN, till.intent_of(payment), 250, f"r-{payment}")
        sent.append(till.processor.event(FIVE[4], till.intent_of(payment), event_id=f"evt_4_{payment}"))
        assert refund.amount == 250
        till.processor.fail("retrieve_intent", *([TIMEOUT_BEFORE] * 5 if is_away else []))
        for number in (*order, *reversed(order)):
            till.receive(*sent[number])
        till.clock.move(minutes=1)
        till.check()
        row = stored(payment)
        ends.add((row.status, row.captured_amount, row.refunded_amount, row.anomaly, row.next_check_at))
    assert ends == {("PARTIALLY_REFUNDED", 1_250, 250, None, None)}
    assert len(events()) == 5 * len(orders)

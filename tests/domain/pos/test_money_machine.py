"""Money is conserved: whatever is sold, paid in parts, taken back, given back, moved and counted at a stall, in any
order and whatever gets lost on the way to the payment processor, every penny is where the books say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from app.domain.orders import lifecycle
from app.domain.orders.baskets import Owner, create_basket, replace_lines
from app.domain.pos import order_payments, sessions, webhooks
from app.domain.pos.models import PosAgent
from app.domain.pos.movements import MovementRequest, MovementType, move_cash
from app.domain.pos.offline_sales import book_sales
from app.domain.pos.payments import settlement
from app.domain.pos.payments.cash import CashRequest, take_cash, void_cash
from app.domain.pos.payments.creation import PaymentRequest, create_payment
from app.domain.pos.processor import RefundStatus
from app.domain.pos.refunds import RefundRequest, request_refund
from app.extensions import db
from tests.domain.pos.money_books import CARD, CASH, Basket, Books, Drawer, Payment, rounded
from tests.domain.pos.money_stall import (
    DONE,
    FAULTS_OF_CALLS,
    Agent,
    Place,
    Quantities,
    answer_of,
    committed,
    named,
    new_stall,
    offline_sale,
    part_of,
    pick,
    prefer,
    total_of,
    wanted,
)
from tests.examples import examples
from tests.fakes.payment_processor import Fault

LEAST_BY_CARD = 30
FAULT = st.sampled_from((*[None] * 12, *FAULTS_OF_CALLS))
FAULTS = st.lists(FAULT, max_size=4)  # Of calls to the processor, one after the other.
WHICH = st.one_of(st.integers(0, 4), st.integers(0, 99))  # Of those that there are, the latest more often.
ROUNDING = st.sampled_from((5, 10, 0))
SHARE = st.sampled_from(("all", "all", "half", "odd", "too much"))
PART = st.sampled_from(("half", "odd", "odd", "all", "too much"))
EXTRA = st.sampled_from((None, 0, 500, 1_999, -1))  # Handed over above what is to be paid; None: nothing is said.
CARDS = st.sampled_from((None, "4242", "4242", "4242", "0005", "declined", "slow", "stuck_capture"))
QUANTITIES = st.tuples(st.integers(0, 2), st.integers(0, 2)).filter(any)  # Of mugs and tea.
SETTLED = ("payment_not_collected", "payment_canceled", "card_declined", "already_captured", "payment_processing")
UNANSWERED = ("processor_timeout", "processor_unavailable", "processor_misconfigured")
_keys = count(1)


class MoneyMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.stall = new_stall()
        self.books = Books(self.stall)
        self.context, self.processor = self.stall.context, self.stall.processor

    @initialize(step=ROUNDING)
    def open_the_stall(self, step: int) -> None:
        self.round_cash_otherwise(step)
        for agent, place in zip(self.stall.agents, self.stall.places, strict=True):
            self._sign_in(agent, place)
            self.fill_a_basket(0, (1, 1))

    def _sign_in(self, agent: Agent, place: Place) -> None:
        session_id = self.stall.sign_in(agent, place)
        self.books.drawers.append(Drawer(session_id, agent, place, self.stall.clock.now()))

    @rule(step=ROUNDING)
    def round_cash_otherwise(self, step: int) -> None:
        self.stall.set_rounding(step)
        self.books.step = step

    # The drawer.

    @rule(which=WHICH, kind=st.sampled_from((None, *MovementType)), amount=st.integers(1, 5_000))
    def move_cash(self, which: int, kind: MovementType | None, amount: int) -> None:
        """None: as the float at the beginning. The app sends a movement twice."""
        drawer = self._drawer(which)
        if kind is None:
            session = self.stall.session(drawer.session_id)
            answers = [answer_of(lambda: committed(sessions.set_opening_float, self.stall.author, session, amount))]
        else:
            cashier = self.stall.cashier(drawer.agent, drawer.place, drawer.session_id)
            request = MovementRequest(kind, amount, "As agreed", f"move {next(_keys)}")
            answers = [answer_of(lambda: move_cash(self.context, cashier, request)) for _ in range(2)]
        assert set(answers) == {"work_session_closed" if drawer.is_closed else DONE}
        if not drawer.is_closed:
            drawer.move(kind, amount)

    @rule(which=WHICH, difference=st.sampled_from((0, 0, 7, -30)), where=WHICH)
    def close(self, which: int, difference: int, where: int) -> None:
        """Count the drawer; then its agent begins another session."""
        drawer = self._drawer(which)
        counted, session = max(0, drawer.cash + difference), self.stall.session(drawer.session_id)
        answer = answer_of(lambda: committed(sessions.close, self.stall.author, session, counted, ""))
        assert answer == ("work_session_closed" if drawer.is_closed else DONE)
        if not drawer.is_closed:
            self.books.check_z_report(drawer, counted)
            self._sign_in(drawer.agent, pick(self.stall.places, where))

    # Baskets and orders.

    @rule(which=WHICH, quantities=QUANTITIES)
    def fill_a_basket(self, which: int, quantities: Quantities) -> None:
        drawer, made = pick(self.books.open_drawers(), which), []
        owner = Owner(drawer.agent.user_id, "POS", drawer.place.location_id)

        def fill() -> None:
            made.append(committed(lambda: create_basket(self.stall.author, owner, wanted(quantities)).id))

        answer = answer_of(fill)
        assert answer == (DONE if quantities[0] <= self.books.mugs else "out_of_stock")
        if made:
            self.books.baskets.append(Basket(made[0], total_of(quantities), named(quantities)))

    @rule(which=WHICH, quantities=QUANTITIES)
    def change_a_basket(self, which: int, quantities: Quantities) -> None:
        basket = self._basket(which)
        revision = self.stall.order(basket.id).revision
        lines = wanted(quantities)
        answer = answer_of(lambda: committed(replace_lines, self.stall.author, basket.id, lines, revision))
        assert answer == (self.books.refusal_of_change(basket, quantities[0]) or DONE)
        if answer == DONE:
            basket.total, basket.quantities = total_of(quantities), named(quantities)

    @rule(which=WHICH, is_accepted=st.booleans())
    def submit(self, which: int, is_accepted: bool) -> None:
        """At the till, or by staff who accept that another amount was paid."""
        basket, author = self._basket(which, is_settled=True), self.stall.author
        submit = order_payments.submit_basket
        answer = answer_of(lambda: committed(submit, author, basket.id, accept_difference=is_accepted))
        assert answer == (self.books.refusal_of_submission(basket, is_accepted) or DONE)
        if answer == DONE and basket.is_open:
            basket.status = "SUBMITTED"
            self.books.take_mugs(basket)

    @rule(which=WHICH, is_cancelled=st.booleans())
    def end_an_order(self, which: int, is_cancelled: bool) -> None:
        """It is handed over, unless something was missing, or cancelled."""
        placed = [basket for basket in self.books.baskets if basket.status == "SUBMITTED"]
        if not placed:
            return
        basket = pick(placed, which)
        if is_cancelled:
            answer = answer_of(lambda: committed(lifecycle.cancel, self.stall.author, basket.id))
            assert answer == ("conflict" if self.books.reserved_of(basket) else DONE)
            if answer == DONE:
                basket.status = "CANCELLED"
                self.books.return_mugs(basket)
        elif not basket.is_short:
            committed(lifecycle.fulfil, self.stall.clock, self.stall.site_id, basket.id, False)
            basket.status = "COLLECTED"

    # Cash.

    @rule(which=WHICH, where=WHICH, of=WHICH, amount=st.integers(1, 3_000), share=SHARE, extra=EXTRA)
    def take_cash(self, which: int, where: int, of: int, amount: int, share: str, extra: int | None) -> None:
        """Of a basket, or an amount alone."""
        drawer, basket = self._drawer(which), self._basket_or_none(of)
        amount = amount if basket is None else max(1, part_of(self.books.due_of(basket), share))
        self._take_cash(drawer, pick(self.stall.places, where), basket, amount, extra)

    def _take_cash(self, drawer: Drawer, place: Place, basket: Basket | None, amount: int, extra: int | None) -> None:
        to_pay = self.books.to_pay(basket, amount)
        tendered = None if extra is None else max(0, to_pay + extra)
        request = CashRequest(amount, tendered, order_id=basket and basket.id, key=f"cash {next(_keys)}")
        cashier = self.stall.cashier(drawer.agent, place, drawer.session_id, basket and basket.id)
        taken: list[str] = []
        answer = answer_of(lambda: taken.append(take_cash(self.context, cashier, request).payment.id))
        refusal = "work_session_closed" if drawer.is_closed else self.books.refusal_of_payment(basket, amount)
        if refusal is None and tendered is not None and tendered < to_pay:
            refusal = "tendered_too_small"
        assert answer == (refusal or DONE)
        if refusal is None:
            payment = Payment(taken[0], drawer, place, CASH, amount, basket, request)
            self.books.add_cash(payment, to_pay if tendered is None else tendered, to_pay)

    @rule(which=WHICH, whose=WHICH)
    def take_cash_back(self, which: int, whose: int) -> None:
        if not (taken := [payment for payment in self.books.payments if payment.tender == CASH]):
            return
        payment = prefer(which, [one for one in taken if one.can_be_taken_back], taken)
        drawer = payment.drawer if whose % 3 else self._drawer(whose)
        cashier = self.stall.cashier(drawer.agent, payment.place, drawer.session_id)
        answer = answer_of(lambda: void_cash(self.context, cashier, payment.id, "Pays by card instead"))
        is_placed = payment.basket is not None and not payment.basket.is_open
        if payment.is_void and drawer is payment.drawer:
            assert answer == DONE
        elif payment.is_void or drawer is not payment.drawer or drawer.is_closed or is_placed or payment.given_back:
            assert answer == "void_not_allowed"
        else:
            assert answer == DONE
            self.books.take_back(payment)

    # Cards.

    @rule(
        which=WHICH,
        of=WHICH,
        amount=st.integers(LEAST_BY_CARD, 3_000),
        share=SHARE,
        tip=st.sampled_from((0, 0, 250)),
        fault=FAULT,
        then=st.tuples(CARDS, st.sampled_from((None, "capture", "capture", "cancel"))),
    )
    def pay_by_card(
        self, which: int, of: int, amount: int, share: str, tip: int, fault: Fault | None, then: tuple[str, str]
    ) -> None:
        """Of a basket, or an amount alone; perhaps a card is held to the reader, and it is settled, at once."""
        drawer, basket = self._drawer(which), self._basket_or_none(of)
        amount = amount if basket is None else part_of(self.books.due_of(basket), share)
        payment = self._begin_card(drawer, basket, amount, tip, fault) if amount >= LEAST_BY_CARD else None
        if payment is not None and payment.intent_id is not None:
            self._tap(payment, then[0])
            if then[1] is not None:
                self._settle(payment, then[1], [])

    def _begin_card(
        self, drawer: Drawer, basket: Basket | None, amount: int, tip: int, fault: Fault | None
    ) -> Payment | None:
        request = PaymentRequest(amount, tip, takes_part=True, order_id=basket and basket.id, key=f"card {next(_keys)}")
        cashier = self.stall.cashier(drawer.agent, drawer.place, drawer.session_id, basket and basket.id)
        made: list[Any] = []
        with self.stall.meeting(fault):
            answer = answer_of(lambda: made.append(create_payment(self.context, self.processor, cashier, request)))
        refusal = "work_session_closed" if drawer.is_closed else self.books.refusal_of_payment(basket, amount)
        if refusal:
            assert answer == refusal
            return None
        assert answer in (UNANSWERED if fault else (DONE,))
        payment_id = self.books.id_of_new_payment()
        payment = Payment(payment_id, drawer, drawer.place, CARD, amount, basket, request, tip)
        payment.intent_id = made[0].intent.id if made else None
        self.books.payments.append(payment)
        return payment

    def _tap(self, payment: Payment, card: str | None) -> None:
        waits = payment.intent_id and self.processor.intent(payment.intent_id).status == "requires_payment_method"
        if card is not None and payment.intent_id and waits:
            self.processor.tap(payment.intent_id, card)

    @rule(
        which=WHICH, card=CARDS, action=st.sampled_from(("capture", "capture", "cancel", "read_payment")), faults=FAULTS
    )
    def settle_a_card(self, which: int, card: str | None, action: str, faults: list[Fault | None]) -> None:
        waiting = self._payments_at_processor("requires_payment_method", "requires_capture", "processing")
        if not (payments := self._payments_at_processor()):
            return
        payment = prefer(which, waiting, payments)
        self._tap(payment, card)
        self._settle(payment, action, faults)

    def _settle(self, payment: Payment, action: str, faults: list[Fault | None]) -> None:
        more = (None,) if action == "cancel" else ()
        call: Callable[..., Any] = getattr(settlement, action)
        arguments = (self.context, self.processor, self._cashier_of(payment), payment.intent_id, *more)
        with self.stall.meeting(*faults):
            answer = answer_of(lambda: call(*arguments))
        # The intent of a payment is unknown until the answer to its creation was saved.
        assert answer in (DONE, *SETTLED, *UNANSWERED, "payment_intent_not_found")

    @rule(which=WHICH, news=st.sampled_from(("late money", "an event", "refund made", "refund failed")))
    def news_come_from_the_processor(self, which: int, news: str) -> None:
        """Late money: what was processed is paid, or what was cancelled after all. An event may say nothing new. A bank
        sends a refund back days later."""
        if news.startswith("refund"):
            self._end_a_refund(which, fails=news == "refund failed")
        elif payments := self._payments_at_processor(*(("processing", "canceled") if news == "late money" else ())):
            intent_id = pick(payments, which).intent_id
            if news == "late money":
                self.processor.finish(intent_id)
            self._report(intent_id, "payment_intent.succeeded")

    def _end_a_refund(self, which: int, fails: bool) -> None:
        """One that waits is made or fails; one that was made may fail later."""
        ends = ("PENDING", "SUCCEEDED") if fails else ("PENDING",)
        refunds = [refund for refund in self.books.refunds if refund.processor_refund_id and refund.status in ends]
        if refunds:
            refund = pick(refunds, which)
            if fails:
                self.processor.fail_refund(refund.processor_refund_id)
            else:
                self.processor.finish_refund(refund.processor_refund_id)
            intent_id = self.books.rows[refund.transaction_id].processor_intent_id
            self._report(intent_id, "charge.refund.updated", refund_id=refund.processor_refund_id)

    def _report(self, intent_id: str, kind: str, **more: str) -> None:
        raw, headers = self.processor.event(kind, intent_id, **more)
        webhooks.receive(self.context, self.processor, raw, headers)

    @rule(which=WHICH, of=WHICH)
    def a_card_pays_late_what_cash_has_paid(self, which: int, of: int) -> None:
        drawer, basket = pick(self.books.open_drawers(), which), self._basket(of)
        due = self.books.due_of(basket)
        if due < LEAST_BY_CARD or self.books.refusal_of_payment(basket, due):
            return
        payment = self._begin_card(drawer, basket, due, 0, None)
        assert payment is not None and payment.intent_id is not None
        self._settle(payment, "cancel", [])
        self.books.read()
        self._take_cash(drawer, drawer.place, basket, due, 0)
        self.books.read()
        self.processor.finish(payment.intent_id)
        self._report(payment.intent_id, "payment_intent.succeeded")

    @rule(minutes=st.sampled_from((0, 1, 6, 31, 31, 13 * 60, 25 * 60)), faults=FAULTS)
    def let_time_pass_and_reconcile(self, minutes: int, faults: list[Fault | None]) -> None:
        self.stall.clock.move(minutes=minutes)
        with self.stall.meeting(*faults):
            self.stall.check()

    @rule(which=WHICH, fault=FAULT)
    def send_a_payment_again(self, which: int, fault: Fault | None) -> None:
        """The app did not get the answer. The key of a payment that failed is free for another one."""
        payment = self._payment(which)
        if payment is None or self.books.is_key_free(payment) or isinstance(payment.request, dict):
            return
        cashier, again = self._cashier_of(payment), []
        if payment.tender == CASH:
            answer = answer_of(lambda: again.append(take_cash(self.context, cashier, payment.request).payment.id))
            assert (answer, again) == (DONE, [payment.id])
            return
        with self.stall.meeting(fault):
            create = create_payment
            answer = answer_of(lambda: again.append(create(self.context, self.processor, cashier, payment.request)))
        assert answer in (DONE, *UNANSWERED, "outcome_unknown", "idempotency_in_progress")
        for created in again:
            assert created.transaction_id == payment.id
            payment.intent_id = created.intent.id

    # Money back.

    @rule(
        which=WHICH,
        pence=st.one_of(st.none(), st.none(), st.integers(1, 12)),
        share=PART,
        tender=st.sampled_from((None, CARD, CASH)),
        by=WHICH,
        fault=FAULT,
        waits=st.booleans(),
    )
    def give_back(
        self, which: int, pence: int | None, share: str, tender: str | None, by: int, fault: Fault | None, waits: bool
    ) -> None:
        """By the agent of the payment in an open work session, or by an admin, who has no drawer. The request comes
        twice."""
        if not self.books.payments:
            return
        payment = prefer(which, self.books.paid_payments(), self.books.payments)
        amount = pence or max(1, part_of(self.books.left_of(payment), share))
        own = [drawer for drawer in self.books.open_drawers() if drawer.agent == payment.drawer.agent]
        drawer = pick(own, by) if own and by % 4 else None
        request = RefundRequest(
            payment.id,
            amount,
            "Brought back",
            key=f"refund {next(_keys)}",
            agent=db.session.get_one(PosAgent, drawer.agent.id) if drawer else None,
            tender_type=tender,
            session_id=drawer and drawer.session_id,
        )
        self.processor.answers_refunds(RefundStatus.PENDING if waits else RefundStatus.SUCCEEDED)
        self._give_back(payment, drawer, request, fault)

    def _give_back(self, payment: Payment, drawer: Drawer | None, request: RefundRequest, fault: Fault | None) -> None:
        refunds: list[Any] = []
        author, amount, tender = self.stall.author, request.amount or 0, request.tender_type or payment.tender

        def give() -> None:
            refunds.append(request_refund(self.context, author, self.processor, request))

        with self.stall.meeting(fault):
            answers = [answer_of(give) for _ in range(2)]
        if refusal := self.books.refusal_of_refund(payment, amount, tender):
            assert answers == [refusal] * 2
        elif tender == CARD:
            # Under its key a refund that the processor refused stays refused.
            assert set(answers) <= ({DONE, *UNANSWERED, "processor_error"} if fault else {DONE})
        else:
            assert answers == [DONE] * 2
            self.books.give_back(payment, drawer, amount, amount + refunds[0].rounding)

    # Sales without a network.

    @rule(
        which=WHICH,
        quantities=QUANTITIES,
        minutes=st.sampled_from((0, 4, 45, 600)),
        extra=EXTRA,
        times=st.integers(1, 3),
    )
    def send_an_offline_sale(
        self, which: int, quantities: Quantities, minutes: int, extra: int | None, times: int
    ) -> None:
        drawer = pick(self.books.open_drawers(), which)
        sold_at = self.stall.clock.now() - timedelta(minutes=minutes)
        total = total_of(quantities)
        to_pay = rounded(total, self.books.step)
        sale = offline_sale(sold_at, quantities, None if extra is None else to_pay + extra)
        outcomes = self._send(drawer, *[sale] * times)
        if extra == -1 and abs(to_pay - 1 - total) > 5:
            assert {outcome.result for outcome in outcomes} == {"REFUSED"}
            return
        assert [outcome.result for outcome in outcomes] == ["ACCEPTED"] + ["DUPLICATE"] * (times - 1)
        order_id, payment_id = outcomes[0].order_id, outcomes[0].transaction_id
        basket = Basket(order_id, total, named(quantities), "SUBMITTED", is_settled=True, paid_when_settled=total)
        self.books.baskets.append(basket)
        self.books.take_mugs(basket)
        basket.is_short = False  # The customer has all of it.
        handed_over = to_pay + (extra or 0)
        of = self.books.drawer_of_sale(drawer, sold_at)
        payment = Payment(payment_id, of, drawer.place, CASH, total, basket, sale)
        self.books.add_cash(payment, handed_over, min(to_pay, handed_over))

    @rule(which=WHICH, whose=WHICH)
    def send_offline_sales_again(self, which: int, whose: int) -> None:
        """Another time, perhaps by a colleague."""
        sales = [payment for payment in self.books.payments if isinstance(payment.request, dict)]
        sent = sales[which % 3 :][::-1]
        if sent:
            outcomes = self._send(pick(self.books.open_drawers(), whose), *(payment.request for payment in sent))
            assert [outcome.transaction_id for outcome in outcomes] == [payment.id for payment in sent]
            assert {outcome.result for outcome in outcomes} == {"DUPLICATE"}

    def _send(self, drawer: Drawer, *sales: object) -> Any:
        cashier = self.stall.cashier(drawer.agent, drawer.place, drawer.session_id)
        outcomes = book_sales(self.context, cashier, drawer.place.location_id, sales)
        db.session.rollback()
        return outcomes

    @invariant()
    def every_penny_is_where_the_books_say(self) -> None:
        self.books.check()

    def teardown(self) -> None:
        """Once everything answers again, the shop has what the processor has."""
        for payment in self._payments_at_processor("processing"):
            self.processor.finish(payment.intent_id or "")
        for refund in self.processor.refunds():
            if refund.status == "pending":
                self.processor.finish_refund(refund.id)
        for _ in range(3):
            self.stall.clock.move(hours=25)
            self.processor.forget_keys()
            self.stall.check()
            self.books.check()
        assert self.books.is_all_known()

    def _drawer(self, which: int) -> Drawer:
        found: Drawer = prefer(which, self.books.open_drawers(), self.books.drawers)
        return found

    def _basket(self, which: int, is_settled: bool = False) -> Basket:
        """Mostly one that is not placed yet, and paid or not as it says."""
        preferred = [basket for basket in self.books.baskets if basket.is_open and basket.is_settled == is_settled]
        found: Basket = prefer(which, preferred, self.books.baskets)
        return found

    def _basket_or_none(self, which: int) -> Basket | None:
        return self._basket(which // 4) if which % 4 else None

    def _payments_at_processor(self, *statuses: str) -> list[Payment]:
        """Those whose intent the app knows, in one of the statuses where some are named."""
        known = [payment for payment in self.books.payments if payment.intent_id is not None]
        status_of = {payment.id: self.processor.intent(payment.intent_id or "").status for payment in known}
        return [payment for payment in known if not statuses or status_of[payment.id] in statuses]

    def _payment(self, which: int, tender: str | None = None) -> Payment | None:
        found = [payment for payment in self.books.payments if tender in (None, payment.tender)]
        return pick(found, which) if found else None

    def _cashier_of(self, payment: Payment) -> Any:
        drawer, basket = payment.drawer, payment.basket
        return self.stall.cashier(drawer.agent, payment.place, drawer.session_id, basket and basket.id)


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(
    ("tries", "steps"),
    [(examples(60), 25), pytest.param(2_000, 60, marks=[pytest.mark.torture, pytest.mark.timeout(7_200)])],
)
def test_every_penny_is_where_the_books_say(tries: int, steps: int) -> None:
    longest = settings(max_examples=tries, stateful_step_count=steps, deadline=None)
    run_state_machine_as_test(MoneyMachine, settings=longest)

"""The money of a stall in plain integers: what lies in each drawer, what customers handed over, what was paid, and what
must follow from it for the shop's rows, orders, reports and journal. Amounts in pence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select

from app.domain.orders.models import Order
from app.domain.pos import journal, reports
from app.domain.pos.journal_models import PosJournalEntry
from app.domain.pos.models import PosRefund, PosSession, PosTransaction
from app.domain.pos.movements import MovementType
from app.domain.pos.report_figures import SessionReport
from app.extensions import db
from tests.domain.pos.money_stall import MUG, MUGS, Agent, Place, Stall

OPEN = {"CREATING", "PENDING", "PROCESSING", "AUTHORIZED", "UNKNOWN"}
PAID = {"SUCCEEDED", "PARTIALLY_REFUNDED", "REFUNDED"}
CARD, CASH = "CARD", "CASH"


def rounded(amount: int, step: int) -> int:
    """To the nearest multiple of the step, half up."""
    return amount if step == 0 else (amount + step // 2) // step * step


@dataclass
class Drawer:
    """Of a work session. `cash` lies in it; the other figures are those of its report. `z` is its Z report once it was
    closed, `counted` what was counted then."""

    session_id: str
    agent: Agent
    place: Place
    started_at: datetime
    cash: int = 0
    opening_float: int | None = None
    figures: Counter[str] = field(default_factory=Counter)
    moved: Counter[str] = field(default_factory=Counter)
    z: dict[str, Any] | None = None
    has_unclear_refunds: bool = False  # Or had them when it was closed: the journal may name what its report cannot.

    @property
    def is_closed(self) -> bool:
        return self.z is not None

    def move(self, kind: MovementType | None, amount: int) -> None:
        """None sets the float."""
        if kind is None:
            self.cash += amount - (self.opening_float or 0)
            self.opening_float = amount
        else:
            signed = amount if kind is MovementType.PAY_IN else -amount
            self.cash += signed
            self.moved[kind.value] += signed


@dataclass
class Basket:
    """`paid_when_placed` is what was paid of a basket that was placed once it was paid in full: that stays. `taken` are
    the mugs that it took from stock."""

    id: str
    total: int
    quantities: dict[str, int]
    status: str = "OPEN"
    is_settled: bool = False
    paid_when_settled: int = 0
    taken: int = 0
    is_short: bool = False

    @property
    def is_open(self) -> bool:
        return self.status == "OPEN"


@dataclass
class Payment:
    """`moved` is the cash that the drawer got, `given_back` each refund in cash with what was given for it. A card's
    `intent_id` is None until the app knows it."""

    id: str
    drawer: Drawer
    place: Place
    tender: str
    amount: int
    basket: Basket | None = None
    request: Any = None
    tip: int = 0
    intent_id: str | None = None
    handed_over: int = 0
    change: int = 0
    moved: int = 0
    is_void: bool = False
    given_back: list[tuple[int, int]] = field(default_factory=list)

    @property
    def can_be_taken_back(self) -> bool:
        is_placed = self.basket is not None and not self.basket.is_open
        return not (self.is_void or self.given_back or self.drawer.is_closed or is_placed)


@dataclass
class Books:
    stall: Stall
    drawers: list[Drawer] = field(default_factory=list)
    baskets: list[Basket] = field(default_factory=list)
    payments: list[Payment] = field(default_factory=list)
    z_numbers: Counter[int] = field(default_factory=Counter)  # The latest, by place.
    mugs: int = MUGS
    step: int = 0  # To which the shop rounds cash.
    purse: int = 0  # What customers have got less what they gave, in cash.
    paid_before: set[str] = field(default_factory=set)
    refunded_before: dict[str, int] = field(default_factory=dict)
    unreported: Counter[str] = field(default_factory=Counter)  # What was learned once the session was closed.

    # What the rows say.

    def read(self) -> None:
        db.session.rollback()
        of_site = PosTransaction.site_id == self.stall.site_id
        self.rows = {
            row.id: row for row in db.session.execute(select(*PosTransaction.__table__.columns).where(of_site))
        }
        refunds = select(*PosRefund.__table__.columns).where(PosRefund.site_id == self.stall.site_id)
        seen = {refund_id: place for place, refund_id in enumerate(self.refunded_before)}  # Ids are random.
        self.refunds = sorted(db.session.execute(refunds), key=lambda refund: seen.get(refund.id, len(seen)))
        orders = select(*Order.__table__.columns).where(Order.site_id == self.stall.site_id)
        self.orders = {row.id: row for row in db.session.execute(orders)}
        self._learn()

    def rows_of(self, basket: Basket) -> list[Any]:
        return [row for row in self.rows.values() if row.order_id == basket.id]

    def refunds_of(self, payment_id: str) -> list[Any]:
        return [refund for refund in self.refunds if refund.transaction_id == payment_id]

    def left_of(self, payment: Payment) -> int:
        """What can still be given back. While a refund is not answered, money that went back to the card counts besides
        it: it may be another one's."""
        row, alive = self.rows[payment.id], [one for one in self.refunds_of(payment.id) if one.status != "FAILED"]
        cards = [refund for refund in alive if refund.tender_type == CARD]
        made = sum(refund.amount for refund in cards if _is_made(refund))
        waiting = sum(refund.amount for refund in cards) - made
        to_card = max(row.refunded_amount - row.refunded_in_cash, made)
        return int(row.captured_amount - row.refunded_in_cash - to_card - waiting)

    def paid_of(self, basket: Basket) -> int:
        kept = (_kept(row) for row in self.rows_of(basket) if not row.is_surplus)
        return sum(kept)

    def reserved_of(self, basket: Basket) -> int:
        return sum(row.amount_in_pence for row in self.rows_of(basket) if row.status in OPEN)

    def due_of(self, basket: Basket) -> int:
        is_ended = basket.is_settled or basket.status in ("COLLECTED", "CANCELLED")
        return 0 if is_ended else max(0, basket.total - self.paid_of(basket))

    def is_unknown(self, basket: Basket) -> bool:
        return any(row.status == "UNKNOWN" for row in self.rows_of(basket))

    def is_locked(self, basket: Basket) -> bool:
        return basket.is_settled or self.reserved_of(basket) > 0 or self.paid_of(basket) > 0

    def open_drawers(self) -> list[Drawer]:
        return [drawer for drawer in self.drawers if not drawer.is_closed]

    def paid_payments(self) -> list[Payment]:
        return [payment for payment in self.payments if self.rows[payment.id].status in PAID]

    def drawer_of_sale(self, sender: Drawer, sold_at: datetime) -> Drawer:
        """Of the session that sends an offline sale if it was made in that, else in the agent's latest of then, if that
        is open."""
        ends = {row.id: row.expires_at for row in db.session.execute(select(PosSession.id, PosSession.expires_at))}
        own = [drawer for drawer in self.open_drawers() if drawer.agent == sender.agent]
        made_in = [drawer for drawer in own if drawer.started_at <= sold_at <= ends[drawer.session_id]]
        return sender if sender in made_in else max(made_in, key=lambda drawer: drawer.started_at, default=sender)

    def _learn(self) -> None:
        """Note what the shop learned of cards: money belongs to the session that took it or gave it back, unless that
        was closed before."""
        drawers = {drawer.session_id: drawer for drawer in self.drawers}
        for row in self.rows.values():
            if row.tender_type == CARD and row.status in PAID and row.id not in self.paid_before:
                self.paid_before.add(row.id)
                was_settled = any(basket.id == row.order_id and basket.is_settled for basket in self.baskets)
                assert row.is_surplus or not was_settled, "what is paid a second time is marked"
                self._note(drawers[row.session_id], sales=row.captured_amount - row.tip_in_pence, tips=row.tip_in_pence)
        for refund in self.refunds:
            now = refund.amount if refund.tender_type == CARD and _is_made(refund) else 0
            changed = now - self.refunded_before.get(refund.id, 0)
            if changed and refund.session_id is not None:
                self._note(drawers[refund.session_id], refunds=changed)
            self.refunded_before[refund.id] = now
        for basket in self.baskets:
            if basket.is_open or not basket.is_settled:
                paid = self.paid_of(basket)
                basket.is_settled, basket.paid_when_settled = 0 < paid >= basket.total, paid

    def _note(self, drawer: Drawer, **amounts: int) -> None:
        (self.unreported if drawer.is_closed else drawer.figures).update(
            {f"card {name}": amount for name, amount in amounts.items()}
        )

    # What the contract says of what comes next.

    def refusal_of_payment(self, basket: Basket | None, amount: int) -> str | None:
        """The code by which a payment is refused, None for one that is taken."""
        if basket is None:
            return None
        if basket.is_settled or basket.status == "COLLECTED":
            return "order_already_paid"
        if basket.status == "CANCELLED":
            return "order_cancelled"
        if basket.is_open and not self.is_locked(basket) and basket.quantities[MUG] > self.mugs:
            return "out_of_stock"
        due = self.due_of(basket)
        if amount > due:
            return "amount_exceeds_due"
        if amount > due - self.reserved_of(basket):
            return "outcome_unknown" if self.is_unknown(basket) else "payment_in_progress"
        return None

    def to_pay(self, basket: Basket | None, amount: int) -> int:
        """What an amount in cash comes to: what is paid last is rounded."""
        is_last = basket is None or amount == self.due_of(basket)
        return rounded(amount, self.step) if is_last else amount

    def refusal_of_change(self, basket: Basket, mugs: int) -> str | None:
        if not basket.is_open:
            return "basket_submitted"
        if self.is_locked(basket):
            return "basket_locked"
        return "out_of_stock" if mugs > self.mugs else None

    def refusal_of_submission(self, basket: Basket, is_accepted: bool) -> str | None:
        if not basket.is_open:
            return "order_cancelled" if basket.status == "CANCELLED" else None
        paid, reserved = self.paid_of(basket), self.reserved_of(basket)
        if not basket.is_settled and not (is_accepted and paid and not reserved):
            return "payment_required"
        return None if is_accepted or paid == basket.total else "amount_mismatch"

    def refusal_of_refund(self, payment: Payment, amount: int, tender: str) -> str | None:
        left = self.left_of(payment)
        if tender == CARD and payment.tender == CASH:
            return "tender_not_possible"
        if self.rows[payment.id].status not in PAID:
            return "payment_not_refundable"
        if left <= 0:
            return "already_refunded"
        return "refund_exceeds_payment" if amount > left else None

    def is_key_free(self, payment: Payment) -> bool:
        """Whether sending it again may make another payment."""
        age = self.stall.clock.now() - self.rows[payment.id].created_at
        return bool(self.rows[payment.id].status == "FAILED" or age >= timedelta(hours=23))

    # What is done.

    def add_cash(self, payment: Payment, handed_over: int, to_pay: int) -> None:
        payment.moved, payment.handed_over, payment.change = to_pay, handed_over, handed_over - to_pay
        self.payments.append(payment)
        self._count_cash(payment, 1)

    def take_back(self, payment: Payment) -> None:
        payment.is_void = True
        self._count_cash(payment, -1)

    def _count_cash(self, payment: Payment, sign: int) -> None:
        drawer, sales = payment.drawer, sign * payment.amount
        self.purse -= sign * payment.moved
        drawer.cash += sign * payment.moved
        drawer.figures.update({"cash sales": sales, "rounding": sign * payment.moved - sales})
        drawer.figures["cash elsewhere"] += sales if payment.place != drawer.place else 0

    def give_back(self, payment: Payment, drawer: Drawer | None, amount: int, given: int) -> None:
        """In cash. An admin has no drawer. What was given of a payment in all is rounded once."""
        amounts, before = zip(*payment.given_back, (amount, 0), strict=True)
        assert given == max(0, rounded(sum(amounts), self.step) - sum(before))
        payment.given_back.append((amount, given))
        self.purse += given
        if drawer is not None:
            drawer.cash -= given
            drawer.figures.update({"cash refunds": amount, "rounding": amount - given})

    def take_mugs(self, basket: Basket) -> None:
        basket.taken = min(self.mugs, basket.quantities[MUG])
        basket.is_short = basket.taken < basket.quantities[MUG]
        self.mugs -= basket.taken

    def return_mugs(self, basket: Basket) -> None:
        self.mugs, basket.taken = self.mugs + basket.taken, 0

    def id_of_new_payment(self) -> str:
        stored = db.session.scalars(select(PosTransaction.id).where(PosTransaction.site_id == self.stall.site_id))
        (new,) = set(stored) - {payment.id for payment in self.payments}
        return new

    # What must agree.

    def check(self) -> None:
        self.read()
        self.check_customers()
        self.check_processor()
        self.check_orders()
        self.check_refunds()
        self.check_journal()
        self.check_stock()
        for drawer in self.drawers:
            self.check_report(drawer)

    def check_customers(self) -> None:
        """What customers handed over is what they paid, tips, change and rounding."""
        cash = [row for row in self.rows.values() if row.tender_type == CASH]
        assert {row.id for row in cash} == {payment.id for payment in self.payments if payment.tender == CASH}
        for payment in self.payments:
            row = self.rows[payment.id]
            assert (row.amount_in_pence, row.tip_in_pence) == (payment.amount, payment.tip)
            if payment.tender == CASH:
                assert row.change_in_pence == payment.change
                assert payment.handed_over == row.amount_in_pence + row.rounding_in_pence + row.change_in_pence
                assert row.captured_amount == (0 if payment.is_void else payment.amount)
            assert row.refunded_in_cash == sum(amount for amount, _ in payment.given_back)
        drawers = sum(drawer.cash - (drawer.opening_float or 0) - _net(drawer.moved) for drawer in self.drawers)
        by_admins = sum(refund.amount + refund.rounding for refund in self.refunds if _is_cash_by_admin(refund))
        assert self.purse + drawers - by_admins == 0, "cash is with the customers or in a drawer"

    def check_processor(self) -> None:
        """The shop has no money of a card that the processor has not; once nothing is open, each has the other's."""
        ledger = self.stall.processor.ledger()
        for row in self.rows.values():
            if row.tender_type != CARD:
                continue
            if row.status in PAID:
                refunds = [refund for refund in self.refunds_of(row.id) if refund.tender_type == CARD]
                kept = row.captured_amount - (row.refunded_amount - row.refunded_in_cash)
                waiting = sum(refund.amount for refund in refunds if refund.status in ("UNKNOWN", "PENDING"))
                assert kept - waiting <= ledger[row.id] <= kept
                assert row.captured_amount == row.amount_in_pence + row.tip_in_pence
            else:
                assert row.captured_amount == 0

    def check_orders(self) -> None:
        for basket in self.baskets:
            order, rows = self.orders[basket.id], self.rows_of(basket)
            assert order.total == basket.total
            assert order.reserved_amount == self.reserved_of(basket)
            assert (order.paid_at is not None) == basket.is_settled
            assert order.paid_amount == (basket.paid_when_settled if basket.is_settled else self.paid_of(basket))
            assert order.status == basket.status
            kept = sum(_kept(row) for row in rows)
            flagged = any(row.anomaly for row in rows)
            assert kept <= basket.total or flagged, "nothing is paid twice unseen"
            if basket.is_open:
                assert basket.is_settled == (kept >= basket.total), "all that the shop has of it counts"
                assert order.reserved_amount or order.paid_amount or not kept, "what has money on it is locked"

    def check_refunds(self) -> None:
        for payment in self.payments:
            row = self.rows[payment.id]
            assert 0 <= row.refunded_in_cash <= row.refunded_amount <= row.captured_amount
            alive = sum(refund.amount for refund in self.refunds_of(payment.id) if refund.status != "FAILED")
            assert alive <= row.captured_amount

    def check_journal(self) -> None:
        verification = journal.verify(self.stall.site_id)
        assert verification.is_whole, verification
        entry = PosJournalEntry
        columns = entry.type, entry.tender_type, entry.amount, entry.session_id
        query = select(*columns).where(entry.site_id == self.stall.site_id).order_by(entry.sequence)
        entries = db.session.execute(query).all()
        written: Counter[tuple[str, str]] = Counter()
        for kind, tender, amount, _ in entries:
            if kind != "Z_REPORT":
                written[kind, tender] += amount
        assert +written == +self._expected_journal() and -written == -self._expected_journal()
        for drawer in self.drawers:
            self._check_entries(drawer, [row for row in entries if row.session_id == drawer.session_id])

    def _check_entries(self, drawer: Drawer, entries: Sequence[Any]) -> None:
        """What the journal has of a session, up to its Z report, is what its report has."""
        unclear = [one for one in self.refunds if one.session_id == drawer.session_id and one.status == "UNKNOWN"]
        drawer.has_unclear_refunds = bool(unclear) or (drawer.is_closed and drawer.has_unclear_refunds)
        kinds = [row.type for row in entries]
        assert kinds.count("Z_REPORT") == drawer.is_closed
        before = entries[: kinds.index("Z_REPORT")] if drawer.is_closed else entries
        by_tender = {tender: sum(row.amount for row in before if row.tender_type == tender) for tender in (CARD, CASH)}
        figures = drawer.figures
        assert by_tender[CASH] == drawer.cash - (drawer.opening_float or 0)
        if not drawer.has_unclear_refunds:
            assert by_tender[CARD] == figures["card sales"] + figures["card tips"] - figures["card refunds"]

    def _expected_journal(self) -> Counter[tuple[str, str]]:
        sums: Counter[tuple[str, str]] = Counter()
        for payment in self.payments:
            row = self.rows[payment.id]
            if payment.tender == CASH:
                sums["SALE", CASH] += payment.moved
                sums["VOID", CASH] -= payment.moved if payment.is_void else 0
            else:
                sums["SALE", CARD] += row.captured_amount
                sums["REFUND", CARD] -= row.refunded_amount - row.refunded_in_cash
            sums["REFUND", CASH] -= sum(given for _, given in payment.given_back)
        for drawer in self.drawers:
            for kind, amount in drawer.moved.items():
                sums[kind, CASH] += amount
        return sums

    def check_stock(self) -> None:
        assert self.stall.mugs() == self.mugs == MUGS - sum(basket.taken for basket in self.baskets)

    def check_report(self, drawer: Drawer) -> None:
        session = self.stall.session(drawer.session_id)
        if drawer.is_closed:
            assert session.z_report == drawer.z, "a Z report stays as it is"
            return
        self.check_figures(drawer, reports.report_of_session(self.stall.clock, session), None)

    def check_z_report(self, drawer: Drawer, counted: int) -> None:
        """The Z report of a session that was closed just now; it stays as it is from now on."""
        session = self.stall.session(drawer.session_id)
        self.z_numbers[drawer.place.id] += 1
        assert session.z_number == self.z_numbers[drawer.place.id], "numbers have no gaps"
        assert session.journal_head == journal.head_of(self.stall.site_id)
        drawer.z = session.z_report
        self.check_figures(drawer, reports.report_of_session(self.stall.clock, session), counted)

    def is_all_known(self) -> bool:
        """Whether nothing is open but what a card only authorised, which waits for the till."""
        return not OPEN - {"AUTHORIZED"} & {row.status for row in self.rows.values()}

    def check_figures(self, drawer: Drawer, report: SessionReport, counted: int | None) -> None:
        """The figures of an X or a Z report are those of the drawer."""
        figures, moved = drawer.figures, drawer.moved
        assert (report.cash.gross, report.cash.refunds) == (figures["cash sales"], figures["cash refunds"])
        assert (report.card.gross, report.card.refunds) == (figures["card sales"], figures["card refunds"])
        assert (report.tips, report.rounding) == (figures["card tips"], figures["rounding"])
        movements = report.movements
        assert (movements.pay_in, -movements.pay_out, -movements.drop) == tuple(moved[kind] for kind in MovementType)
        assert (report.opening_float, report.expected_cash) == (drawer.opening_float, drawer.cash)
        assert report.difference == (None if counted is None else counted - drawer.cash)
        assert sum(place.cash.gross for place in report.other_locations) == figures["cash elsewhere"]


def _net(moved: Counter[str]) -> int:
    return sum(moved.values())


def _is_made(refund: Any) -> bool:
    """Whether the processor has accepted it."""
    return bool(refund.status == "SUCCEEDED" or (refund.status == "PENDING" and refund.processor_refund_id))


def _is_cash_by_admin(refund: Any) -> bool:
    return bool(refund.tender_type == CASH and refund.session_id is None)


def _kept(row: Any) -> int:
    """What the shop has of a payment for its order; a tip is what stays to the last."""
    return max(0, row.captured_amount - row.tip_in_pence - row.refunded_amount) if row.status in PAID else 0

"""Sales in cash that a till made without a network, booked as they were made: the goods and the money changed hands, so
what differs from the shop's books is a note for staff. Each is booked once, however often it is sent."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import aliased

from app.domain.orders.lifecycle import lock_offers, next_number, request_fulfilment, take_lines
from app.domain.orders.models import SUBMITTED, Order, OrderLine
from app.domain.orders.offers import Offer, describe_line, offers_by_sku
from app.domain.pos import rules, sessions
from app.domain.pos.models import PosSession, PosTransaction
from app.domain.pos.offline_sale_rules import (
    CashOfSale,
    OfflineSale,
    SaleNote,
    cash_of,
    check_time,
    id_of,
    limit_notes,
    line_notes,
    read_sale,
    shortage_notes,
    unknown_sku,
)
from app.domain.pos.payments import transitions
from app.domain.pos.payments.cash import cash_columns, store_sale
from app.domain.pos.payments.cashier import Cashier, PaymentTerms, new_payment, terms_of
from app.domain.shared.author import Author
from app.domain.shared.clock import rfc3339
from app.domain.shared.money import format_money
from app.domain.shared.problems import Unprocessable
from app.domain.sites import activity
from app.domain.work.context import WorkContext
from app.extensions import db

TO_THE_SECOND = timedelta(seconds=1)  # Apps may leave out the fractions of a second.


class SaleResult(StrEnum):
    """ACCEPTED: booked now. DUPLICATE: booked before, under the same id. REFUSED: it cannot be true, or be read."""

    ACCEPTED = "ACCEPTED"
    DUPLICATE = "DUPLICATE"
    REFUSED = "REFUSED"


@dataclass(frozen=True, slots=True)
class SaleOutcome:
    """What became of a sale. `client_sale_id` is as it was sent, None where no text was; `notes` are what staff should
    know, each with `code` and `detail`; `refusal` is the code and the reason of a refused one."""

    client_sale_id: str | None
    result: SaleResult
    order_id: str | None = None
    transaction_id: str | None = None
    notes: Sequence[dict[str, str]] = ()
    refusal: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class _Till:
    """The cashier who sends sales, the location as clients name it, and the terms."""

    cashier: Cashier
    location_id: str
    terms: PaymentTerms

    @property
    def site_id(self) -> int:
        return self.cashier.author.site_id


def book_sales(
    context: WorkContext, cashier: Cashier, location_id: str, raw_sales: Sequence[object]
) -> list[SaleOutcome]:
    """Book sales, each in a transaction of its own, and return what became of each, in their order. `location_id` is
    the location as clients name it. Call it outside a transaction.

    Raises Forbidden `cash_disabled`, `cash_not_permitted` or `orders_not_permitted`, NotFound `work_session_not_found`
    and Conflict `work_session_closed`; what was booked before stays booked, and is a duplicate when it is sent again.
    """
    till = _Till(cashier, location_id, context.commit(lambda: _terms_to_book(cashier)))
    return [_book_alone(context, till, raw) for raw in raw_sales]


def _terms_to_book(cashier: Cashier) -> PaymentTerms:
    """Return the terms of a cashier who may book sales. Raises Forbidden, NotFound and Conflict."""
    terms = terms_of(cashier)
    rules.check_cash(terms.site.allows_cash, terms.agent.can_take_cash)
    terms.check_purpose(is_for_order=True)
    sessions.hold_open(cashier.author.site_id, cashier.session_id)
    return terms


def _book_alone(context: WorkContext, till: _Till, raw: object) -> SaleOutcome:
    sent_id = id_of(raw)
    try:
        sale = read_sale(raw)
        result, payment = _book_once(context, till, sale)
    except Unprocessable as refusal:
        return SaleOutcome(sent_id, SaleResult.REFUSED, refusal=(refusal.code, refusal.message))
    return SaleOutcome(sent_id, result, payment.order_id, payment.id, payment.notes)


def _book_once(context: WorkContext, till: _Till, sale: OfflineSale) -> tuple[SaleResult, PosTransaction]:
    """Book a sale, or return its payment where it was booked before. Raises Unprocessable for a sale to refuse."""
    try:
        return context.commit(lambda: _book(till, sale))
    except IntegrityError:  # Another request booked it at the same moment, or a product was just deleted.
        return context.commit(lambda: _book(till, sale))


def _find_payment(site_id: int, client_sale_id: str) -> PosTransaction | None:
    of_sale = PosTransaction.site_id == site_id, PosTransaction.client_sale_id == client_sale_id
    return db.session.scalar(select(PosTransaction).where(*of_sale))


def _book(till: _Till, sale: OfflineSale) -> tuple[SaleResult, PosTransaction]:
    """Book a sale unless it was booked before, which comes first: it may have become too old, or its products gone.
    Locks are taken in the order of other sales: the work session, products, the order numbers, the journal."""
    if (booked := _find_payment(till.site_id, sale.id)) is not None:
        return SaleResult.DUPLICATE, booked
    author, currency = till.cashier.author, till.terms.site.currency
    check_time(sale.sold_at, author.now())
    sold_at = min(sale.sold_at, author.now())  # The device's clock may be ahead.
    offers = _offers_of_sale(till.site_id, sale)
    cash = cash_of(sale, till.terms.site.cash_rounding, currency)
    session_id = _hold_session(till.cashier, sold_at)
    order = _new_order(till, sale, sold_at, offers)
    db.session.add(order)
    db.session.flush()
    locked = lock_offers(order)
    order.number = next_number(till.site_id)
    notes = _notes_about(till, sale, _offers_in_order(order, locked), cash)
    notes += shortage_notes(take_lines(author.clock, order, locked))
    request_fulfilment(author.clock, order, is_short=False)  # The customer has taken all of it along.
    payment = new_payment(
        till.cashier,
        str(uuid.uuid4()),
        order,
        sale.total,
        currency,
        **cash_columns(sale.total, cash.paid, cash.change),
        session_id=session_id,
        client_sale_id=sale.id,
        notes=[note.as_json() for note in notes],
        created_at=sold_at,
        captured_at=sold_at,
    )
    _store(author, payment, notes)
    order.paid_at = sold_at
    return SaleResult.ACCEPTED, payment


def _offers_of_sale(site_id: int, sale: OfflineSale) -> list[Offer]:
    """Return what the lines of a sale name, in their order, also where it is hidden by now. Raises Unprocessable
    `unknown_sku`."""
    found = offers_by_sku(site_id, list({line.sku for line in sale.lines}), hidden_too=True)
    for line in sale.lines:
        if line.sku not in found or found[line.sku].needs_variant:
            raise unknown_sku(line.sku)
    return [found[line.sku] for line in sale.lines]


def _offers_in_order(order: Order, offers: Mapping[int, Offer]) -> list[Offer]:
    """Return the offers of the lines of an order. Raises Unprocessable `unknown_sku` where a product got variants since
    it was looked up."""
    for line in order.lines:
        if line.id not in offers:
            raise unknown_sku(line.sku)
    return [offers[line.id] for line in order.lines]


def _hold_session(cashier: Cashier, sold_at: datetime) -> str:
    """Return the cashier's work session in which a sale was made or, once that is closed, the one that sends it; held
    open until the commit. A sale was made on the device that sends it. Raises NotFound and Conflict."""
    site_id = cashier.author.site_id
    sender = aliased(PosSession)
    device = select(sender.device_id).where(sender.id == cashier.session_id).scalar_subquery()
    made_in = db.session.scalar(
        select(PosSession.id)
        .where(
            PosSession.site_id == site_id,
            PosSession.user_id == cashier.user_id,
            PosSession.started_at <= sold_at + TO_THE_SECOND,
            or_(PosSession.id == cashier.session_id, PosSession.device_id.is_not_distinct_from(device)),
            func.coalesce(PosSession.ended_at, PosSession.expires_at) >= sold_at,
            PosSession.closed_at.is_(None),
        )
        .order_by(
            (PosSession.id == cashier.session_id).desc(),
            PosSession.started_at.desc(),
            PosSession.id,
        )
        .limit(1)
    )
    if made_in is not None and not sessions.is_closed(site_id, made_in):
        return made_in
    return sessions.hold_open(site_id, cashier.session_id).id


def _new_order(till: _Till, sale: OfflineSale, sold_at: datetime, offers: Sequence[Offer]) -> Order:
    """Return the order of a sale, still without a number, with the prices that the customer saw."""
    return Order(
        id=str(uuid.uuid4()),
        site_id=till.site_id,
        status=SUBMITTED,
        channel="POS",
        owner_id=till.cashier.user_id,
        pos_location_id=till.location_id,
        currency=till.terms.site.currency,
        total=sale.total,
        note=sale.note,
        created_at=sold_at,
        submitted_at=sold_at,
        updated_at=till.cashier.author.now(),
        lines=[_new_line(till.site_id, place, sale, offer) for place, offer in enumerate(offers)],
    )


def _new_line(site_id: int, place: int, sale: OfflineSale, offer: Offer) -> OrderLine:
    product_id, variant_id = offer.key
    line = OrderLine(site_id=site_id, position=place, product_id=product_id, variant_id=variant_id, stock_taken=0)
    describe_line(line, offer)
    line.quantity, line.unit_price = sale.lines[place].quantity, sale.lines[place].unit_price
    return line


def _notes_about(till: _Till, sale: OfflineSale, offers: Sequence[Offer], cash: CashOfSale) -> list[SaleNote]:
    """Return the notes about the prices, the amount and the rounding of a sale."""
    site, agent = till.terms.site, till.terms.agent
    notes = [
        note
        for line, offer in zip(sale.lines, offers, strict=True)
        for note in line_notes(line, offer.price, offer.product.enabled, site.currency)
    ]
    notes += limit_notes(sale.total, rules.effective_limit(agent.max_amount, site.max_amount), site.currency)
    return [*notes, *([cash.note] if cash.note else []), *sale.remarks]


def _store(author: Author, payment: PosTransaction, notes: Sequence[SaleNote]) -> None:
    """Store the payment of a sale. The activity log and the timeline say how it came about and what staff should know;
    the journal comes last."""
    db.session.add(payment)
    db.session.flush()
    details = " ".join(note.detail for note in notes)
    made = f"Made without a network at {rfc3339(payment.created_at)}. {details}".strip()
    db.session.add(transitions.timeline_entry(author, payment, "offline", made))
    amount = format_money(payment.amount_in_pence, payment.currency)
    summary = f"An offline sale was booked: order {payment.order_number}, {amount} in cash. {details}".strip()
    activity.record(author, "pos.offline_sale", ("pos_transaction", payment.id), summary)
    store_sale(author, payment)

"""Queries of transactions: the list and totals of the admin, the timeline of one, and the list that clients get. A few
statements a page, however many there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Select, case, cast, func, or_, select

from app.domain.catalogue.listing import PAGE_SIZE
from app.domain.pos.models import (
    MONEY_SUM,
    TAKEN_TIP,
    PosAgent,
    PosLocation,
    PosTransaction,
    PosTransactionEvent,
    StoredProcessorEvent,
)
from app.domain.pos.query_dates import span_of_dates
from app.domain.pos.states import TransactionStatus, in_words
from app.domain.pos.transaction_list import StatusFilter, TransactionList
from app.domain.shared.clock import ends_at, starts_at
from app.domain.shared.paging import Paged
from app.domain.shared.records import existing, find_record
from app.domain.sites.sites import time_zone_of
from app.extensions import db

FETCHED_AT_ONCE = 500
EVENT_OUTCOMES = {
    "applied": "Applied to this payment",
    "mismatch": "Not applied: the processor has another payment under this id",
    "not_found": "Not applied: the processor knows no such payment",
    "wrong_mode": "Not applied: test and live payments are kept apart",
}
SHORTEST_PREFIX = 6
FARTHEST = (date(1970, 1, 2), date(9000, 1, 1))  # Days beyond these cannot be converted in every time zone.
T = PosTransaction
LEFT = T.captured_amount - TAKEN_TIP - T.refunded_amount
COLUMNS: tuple[Any, ...] = (
    T.id,
    T.created_at,
    T.status,
    T.type,
    T.agent_id,
    PosAgent.display_name.label("agent"),
    PosLocation.display_name.label("location"),
    T.order_id,
    T.order_number,
    T.tender_type,
    T.amount_in_pence.label("amount"),
    T.captured_amount.label("captured"),
    TAKEN_TIP.label("tip"),
    T.change_in_pence.label("change"),
    T.rounding_in_pence.label("rounding"),
    T.refunded_amount.label("refunded"),
    T.refunded_in_cash,
    T.currency,
    T.card_brand,
    T.card_last4,
    T.read_method,
    T.attempts,
    T.decline_code,
    T.anomaly,
    T.description,
    T.processor_intent_id.label("intent_id"),
    T.processor_charge_id.label("charge_id"),
    T.processor_account_id.label("account_id"),
    T.captured_at,
    T.client_sale_id,
    T.notes,
)
MOST_STEPS = 500
CASH_STEPS = {"cash": "Paid in cash", "void": "Voided"}


@dataclass(frozen=True, slots=True)
class TransactionRow:
    """A transaction in a list; money in minor units of `currency`. `tip` is the part of `captured` that is no
    revenue; `change` and `rounding` are None for cards. Of a refund in part, the tip is what stays to the last."""

    id: str
    created_at: datetime
    status: str
    type: str
    agent_id: int
    agent: str
    location: str
    order_id: str | None
    order_number: str | None
    tender_type: str
    amount: int
    captured: int
    tip: int
    change: int | None
    rounding: int | None
    refunded: int
    refunded_in_cash: int
    currency: str
    card_brand: str | None
    card_last4: str | None
    read_method: str | None
    attempts: int
    decline_code: str | None
    anomaly: str | None
    description: str
    intent_id: str | None
    charge_id: str | None
    account_id: str
    captured_at: datetime | None
    client_sale_id: str | None
    notes: Sequence[Mapping[str, str]] = ()

    @property
    def taken(self) -> int:
        """What was taken for the sale: without the tip."""
        return self.captured - self.tip

    @property
    def net(self) -> int:
        """What is left of the sale: without the tip."""
        return max(0, self.taken - self.refunded)


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of all transactions that a filter finds, in one currency and in minor units. `taken` and `net` are
    without tips, `refunded` is all that was given back."""

    currency: str
    count: int
    taken: int
    tips: int
    refunded: int
    net: int


Choice = tuple[int, str]  # An agent or a location to filter by: id and name.


def get_transaction(site_id: int, transaction_id: str) -> PosTransaction:
    """Return a transaction of the site. Raises NotFound."""
    return existing(find_record(PosTransaction, site_id, transaction_id), "There is no such transaction.")


def transaction_page(
    site_id: int, zone: ZoneInfo, filters: TransactionList
) -> tuple[Paged[TransactionRow], Sequence[Totals]]:
    """Return a page, newest first, with the totals of the whole filter: two statements."""
    totals = _totals(site_id, zone, filters)
    query = _select_rows(site_id, zone, filters).limit(PAGE_SIZE).offset((filters.page - 1) * PAGE_SIZE)
    rows = [TransactionRow(**row._mapping) for row in db.session.execute(query)]
    return Paged(rows, filters.page, PAGE_SIZE, sum(total.count for total in totals)), totals


def every_row(site_id: int, zone: ZoneInfo, filters: TransactionList) -> Iterator[TransactionRow]:
    """Yield every row that the filter finds, fetched in parts, since a busy year has megabytes."""
    found = db.session.execute(_select_rows(site_id, zone, filters), execution_options={"yield_per": FETCHED_AT_ONCE})
    yield from (TransactionRow(**row._mapping) for row in found)


def agent_choices(site_id: int) -> Sequence[Choice]:
    return _choices(PosAgent, site_id)


def location_choices(site_id: int) -> Sequence[Choice]:
    return _choices(PosLocation, site_id)


def _choices(model: type[PosAgent] | type[PosLocation], site_id: int) -> Sequence[Choice]:
    query = select(model.id, model.display_name).where(model.site_id == site_id)
    return [(id_, name) for id_, name in db.session.execute(query.order_by(model.display_name, model.id))]


def _select_rows(site_id: int, zone: ZoneInfo, filters: TransactionList) -> Any:
    joined = (
        select(*COLUMNS).join(PosAgent, PosAgent.id == T.agent_id).join(PosLocation, PosLocation.id == T.location_id)
    )
    return joined.where(*_conditions(site_id, zone, filters)).order_by(T.created_at.desc(), T.id.desc())


def _totals(site_id: int, zone: ZoneInfo, filters: TransactionList) -> Sequence[Totals]:
    """Return the totals by currency, of which a shop has one unless it changed."""
    amounts = T.captured_amount - TAKEN_TIP, TAKEN_TIP, T.refunded_amount, case((LEFT > 0, LEFT), else_=0)
    sums = (func.sum(cast(amount, MONEY_SUM)) for amount in amounts)
    query = select(T.currency, func.count(), *sums).where(*_conditions(site_id, zone, filters))
    found = db.session.execute(query.group_by(T.currency).order_by(T.currency))
    return [Totals(currency, count, *map(int, summed)) for currency, count, *summed in found]


def _conditions(site_id: int, zone: ZoneInfo, filters: TransactionList) -> list[ColumnElement[bool]]:
    conditions = [T.site_id == site_id, *_of_days(zone, filters), *_of_status(filters.status)]
    if filters.agent_id is not None:
        conditions.append(T.agent_id == filters.agent_id)
    if filters.location_id is not None:
        conditions.append(T.location_id == filters.location_id)
    if filters.type:
        conditions.append(T.type == filters.type)
    if filters.tender:
        conditions.append(T.tender_type == filters.tender)
    if filters.words:
        conditions.append(or_(*_matches(filters.words)))
    return conditions


def _of_days(zone: ZoneInfo, filters: TransactionList) -> Iterator[ColumnElement[bool]]:
    earliest, latest = FARTHEST
    if filters.first is not None:
        yield T.created_at >= starts_at(min(max(filters.first, earliest), latest), zone)
    if filters.last is not None:
        yield T.created_at < ends_at(min(max(filters.last, earliest), latest), zone)


def _of_status(status: StatusFilter) -> list[ColumnElement[bool]]:
    """Return the conditions of a status filter. A payment that is being created waits for a card, as clients see it."""
    if status is StatusFilter.ALL:
        return []
    if status is StatusFilter.ANOMALY:
        return [T.anomaly.is_not(None)]
    wanted = [one for one in TransactionStatus if one.shown == status.value]
    return [T.status.in_(wanted)]


def _matches(words: str) -> list[ColumnElement[bool]]:
    """Return the conditions that words match: an order's number, a card's last four digits, or the id of an intent or
    transaction, from SHORTEST_PREFIX characters on also its beginning."""
    matches = [T.order_number == words.removeprefix("#"), T.card_last4 == words, T.id == words]
    if len(words) >= SHORTEST_PREFIX:
        matches += [column.startswith(words, autoescape=True) for column in (T.processor_intent_id, T.id)]
    else:
        matches.append(T.processor_intent_id == words)
    return matches


@dataclass(frozen=True, slots=True)
class TimelineStep:
    """A step of a timeline. `source` is till or processor; `status` is that of the transaction after the step."""

    at: datetime
    source: str
    what: str
    actor: str = ""
    status: str = ""
    detail: str = ""


def timeline_of(transaction: PosTransaction) -> list[TimelineStep]:
    """Return the steps, oldest first; of two at the same moment, the till's own comes first. Two statements."""
    steps = [*_own_steps(transaction), *_processor_steps(transaction)]
    return sorted(steps, key=lambda step: step.at)


def _own_steps(transaction: PosTransaction) -> Iterator[TimelineStep]:
    events = PosTransactionEvent
    query = select(events).where(events.site_id == transaction.site_id, events.transaction_id == transaction.id)
    for event in db.session.scalars(query.order_by(events.id).limit(MOST_STEPS)):
        what, status = _describe_step(event)
        yield TimelineStep(event.at, "till", what, event.actor, status, event.detail)


def _describe_step(event: PosTransactionEvent) -> tuple[str, str]:
    """Return the action of an event, in words, and the status after it. A payment by card begins in the shop, before
    the processor knows of it."""
    if event.action != "create":
        return CASH_STEPS.get(event.action) or in_words(event.action), event.status
    return ("Begun", "") if event.status == TransactionStatus.CREATING else ("At the processor", event.status)


def _processor_steps(transaction: PosTransaction) -> Iterator[TimelineStep]:
    """Yield the events of the transaction's own processor and account: another's intents may have equal ids."""
    if transaction.processor_intent_id is None:
        return
    events = StoredProcessorEvent
    query = select(events.received_at, events.type, events.outcome).where(
        events.site_id == transaction.site_id,
        events.processor == transaction.processor,
        events.account_id == transaction.processor_account_id,
        events.intent_id == transaction.processor_intent_id,
    )
    for received_at, type_, outcome in db.session.execute(query.order_by(events.id).limit(MOST_STEPS)):
        detail = EVENT_OUTCOMES.get(outcome) or in_words(outcome) if outcome else "Not applied yet"
        yield TimelineStep(received_at, "processor", in_words(type_.replace(".", "_")), detail=detail)


@dataclass(frozen=True, slots=True)
class PaymentFilter:
    """A filter of payments, in which None is any. Dates are as clients write them: a day in the shop's time zone, which
    counts as a whole, or a time."""

    start: str | None = None
    end: str | None = None
    status: TransactionStatus | None = None
    agent_id: int | None = None
    tender_type: str | None = None


def payments_of_location(
    site_id: int, location_id: int, wanted: PaymentFilter, page_number: int, page_size: int
) -> Paged[PosTransaction]:
    """Return a page of the payments of a location, the newest first. Raises DomainError `bad_request` for an invalid
    date."""
    where = (
        PosTransaction.site_id == site_id,
        PosTransaction.location_id == location_id,
        *_client_conditions(site_id, wanted),
    )
    total = db.session.scalar(select(func.count()).select_from(PosTransaction).where(*where)) or 0
    found = _newest_first(select(PosTransaction).where(*where), (page_number - 1) * page_size, page_size, total)
    return Paged(found, page_number, page_size, total)


def _newest_first(query: Select[PosTransaction], start: int, size: int, total: int) -> Sequence[PosTransaction]:
    """Return the rows from `start` on, newest first. They are counted from the nearer end, since a database reads every
    row that an offset skips."""
    size = min(size, total - start)
    if size <= 0:
        return []
    order, to_pass = (PosTransaction.created_at, PosTransaction.id), total - start - size
    if to_pass < start:
        return db.session.scalars(query.order_by(*order).limit(size).offset(to_pass)).all()[::-1]
    newest_first = query.order_by(*(column.desc() for column in order))
    return db.session.scalars(newest_first.limit(size).offset(start)).all()


def _client_conditions(site_id: int, wanted: PaymentFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.start is not None or wanted.end is not None:
        start, end = span_of_dates(wanted.start, wanted.end, ZoneInfo(time_zone_of(site_id)))
        found += [PosTransaction.created_at >= start] if start else []
        found += [PosTransaction.created_at < end] if end else []
    if wanted.status is not None:
        shown = [status.value for status in TransactionStatus if status.shown is wanted.status]
        found.append(PosTransaction.status.in_(shown))
    if wanted.tender_type is not None:
        found.append(PosTransaction.tender_type == wanted.tender_type)
    if wanted.agent_id is not None:
        found.append(PosTransaction.agent_id == wanted.agent_id)
    return found

"""Queries of transactions for the admin's pages: a few statements a page, however many there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, cast, func, or_, select

from app.domain.catalogue.listing import PAGE_SIZE
from app.domain.pos.models import MONEY_SUM, PosAgent, PosLocation, PosTransaction
from app.domain.pos.reports.transaction_list import StatusFilter, TransactionList
from app.domain.pos.states import TransactionStatus
from app.domain.shared.local_days import ends_at, starts_at
from app.domain.shared.paging import Paged
from app.domain.shared.records import existing, find_record
from app.extensions import db

FETCHED_AT_ONCE = 500
SHORTEST_PREFIX = 6
FARTHEST = (date(1970, 1, 2), date(9000, 1, 1))  # Days beyond these cannot be converted in every time zone.
T = PosTransaction
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
    T.amount_in_pence.label("amount"),
    T.captured_amount.label("captured"),
    T.refunded_amount.label("refunded"),
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
)


@dataclass(frozen=True, slots=True)
class TransactionRow:
    """A transaction in a list; money in minor units of `currency`."""

    id: str
    created_at: datetime
    status: str
    type: str
    agent_id: int
    agent: str
    location: str
    order_id: str | None
    order_number: str | None
    amount: int
    captured: int
    refunded: int
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

    @property
    def net(self) -> int:
        return self.captured - self.refunded


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of all transactions that a filter finds, in one currency."""

    currency: str
    count: int
    captured: int
    refunded: int

    @property
    def net(self) -> int:
        return self.captured - self.refunded


Choice = tuple[int, str]  # An agent or a location to filter by: id and name.


def transaction(site_id: int, transaction_id: str) -> PosTransaction:
    """Return a transaction of the site. Raises NotFound."""
    return existing(find_record(PosTransaction, site_id, transaction_id), "There is no such transaction.")


def page_of(site_id: int, zone: ZoneInfo, filters: TransactionList) -> tuple[Paged[TransactionRow], Sequence[Totals]]:
    """Return a page, newest first, with the totals of the whole filter: two statements."""
    totals = _totals(site_id, zone, filters)
    query = _rows(site_id, zone, filters).limit(PAGE_SIZE).offset((filters.page - 1) * PAGE_SIZE)
    rows = [TransactionRow(**row._mapping) for row in db.session.execute(query)]
    return Paged(rows, filters.page, PAGE_SIZE, sum(total.count for total in totals)), totals


def every_row(site_id: int, zone: ZoneInfo, filters: TransactionList) -> Iterator[TransactionRow]:
    """Yield every row that the filter finds, fetched in parts, since a busy year has megabytes."""
    found = db.session.execute(_rows(site_id, zone, filters), execution_options={"yield_per": FETCHED_AT_ONCE})
    yield from (TransactionRow(**row._mapping) for row in found)


def agents(site_id: int) -> Sequence[Choice]:
    return _choices(PosAgent, site_id)


def locations(site_id: int) -> Sequence[Choice]:
    return _choices(PosLocation, site_id)


def _choices(model: type[PosAgent] | type[PosLocation], site_id: int) -> Sequence[Choice]:
    query = select(model.id, model.display_name).where(model.site_id == site_id)
    return [(id_, name) for id_, name in db.session.execute(query.order_by(model.display_name, model.id))]


def _rows(site_id: int, zone: ZoneInfo, filters: TransactionList) -> Any:
    joined = (
        select(*COLUMNS).join(PosAgent, PosAgent.id == T.agent_id).join(PosLocation, PosLocation.id == T.location_id)
    )
    return joined.where(*_conditions(site_id, zone, filters)).order_by(T.created_at.desc(), T.id.desc())


def _totals(site_id: int, zone: ZoneInfo, filters: TransactionList) -> Sequence[Totals]:
    """Return the totals by currency, of which a shop has one unless it changed."""
    captured, refunded = (func.sum(cast(column, MONEY_SUM)) for column in (T.captured_amount, T.refunded_amount))
    query = select(T.currency, func.count(), captured, refunded).where(*_conditions(site_id, zone, filters))
    found = db.session.execute(query.group_by(T.currency).order_by(T.currency))
    return [Totals(currency, count, int(taken), int(given)) for currency, count, taken, given in found]


def _conditions(site_id: int, zone: ZoneInfo, filters: TransactionList) -> list[ColumnElement[bool]]:
    conditions = [T.site_id == site_id, *_of_days(zone, filters), *_of_status(filters.status)]
    if filters.agent_id is not None:
        conditions.append(T.agent_id == filters.agent_id)
    if filters.location_id is not None:
        conditions.append(T.location_id == filters.location_id)
    if filters.type:
        conditions.append(T.type == filters.type)
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

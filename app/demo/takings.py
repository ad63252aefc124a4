"""The takings of the demo shop's counter: seven closed days with their Z reports, and today's session, which is open.

The card payments are those of a processor “demo”, which exists nowhere: nothing compares them with a payment processor,
and their refund to a card is refused."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from app.demo.past_clock import PastClock
from app.domain.pos import agents, locations, movements, sessions
from app.domain.pos.journal import EntryType
from app.domain.pos.models import PosAgent, PosLocation, PosSession
from app.domain.pos.movements import MovementRequest, MovementType
from app.domain.pos.payments import transitions
from app.domain.pos.payments.cash import CashRequest, take_cash
from app.domain.pos.payments.cashier import Cashier, new_payment
from app.domain.pos.processor import Address
from app.domain.pos.report_figures import ReportType
from app.domain.pos.reports import compute_report
from app.domain.pos.rules import AgentFields, LocationFields
from app.domain.pos.states import TransactionStatus
from app.domain.search_statistics.counting.days import today
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.sites import accounts
from app.domain.sites.api_sessions import LONGEST, Audience, first_token
from app.domain.sites.models import ApiSession, Site, User
from app.domain.work.context import WorkContext
from app.extensions import db

TAKINGS = Path(__file__).parent / "past" / "takings.jsonl"
EMAIL, NAME = "counter@demo.test", "Cora Counter"
COUNTER = LocationFields("Shop counter", Address("12 Market Square", "", "Kendal", "", "LA9 4TN", "GB"))
COUNTER_ID = "tml_demo_counter"
DEVICE = "Till at the counter"
PROCESSOR = "demo"
LONGEST_SO_FAR = timedelta(hours=4)  # Today's session began so long ago at most.


@dataclass(frozen=True, slots=True)
class _Till:
    """The counter with its agent, on whose session the sales are made."""

    site: Site
    location: PosLocation
    agent: PosAgent
    session: PosSession

    def cashier(self, at: datetime) -> Cashier:
        author = Author(self.site.id, self.agent.display_name, PastClock(at))
        user_id = self.agent.user_id
        return Cashier(author, user_id, self.agent.id, self.location.id, self.session.id, is_admin=True)


def write_takings(clock: Clock, site: Site, password_memory_kib: int, author_name: str) -> None:
    """Write the takings, with the agent and the location that they are of. Call it within a transaction."""
    days = [json.loads(line) for line in TAKINGS.read_text(encoding="utf-8").splitlines()]
    site_today, zone = today(clock, site.time_zone), ZoneInfo(site.time_zone)
    begins = _opening_time(days[0], site_today, zone)
    author = Author(site.id, author_name, PastClock(begins))
    user = accounts.create_user(author.clock, password_memory_kib, EMAIL, NAME, accounts.DEMO_PASSWORD)
    db.session.flush()
    location = locations.take_over(author, COUNTER_ID, COUNTER)
    agent = agents.enable_user(author, user, AgentFields(NAME, can_refund=True, location_ids=(COUNTER_ID,)))
    for day in days:
        if day["daysAgo"]:
            opened_at = _opening_time(day, site_today, zone)
            till = _open_till(site, location, agent, day, opened_at)
            _sell(till, ((opened_at + timedelta(minutes=sale["after"]), sale) for sale in day["sales"]))
            _close_till(till, day, opened_at)
        else:
            _write_today(clock, site, location, agent, day, zone)


def _opening_time(day: Mapping[str, Any], site_today: date, zone: ZoneInfo) -> datetime:
    on_the_wall = f"{site_today - timedelta(days=day['daysAgo'])}T{day['opened']}"
    return datetime.fromisoformat(on_the_wall).replace(tzinfo=zone).astimezone(UTC)


def _write_today(
    clock: Clock, site: Site, location: PosLocation, agent: PosAgent, day: Mapping[str, Any], zone: ZoneInfo
) -> None:
    """Write the sales of today, which are spread over the hours that have passed: each is made after a share of
    them."""
    now = clock.now()
    midnight = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    passed = min(now - midnight, LONGEST_SO_FAR)
    user = db.session.get_one(User, agent.user_id)
    opened_at = now - passed
    till = _open_till(site, location, agent, day, opened_at)
    db.session.add(_api_session(till.session, user))
    _sell(till, ((opened_at + passed * sale["after"], sale) for sale in day["sales"]))


def _open_till(site: Site, location: PosLocation, agent: PosAgent, day: Mapping[str, Any], at: datetime) -> _Till:
    session = PosSession(
        id=str(uuid.uuid4()),
        site_id=site.id,
        user_id=agent.user_id,
        agent_id=agent.id,
        location_id=location.id,
        opened_location_id=location.id,
        device_name=DEVICE,
        started_at=at,
        last_seen_at=at,
        expires_at=at + LONGEST,
        currency=site.currency,
    )
    db.session.add(session)
    db.session.flush()
    till = _Till(site, location, agent, session)
    sessions.set_opening_float(till.cashier(at).author, session, day["float"])
    return till


def _api_session(session: PosSession, user: User) -> ApiSession:
    """Return the API session that keeps a work session open; nobody has its token."""
    return ApiSession(
        id=session.id,
        user_id=user.id,
        site_id=session.site_id,
        refresh_hash=sha256(first_token(session.id).encode()).hexdigest(),
        device_name=session.device_name,
        audience=Audience.POS.value,
        session_version=user.session_version,
        created_at=session.started_at,
        last_used_at=session.started_at,
        expires_at=session.expires_at,
    )


def _sell(till: _Till, sales: Iterator[tuple[datetime, Mapping[str, Any]]]) -> None:
    for at, sale in sales:
        cashier = till.cashier(at)
        if "card" in sale:
            _take_card(cashier, till.site.currency, sale)
        else:
            request = CashRequest(sale["amount"], sale["tendered"], till.site.currency, sale["description"])
            take_cash(_context(cashier), cashier, request)
        till.session.last_seen_at = at


def _take_card(cashier: Cashier, currency: str, sale: Mapping[str, Any]) -> None:
    author, (brand, last4) = cashier.author, sale["card"]
    payment = new_payment(
        cashier,
        str(uuid.uuid4()),
        None,
        sale["amount"],
        currency,
        status=TransactionStatus.SUCCEEDED.value,
        processor=PROCESSOR,
        processor_intent_id=f"pi_demo_{uuid.uuid4().hex[:24]}",
        card_brand=brand,
        card_last4=last4,
        funding="credit",
        read_method="contactless_emv",
        captured_amount=sale["amount"],
        captured_at=author.now(),
        description=sale["description"],
    )
    db.session.add(payment)
    db.session.flush()
    db.session.add(transitions.timeline_entry(author, payment, "capture"))
    transitions.record_money(author, payment, EntryType.SALE, payment.captured_amount, payment.session_id)


def _close_till(till: _Till, day: Mapping[str, Any], opened_at: datetime) -> None:
    if drop := day.get("drop"):
        cashier = till.cashier(opened_at + timedelta(minutes=drop["after"]))
        movements.move_cash(
            _context(cashier), cashier, MovementRequest(MovementType.DROP, drop["amount"], drop["reason"])
        )
    author = till.cashier(opened_at + timedelta(minutes=day["closedAfter"])).author
    expected = compute_report(author.clock, till.session, ReportType.X).expected_cash
    till.session.ended_at, till.session.end_reason = author.now(), sessions.EndReason.LOGOUT.value
    sessions.close(author, till.session, expected + day["difference"], day.get("note", ""))


def _context(cashier: Cashier) -> WorkContext:
    """Return a context whose work is part of the transaction that is open already."""
    return WorkContext(cashier.author.clock, nullcontext)

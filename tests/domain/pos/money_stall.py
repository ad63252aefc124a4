"""A stall with two agents and two locations, as the state machine of money uses it: a shop of its own in a database of
many, with its own clock and its own payment processor."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from app.domain.catalogue.models import Product
from app.domain.orders.baskets import WantedLine
from app.domain.orders.models import Order
from app.domain.pos import sessions
from app.domain.pos.models import PosSession, PosTransaction
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.reconciliation import checks
from app.domain.shared.author import Author
from app.domain.shared.clock import rfc3339
from app.domain.shared.problems import DomainError
from app.domain.sites import api_sessions
from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import Audience, Device
from app.domain.sites.models import User
from app.domain.sites.settings import change_settings
from app.domain.work.context import WorkContext
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_agent, make_location, make_product, make_site, make_user
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import (
    ERROR_500_AFTER,
    MISCONFIGURED,
    RATE_LIMITED_429,
    TIMEOUT_AFTER,
    TIMEOUT_BEFORE,
    Call,
    FakeProcessor,
    Fault,
)

MUG, TEA = "MUG", "TEA"
PRICES = {MUG: 333, TEA: 998}
MUGS = 12  # In stock; tea is not counted.
DONE = "done"
FAULTS_OF_CALLS = (TIMEOUT_BEFORE, TIMEOUT_AFTER, ERROR_500_AFTER, RATE_LIMITED_429, MISCONFIGURED)
Quantities = tuple[int, int]  # Of mugs and tea.
_numbers = count(1)


@dataclass(frozen=True)
class Place:
    id: int
    location_id: str


@dataclass(frozen=True)
class Agent:
    user_id: int
    id: int


@dataclass
class Stall:
    """`faults` meet the next calls to the processor, one each."""

    author: Author
    clock: StoppedClock
    processor: FakeProcessor
    context: WorkContext
    agents: list[Agent]
    places: list[Place]
    faults: list[Fault | None] = field(default_factory=list)

    @property
    def site_id(self) -> int:
        return self.author.site_id

    def cashier(self, agent: Agent, place: Place, session_id: str, basket_id: str | None = None) -> Cashier:
        return Cashier(self.author, agent.user_id, agent.id, place.id, session_id, basket_id=basket_id)

    def sign_in(self, agent: Agent, place: Place) -> str:
        device = Device("till-7", "The till")
        with transaction():
            user = db.session.get_one(User, agent.user_id)
            caller = api_sessions.open_session(self.clock, user, self.site_id, Audience.POS, device).caller
            sessions.open_session(self.clock, caller, device, "TillApp/1", "192.0.2.1")
            db.session.flush()
            sessions.note_use(self.clock, caller.session_id, place.id)
        return caller.session_id

    def session(self, session_id: str) -> PosSession:
        return db.session.get_one(PosSession, session_id, populate_existing=True)

    def payment(self, transaction_id: str) -> PosTransaction:
        db.session.rollback()
        return db.session.get_one(PosTransaction, transaction_id)

    def order(self, order_id: str) -> Order:
        db.session.rollback()
        return db.session.get_one(Order, order_id)

    def set_rounding(self, step: int) -> None:
        with transaction():
            change_settings(self.site_id, {"posCashRounding": step})

    def mugs(self) -> int:
        query = db.session.query(Product.stock).filter_by(site_id=self.site_id, sku=MUG)
        return int(query.scalar())

    @contextmanager
    def meeting(self, *faults: Fault | None) -> Iterator[None]:
        """The first calls to the processor meet these faults, None for none."""
        self.faults[:] = faults
        yield
        self.faults.clear()

    def check(self) -> None:
        """What the scheduler does each minute."""
        with transaction():
            checks.request(self.author)
        checks.check(self.context, self.processor, self.site_id)

    def next_fault(self, _call: Call) -> Fault | None:
        return self.faults.pop(0) if self.faults else None


def answer_of(work: Callable[[], Any]) -> str:
    """DONE, or the code of the refusal."""
    try:
        work()
    except DomainError as refusal:
        return refusal.code
    finally:
        db.session.rollback()
    return DONE


def committed(work: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    with transaction():
        return work(*arguments, **named)


def new_stall() -> Stall:
    clock = StoppedClock()
    processor = FakeProcessor(clock)
    with transaction():
        number = next(_numbers)
        site = make_site(f"stall{number}.test")
        change_settings(site.id, {"posEnabled": True, "posTipsEnabled": True})
        make_product(site, MUG, name="Mug", price=PRICES[MUG], stock=MUGS)
        make_product(site, TEA, name="Tea", price=PRICES[TEA])
        rows = [make_location(site, display_name=name) for name in ("Fair", "Shop")]
        users = [make_user(site, Role.POS_AGENT, name=name) for name in ("Tilly Till", "Bert Bell")]
        allowed = {"can_refund": True, "can_move_cash": True}
        agents = [Agent(user.id, make_agent(site, user, *rows, **allowed).id) for user in users]
        places = [Place(row.id, row.location_id) for row in rows]
        author = Author(site.id, "Tilly Till", clock)
    stall = Stall(author, clock, processor, WorkContext(clock, transaction), agents, places)
    processor.fault_of = stall.next_fault
    return stall


def named(quantities: Quantities) -> dict[str, int]:
    return dict(zip((MUG, TEA), quantities, strict=True))


def wanted(quantities: Quantities) -> list[WantedLine]:
    return [WantedLine(sku, quantity) for sku, quantity in named(quantities).items() if quantity]


def total_of(quantities: Quantities) -> int:
    return sum(PRICES[sku] * quantity for sku, quantity in named(quantities).items())


def offline_sale(sold_at: Any, quantities: Quantities, tendered: int | None) -> dict[str, Any]:
    lines = [
        {"skuCode": line.sku, "quantity": line.quantity, "unitPriceInPence": PRICES[line.sku]}
        for line in wanted(quantities)
    ]
    sale = {"clientSaleId": str(uuid.uuid4()), "soldAt": rfc3339(sold_at), "lines": lines}
    return sale | ({} if tendered is None else {"tenderedInPence": tendered})


def pick(found: list[Any], which: int) -> Any:
    return found[-1 - which // 5 % len(found)]


def prefer(which: int, preferred: list[Any], found: list[Any]) -> Any:
    """One of all now and then, mostly of those that are preferred."""
    return pick(preferred if preferred and which % 5 else found, which)


def part_of(amount: int, share: str) -> int:
    return {"all": amount, "half": amount // 2, "odd": amount // 3 + 1, "too much": amount + 1}[share]

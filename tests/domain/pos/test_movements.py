"""Cash movements: who may move cash, and where it is written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import select

from app.domain.pos import movements, sessions
from app.domain.pos.journal_models import PosJournalEntry
from app.domain.pos.models import PosCashMovement, PosLocation
from app.domain.pos.movements import MovementRequest, MovementType, move_cash
from app.domain.pos.payments.cashier import Cashier
from app.domain.shared.problems import DomainError, Invalid, TooManyRequests
from app.domain.sites.models import AuditEntry, Site, User
from app.domain.sites.settings import change_settings
from app.domain.work.context import WorkContext
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.conftest import SignIn, Staff, stored
from tests.factories import make_agent

DROP = MovementRequest(MovementType.DROP, 5_000, " To   the safe ")


@pytest.fixture
def cashier(staff: Staff, sign_in: SignIn) -> Cashier:
    """An agent who may move cash."""
    session_id = sign_in(staff.tilly).id
    with transaction():
        site, user = db.session.get_one(Site, staff.site_id), db.session.get_one(User, staff.tilly)
        fair = db.session.scalars(select(PosLocation).order_by(PosLocation.id)).first()
        agent = make_agent(site, user, fair, can_move_cash=True)
        return Cashier(staff.author, staff.tilly, agent.id, fair.id, session_id)


@pytest.fixture
def work(staff: Staff) -> WorkContext:
    return WorkContext(staff.author.clock, transaction)


def movements_stored() -> list[PosCashMovement]:
    db.session.rollback()
    return list(db.session.scalars(select(PosCashMovement)))


def refusal(work: Callable[[], object]) -> str:
    with pytest.raises(DomainError) as refused:
        work()
    assert movements_stored() == []
    assert db.session.scalars(select(PosJournalEntry)).all() == []
    return refused.value.code


@pytest.mark.parametrize(("type_", "amount"), [("PAY_IN", 5_000), ("PAY_OUT", -5_000), ("DROP", -5_000)])
def test_a_movement_stands_in_the_activity_log_and_in_the_journal(
    cashier: Cashier, work: WorkContext, type_: str, amount: int
) -> None:
    movement = move_cash(work, cashier, replace(DROP, type=MovementType(type_))).movement
    assert (movement.type, movement.amount, movement.reason) == (type_, 5_000, "To the safe")
    assert (movement.agent_id, movement.session_id) == (cashier.agent_id, cashier.session_id)
    entry = db.session.scalars(select(PosJournalEntry)).one()
    assert (entry.type, entry.amount, entry.tender_type) == (type_, amount, "CASH")
    assert (entry.session_id, entry.transaction_id) == (cashier.session_id, None)
    noted = db.session.scalars(select(AuditEntry)).one()
    assert (noted.action, noted.subject_id) == ("pos.cash_movement", cashier.session_id)
    assert noted.summary.endswith("of £50.00: To the safe")


def test_a_key_makes_a_repetition_the_same_movement(cashier: Cashier, work: WorkContext) -> None:
    first, second = (move_cash(work, cashier, replace(DROP, key="k")) for _ in range(2))
    assert (second.movement.id, first.is_replayed, second.is_replayed) == (first.movement.id, False, True)
    with pytest.raises(DomainError) as refused:
        move_cash(work, cashier, replace(DROP, key="k", amount=1))
    assert refused.value.code == "idempotency_mismatch"
    assert len(movements_stored()) == 1


@pytest.mark.parametrize("amount", [0, -1, 100_000_000])
def test_an_amount_is_more_than_nothing_and_has_eight_digits(cashier: Cashier, work: WorkContext, amount: int) -> None:
    assert refusal(lambda: move_cash(work, cashier, replace(DROP, amount=amount))) == "amount_invalid"


@pytest.mark.parametrize("reason", [" ", "x" * 201, "a\x00b", "4242 4242 4242 4242"])
def test_a_reason_is_a_line_without_a_card_number(cashier: Cashier, work: WorkContext, reason: str) -> None:
    with pytest.raises(Invalid):
        move_cash(work, cashier, replace(DROP, reason=reason))


def test_cash_is_moved_where_the_shop_takes_it_by_who_may(cashier: Cashier, work: WorkContext) -> None:
    with transaction():
        change_settings(cashier.author.site_id, {"posAllowCash": False})
    assert refusal(lambda: move_cash(work, cashier, DROP)) == "cash_disabled"
    with transaction():
        change_settings(cashier.author.site_id, {"posAllowCash": True})
    nobody = replace(cashier, agent_id=None)
    assert refusal(lambda: move_cash(work, nobody, DROP)) == "cash_movements_not_permitted"
    assert move_cash(work, replace(nobody, is_admin=True), DROP).movement.agent_id is None


def test_a_movement_belongs_to_an_open_work_session(staff: Staff, cashier: Cashier, work: WorkContext) -> None:
    without = replace(cashier, session_id=None)
    assert refusal(lambda: move_cash(work, without, DROP)) == "work_session_not_found"
    with transaction():
        sessions.close(staff.author, sessions.session_of(staff.site_id, cashier.session_id or ""), 0, "")
        db.session.query(PosJournalEntry).delete()
    assert refusal(lambda: move_cash(work, cashier, DROP)) == "work_session_closed"


def test_what_the_rate_limit_refuses_moves_nothing(cashier: Cashier, work: WorkContext) -> None:
    def too_many() -> None:
        raise TooManyRequests("Wait.", 60)

    with pytest.raises(TooManyRequests):
        move_cash(work, cashier, DROP, too_many)
    assert movements_stored() == []


def test_the_movements_of_a_session_are_listed_in_their_order(
    staff: Staff, cashier: Cashier, work: WorkContext
) -> None:
    for amount in (3, 1, 2):
        staff.author.clock.move(seconds=1)
        move_cash(work, cashier, replace(DROP, amount=amount))
    session = stored(cashier.session_id or "")
    found = movements.movements_of_session(session)
    assert [(each.amount, each.agent.display_name) for each in found] == [(n, "Tilly Till") for n in (3, 1, 2)]

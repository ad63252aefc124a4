"""The cashier of a payment, the location, and the payments that a cashier may act on."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from app.domain.pos.models import PosTransaction
from app.domain.pos.processor import AccountRef
from app.domain.shared.author import Author
from app.domain.shared.problems import NotFound
from app.extensions import db

NO_INTENT = "This location has no such payment, or it is another agent’s."


@dataclass(frozen=True, slots=True)
class Cashier:
    """A user at a location, who takes or settles payments. `location_id` is the key of the row. `agent_id` None is an
    admin who is no agent: they settle every payment of the location, and create none. `basket_id` is a basket of any
    owner that the user was found to be allowed to use."""

    author: Author
    user_id: int
    agent_id: int | None
    location_id: int
    session_id: str | None = None
    is_admin: bool = False
    basket_id: str | None = None

    def owns(self, payment: PosTransaction) -> bool:
        return payment.agent_id == self.agent_id


@dataclass(frozen=True, slots=True)
class PaymentRef:
    """The data of a payment that a call to the processor needs, read before it, so that no transaction is open
    meanwhile."""

    transaction_id: str
    ref: AccountRef
    intent_id: str
    version: int


def payment_of_intent(cashier: Cashier, intent_id: str) -> PosTransaction:
    """Return the payment of an intent of this location, whichever agent took it. Raises NotFound."""
    query = select(PosTransaction).where(
        PosTransaction.site_id == cashier.author.site_id,
        PosTransaction.location_id == cashier.location_id,
        PosTransaction.processor_intent_id == intent_id,
    )
    return _existing(db.session.scalar(query))


def own_payment_of_intent(cashier: Cashier, intent_id: str) -> PosTransaction:
    """Return the payment of an intent of this location, which must be the cashier's own unless they are an admin.
    Raises NotFound."""
    found = payment_of_intent(cashier, intent_id)
    return _existing(found if cashier.is_admin or cashier.owns(found) else None)


def ref_of(payment: PosTransaction) -> PaymentRef:
    account = AccountRef(payment.processor_account_id)
    return PaymentRef(payment.id, account, payment.processor_intent_id or "", payment.version)


def _existing(found: PosTransaction | None) -> PosTransaction:
    if found is None:
        raise NotFound(NO_INTENT, "payment_intent_not_found")
    return found

"""The cashier of a payment and the location: the payments that they may act on, and the tokens by which the SDK of a
card reader connects there, which are never stored, logged or given twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import select

from app.domain.pos.locations import account_of
from app.domain.pos.models import PosLocation, PosTransaction
from app.domain.pos.processor import AccountRef, PaymentProcessor, ProcessorError
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound
from app.domain.shared.records import existing, find_record
from app.domain.sites.settings import settings_of
from app.domain.work.context import read_afresh
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
    found = db.session.scalar(query)
    if found is None:
        raise NotFound(NO_INTENT, "payment_intent_not_found")
    return found


def own_payment_of_intent(cashier: Cashier, intent_id: str) -> PosTransaction:
    """Return the payment of an intent of this location, which must be the cashier's own unless they are an admin.
    Raises NotFound."""
    found = payment_of_intent(cashier, intent_id)
    if not cashier.is_admin and not cashier.owns(found):
        raise NotFound(NO_INTENT, "payment_intent_not_found")
    return found


def payment_of_processor(site_id: int, processor: PaymentProcessor, transaction_id: str) -> PosTransaction:
    """Return a payment of the site that was made with the processor in use. Raises NotFound and Conflict."""
    payment = existing(find_record(PosTransaction, site_id, transaction_id), "There is no such payment.")
    if payment.processor != processor.name:
        message = f"This payment was made with {payment.processor.capitalize()}, which the shop does not use now."
        raise Conflict(message)
    return payment


def ref_of(payment: PosTransaction) -> PaymentRef:
    account = AccountRef(payment.processor_account_id)
    return PaymentRef(payment.id, account, payment.processor_intent_id or "", payment.version)


@contextmanager
def errors_about(transaction_id: str) -> Iterator[None]:
    """Add the transaction's id to errors of the processor, so that a client can look at it."""
    try:
        yield
    except ProcessorError as error:
        error.details = {**error.details, "transactionId": transaction_id}
        raise


@dataclass(frozen=True, slots=True)
class ConnectionToken:
    account_id: str
    secret: str = field(repr=False)


def connection_token(processor: PaymentProcessor, cashier: Cashier) -> ConnectionToken:
    """Return a new token for a card reader at the cashier's location. Call it outside a transaction. Raises
    ProcessorError."""
    location = db.session.get_one(PosLocation, cashier.location_id)
    account_id = account_of(location.processor_account_id, settings_of(location.site_id))
    location_id = location.location_id
    read_afresh()
    return ConnectionToken(account_id, processor.create_connection_token(AccountRef(account_id), location_id))

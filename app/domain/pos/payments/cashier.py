"""The cashier of a payment and the location: on which terms they take payments and which they may act on, and the
tokens by which the SDK of a card reader connects there, which are never stored, logged or given twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select

from app.domain.orders.models import Order
from app.domain.pos.locations import account_of
from app.domain.pos.models import PosAgent, PosLocation, PosTransaction
from app.domain.pos.processor import AccountRef, PaymentProcessor, ProcessorError
from app.domain.pos.rules import AgentTerms, SiteTerms, check_permission
from app.domain.pos.states import CASH
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Forbidden, NotFound
from app.domain.shared.records import existing, find_record
from app.domain.sites.settings import SiteSettings, settings_of
from app.domain.sites.sites import currency_of
from app.domain.work.context import read_afresh
from app.extensions import db

QUICK_PAYMENT, ORDER_PAYMENT = "QUICK_PAYMENT", "ORDER_PAYMENT"
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


@dataclass(frozen=True, slots=True)
class PaymentTerms:
    """What holds for the payments of a cashier: the terms of the site and of the agent, and the settings that the
    site's were read from."""

    site: SiteTerms
    agent: AgentTerms
    settings: SiteSettings

    def check_purpose(self, is_for_order: bool) -> None:
        """Check the permission for a payment of an order, or without one. Raises Forbidden."""
        check_permission(self.site, self.agent, is_for_order)

    def currency_of(self, requested: str | None) -> str:
        """Return the currency of a payment for which a client gave one, None for the site's."""
        return self.site.currency if requested is None else requested.lower()


def terms_of(cashier: Cashier) -> PaymentTerms:
    """Return the terms of a cashier. Raises Forbidden for an admin who is no agent."""
    agent = db.session.get(PosAgent, cashier.agent_id) if cashier.agent_id else None
    if agent is None:
        raise Forbidden("You are not set up as an agent of this shop. Ask an admin.", "agent_required")
    settings = settings_of(cashier.author.site_id)
    return PaymentTerms(site_terms(cashier.author.site_id, settings), agent_terms(agent), settings)


def site_terms(site_id: int, settings: SiteSettings) -> SiteTerms:
    return SiteTerms(
        currency=currency_of(site_id),
        allows_quick_payments=settings["posAllowQuickPayments"],
        max_amount=settings["posMaxTransactionAmount"],
        allows_cash=settings["posAllowCash"],
        cash_rounding=settings["posCashRounding"],
        allows_tips=settings["posTipsEnabled"],
    )


def agent_terms(agent: PosAgent) -> AgentTerms:
    return AgentTerms(
        can_process_quick_payments=agent.can_process_quick_payments,
        can_build_orders=agent.can_build_orders,
        max_amount=agent.max_transaction_amount,
        can_take_cash=agent.can_take_cash,
    )


def new_payment(
    cashier: Cashier, transaction_id: str, order: Order | None, amount: int, currency: str, **more: Any
) -> PosTransaction:
    """Return the record of a payment that a cashier begins or took, to be stored; `more` are its other columns."""
    now = cashier.author.now()
    columns = {
        "id": transaction_id,
        "site_id": cashier.author.site_id,
        "agent_id": cashier.agent_id,
        "location_id": cashier.location_id,
        "session_id": cashier.session_id,
        "type": QUICK_PAYMENT if order is None else ORDER_PAYMENT,
        "order_id": order.id if order else None,
        "order_number": str(order.number) if order and order.number else None,
        "amount_in_pence": amount,
        "currency": currency,
        "created_at": now,
        "updated_at": now,
    }
    return PosTransaction(**columns | more)


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


def transaction_of(cashier: Cashier, transaction_id: str, to_change: bool = False) -> PosTransaction:
    """Return a payment of this location by the id of its transaction; `to_change` locks it. Raises NotFound."""
    found = find_record(PosTransaction, cashier.author.site_id, transaction_id, to_change)
    if found is None or found.location_id != cashier.location_id:
        raise NotFound("This location has no such payment.", "transaction_not_found")
    return found


def payment_of_processor(site_id: int, processor: PaymentProcessor, transaction_id: str) -> PosTransaction:
    """Return a payment of the site that was made with the processor in use. Raises NotFound and Conflict."""
    payment = existing(find_record(PosTransaction, site_id, transaction_id), "There is no such payment.")
    if payment.tender_type == CASH:
        raise Conflict("This payment was made in cash, so the payment processor knows nothing of it.")
    check_processor(payment, processor)
    return payment


def check_processor(payment: PosTransaction, processor: PaymentProcessor) -> None:
    """Check that a card payment was made with the processor in use. Raises Conflict."""
    if payment.processor != processor.name:
        message = f"This payment was made with {payment.processor.capitalize()}, which the shop does not use now."
        raise Conflict(message)


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

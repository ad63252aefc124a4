"""The shop's records of a person, what becomes of each when the person is erased, and why the rest stays. They are
erased in this order: orders come after the records that are found by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, and_, case, false, or_, select
from sqlalchemy.sql.elements import ColumnElement as Expression

from app.domain.orders.models import Order, OrderLine, OrderMail
from app.domain.personal_data.people import Person, has_address
from app.domain.pos.journal_models import PosJournalMail
from app.domain.pos.models import (
    PosAgent,
    PosCashMovement,
    PosIdempotencyKey,
    PosReceiptMail,
    PosRefund,
    PosSession,
    PosTransaction,
    StoredProcessorEvent,
)
from app.domain.sites.models import (
    AccountMail,
    ApiSession,
    PersonalToken,
    RecoveryCode,
    RoleGrant,
    SecondFactor,
    SignInFailure,
    SignInPasskey,
    SignInSession,
    User,
    UserDevice,
    UserPasskey,
)
from app.domain.sites.throttle import names_account
from app.domain.taxonomy.models import TaxonomyDraft

ERASED = "Erased"
REMOVED = None  # In place of the values to write: the records are deleted.
Values = Mapping[str, Any]
LEDGER = "Amounts, dates, and the brand and last four digits of the card are kept for accounting."


@dataclass(frozen=True, slots=True)
class Holding:
    """Records of one kind about a person: those that meet `which`, exported with their `columns`. `erased` returns the
    values that an erasure writes over them, None where it deletes them; `becomes` says so in a sentence, with the
    reason for what stays. `stays`: an erasure leaves them as they are."""

    name: str
    title: str
    model: type[Any]
    which: Callable[[Person], ColumnElement[bool]]
    columns: tuple[str, ...]
    becomes: str
    erased: Callable[[Person], Values] | None = REMOVED
    stays: bool = field(default=False)

    def expressions(self) -> list[Expression[Any]]:
        return [getattr(self.model, name) for name in self.columns]


def _of_user(column: Any) -> Callable[[Person], ColumnElement[bool]]:
    return lambda person: column == person.account.user_id if person.account else false()


def _unchanged(_person: Person) -> Values:
    return {}


def _receipt_mails(person: Person) -> ColumnElement[bool]:
    mine: ColumnElement[bool] = PosReceiptMail.transaction_id.in_(person.payment_ids)
    if person.email:
        mine = or_(mine, has_address(PosReceiptMail.email, person.email))
    return and_(PosReceiptMail.site_id == person.site_id, mine)


def _order_mails(person: Person) -> ColumnElement[bool]:
    mine: ColumnElement[bool] = OrderMail.order_id.in_(person.order_ids)
    if person.email:
        mine = or_(mine, has_address(OrderMail.email, person.email))
    return and_(OrderMail.site_id == person.site_id, mine)


def _processor_events(person: Person) -> ColumnElement[bool]:
    intents = select(PosTransaction.processor_intent_id).where(
        person.payments, PosTransaction.processor_intent_id.is_not(None)
    )
    return and_(StoredProcessorEvent.intent_id.in_(intents), StoredProcessorEvent.processed_at.is_not(None))


def _payments_taken(person: Person) -> ColumnElement[bool]:
    if person.account is None:
        return false()
    agents = select(PosAgent.id).where(PosAgent.user_id == person.account.user_id)
    return PosTransaction.agent_id.in_(agents)


def _cash_moved(person: Person) -> ColumnElement[bool]:
    if person.account is None:
        return false()
    return PosCashMovement.agent_id.in_(select(PosAgent.id).where(PosAgent.user_id == person.account.user_id))


def _idempotency_keys(person: Person) -> ColumnElement[bool]:
    mine: ColumnElement[bool] = PosIdempotencyKey.record_id.in_(person.payment_ids)
    if person.account:
        mine = or_(mine, PosIdempotencyKey.user_id == person.account.user_id)
    return mine


def _attempts(person: Person) -> ColumnElement[bool]:
    return names_account(person.email) if person.email else false()


def _closed_account(person: Person) -> Values:
    assert person.account is not None, "only an account that was found is closed"
    return {
        "email": f"erased-{person.account.user_id}@erased.invalid",
        "display_name": person.account.pseudonym,
        "password_hash": None,
        "enabled": False,
        "session_version": User.session_version + 1,
    }


def _closed_agent(person: Person) -> Values:
    assert person.account is not None, "only an account that was found has agents"
    return {"display_name": person.account.pseudonym, "enabled": False, "revision": PosAgent.revision + 1}


HOLDINGS: tuple[Holding, ...] = (
    Holding(
        "receipts",
        "Receipts by email",
        PosReceiptMail,
        _receipt_mails,
        ("transaction_id", "email", "state", "created_at", "finished_at"),
        "The address and the link to the receipt are removed.",
        lambda _person: {"email": None, "link": ""},
    ),
    Holding(
        "orderMails",
        "Emails about orders",
        OrderMail,
        _order_mails,
        ("order_id", "kind", "email", "state", "created_at", "finished_at"),
        "The address is removed.",
        lambda _person: {"email": None},
    ),
    Holding(
        "accountMails",
        "Emails with a link to set a password",
        AccountMail,
        _of_user(AccountMail.user_id),
        ("kind", "email", "state", "created_at", "finished_at"),
        "The address is removed, and the link stops working.",
        lambda _person: {"email": None},
    ),
    Holding(
        "journalMails",
        "Mails of the till’s journal",
        PosJournalMail,
        lambda person: and_(
            PosJournalMail.site_id == person.site_id,
            has_address(PosJournalMail.email, person.email) if person.email else false(),
        ),
        ("sequence", "email", "state", "created_at", "finished_at"),
        "The address is removed.",
        lambda _person: {"email": None},
    ),
    Holding(
        "refunds",
        "Refunds",
        PosRefund,
        lambda person: PosRefund.transaction_id.in_(person.payment_ids),
        ("id", "transaction_id", "tender_type", "amount", "rounding", "status", "reason", "created_at"),
        f"The reason is removed. {LEDGER}",
        lambda _person: {"reason": ERASED},
    ),
    Holding(
        "processorEvents",
        "Messages from the payment processor",
        StoredProcessorEvent,
        _processor_events,
        ("event_id", "type", "received_at", "payload"),
        "Their content is removed; their times are kept with the payment.",
        lambda _person: {"payload": {}},
    ),
    Holding(
        "repeatedRequests",
        "Till requests, kept for a day",
        PosIdempotencyKey,
        _idempotency_keys,
        ("operation", "record_id", "status", "created_at"),
        "They contain no name or address and are deleted within a day. They prevent double payments.",
        _unchanged,
        stays=True,
    ),
    Holding(
        "payments",
        "Payments",
        PosTransaction,
        lambda person: person.payments,
        (
            *("id", "type", "order_number", "tender_type", "amount_in_pence", "tip_in_pence", "change_in_pence"),
            *("rounding_in_pence", "currency", "status", "captured_amount", "refunded_amount", "refunded_in_cash"),
            *("card_brand", "card_last4", "description", "client_metadata", "client_sale_id", "notes", "created_at"),
        ),
        f"The description and the till’s own notes are removed. {LEDGER}",
        lambda _person: {
            "description": case((PosTransaction.description == "", ""), else_=ERASED),
            "client_metadata": {},
        },
    ),
    Holding(
        "orderLines",
        "Ordered items",
        OrderLine,
        lambda person: OrderLine.order_id.in_(person.order_ids),
        ("order_id", "sku", "name", "options", "quantity", "unit_price"),
        "Kept for accounting, without the person.",
        _unchanged,
        stays=True,
    ),
    Holding(
        "orders",
        "Orders and baskets",
        Order,
        lambda person: person.orders,
        (
            *("id", "number", "channel", "status", "contact_name", "contact_email", "contact_phone", "note"),
            *("delivery_recipient", "delivery_line1", "delivery_line2", "delivery_city", "delivery_postcode"),
            *("delivery_country", "delivery_method", "delivery_price"),
            *("total", "discount", "tax", "currency", "paid_amount", "created_at", "submitted_at", "settled_at"),
        ),
        "Name, address, phone and note are removed, and the link to the order page stops working. Number, amounts, tax "
        "and dates are kept for accounting.",
        lambda _person: {
            "contact_name": ERASED,
            "contact_email": "",
            "contact_phone": "",
            "note": "",
            "delivery_recipient": "",
            "delivery_line1": "",
            "delivery_line2": "",
            "delivery_city": "",
            "delivery_postcode": "",
            "token_hash": None,
        },
    ),
    Holding(
        "paymentsTaken",
        "Payments taken at tills",
        PosTransaction,
        _payments_taken,
        ("id", "tender_type", "amount_in_pence", "tip_in_pence", "currency", "status", "created_at"),
        "Kept for accounting, with a number in place of the name.",
        _unchanged,
        stays=True,
    ),
    Holding(
        "cashMoved",
        "Cash moved at tills",
        PosCashMovement,
        _cash_moved,
        ("id", "type", "amount", "reason", "created_at"),
        "Kept for accounting, with a number in place of the name. Addresses and names in reasons are replaced.",
        _unchanged,
        stays=True,
    ),
    Holding(
        "workSessions",
        "Till sessions",
        PosSession,
        _of_user(PosSession.user_id),
        (
            *("id", "device_name", "device_id", "user_agent", "ip", "started_at", "ended_at", "end_reason"),
            *("opening_float", "counted_cash", "closing_note"),
        ),
        "Device, network address and note are removed. Times and cash are kept for the Z reports.",
        lambda _person: {"device_id": None, "device_name": None, "user_agent": "", "ip": "", "closing_note": ""},
    ),
    Holding(
        "agents",
        "Till agent",
        PosAgent,
        _of_user(PosAgent.user_id),
        (
            *("id", "display_name", "enabled", "can_refund", "can_discount", "can_take_cash", "can_move_cash"),
            *("max_transaction_amount", "created_at"),
        ),
        "The name is replaced by a number, and the agent is disabled.",
        _closed_agent,
    ),
    Holding(
        "drafts",
        "Unsaved taxonomy changes",
        TaxonomyDraft,
        _of_user(TaxonomyDraft.user_id),
        ("taxonomy_id", "base_revision", "updated_at"),
        "They are removed.",
    ),
    Holding(
        "signIns",
        "Signed-in browsers",
        SignInSession,
        _of_user(SignInSession.user_id),
        ("host", "created_at", "last_seen_at"),
        "They are signed out.",
    ),
    Holding(
        "apiSessions",
        "Signed-in programs",
        ApiSession,
        _of_user(ApiSession.user_id),
        ("device_id", "device_name", "audience", "created_at", "last_used_at", "ended_at", "ended_because"),
        "They are signed out.",
    ),
    Holding(
        "devices",
        "Devices on which they signed in",
        UserDevice,
        _of_user(UserDevice.user_id),
        ("name", "device_id", "first_seen_at", "last_seen_at"),
        "They are removed.",
    ),
    Holding(
        "passkeys",
        "Passkeys that unlock a till",
        UserPasskey,
        _of_user(UserPasskey.user_id),
        ("name", "device_id", "created_at", "last_used_at"),
        "They are removed.",
    ),
    Holding(
        "signInPasskeys",
        "Passkeys to sign in with",
        SignInPasskey,
        _of_user(SignInPasskey.user_id),
        ("name", "host", "created_at", "last_used_at"),
        "They are removed.",
    ),
    Holding(
        "secondFactor",
        "Two-step sign-in",
        SecondFactor,
        _of_user(SecondFactor.user_id),
        ("created_at",),
        "It is turned off.",
    ),
    Holding(
        "recoveryCodes",
        "Recovery codes for it",
        RecoveryCode,
        _of_user(RecoveryCode.user_id),
        ("id",),
        "They are removed.",
    ),
    Holding(
        "accessTokens",
        "Access tokens",
        PersonalToken,
        _of_user(PersonalToken.user_id),
        ("name", "created_at", "expires_at", "last_used_at", "revoked_at"),
        "They are revoked and removed.",
    ),
    Holding(
        "attempts",
        "Recent failed sign-ins",
        SignInFailure,
        _attempts,
        ("key", "at"),
        "They are removed.",
    ),
    Holding(
        "roles",
        "Roles",
        RoleGrant,
        _of_user(RoleGrant.user_id),
        ("site_id", "role"),
        "They are removed, in every shop.",
    ),
    Holding(
        "account",
        "User account",
        User,
        _of_user(User.id),
        ("id", "email", "display_name", "enabled", "created_at"),
        "It is closed permanently. Address and name are replaced by a number, and no one can sign in with it.",
        _closed_account,
    ),
)

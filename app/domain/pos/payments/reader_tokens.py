"""Tokens by which the SDK of a card reader connects: never stored, logged or given twice."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.domain.pos.merchant_accounts import account_of
from app.domain.pos.models import PosLocation
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.processor import AccountRef, PaymentProcessor
from app.domain.sites.settings import settings_of
from app.domain.work.context import read_afresh
from app.extensions import db


@dataclass(frozen=True, slots=True)
class ConnectionToken:
    account_id: str
    secret: str = field(repr=False)


def connection_token(processor: PaymentProcessor, cashier: Cashier) -> ConnectionToken:
    """Return a new token for a card reader at the cashier's location. Call it outside a transaction. Raises
    ProcessorError."""
    location = db.session.get_one(PosLocation, cashier.location_id)
    account_id, location_id = (
        account_of(location.processor_account_id, settings_of(location.site_id)),
        location.location_id,
    )
    read_afresh()
    return ConnectionToken(account_id, processor.create_connection_token(AccountRef(account_id), location_id))

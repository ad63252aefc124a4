"""Errors of the processor, as clients are given them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.domain.pos.payments import rules
from app.domain.pos.processor import KeyReused, OutcomeUnknown, ProcessorError, Rejected
from app.domain.shared.problems import DomainError

TOO_SMALL = "amount_too_small"


@contextmanager
def about(transaction_id: str) -> Iterator[None]:
    """Add the transaction to errors of the processor, so that a client can look at it."""
    try:
        yield
    except ProcessorError as error:
        error.details = {**error.details, "transactionId": transaction_id}
        raise


def refused_creation(error: ProcessorError, currency: str) -> DomainError:
    """Return the error that a client gets for a refused creation. An amount that only the processor knows to be too
    small is the client's to change. Where the key was used for another request, as by an earlier version of the shop,
    the payment may have been made."""
    if isinstance(error, KeyReused):
        unknown = OutcomeUnknown("Nobody knows yet whether this payment was begun.")
        unknown.details = error.details
        return unknown
    if isinstance(error, Rejected) and error.reason == TOO_SMALL:
        refused = rules.amount_too_small(
            "The payment processor takes no payment as small as this.", rules.minimum_of(currency)
        )
        refused.details = {**refused.details, **error.details}
        return refused
    return error

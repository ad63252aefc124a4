"""Smart readers of a location, for apps that have no card reader of their own: docs/stripe.md."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app import ports
from app.blueprints.callers import TILL_READS, rate_limited
from app.blueprints.v1.api import ANY_TEXT, ApiBlueprint, Body, Shape
from app.blueprints.v1.callers import cashier, requires_till
from app.blueprints.v1.pos_transactions import INTENT_ID
from app.domain.pos import smart_readers
from app.domain.pos.processor import Reader, ReaderActionStatus, ReaderStatus
from app.domain.shared.schema import Text
from app.operations.work_context import work_context

bp = ApiBlueprint("v1_pos_readers", __name__, url_prefix="/v1/pos/<location_id>", tag="POS")
READER = "/readers/<reader_id>"
COMMANDS = ("pos-reader", 60)  # A minute.
PROBLEMS = (401, 403, 404, 429, 502, 503, 504)


class PosReaderActionShape(Shape):
    """What the reader does, or did last."""

    type = fields.Str(required=True, metadata={"example": "process_payment_intent"})
    status = fields.Str(required=True, validate=validate.OneOf([status.value for status in ReaderActionStatus]))
    payment_intent_id = fields.Str(required=True, allow_none=True, metadata=INTENT_ID)
    failure_code = fields.Str(required=True, allow_none=True, metadata={"example": "card_declined"})
    failure_message = fields.Str(
        required=True, allow_none=True, metadata={"description": "The processor’s words, for people."}
    )


class PosReaderShape(Shape):
    id = fields.Str(required=True, metadata={"example": "tmr_Fd0t"})
    label = fields.Str(required=True, metadata={"example": "Counter"})
    device_type = fields.Str(required=True, metadata={"example": "stripe_s700"})
    status = fields.Str(
        required=True,
        validate=validate.OneOf([status.value for status in ReaderStatus]),
        metadata={"description": "As the processor last heard of it; only `process` shows whether it answers."},
    )
    action = fields.Nested(PosReaderActionShape, required=True, allow_none=True)


class PosReadersShape(Shape):
    items = fields.List(fields.Nested(PosReaderShape), required=True)


class ProcessPosPaymentIntent(Body):
    payment_intent_id = Text(
        required=True, metadata={"description": "The caller’s own payment of this location."} | INTENT_ID | ANY_TEXT
    )


def reader_json(reader: Reader) -> dict[str, Any]:
    action = reader.action
    return {
        "id": reader.id,
        "label": reader.label,
        "device_type": reader.device_type,
        "status": reader.status.value,
        "action": action
        and {
            "type": action.type,
            "status": action.status.value,
            "payment_intent_id": action.intent_id,
            "failure_code": action.failure_code,
            "failure_message": action.failure_message,
        },
    }


@bp.get("/readers")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("listPosReaders", *PROBLEMS)
@bp.response(200, PosReadersShape)
def readers() -> dict[str, Any]:
    """The smart readers of the location, none where payments are simulated."""
    return {"items": [reader_json(one) for one in smart_readers.list_readers(ports.payment_processor(), cashier())]}


@bp.get(READER)
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("getPosReader", *PROBLEMS)
@bp.response(200, PosReaderShape)
def reader(reader_id: str) -> dict[str, Any]:
    """A smart reader, with what it does or did last. Whether money was taken, only the payment shows."""
    return reader_json(smart_readers.find_reader(ports.payment_processor(), cashier(), reader_id))


@bp.post(f"{READER}/process")
@requires_till()
@rate_limited(*COMMANDS)
@bp.described("processPosPaymentIntentOnReader", *PROBLEMS, 409, 413, 415)
@bp.arguments(ProcessPosPaymentIntent)
@bp.response(200, PosReaderShape)
def process(body: dict[str, Any], reader_id: str) -> dict[str, Any]:
    """Let a smart reader collect a payment: it waits for the card from here on.

    Doing so again while it waits changes nothing; after a decline it waits for another card for the same payment.
    After a 504 it is not known whether the reader took it: read the reader and the payment, then do it again. The
    payment is charged once in any case.
    """
    taken = smart_readers.process_payment(
        work_context(), ports.payment_processor(), cashier(), reader_id, body["payment_intent_id"]
    )
    return reader_json(taken)


@bp.post(f"{READER}/cancel")
@requires_till(settles=True)
@rate_limited(*COMMANDS)
@bp.described("cancelPosReaderAction", *PROBLEMS, 409)
@bp.response(200, PosReaderShape)
def cancel(reader_id: str) -> dict[str, Any]:
    """Let a smart reader wait no longer for the card of the caller's payment, which stays open until it is cancelled
    itself. A card that is being charged is not stopped (`reader_busy`)."""
    return reader_json(smart_readers.cancel_action(ports.payment_processor(), cashier(), reader_id))

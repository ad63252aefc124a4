"""The address to which the payment processor sends its events."""

from __future__ import annotations

from typing import Any

from flask import request
from marshmallow import fields

from app import ports
from app.blueprints.v1.api import ApiBlueprint, Shape
from app.domain.pos import webhooks
from app.operations.work_context import work_context
from app.web.permissions import public

bp = ApiBlueprint("v1_webhooks", __name__, url_prefix="/v1/webhooks", tag="Webhooks")
LARGEST_EVENT = 128 * 1024  # Bytes; those about a payment have some 5,000.
EVENT = {"type": "object", "description": "An event as the processor sends it, signed in a header of its own."}


class ReceivedShape(Shape):
    """That the event was understood; the processor need not send it again."""

    received = fields.Bool(required=True)


@bp.url_value_preprocessor
def _limit_events(_endpoint: str | None, _values: dict[str, Any] | None) -> None:
    request.max_content_length = LARGEST_EVENT


@bp.post("/processor")
@public
@bp.open_to_all
@bp.described("receiveProcessorEvent", 400, 413, ignores_query=True)
@bp.doc(requestBody={"required": True, "content": {"application/json": {"schema": EVENT}}})
@bp.response(200, ReceivedShape)
def processor() -> dict[str, bool]:
    """Events of the payment processor, which signs them.

    The signature is checked on the bytes as they came. An event that is known already, or is about an account or a
    payment that this shop does not have, is answered alike, so that it is not sent again. Without a signature that
    holds, made within five minutes, the answer is `bad_signature`; what is signed and no sound event is a
    `malformed_event`. Nothing of either is stored.
    """
    webhooks.receive(work_context(), ports.payment_processor(), request.get_data(), dict(request.headers))
    return {"received": True}

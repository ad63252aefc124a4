"""Printing receipts: bytes for the network printer of a location, which browsers cannot reach."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from app import ports
from app.blueprints.callers import rate_limited
from app.blueprints.v1.api import ApiBlueprint, Body
from app.blueprints.v1.callers import requires_till, till
from app.domain.pos.printing import print_at
from app.domain.pos.receipt_printer import LARGEST_JOB
from app.domain.shared.problems import Invalid
from app.domain.shared.schema import Text

bp = ApiBlueprint("v1_pos_printing", __name__, url_prefix="/v1/pos/<location_id>", tag="POS")
HELLO = {"data": base64.b64encode(b"\x1b@Hello\n").decode()}


class PrintJobBody(Body):
    data = Text(
        required=True,
        metadata={
            "description": f"What is printed, such as ESC/POS, in base64: at most {LARGEST_JOB // 1024} kB.",
            "contentEncoding": "base64",
        },
    )


@bp.post("/printJobs")
@requires_till(settles=True)
@rate_limited("pos-print", 60)
@bp.described("createPosPrintJob", 401, 403, 404, 409, 413, 415, 422, 429, 502, 504)
@bp.arguments(PrintJobBody, example=HELLO)
@bp.response(204)
def print_job(body: dict[str, Any]) -> None:
    """Print at the location’s network printer.

    204: the printer took it, which may be before it is on paper. 502 `printer_unavailable`: nothing is sure to have
    been printed. 504 `printer_timeout`: a part may have been. Sending it again prints again.
    """
    location = till().location
    assert location is not None, "the address names a location"
    print_at(ports.receipt_printer(), location, _decode(body["data"]))


def _decode(text: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):  # ValueError: characters beyond ASCII.
        data = b""
    if not data:
        raise Invalid.one("invalid_base64", "Send what is to be printed in base64 (RFC 4648).", "#/data")
    return data

"""Printing at a location: its network printer, set by an admin, and the jobs that tills send to it."""

from __future__ import annotations

from app.domain.pos.locations import STALE, location_at
from app.domain.pos.models import PosLocation
from app.domain.pos.receipt_printer import (
    LARGEST_JOB,
    PrinterAddress,
    ReceiptPrinter,
    address_problems,
    read_address,
    sample_page,
)
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, StaleRevision, Unprocessable
from app.domain.sites import activity
from app.domain.sites.models import Site
from app.domain.work.context import read_afresh
from app.extensions import db


def change_printer(author: Author, location_id: str, revision: int, typed: str) -> bool:
    """Set the printer of a location, or none for an empty text; return whether it is another one. Raises NotFound,
    Invalid and StaleRevision."""
    location = location_at(author.site_id, location_id, to_change=True)
    if location.revision != revision:
        raise StaleRevision(STALE, location.revision)
    if problems := address_problems(typed):
        raise Invalid(problems)
    before, after = location.printer_address, str(read_address(typed) or "")
    if before == after:
        return False
    location.printer_address, location.updated_at = after, author.now()
    location.revision += 1
    activity.record(
        author,
        "pos_location.printer",
        ("pos_location", location.location_id[:120]),
        f"Changed the receipt printer of {location.display_name}",
        {"printerAddress": before},
        {"printerAddress": after},
    )
    return True


def print_at(printer: ReceiptPrinter, location: PosLocation, data: bytes) -> None:
    """Print bytes, which the printer understands, at a location. Call it outside a transaction. Raises Conflict
    `printer_not_set_up`, Unprocessable `print_job_too_large`, PrinterUnavailable and PrinterTimedOut."""
    if len(data) > LARGEST_JOB:
        message = f"A print job has at most {LARGEST_JOB // 1024} kB."
        raise Unprocessable(message, "print_job_too_large", maxBytes=LARGEST_JOB)
    address = _printer_of(location)
    read_afresh()
    printer.send(address, data)


def print_test_page(printer: ReceiptPrinter, site_id: int, location_id: str) -> None:
    """Print a page that shows where receipts of a location are printed. Raises NotFound and what `print_at` raises."""
    location = location_at(site_id, location_id)
    shop_name = db.session.get_one(Site, site_id).name
    print_at(printer, location, sample_page(shop_name, location.display_name))


def _printer_of(location: PosLocation) -> PrinterAddress:
    address = read_address(location.printer_address)
    if address is None:
        raise Conflict("This location has no network printer. An admin can set one up.", "printer_not_set_up")
    return address

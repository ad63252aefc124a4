"""Sales in cash that an app wrote down while it had no network: how they are read, which cannot be true, and what staff
should know of the others. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from app.domain.catalogue.product_rules import LONGEST_SKU
from app.domain.orders.basket import LONGEST_NOTE, MOST_LINES, MOST_OF_ONE
from app.domain.pos.rules import LARGEST_AMOUNT, RANDOM_ID, Limit, note_problems, round_cash
from app.domain.shared.money import format_money
from app.domain.shared.problems import Problem, Unprocessable
from app.domain.shared.schema import Many, Moment, Record, Text, Whole
from app.domain.shared.strict_json import is_sound
from app.domain.shared.text import one_line

MOST_SALES = 100  # At once.
CLOCK_SKEW = timedelta(minutes=2)  # By which the clock of a device may be ahead.
OLDEST = timedelta(days=7)
LARGEST_ROUNDING = 5  # Minor units by which an app may have rounded otherwise than the shop does now.
MOST_NAMED, LONGEST_POINTER = 5, 80  # Of the problems of one sale.
OFFLINE_LINE = Record(
    skuCode=Text(
        required=True,
        meaning="Of a product without variants, or of a variant.",
        metadata={"maxLength": LONGEST_SKU, "example": "MUG-04"},
    ),
    quantity=Whole(required=True, metadata={"minimum": 1, "maximum": MOST_OF_ONE}),
    unitPriceInPence=Whole(
        required=True,
        meaning="The price that the customer saw, in minor units.",
        metadata={"minimum": 0, "maximum": LARGEST_AMOUNT, "example": 1_250},
    ),
)
OFFLINE_SALE = Record(
    clientSaleId=Text(required=True, meaning="A UUID that the app made for the sale.", metadata={"format": "uuid"}),
    soldAt=Moment(
        required=True,
        meaning="When it was made (RFC 3339), at most seven days ago.",
        metadata={"format": "date-time", "example": "2026-11-20T21:04:05Z"},
    ),
    lines=Many(OFFLINE_LINE, MOST_LINES, required=True),
    tenderedInPence=Whole(
        allow_none=True,
        meaning="What the customer handed over, in minor units; null: exactly what was to be paid.",
        metadata={"minimum": 0, "maximum": LARGEST_AMOUNT, "example": 2_000},
    ),
    note=Text(
        allow_none=True,
        meaning="For the shop, without card numbers; one that cannot be stored is left out.",
        metadata={"maxLength": LONGEST_NOTE},
    ),
)


class NoteCode(StrEnum):
    """What staff should know of a sale that was booked as it was made."""

    PRICE_CHANGED = "price_changed"
    OUT_OF_STOCK = "out_of_stock"
    NOT_FOR_SALE = "not_for_sale"
    AMOUNT_OVER_LIMIT = "amount_over_limit"
    ROUNDING_DIFFERS = "rounding_differs"
    NOTE_LEFT_OUT = "note_left_out"


@dataclass(frozen=True, slots=True)
class SaleNote:
    code: NoteCode
    detail: str

    def as_json(self) -> dict[str, str]:
        return {"code": self.code.value, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class SoldLine:
    """A line of a sale; the price in minor units."""

    sku: str
    quantity: int
    unit_price: int


@dataclass(frozen=True, slots=True)
class OfflineSale:
    """A sale as an app wrote it down. `id` is the app's, in lower case. Money in minor units; `tendered` None is
    exactly what was to be paid. `remarks` are about what could not be stored of it."""

    id: str
    sold_at: datetime
    lines: tuple[SoldLine, ...]
    tendered: int | None = None
    note: str = ""
    remarks: tuple[SaleNote, ...] = ()

    @property
    def total(self) -> int:
        return sum(line.quantity * line.unit_price for line in self.lines)


def id_of(raw: object) -> str | None:
    """Return the id of a sale as it was sent; None where it has none or is no object."""
    found = raw.get("clientSaleId") if isinstance(raw, dict) else None
    return found if isinstance(found, str) and is_sound(found) else None


def read_sale(raw: object) -> OfflineSale:
    """Read a sale from JSON. A note that cannot be stored is left out, which a remark says. Raises Unprocessable
    `invalid_sale`, which names the first problems."""
    problems: list[Problem] = []
    if not is_sound(raw):
        raise _invalid([Problem("invalid", "A text contains NUL or half of a surrogate pair.")])
    sent = OFFLINE_SALE.read(raw, "#", problems)
    if problems := problems or _value_problems(sent):
        raise _invalid(problems)
    note = one_line(sent.get("note") or "")
    about_note = note_problems(note, "The note", LONGEST_NOTE, "#/note", required=False)
    lines = (SoldLine(line["skuCode"], line["quantity"], line["unitPriceInPence"]) for line in sent["lines"])
    sale = OfflineSale(
        id=sent["clientSaleId"].lower(),
        sold_at=datetime.fromisoformat(sent["soldAt"]).astimezone(UTC),
        lines=tuple(lines),
        tendered=sent.get("tenderedInPence"),
        note="" if about_note else note,
        remarks=tuple(SaleNote(NoteCode.NOTE_LEFT_OUT, problem.message) for problem in about_note),
    )
    if not 0 < sale.total <= LARGEST_AMOUNT:
        raise _invalid([Problem("amount_invalid", f"A sale is from 1 to {LARGEST_AMOUNT:,} in minor units.")])
    return sale


def _value_problems(sent: dict[str, Any]) -> list[Problem]:
    """Return the problems of the values of a sale whose fields have the right types."""
    problems = _line_problems(sent["lines"])
    if not RANDOM_ID.fullmatch(sent["clientSaleId"]):
        problems.append(Problem("invalid_id", "The id of a sale is a UUID with hyphens.", "#/clientSaleId"))
    if not 0 <= (sent.get("tenderedInPence") or 0) <= LARGEST_AMOUNT:
        message = f"What is handed over is from 0 to {LARGEST_AMOUNT:,} in minor units."
        problems.append(Problem("amount_invalid", message, "#/tenderedInPence"))
    return problems


def _line_problems(lines: Sequence[dict[str, Any]]) -> list[Problem]:
    if not lines:
        return [Problem("required", "There is nothing in this sale.", "#/lines")]
    problems = []
    for place, line in enumerate(lines):
        if not 1 <= line["quantity"] <= MOST_OF_ONE:
            message = f"A quantity is from 1 to {MOST_OF_ONE}."
            problems.append(Problem("invalid_quantity", message, f"#/lines/{place}/quantity"))
        if not 0 <= line["unitPriceInPence"] <= LARGEST_AMOUNT:
            message = f"A price is from 0 to {LARGEST_AMOUNT:,} in minor units."
            problems.append(Problem("amount_invalid", message, f"#/lines/{place}/unitPriceInPence"))
    return problems


def _invalid(problems: Sequence[Problem]) -> Unprocessable:
    named = [f"{problem.pointer[:LONGEST_POINTER]}: {problem.message}" for problem in problems[:MOST_NAMED]]
    return Unprocessable(" ".join(named), "invalid_sale")


def check_time(sold_at: datetime, now: datetime) -> None:
    """Check that a sale can have been made at its time. Raises Unprocessable `sale_in_future` or `sale_too_old`."""
    if sold_at > now + CLOCK_SKEW:
        raise Unprocessable("This sale is dated later than now. Check the clock of the device.", "sale_in_future")
    if sold_at < now - OLDEST:
        message = f"This sale is older than {OLDEST.days} days. Enter it by hand."
        raise Unprocessable(message, "sale_too_old")


def unknown_sku(sku: str) -> Unprocessable:
    return Unprocessable(f"The shop has nothing with the SKU “{sku[:LONGEST_SKU]}” that can be sold.", "unknown_sku")


@dataclass(frozen=True, slots=True)
class CashOfSale:
    """The cash of a sale in minor units: what was paid, rounded, and the change."""

    paid: int
    change: int
    note: SaleNote | None = None


def cash_of(sale: OfflineSale, step: int, currency: str) -> CashOfSale:
    """Return the cash of a sale where the shop rounds to `step` minor units. Less than the shop would have rounded to
    was paid where the app rounded otherwise. Raises Unprocessable `invalid_sale` where less was handed over than
    that."""
    to_pay = round_cash(sale.total, step)
    tendered = to_pay if sale.tendered is None else sale.tendered
    if tendered >= to_pay:
        return CashOfSale(to_pay, tendered - to_pay)
    handed_over, rounded = format_money(tendered, currency), format_money(to_pay, currency)
    if abs(tendered - sale.total) <= LARGEST_ROUNDING:
        detail = f"{handed_over} was handed over; the shop would have rounded to {rounded}."
        return CashOfSale(tendered, 0, SaleNote(NoteCode.ROUNDING_DIFFERS, detail))
    message = f"{handed_over} was handed over, and {rounded} was to be paid."
    raise _invalid([Problem("tendered_too_small", message, "#/tenderedInPence")])


def line_notes(line: SoldLine, price: int, is_for_sale: bool, currency: str) -> list[SaleNote]:
    """Return the notes of a line about a product that costs `price` today."""
    notes = []
    if price != line.unit_price:
        then, now = format_money(line.unit_price, currency), format_money(price, currency)
        notes.append(SaleNote(NoteCode.PRICE_CHANGED, f"{line.sku} was sold at {then} and costs {now} now."))
    if not is_for_sale:
        notes.append(SaleNote(NoteCode.NOT_FOR_SALE, f"{line.sku} is not for sale any more."))
    return notes


def shortage_notes(shortages: Sequence[str]) -> list[SaleNote]:
    return [SaleNote(NoteCode.OUT_OF_STOCK, f"Not in stock: {shortage}.") for shortage in shortages]


def limit_notes(amount: int, limit: Limit, currency: str) -> list[SaleNote]:
    """Return the note about an amount above the limit of the cashier."""
    if amount <= limit.amount:
        return []
    detail = f"The sale is {format_money(amount, currency)}; a payment here is at most "
    return [SaleNote(NoteCode.AMOUNT_OVER_LIMIT, f"{detail}{format_money(limit.amount, currency)}.")]

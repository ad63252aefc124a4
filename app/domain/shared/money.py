"""Amounts of money: integers in minor units of a currency, which people read and type in major units."""

from __future__ import annotations

import re

from app.domain.shared.problems import Invalid

LARGEST = 999_999_999  # Minor units; fits the 32-bit columns of every database.
SYMBOLS = {"gbp": "£", "eur": "€", "usd": "$", "jpy": "¥"}
# ISO 4217 gives these no minor unit, or one of a thousandth.
WITHOUT_DECIMALS = frozenset(("clp", "gnf", "isk", "jpy", "krw", "pyg", "rwf", "ugx", "vnd", "xaf", "xof", "xpf"))
WITH_THREE_DECIMALS = frozenset(("bhd", "iqd", "jod", "kwd", "lyd", "omr", "tnd"))
AMOUNT = re.compile(r"(?P<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,10})(?:\.(?P<part>[0-9]{0,3}))?", re.ASCII)


def decimals(currency: str) -> int:
    """Return the number of decimal places of a currency, an ISO 4217 code in lower case."""
    if currency in WITHOUT_DECIMALS:
        return 0
    return 3 if currency in WITH_THREE_DECIMALS else 2


def decimal_text(amount: int, currency: str) -> str:
    """Format an amount as a plain number, for forms and structured data: "12.34" for 1234 pence."""
    digits = decimals(currency)
    if digits == 0:
        return str(amount)
    sign = "-" if amount < 0 else ""
    whole, part = divmod(abs(amount), 10**digits)
    return f"{sign}{whole}.{part:0{digits}}"


def format_money(amount: int, currency: str) -> str:
    """Format an amount for people: "£1,234.50"; a currency without a symbol here shows its code, "1,234.50 SEK"."""
    whole, point, part = decimal_text(abs(amount), currency).partition(".")
    number = f"{int(whole):,}{point}{part}"
    symbol = SYMBOLS.get(currency)
    sign = "-" if amount < 0 else ""
    return f"{sign}{symbol}{number}" if symbol else f"{sign}{number} {currency.upper()}"


def parse_money(text: str, currency: str, pointer: str = "#", largest: int = LARGEST) -> int:
    """Return the minor units of a typed amount ("12", "12.5", "£1,234.50"). Raises Invalid."""
    typed = text.strip().removeprefix(SYMBOLS.get(currency, "")).strip()
    if not typed:
        raise Invalid.one("required", f"Enter an amount, such as {decimal_text(1250, currency)}.", pointer)
    found = AMOUNT.fullmatch(typed)
    digits = decimals(currency)
    if found is None or len(found["part"] or "") > digits:
        example = decimal_text(1250, currency)
        raise Invalid.one("invalid_money", f"“{text[:40]}” is not an amount; type it like {example}.", pointer)
    amount = int(found["whole"].replace(",", "") + (found["part"] or "").ljust(digits, "0"))
    if amount > largest:
        raise Invalid.one("too_large", f"The largest amount is {format_money(largest, currency)}.", pointer)
    return amount

"""Counts as pages, mails and commands say them."""

from __future__ import annotations


def numbered(number: int, noun: str, plural: str = "") -> str:
    """Format a count with its noun, "1 page" or "19,406 products"; without `plural` it takes an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"

"""The layout of mails to customers: rows of labels and values, as text and as HTML that every mail program shows.
Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

Rows = Sequence[tuple[str, str]]


def text_of(*parts: str) -> str:
    """Return the parts as one text, with a blank line between them; empty parts are left out."""
    return "\n\n".join(part for part in parts if part) + "\n"


def rows_text(rows: Rows) -> str:
    return "\n".join(f"{label}: {value}" for label, value in rows)


def rows_html(rows: Rows) -> str:
    cells = "".join(
        f'<tr><th align="left">{escape(label)}</th><td align="right">{escape(value)}</td></tr>' for label, value in rows
    )
    return f'<table cellpadding="4">{cells}</table>' if cells else ""


def link_html(address: str, words: str) -> str:
    return f'<p><a href="{escape(address)}">{escape(words)}</a></p>'


def html_of(title: str, heading: str, body: str) -> str:
    """Return a document of a heading and a body, which is HTML."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head><body>'
        f"<h1>{escape(heading)}</h1>{body}</body></html>"
    )

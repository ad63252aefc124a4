"""The layout of mails, as text and as HTML that every mail program shows: tables, styles at each element, nothing that
must be fetched but pictures. Dark screens get colours of their own where the program knows them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

LabelledRows = Sequence[tuple[str, str]]
FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif"
INK, SOFT, LINE = "#20242a", "#575d66", "#dcdfe3"
DARK = (
    ":root{color-scheme:light dark;supported-color-schemes:light dark}"
    "@media (prefers-color-scheme:dark){"
    ".ground{background:#15171b!important}.paper{background:#1c1f24!important}"
    ".ink,.ink th,.ink td{color:#e6e9ed!important}.soft{color:#a7aeb8!important}"
    ".line,.ink th,.ink td{border-color:#343941!important}.link{color:#8db8ef!important}"
    ".ink .button{border-color:#868d96!important}}"  # A dark button has an edge on dark paper.
)


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around a mail: at its head the name of the shop, or `logo`, the address of a picture of it, which
    leads `home`, with `logo_webp` for programs that read WebP, whose ground may be transparent; the `foot`
    in words. `preview` is what lists of mails show beside the subject."""

    name: str = ""
    home: str = ""
    logo: str = ""
    logo_webp: str = ""
    foot: str = ""
    preview: str = ""


def text_of(*parts: str) -> str:
    """Return the parts as one text, with a blank line between them; empty parts are left out."""
    return "\n\n".join(part for part in parts if part) + "\n"


def rows_text(rows: LabelledRows) -> str:
    return "\n".join(f"{label}: {value}" for label, value in rows)


def rows_html(rows: LabelledRows, strong: str = "") -> str:
    """Return rows as a table; the one that is labelled `strong` stands out."""
    cell = f"padding:6px 0;border-bottom:1px solid {LINE};vertical-align:top"
    cells = "".join(
        f'<tr><th align="left" style="{cell};font-weight:{700 if label == strong else 400}">{escape(label)}</th>'
        f'<td align="right" style="{cell};padding-left:16px;font-weight:{700 if label == strong else 400}">'
        f"{escape(value)}</td></tr>"
        for label, value in rows
    )
    return f'<table {TABLE} style="margin:0 0 16px">{cells}</table>' if cells else ""


def link_html(address: str, words: str) -> str:
    return f'<p style="margin:0 0 16px"><a class="link" href="{escape(address)}">{escape(words)}</a></p>'


def button_html(address: str, words: str, colour: str) -> str:
    """Return a link that looks like a button, white on the colour."""
    return (
        f'<table role="presentation" cellpadding="0" cellspacing="0" style="margin:8px 0 24px"><tr>'
        f'<td class="button" bgcolor="{escape(colour)}" style="border:1px solid {escape(colour)};border-radius:8px;'
        f'background:{escape(colour)}">'
        f'<a href="{escape(address)}" style="display:inline-block;padding:12px 24px;color:#ffffff;'
        f'font-weight:600;text-decoration:none">{escape(words)}</a></td></tr></table>'
    )


def paragraph_html(words: str) -> str:
    return f'<p style="margin:0 0 16px">{escape(words)}</p>'


def heading_html(words: str) -> str:
    return f'<h2 style="margin:24px 0 8px;font-size:17px;line-height:1.3">{escape(words)}</h2>'


TABLE = 'role="presentation" width="100%" cellpadding="0" cellspacing="0"'


def html_of(title: str, heading: str, body: str, frame: Frame = Frame()) -> str:
    """Return a document of a heading and a body, which is HTML, within its frame."""
    hidden = "display:none;max-height:0;overflow:hidden"
    preview = f'<div style="{hidden}">{escape(frame.preview)}</div>' if frame.preview else ""
    head = f'<p style="margin:0 0 20px">{_brand_html(frame)}</p>' if frame.name else ""
    small = f"padding:16px 0 0;font-size:13px;line-height:1.5;color:{SOFT}"
    foot = f'<tr><td class="soft" style="{small}">{escape(frame.foot)}</td></tr>' if frame.foot else ""
    paper = f"padding:24px;background:#ffffff;border:1px solid {LINE};border-radius:10px"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">'
        f'<style>{DARK}</style></head><body class="ground" style="margin:0;padding:0;background:#f4f5f7">{preview}'
        f'<div role="main"><table {TABLE} class="ground" style="background:#f4f5f7;{FONT}"><tr>'
        '<td align="center" style="padding:24px 12px">'
        f'<table {TABLE} style="max-width:600px;{FONT};font-size:16px;line-height:1.5;text-align:left">'
        f'<tr><td class="paper ink line" style="{paper};color:{INK}">{head}'
        f'<h1 style="margin:0 0 12px;font-size:24px;line-height:1.25">{escape(heading)}</h1>{body}</td></tr>{foot}'
        "</table></td></tr></table></div></body></html>"
    )


def _brand_html(frame: Frame) -> str:
    name = escape(frame.name)
    shown = f'<img src="{escape(frame.logo)}" alt="{name}" height="40" style="border:0">' if frame.logo else name
    if frame.logo and frame.logo_webp:
        shown = f'<picture><source type="image/webp" srcset="{escape(frame.logo_webp)}">{shown}</picture>'
    style = f"font-size:20px;font-weight:700;text-decoration:none;color:{INK}"
    return f'<a class="ink" href="{escape(frame.home)}" style="{style}">{shown}</a>'

"""Drawings of products as PNG, for mails: mail programs show no SVG."""

from __future__ import annotations

from functools import lru_cache

from resvg_py import svg_to_bytes

from app.domain.catalogue.product_drawings import drawing_at

SIDE = 160  # Pixels: mails show a third of that, and phones have three pixels for one.


def png_form(path: str) -> str:
    """Return the path at which a drawing, or a sign, is had as PNG."""
    return path.replace(".svg?", ".png?")


@lru_cache(maxsize=256)
def png_at(drawing: str, name: str) -> bytes:
    """Return the PNG of the drawing that a path names, in its colours for light surroundings. Raises NotFound for
    anything else. It takes some 25 ms, in which no other thread of the process runs."""
    svg = drawing_at(drawing, name)
    return svg_to_bytes(svg_string=svg, width=SIDE, height=SIDE, skip_system_fonts=True)

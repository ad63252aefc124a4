"""The cells of a table that name pictures: files or addresses, one or several. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

IMAGES, IMAGE_TEXTS, VARIANT_IMAGE = "images", "imageTexts", "variantImage"
# A comma or a semicolon may be part of a name or an address: it separates where a space, an address or a picture’s
# ending stands beside it. No pattern begins with blanks: a long run of them would be looked through from each one.
BETWEEN = re.compile(
    r"[|\n]|[,;]\s+|[,;](?=https?://)|(?<=[.](?:jpg|png|gif))[,;]|(?<=[.](?:jpeg|webp))[,;]", re.IGNORECASE
)
BETWEEN_TEXTS = re.compile(r"[|\n]")


def read_pictures(cells: Iterable[tuple[str, str]], of_variants: Iterable[str] = ()) -> dict[str, list[str]]:
    """Return the pictures of a product in their order, each once, and where they have any their descriptions, as the
    record of a bundle has them; nothing where no line names a picture. `cells` are those of its lines: names, and
    descriptions with a bar between where there are several names. Those `of_variants`, one a cell, follow."""
    found: dict[str, str] = {}
    for names, texts in cells:
        named = [name for part in BETWEEN.split(names) if (name := part.strip())]
        described = [text.strip() for text in BETWEEN_TEXTS.split(texts)] if len(named) > 1 else [texts]
        for place, name in enumerate(named):
            found[name] = found.get(name) or (described[place] if place < len(described) else "")
    for name in filter(None, of_variants):
        found.setdefault(name, "")
    fields = {IMAGES: [*found]} if found else {}
    return fields | ({IMAGE_TEXTS: [*found.values()]} if any(found.values()) else {})

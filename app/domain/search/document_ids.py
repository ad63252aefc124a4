"""The ids of documents in the indexes: `p123` of a product, `page:5` of a page, `collection:7` of a collection."""

from __future__ import annotations

PRODUCT, PAGE, COLLECTION = "product", "page", "collection"

Record = tuple[str, int]  # The kind, one of the above, and the id.
_PREFIXES = {PRODUCT: "p", PAGE: f"{PAGE}:", COLLECTION: f"{COLLECTION}:"}


def document_id(kind: str, record_id: int) -> str:
    return f"{_PREFIXES[kind]}{record_id}"


def product_document_id(product_id: int) -> str:
    return f"{_PREFIXES[PRODUCT]}{product_id}"


def record_of(document_id: str) -> Record | None:
    """Return the record behind a document of an index; None for an id that this shop never gives."""
    for kind, prefix in _PREFIXES.items():
        number = document_id.removeprefix(prefix)
        if number != document_id and number.isascii() and number.isdigit():
            return kind, int(number)
    return None

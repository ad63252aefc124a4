"""Names that an attribute cannot have, since addresses and the index use them for something else."""

from __future__ import annotations

PARAMETERS = ("p", "q", "sort", "pageSizeOverride", "price_min", "price_max")
BUILT_IN_FACETS = ("manufacturer", "price", "rating", "onSale", "inStock", "featured")
INDEX_NAMES = ("category", "level", "collection", "sku", "createdAt")
TRACKING = ("gclid", "gbraid", "wbraid", "dclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "_gl", "_ga")
RESERVED = frozenset(name.casefold() for name in (*PARAMETERS, *BUILT_IN_FACETS, *INDEX_NAMES, *TRACKING))


def is_reserved(attribute_id: str) -> bool:
    folded = attribute_id.casefold()
    return folded in RESERVED or folded.startswith("utm_")

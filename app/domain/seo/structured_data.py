"""Structured data of pages by schema.org, as JSON-LD."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.shared.money import decimal_text

Data = dict[str, Any]
CONTEXT = "https://schema.org"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a breadcrumb trail; `url` is absolute."""

    name: str
    url: str


@dataclass(frozen=True, slots=True)
class OfferedProduct:
    """A product in structured data. `price` in minor units of `currency`; addresses absolute."""

    name: str
    url: str
    price: int
    currency: str
    in_stock: bool
    sku: str
    brand: str = ""
    gtin: str = ""
    description: str = ""
    images: Sequence[str] = ()


def breadcrumbs(steps: Sequence[Step]) -> Data:
    """Return a BreadcrumbList, the way from the front page to where the page stands."""
    items = [
        {"@type": "ListItem", "position": position, "name": step.name, "item": step.url}
        for position, step in enumerate(steps, 1)
    ]
    return {"@context": CONTEXT, "@type": "BreadcrumbList", "itemListElement": items}


def collection_page(name: str, url: str, description: str, item_urls: Sequence[str]) -> Data:
    """Return a CollectionPage with the ItemList of its products, by their addresses only."""
    items = [{"@type": "ListItem", "position": n, "url": item} for n, item in enumerate(item_urls, 1)]
    return {
        "@context": CONTEXT,
        "@type": "CollectionPage",
        "name": name,
        "url": url,
        **({"description": description} if description else {}),
        "mainEntity": {"@type": "ItemList", "numberOfItems": len(items), "itemListElement": items},
    }


def product(offered: OfferedProduct) -> Data:
    """Return a Product with its Offer."""
    optional: Mapping[str, Any] = {
        "description": offered.description,
        "image": list(offered.images),
        "brand": {"@type": "Brand", "name": offered.brand} if offered.brand else None,
        "gtin": offered.gtin,
    }
    return {
        "@context": CONTEXT,
        "@type": "Product",
        "name": offered.name,
        "url": offered.url,
        "sku": offered.sku,
        **{name: value for name, value in optional.items() if value},
        "offers": {
            "@type": "Offer",
            "url": offered.url,
            "price": decimal_text(offered.price, offered.currency),
            "priceCurrency": offered.currency.upper(),
            "availability": f"{CONTEXT}/{'InStock' if offered.in_stock else 'OutOfStock'}",
        },
    }


def json_ld(data: Data) -> str:
    """Write structured data for a script element: nothing in it can end the element."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")

"""The report of a task, gathered batch by batch in the form in which it is stored.

`changed`, `unchanged` and `skipped` count products; `dropped` and `replaced` count, by attribute id, the products that
lost a value or got another; `lost` holds those values themselves for the first products, so that a mistake can be
fixed; `names` has the attributes' names. A key is there once there is something to say. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Report = dict[str, Any]
MOST_LISTED = 100  # Products whose lost values are kept.
LONGEST_LISTED = 1_000  # Characters of a lost value that are kept.


def count(report: Report, name: str, products: int = 1) -> None:
    if products:
        report[name] = report.get(name, 0) + products


def note_loss(
    report: Report, kind: str, product: tuple[int, str], values: Mapping[str, Any], names: Mapping[str, str]
) -> None:
    """Note that a product, given as (id, SKU), lost these values. `kind` is `dropped` or `replaced`."""
    if not values:
        return
    counts = report.setdefault(kind, {})
    for attribute_id in values:
        counts[attribute_id] = counts.get(attribute_id, 0) + 1
        report.setdefault("names", {}).setdefault(attribute_id, names.get(attribute_id, attribute_id))
    listed = report.setdefault("lost", [])
    if len(listed) < MOST_LISTED:
        product_id, sku = product
        lost = {attribute_id: _cut(value) for attribute_id, value in values.items()}
        listed.append({"productId": product_id, "sku": sku, "values": lost})


def _cut(value: Any) -> Any:
    return value[:LONGEST_LISTED] if isinstance(value, str) else value

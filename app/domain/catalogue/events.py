"""Events that the catalogue publishes for the contexts above it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProductDeleted:
    site_id: int
    product_id: int

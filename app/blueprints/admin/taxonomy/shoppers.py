"""What shoppers lose by a changed taxonomy, with the landing pages that this process knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from app import ports
from app.domain.seo.shopper_impact import ShopperImpact, shopper_impact
from app.domain.taxonomy.models import Taxonomy


def shoppers_of(taxonomy: Taxonomy, root_levels: Sequence[Mapping[str, Any]]) -> ShopperImpact:
    """Return what shoppers lose by the changed levels; without landing pages while search does not answer."""
    pages_of = partial(ports.landing_directory().of, ports.search_engine(), ports.clock())
    return shopper_impact(taxonomy, root_levels, pages_of)

"""The delivery of a site: read, saved, and brought back as it was before. Call the writing functions in a
transaction."""

from __future__ import annotations

from app.domain.delivery.declaration import COLLECTION_ONLY, Delivery, delivery_problems, describe_delivery
from app.domain.delivery.models import StoredDelivery
from app.domain.sites.site_values import Described, SavedValue, SiteValues
from app.domain.sites.sites import currency_of

SavedDelivery = SavedValue[Delivery]


def _describe(site_id: int, before: Delivery, after: Delivery) -> Described:
    """Return what differs in words, each method under its name."""
    currency = currency_of(site_id)
    old, new = describe_delivery(before, currency), describe_delivery(after, currency)
    names = [name for name in old | new if old.get(name) != new.get(name)]
    return {name: old.get(name, "") for name in names}, {name: new.get(name, "") for name in names}


DELIVERIES = SiteValues(
    StoredDelivery,
    COLLECTION_ONLY,
    "delivery",
    "how the shop delivers",
    delivery_problems,
    _describe,
)
delivery_of = DELIVERIES.of
saved_delivery = DELIVERIES.saved
read_sent = DELIVERIES.read_sent
save_delivery = DELIVERIES.save

"""How each shop delivers."""

from __future__ import annotations

from app.domain.sites.models import ShopConfiguration
from app.domain.sites.site_values import SiteValueColumns
from app.extensions import Base


class StoredDelivery(Base, ShopConfiguration, SiteValueColumns):
    """The delivery of a site that offers more than collection, or did."""

    __tablename__ = "deliveries"

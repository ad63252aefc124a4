"""How shoppers know and reach a shop: what mails and the pages of orders say of it."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.appearance.appearances import appearance_of
from app.domain.appearance.colours import accent_shades
from app.domain.catalogue.markup import MEDIA_PREFIX
from app.domain.catalogue.pictures import jpeg_form
from app.domain.sites.models import Site
from app.extensions import db

ACCENT = "#1f4f8a"


@dataclass(frozen=True, slots=True)
class ShopContact:
    """A shop as shoppers know it. `home` is the address of its home page, `address` the lines of the one where orders
    are collected, `hours` the opening hours as days and times, of which the latter may be empty, `logo` a path of the
    site, and `accent` a colour of CSS on which white is readable. What the shop does not say is empty."""

    name: str
    home: str
    address: tuple[str, ...] = ()
    hours: tuple[tuple[str, str], ...] = ()
    email: str = ""
    phone: str = ""
    logo: str = ""
    accent: str = ACCENT


def shop_contact(site_id: int) -> ShopContact:
    """Return the contact of a site, as its appearance has it."""
    site, appearance = db.session.get_one(Site, site_id), appearance_of(site_id)
    return ShopContact(
        site.name,
        f"https://{site.primary_host}/",
        address=tuple(appearance.address_lines),
        hours=tuple(appearance.hours),
        email=appearance.email,
        phone=appearance.phone,
        # Programs that show mails read no WebP.
        logo=f"{MEDIA_PREFIX}{site_id}/{jpeg_form(appearance.logo.file)}" if appearance.logo else "",
        accent=accent_shades(appearance.accent)["accent"].light if appearance.accent else ACCENT,
    )

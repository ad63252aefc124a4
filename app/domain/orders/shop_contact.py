"""How shoppers know and reach a shop: what mails and the pages of orders say of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.domain.appearance.appearances import appearance_of
from app.domain.appearance.colours import accent_shades
from app.domain.catalogue.markup import MEDIA_PREFIX
from app.domain.catalogue.pictures import jpeg_form, small_form
from app.domain.sites.models import Site
from app.domain.sites.settings import THEME, settings_of
from app.domain.work.context import https_address
from app.extensions import db

# Accents of light screens; a test compares them with the style sheets. A shop's own themes have ACCENT.
ACCENT = "#1f4f8a"
THEME_ACCENTS = {"gallery": "#17171a", "market": "#1f5c43"}


@dataclass(frozen=True, slots=True)
class ShopContact:
    """A shop as shoppers know it. `home` is the address of its home page, `address` the lines of the one where orders
    are collected, `hours` the opening hours as days and times, of which the latter may be empty, `logo` a path of the
    site, `logo_webp` that of the same picture with its transparent parts, and `accent` a colour of CSS on which white
    is readable. What the shop does not say is empty."""

    name: str
    home: str
    address: tuple[str, ...] = ()
    hours: tuple[tuple[str, str], ...] = ()
    email: str = ""
    phone: str = ""
    logo: str = ""
    logo_webp: str = ""
    accent: str = ACCENT


def shop_contact(site_id: int, address_of: Callable[[str], str] = https_address) -> ShopContact:
    """Return the contact of a site, as its appearance has it; `address_of` gives the address of its host."""
    site, appearance = db.session.get_one(Site, site_id), appearance_of(site_id)
    return ShopContact(
        site.name,
        f"{address_of(site.primary_host)}/",
        address=tuple(appearance.address_lines),
        hours=tuple(appearance.hours),
        email=appearance.email,
        phone=appearance.phone,
        # Programs that show mails read no WebP.
        logo=f"{MEDIA_PREFIX}{site_id}/{jpeg_form(appearance.logo.file)}" if appearance.logo else "",
        logo_webp=f"{MEDIA_PREFIX}{site_id}/{small_form(appearance.logo.file)}" if appearance.logo else "",
        accent=accent_shades(appearance.accent)["accent"].light if appearance.accent else _accent_of_theme(site_id),
    )


def _accent_of_theme(site_id: int) -> str:
    return THEME_ACCENTS.get(settings_of(site_id)[THEME], ACCENT)

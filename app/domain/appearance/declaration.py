"""What the appearance of a shop consists of, declared once: form, stored record, bundle, activity log and undo read the
declaration. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from app.domain.appearance.colours import background_problems, is_colour
from app.domain.appearance.fields import ColourField, LinkField, LinksField, PictureField
from app.domain.appearance.fonts import FONTS, THEME_FONT
from app.domain.appearance.sections import DEFAULT_SECTIONS, Section, SectionsField
from app.domain.catalogue.pictures import StoredImage
from app.domain.shared.problems import Problem
from app.domain.shared.record_fields import BlockField, ChoiceField, DeclaredRecord, TextField, fields_of

MOST_LINKS = 8
SITES = {
    "bsky.app": "Bluesky",
    "facebook.com": "Facebook",
    "instagram.com": "Instagram",
    "linkedin.com": "LinkedIn",
    "pinterest.com": "Pinterest",
    "threads.net": "Threads",
    "tiktok.com": "TikTok",
    "x.com": "X",
    "youtube.com": "YouTube",
}


class Corners(StrEnum):
    THEME = "theme"
    SQUARE = "square"
    SOFT = "soft"
    ROUND = "round"


class FocalPoint(StrEnum):
    """The part of a picture that stays when it is cut to the shape of the page."""

    TOP_LEFT = "top-left"
    TOP = "top"
    TOP_RIGHT = "top-right"
    LEFT = "left"
    CENTRE = "centre"
    RIGHT = "right"
    BOTTOM_LEFT = "bottom-left"
    BOTTOM = "bottom"
    BOTTOM_RIGHT = "bottom-right"


FONT_CHOICES = (THEME_FONT, *FONTS)


@dataclass(frozen=True, slots=True)
class Appearance(DeclaredRecord):
    """The appearance of a shop; what is empty is as the theme has it. `social` are addresses of other sites."""

    logo: Annotated[StoredImage | None, PictureField("logo")] = None
    favicon: Annotated[StoredImage | None, PictureField("favicon")] = None
    accent: Annotated[str, ColourField("accent colour")] = ""
    background: Annotated[str, ColourField("background")] = ""
    font: Annotated[str, ChoiceField("font", choices=FONT_CHOICES)] = THEME_FONT
    corners: Annotated[Corners, ChoiceField("corners", choices=tuple(Corners), kind=Corners)] = Corners.THEME
    hero_picture: Annotated[StoredImage | None, PictureField("picture of the hero")] = None
    hero_focus: Annotated[FocalPoint, ChoiceField("focal point", choices=tuple(FocalPoint), kind=FocalPoint)] = (
        FocalPoint.CENTRE
    )
    hero_heading: Annotated[str, TextField("heading of the hero", longest=120)] = ""
    hero_text: Annotated[str, BlockField("text of the hero", longest=400)] = ""
    hero_button: Annotated[str, TextField("button of the hero", longest=60)] = ""
    hero_link: Annotated[str, LinkField("address of the hero’s button")] = ""
    sections: Annotated[tuple[Section, ...], SectionsField("home sections")] = DEFAULT_SECTIONS
    email: Annotated[str, TextField("email address", longest=254)] = ""
    phone: Annotated[str, TextField("phone number", longest=40)] = ""
    address: Annotated[str, BlockField("address", longest=400)] = ""
    opening_hours: Annotated[str, BlockField("opening hours", longest=400)] = ""
    social: Annotated[tuple[str, ...], LinksField("social links", most=MOST_LINKS)] = ()

    @property
    def pictures(self) -> list[tuple[str, StoredImage]]:
        """Its pictures with their places, such as `logo` or `sections/2/picture`."""
        places = [("logo", self.logo), ("favicon", self.favicon), ("heroPicture", self.hero_picture)]
        places += [(f"sections/{place}/picture", section.picture) for place, section in enumerate(self.sections)]
        return [(place, picture) for place, picture in places if picture is not None]

    @property
    def files(self) -> list[str]:
        """The files of its pictures."""
        return sorted({picture.file for _, picture in self.pictures})

    @property
    def has_contact(self) -> bool:
        return bool(self.email or self.phone or self.address or self.opening_hours or self.social)

    @property
    def address_lines(self) -> list[str]:
        return self.address.splitlines()

    @property
    def phone_number(self) -> str:
        """The phone number as machines dial it; empty without a digit."""
        number = "".join(sign for sign in self.phone if sign.isascii() and (sign.isdigit() or sign == "+"))
        return number if number.strip("+") else ""

    @property
    def social_links(self) -> list[tuple[str, str]]:
        """The names of other sites, with the addresses there."""
        return [(_name_of_site(address), address) for address in self.social]

    @property
    def hours(self) -> list[tuple[str, str]]:
        """The opening hours line by line: days, and the hours behind the first colon; empty where a line has none."""
        parts = (line.partition(":") for line in self.opening_hours.splitlines() if line.strip())
        return [(days.strip(), hours.strip()) for days, _, hours in parts]


UNCHANGED = Appearance()  # All as the theme has it.


def _name_of_site(address: str) -> str:
    host = (urlsplit(address).hostname or address).removeprefix("www.")
    return SITES.get(host, host)


def appearance_problems(appearance: Appearance) -> list[Problem]:
    """Return all problems of an appearance that is tidied."""
    found = [problem for each in fields_of(Appearance) for problem in each.problems(getattr(appearance, each.name))]
    return [*found, *_further_problems(appearance)]


def _further_problems(appearance: Appearance) -> Iterator[Problem]:
    if is_colour(appearance.background):
        yield from background_problems(appearance.background, "#/background")
    if appearance.hero_button and not appearance.hero_link:
        yield Problem("required", "The hero’s button must lead somewhere: give its address.", "#/heroLink")
    if appearance.hero_link and not appearance.hero_button:
        yield Problem("required", "The hero’s button has no label.", "#/heroButton")
    if appearance.email and not _is_mail_address(appearance.email):
        message = f"“{appearance.email[:60]}” is not an email address."
        yield Problem("invalid_email", message, "#/email")


def _is_mail_address(text: str) -> bool:
    name, sign, host = text.partition("@")
    return bool(name and sign and "." in host) and not any(each.isspace() or each in '<>"@' for each in name + host)

"""The kinds of fields that an appearance alone has: colours, pictures, links. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from app.domain.appearance.colours import is_colour, normal_colour
from app.domain.catalogue.pictures import LONGEST_SIDE, StoredImage
from app.domain.shared.addresses import url_problems
from app.domain.shared.problems import Problem
from app.domain.shared.record_fields import ListField, RecordField, TextField
from app.domain.shared.schema import One, Record, Strict, Text, Whole

PICTURE_FILE = re.compile(r"[0-9a-f]{32}\.webp", re.ASCII)
PICTURE = Record(file=Text(required=True), width=Whole(required=True), height=Whole(required=True))
MAIL = re.compile(r"(mailto:[^\s@]+@[^\s@]+|tel:[+0-9 ()-]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class ColourField(TextField):
    """A colour as `#rrggbb`; empty for that of the theme."""

    def tidy(self, value: str | None) -> str:
        return normal_colour(value or "")

    def problems(self, value: str | None) -> list[Problem]:
        if not value or is_colour(value):
            return []
        message = f"The {self.label} must be a colour such as #1f5c43, not “{value[:20]}”."
        return [Problem("invalid_colour", message, f"#/{self.key}")]


@dataclass(frozen=True, slots=True)
class PictureField(RecordField):
    """A stored picture, None without one. In a form it is a text: its file, width and height, with spaces between."""

    json_type: ClassVar[Any] = dict[str, Any] | None

    def schema(self) -> Strict:
        return One(PICTURE, allow_none=True)

    def of_json(self, raw: Mapping[str, Any] | None) -> StoredImage | None:
        return StoredImage(raw["file"], raw["width"], raw["height"]) if raw else None

    def as_json(self, value: StoredImage | None) -> dict[str, Any] | None:
        return {"file": value.file, "width": value.width, "height": value.height} if value else None

    def problems(self, value: StoredImage | None) -> list[Problem]:
        if value is None or (PICTURE_FILE.fullmatch(value.file) and _is_side(value.width) and _is_side(value.height)):
            return []
        return [Problem("unknown_picture", f"The {self.label} is no picture of this shop.", f"#/{self.key}")]

    def describe(self, raw: Mapping[str, Any] | None, zone: ZoneInfo) -> dict[str, Any]:
        return {self.label: raw["file"] if raw else ""}


def _is_side(pixels: int) -> bool:
    return 0 < pixels <= LONGEST_SIDE


def typed_picture(text: str) -> dict[str, Any] | None:
    """Return a picture as JSON, of the text that a form has for it; None for a text that is none."""
    parts = text.split(" ")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) < 6 for part in parts[1:]):
        return None
    return {"file": parts[0], "width": int(parts[1]), "height": int(parts[2])}


@dataclass(frozen=True, slots=True)
class LinkField(TextField):
    """A path of the shop or an address; empty without one."""

    def tidy(self, value: str | None) -> str:
        return (value or "").strip()

    def problems(self, value: str | None) -> list[Problem]:
        return _link_problems(value, f"The {self.label}", f"#/{self.key}") if value else []


@dataclass(frozen=True, slots=True)
class LinksField(ListField):
    """Addresses of other sites, at most `most`."""

    most: int = 0

    def tidy(self, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(link.strip() for link in value if link.strip()))

    def problems(self, value: tuple[str, ...]) -> list[Problem]:
        pointer = f"#/{self.key}"
        if len(value) > self.most:
            return [Problem("too_many", f"There may be {self.most} {self.label} at most.", pointer)]
        return [problem for link in value for problem in _address_problems(link, pointer)]


def _link_problems(link: str, label: str, pointer: str) -> list[Problem]:
    return [] if MAIL.fullmatch(link) and len(link) <= 200 else url_problems(link, label, pointer)


def _address_problems(link: str, pointer: str) -> list[Problem]:
    if link.startswith("/"):
        return [Problem("invalid_link", f"“{link[:60]}” must begin with https://.", pointer)]
    return url_problems(link, f"“{link[:60]}”", pointer)

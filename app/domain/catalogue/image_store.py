"""The port to where pictures are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

LARGEST_UPLOAD = 5 * 1024 * 1024  # Bytes.
MOST_PIXELS = 25_000_000
LONGEST_SIDE = 1_600  # Pixels; larger pictures are scaled down to it.
# The smaller forms of a picture by name, with their longest sides: thumbs, cards, and pages on phones.
FORMS = {"tiny": 240, "small": 480, "medium": 960}
JPEG_SIDE = 960  # Of the one JPEG, for programs that read no WebP: old browsers, previews of links.


@dataclass(frozen=True, slots=True)
class StoredImage:
    """A kept picture. `file` is a name without folders, made from its content; sizes are in pixels."""

    file: str
    width: int
    height: int


def form(file: str, name: str) -> str:
    """The file that holds a form of a kept picture, by its name in FORMS."""
    stem, point, suffix = file.rpartition(".")
    return f"{stem}-{name}{point}{suffix}"


def small(file: str) -> str:
    """The small form of a kept picture, for lists and cards."""
    return form(file, "small")


def jpeg(file: str) -> str:
    """The JPEG beside a kept picture, by the name or address of the picture or of a form of it."""
    folder, slash, name = file.rpartition("/")
    return f"{folder}{slash}{name.partition('.')[0].partition('-')[0]}.jpg"


def scaled(width: int, height: int, longest_side: int) -> tuple[int, int]:
    """The size of a picture with at most that longest side; a smaller one stays as it is."""
    factor = min(1.0, longest_side / max(width, height))
    return max(1, round(width * factor)), max(1, round(height * factor))


def srcset(url: str, width: int, height: int) -> str:
    """The forms of a picture by their widths in pixels, as the attribute `srcset` of HTML names them; empty for a
    picture that has no smaller form."""
    smaller = [(form(url, name), side) for name, side in FORMS.items() if side < max(width, height)]
    sizes = [(file, scaled(width, height, side)[0]) for file, side in smaller]
    return ", ".join(f"{file} {pixels}w" for file, pixels in [*sizes, (url, width)]) if smaller else ""


class ImageStore(Protocol):
    def receive(self, site_id: int, data: bytes) -> str:
        """Put an upload aside, after a look at no more than its size and header, and return its name. Raises Invalid,
        as `keep` does."""
        ...

    def received(self, site_id: int, name: str) -> bytes:
        """Return what was put aside. Raises NotFound."""
        ...

    def drop(self, site_id: int, name: str) -> None:
        """Remove what was put aside."""
        ...

    def keep(self, site_id: int, data: bytes) -> StoredImage:
        """Check and keep an upload together with its smaller forms; the same picture twice is kept once. What is kept
        was drawn anew, so nothing that describes or follows the picture survives; only a WebP that consists of nothing
        but one picture is kept as it is. A machine decodes two at a time, so this may wait. Raises Invalid, saying
        why, for what is not a JPEG, PNG, WebP or GIF of at most LARGEST_UPLOAD and MOST_PIXELS."""
        ...

    def try_out(self, site_id: int, data: bytes) -> StoredImage:
        """Return what `keep` would, and raise what it would; nothing is kept."""
        ...

    def read(self, site_id: int, file: str) -> bytes:
        """A picture, a form of it, where that form was never made the next larger one, or its JPEG. Raises NotFound."""
        ...

    def add_forms(self, site_id: int, file: str) -> int:
        """Make the smaller forms that a kept picture has not got yet, as those that were kept before there were so
        many; how many were made. Raises NotFound, and Invalid for a file that is no picture any more."""
        ...

    def files(self, site_id: int) -> list[tuple[str, float]]:
        """Every kept picture, smaller forms apart, with the time of its writing in seconds since 1970."""
        ...

    def discard(self, site_id: int, file: str, written_before: float) -> bool:
        """Remove a picture and its smaller forms, unless it was kept anew since that moment (seconds since 1970).
        Whether it went; nothing happens when it is not there."""
        ...

    def clear(self, site_id: int, written_before: float) -> None:
        """Remove what was put aside before that moment, and what uploads that broke off left behind."""
        ...

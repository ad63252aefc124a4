"""The port to the store of pictures."""

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
    """A stored picture. `file` is a name without folders, made from its content; sizes are in pixels."""

    file: str
    width: int
    height: int


def form(file: str, name: str) -> str:
    """Return the file name of a form of a stored picture; `name` is one of FORMS."""
    stem, point, suffix = file.rpartition(".")
    return f"{stem}-{name}{point}{suffix}"


def small(file: str) -> str:
    """Return the file name of the small form of a stored picture, for lists and cards."""
    return form(file, "small")


def jpeg(file: str) -> str:
    """Return the JPEG of a stored picture, by the name or address of the picture or of a form of it."""
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
        """Store an upload for later, checked by its size and header alone, and return its name. Raises Invalid, as
        `keep` does."""
        ...

    def received(self, site_id: int, name: str) -> bytes:
        """Return a received upload. Raises NotFound."""
        ...

    def drop(self, site_id: int, name: str) -> None:
        """Remove a received upload."""
        ...

    def keep(self, site_id: int, data: bytes) -> StoredImage:
        """Check and store an upload together with its smaller forms; the same picture twice is stored once. Pictures
        are encoded anew, so that nothing but the picture survives; only what this store has encoded itself, for any
        site, is stored as it is. A machine decodes two at a time, so this may wait. Raises Invalid, saying why, for
        what is not a JPEG, PNG, WebP or GIF of at most LARGEST_UPLOAD and MOST_PIXELS."""
        ...

    def try_out(self, site_id: int, data: bytes) -> StoredImage:
        """Return what `keep` would, and raise what it would; nothing is kept."""
        ...

    def read(self, site_id: int, file: str) -> bytes:
        """Return a picture, a form of it or its JPEG; instead of a form that was never made the next larger one. Raises
        NotFound."""
        ...

    def add_forms(self, site_id: int, file: str) -> int:
        """Make the smaller forms that a stored picture lacks, as older ones do; return how many. Raises NotFound, and
        Invalid for a file that is no picture any more."""
        ...

    def files(self, site_id: int) -> list[tuple[str, float]]:
        """Return every stored picture, smaller forms apart, with the time of its writing in seconds since 1970."""
        ...

    def discard(self, site_id: int, file: str, written_before: float) -> bool:
        """Remove a picture and its smaller forms, unless it was stored anew since that moment (seconds since 1970);
        return whether it was removed. Nothing happens when there is none."""
        ...

    def clear(self, site_id: int, written_before: float) -> None:
        """Remove uploads received before that moment, and what uploads that broke off left behind."""
        ...

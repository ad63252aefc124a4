"""The port to where pictures are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

LARGEST_UPLOAD = 5 * 1024 * 1024  # Bytes.
MOST_PIXELS = 25_000_000
LONGEST_SIDE = 1_600  # Pixels; larger pictures are scaled down to it.
LONGEST_SMALL_SIDE = 480


@dataclass(frozen=True, slots=True)
class StoredImage:
    """A kept picture. `file` is a name without folders, made from its content; sizes are in pixels."""

    file: str
    width: int
    height: int


def small(file: str) -> str:
    """The file that holds the small form of a kept picture, for lists and cards."""
    stem, point, suffix = file.rpartition(".")
    return f"{stem}-small{point}{suffix}"


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
        """Check and keep an upload together with its small form; the same picture twice is kept once. What is kept
        was drawn anew, so nothing that describes or follows the picture survives; only a WebP that consists of nothing
        but one picture is kept as it is. A machine decodes two at a time, so this may wait. Raises Invalid, saying
        why, for what is not a JPEG, PNG, WebP or GIF of at most LARGEST_UPLOAD and MOST_PIXELS."""
        ...

    def read(self, site_id: int, file: str) -> bytes:
        """Raises NotFound."""
        ...

    def files(self, site_id: int) -> list[tuple[str, float]]:
        """Every kept picture, small forms apart, with the time of its writing in seconds since 1970."""
        ...

    def discard(self, site_id: int, file: str, written_before: float) -> bool:
        """Remove a picture and its small form, unless it was kept anew since that moment (seconds since 1970).
        Whether it went; nothing happens when it is not there."""
        ...

    def clear(self, site_id: int, written_before: float) -> None:
        """Remove what was put aside before that moment, and what uploads that broke off left behind."""
        ...

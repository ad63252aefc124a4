"""The port to where the files of pictures lie. Pure: what the files hold is the matter of `image_store`.

A file has a name without folders and belongs to a site. Files are written whole or not at all, and are not changed
afterwards but by a write of the same name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from app.domain.shared.problems import DomainError

RECEIVED = ".upload"  # The ending of uploads that wait to be drawn anew.
PART = ".part"  # The ending of what a write that broke off left behind, where the storage has such.
TRY_AGAIN_AFTER = 10  # Seconds.


class PicturesUnavailable(DomainError):
    """The storage of pictures does not answer, or refuses. `reason` is for the owner: it names no secret."""

    code = "pictures_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The storage of pictures cannot be used: {reason}.")
        self.reason = reason

    @property
    def sentence(self) -> str:
        return f"{self.reason[:1].upper()}{self.reason[1:]}."


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in the storage. `written_at` is in seconds since 1970, by the clock of the storage."""

    name: str
    written_at: float
    bytes: int


class PictureStorage(Protocol):
    """Every method raises PicturesUnavailable where the storage is another machine that does not answer or refuses, and
    OSError where a disk does. `is_shared`: other machines of the shop reach it, too."""

    @property
    def is_shared(self) -> bool: ...

    def read(self, site_id: int, name: str) -> bytes | None:
        """Return the contents of a file; None where there is none."""
        ...

    def write(self, site_id: int, name: str, data: bytes) -> None:
        """Write a file durably, whole or not at all, in the place of one that has the name."""
        ...

    def renew(self, site_id: int, name: str, data: bytes) -> None:
        """Date a stored file as written now. `data` are its contents."""
        ...

    def written_at(self, site_id: int, name: str) -> float | None:
        """Return when a file was written, in seconds since 1970; None where there is none."""
        ...

    def files(self, site_id: int) -> Iterator[StoredFile]:
        """Yield the files of a site in any order, those that are removed meanwhile perhaps left out."""
        ...

    def sites(self) -> list[int]:
        """Return the sites that have or had files."""
        ...

    def remove(self, site_id: int, name: str) -> None:
        """Remove a file. Nothing happens where there is none."""
        ...

    def check(self) -> None:
        """Check that the storage answers and lets the shop in."""
        ...

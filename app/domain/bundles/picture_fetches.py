"""The pictures at addresses that an import of a table names: fetched once, unless the product has them from there
already. A dry run fetches none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from sqlalchemy import select

from app.domain.catalogue.models import Product, ProductImage
from app.domain.catalogue.picture_source import PictureNotFetched, PictureSource, host_of_address
from app.domain.catalogue.pictures import StoredImage
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid
from app.extensions import db

NOT_FETCHED = "address_not_fetched"
MOST_FETCHED = 2_000  # That the shop stores, in one import: other work waits for the same worker, …
BUDGET = 600.0  # … which ends a job after an hour. Seconds from the first that is fetched.
MOST_REMEMBERED = 20_000  # Addresses with their pictures, of one import.
MOST_SILENT = 3  # Answers that a host owes, before no more is requested of it.
WILL_BE_FETCHED = (
    "Pictures at addresses are fetched by the import, not by the preview. Those that cannot be fetched are named then."
)
MORE_LEFT = (
    f"One import takes at most {MOST_FETCHED:,} pictures from addresses, and fetches for {BUDGET / 60:.0f} minutes. "
    "Import the same file again for the others."
)


class NotYetFetched(Exception):
    """Raised for a picture that one import more has to fetch."""


@dataclass(slots=True)
class PictureFetches:
    """The fetching of one import. `awaited`: a picture would have been fetched, were this no dry run; `is_full`: one
    was left for the next import."""

    source: PictureSource
    clock: Clock
    awaited: bool = False
    is_full: bool = False
    _began: float | None = None
    _fetched: int = 0
    _silent: Counter[str] = field(default_factory=Counter)
    _known: dict[str, StoredImage] = field(default_factory=dict)

    def know(self, site_id: int, sku: str, addresses: Collection[str]) -> set[str]:
        """Look up which of the addresses a product has its pictures from, and return the files of all its pictures."""
        of_product = Product.site_id == site_id, Product.sku == sku
        columns = ProductImage.source, ProductImage.file, ProductImage.width, ProductImage.height
        query = select(*columns).join(Product, Product.id == ProductImage.product_id).where(*of_product)
        files: set[str] = set()
        for source, file, width, height in db.session.execute(query):
            files.add(file)
            if source in addresses:
                self.remember(source, StoredImage(file, width, height))
        return files

    def note_stored(self, address: str, image: StoredImage) -> None:
        """Note the picture that was fetched from an address and stored: only such count, so that those which cannot be
        had do not keep the others out of one import after another."""
        self._fetched += 1
        self.remember(address, image)

    def remember(self, address: str | None, image: StoredImage) -> None:
        if address is not None and len(self._known) < MOST_REMEMBERED:
            self._known[address] = image

    def stored(self, address: str) -> StoredImage | None:
        """Return the picture that was stored from an address, None for one that is to be fetched."""
        return self._known.get(address)

    def preview(self, address: str) -> StoredImage:
        """Return what stands for a picture that is to be fetched. Raises Invalid for an address that never could be."""
        try:
            host_of_address(address)
        except PictureNotFetched as error:
            raise _not_fetched(address, error.message) from error
        self.awaited = True
        return StoredImage(address, 0, 0)

    def fetch(self, address: str) -> bytes:
        """Return what is at an address. Raises Invalid, and NotYetFetched for one that is left for the next import."""
        try:
            host = host_of_address(address)
            return self._fetch(host, address)
        except PictureNotFetched as error:
            raise _not_fetched(address, error.message) from error

    def _fetch(self, host: str, address: str) -> bytes:
        if self._silent[host] >= MOST_SILENT:
            raise PictureNotFetched(f"Not tried, since {host} did not answer {MOST_SILENT} times.")
        if self._fetched >= MOST_FETCHED or self._is_over():
            self.is_full = True
            raise NotYetFetched
        try:
            data = self.source.fetch(address)
        except PictureNotFetched as error:
            self._silent[host] = self._silent[host] + 1 if error.is_silent else 0
            raise
        self._silent[host] = 0
        return data

    def _is_over(self) -> bool:
        """Whether the time for fetching is over; it begins with the first picture."""
        now = self.clock.monotonic()
        self._began = now if self._began is None else self._began
        return now - self._began >= BUDGET

    def notes(self) -> list[str]:
        """Return what people should know besides the pictures that could not be fetched."""
        return [note for note, holds in ((WILL_BE_FETCHED, self.awaited), (MORE_LEFT, self.is_full)) if holds]


def _not_fetched(address: str, reason: str) -> Invalid:
    return Invalid.one(NOT_FETCHED, f"{address[:120]}: {reason}")

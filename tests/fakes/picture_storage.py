"""A storage of pictures in memory, which fails as a test says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import time

from app.domain.catalogue.picture_storage import PicturesUnavailable, StoredFile


@dataclass
class PicturesInMemory:
    """`fault` is the reason why nothing works, "" while all does."""

    is_shared = True
    fault: str = ""
    stored: dict[tuple[int, str], tuple[bytes, float]] = field(default_factory=dict)

    def read(self, site_id: int, name: str) -> bytes | None:
        self.check()
        found = self.stored.get((site_id, name))
        return found[0] if found else None

    def write(self, site_id: int, name: str, data: bytes) -> None:
        self.check()
        self.stored[site_id, name] = data, time()

    def renew(self, site_id: int, name: str, data: bytes) -> None:
        self.write(site_id, name, data)

    def written_at(self, site_id: int, name: str) -> float | None:
        self.check()
        found = self.stored.get((site_id, name))
        return found[1] if found else None

    def files(self, site_id: int) -> Iterator[StoredFile]:
        self.check()
        for (site, name), (data, at) in list(self.stored.items()):
            if site == site_id:
                yield StoredFile(name, at, len(data))

    def sites(self) -> list[int]:
        self.check()
        return sorted({site for site, _ in self.stored})

    def remove(self, site_id: int, name: str) -> None:
        self.check()
        self.stored.pop((site_id, name), None)

    def check(self) -> None:
        if self.fault:
            raise PicturesUnavailable(self.fault)

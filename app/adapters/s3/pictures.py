"""Pictures in a bucket, in a folder per site."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

from app.adapters.s3.bucket import LIMITS, Bucket, TimeLimits
from app.config import S3Settings
from app.domain.catalogue.picture_storage import RECEIVED, StoredFile

UPLOADS = "uploads/"
KINDS = {".webp": "image/webp", ".jpg": "image/jpeg"}


class S3Pictures:
    is_shared = True

    def __init__(
        self,
        settings: S3Settings,
        limits: TimeLimits = LIMITS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._bucket = Bucket(settings, limits, monotonic)

    def read(self, site_id: int, name: str) -> bytes | None:
        return self._bucket.read(_key(site_id, name))

    def write(self, site_id: int, name: str, data: bytes) -> None:
        kind = KINDS.get(os.path.splitext(name)[1], "application/octet-stream")
        self._bucket.write(_key(site_id, name), data, kind)

    def renew(self, site_id: int, name: str, data: bytes) -> None:
        """Write it once more: a copy onto itself is refused by some storages and keeps its date at others."""
        self.write(site_id, name, data)

    def written_at(self, site_id: int, name: str) -> float | None:
        return self._bucket.written_at(_key(site_id, name))

    def files(self, site_id: int) -> Iterator[StoredFile]:
        for folder in (f"{site_id}/", f"{UPLOADS}{site_id}/"):
            for one in self._bucket.objects(folder):
                yield StoredFile(one["path"].rpartition("/")[2], one["last_modified"].timestamp(), one["size"])

    def sites(self) -> list[int]:
        found = [*self._bucket.folders(), *self._bucket.folders(UPLOADS)]
        return sorted({int(name) for name in found if name.isdecimal()})

    def remove(self, site_id: int, name: str) -> None:
        self._bucket.remove(_key(site_id, name))

    def check(self) -> None:
        self._bucket.check()


def _key(site_id: int, name: str) -> str:
    """Uploads lie apart, so that a rule of the bucket can remove those that a lost database never names again."""
    return f"{UPLOADS if name.endswith(RECEIVED) else ''}{site_id}/{name}"

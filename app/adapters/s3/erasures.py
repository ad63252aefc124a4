"""The list of erasures in a bucket: an object for each line, so that any machine adds one and reads none for it."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from app.adapters.s3.bucket import Bucket
from app.domain.catalogue.picture_storage import PicturesUnavailable

FOLDER = "erasures/"
TRIED = "erasures-check"  # The key that is written to see whether one can be.
AT_ONCE = 8


class S3Erasures:
    is_shared = True

    def __init__(self, bucket: Bucket, name: str) -> None:
        self._bucket = bucket
        self.place = f"the bucket {name}"

    def append(self, line: str) -> None:
        """Lines are named by their contents: one that is there already is written once more."""
        data = line.encode()
        with _as_disk_error():
            self._bucket.write(FOLDER + hashlib.sha256(data).hexdigest()[:32], data, "application/json")

    def lines(self) -> list[str]:
        with _as_disk_error(), ThreadPoolExecutor(AT_ONCE) as pool:
            names = [one["path"].rpartition("/")[2] for one in self._bucket.objects(FOLDER)]
            found = pool.map(lambda name: self._bucket.read(FOLDER + name), names)
            return [data.decode(errors="replace") for data in found if data is not None]

    def check(self) -> None:
        """Write an object beside the folder, where it is no line, and remove it. One that stays does no harm: who may
        not remove anything can append lines."""
        with _as_disk_error():
            self._bucket.write(TRIED, b"", "application/octet-stream")
        with suppress(PicturesUnavailable):
            self._bucket.remove(TRIED)


@contextmanager
def _as_disk_error() -> Iterator[None]:
    try:
        yield
    except PicturesUnavailable as unavailable:
        raise OSError(errno.EIO, unavailable.reason) from unavailable

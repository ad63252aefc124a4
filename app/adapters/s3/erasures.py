"""The list of erasures in a bucket: an object for each line, so that any machine adds one and reads none for it."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from app.adapters.s3.bucket import Bucket
from app.domain.catalogue.picture_storage import PicturesUnavailable

FOLDER = "erasures/"
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
        with _as_disk_error():
            self._bucket.check()


@contextmanager
def _as_disk_error() -> Iterator[None]:
    try:
        yield
    except PicturesUnavailable as unavailable:
        raise OSError(errno.EIO, unavailable.reason) from unavailable

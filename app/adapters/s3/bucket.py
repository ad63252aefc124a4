"""A bucket of S3-compatible storage, through obstore: the client in Rust that Apache Arrow maintains.

What of AWS_… stands in the environment is not read: the settings of the shop alone decide. The client's threads do not
survive a fork, and a call in the child would wait for ever, so it is refused there.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, TypeVar

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from app.config import S3Settings
from app.domain.catalogue.picture_storage import PicturesUnavailable

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import S3Credential

T = TypeVar("T")
MOST_RETRIES = 2  # Of connections that fail and of answers that say "not now".
KEYS_AT_ONCE = 1_000
PROBE = "probe"  # A key that is never written.
NO_ANSWER = "it does not answer"
_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w{1,60})</Code>", re.ASCII)


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """The limits of a call, in seconds: to connect, and for one request with its answer. No retry begins after
    `retries`. After a call that failed for want of an answer, others fail at once for `rest`: a browser that waits for
    the pictures of a page asks for no other page meanwhile."""

    connect: float = 2.0
    request: float = 10.0
    retries: float = 5.0
    rest: float = 3.0


LIMITS = TimeLimits()


class Bucket:
    """The objects below the prefix of the settings; their keys are given without it. Every method raises
    PicturesUnavailable where the storage does not answer or refuses."""

    _user: ClassVar[int | None] = None  # The process whose threads work for all clients.

    def __init__(
        self,
        settings: S3Settings,
        limits: TimeLimits = LIMITS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._limits, self._monotonic = settings, limits, monotonic
        self._prefix = f"{settings.prefix}/" if settings.prefix else ""
        self._store = _open_store(settings, limits)
        self._lock = threading.Lock()
        self._rests_until, self._reason = monotonic(), ""

    def read(self, key: str) -> bytes | None:
        """Return the contents of an object; None where there is none."""
        path = self._prefix + key
        return self._call(lambda: bytes(obstore.get(self._store, path).bytes()), is_missing=_names_no_key)

    def write(self, key: str, data: bytes, kind: str) -> None:
        """Write an object of a content type durably."""
        path, attributes = self._prefix + key, {"Content-Type": kind}
        written = self._call(lambda: obstore.put(self._store, path, data, attributes=attributes, use_multipart=False))
        if written is None:
            raise PicturesUnavailable("it answered with nothing")

    def written_at(self, key: str) -> float | None:
        """Return when an object was written, in seconds since 1970; None where there is none."""
        path = self._prefix + key
        # The answer to HEAD has no body that would say what is missing.
        found = self._call(lambda: obstore.head(self._store, path), is_missing=lambda _said: True)
        return found["last_modified"].timestamp() if found else None

    def objects(self, folder: str) -> Iterator[ObjectMeta]:
        """Yield the objects in a folder, whose name ends in a slash. Their `path` begins with the prefix."""
        pages = iter(obstore.list(self._store, self._prefix + folder, chunk_size=KEYS_AT_ONCE))
        while page := self._call(lambda: next(pages, None)):
            yield from page

    def folders(self, above: str = "") -> list[str]:
        """Return the names of the folders in a folder."""
        path = self._prefix + above
        found = self._call(lambda: obstore.list_with_delimiter(self._store, path or None)["common_prefixes"])
        return [folder.rstrip("/").rpartition("/")[2] for folder in found or ()]

    def remove(self, key: str) -> None:
        """Remove an object. Nothing happens where there is none."""
        path = self._prefix + key
        self._call(lambda: obstore.delete(self._store, path), is_missing=_names_no_key)

    def check(self) -> None:
        """Read a key that is not there: what answers as it should has the bucket, and takes the keys of the shop."""
        self.read(PROBE)

    def _call(self, request: Callable[[], T], is_missing: Callable[[str], bool] = lambda _said: False) -> T | None:
        """Return the result of a request; None where `is_missing` says of the answer 404 that it means the file. Raises
        PicturesUnavailable."""
        self._check_process()
        if self._monotonic() < self._rests_until:
            raise PicturesUnavailable(self._reason)
        try:
            return request()
        except (BaseError, OSError) as error:
            if isinstance(error, FileNotFoundError) and is_missing(str(error)):
                return None
            reason, is_silent = _describe(error, self._settings.bucket)
            if is_silent:
                self._reason, self._rests_until = reason, self._monotonic() + self._limits.rest
            raise PicturesUnavailable(reason) from None  # Its own words hold addresses and what was signed.

    def _check_process(self) -> None:
        with self._lock:
            Bucket._user = Bucket._user or os.getpid()
            if Bucket._user != os.getpid():
                raise PicturesUnavailable("this process was forked from one that used it")


def _open_store(settings: S3Settings, limits: TimeLimits) -> S3Store:
    """Return the client. All that obstore would take from AWS_… is given."""
    key: S3Credential = {
        "access_key_id": settings.access_key,
        "secret_access_key": settings.secret_key,
        "token": None,
        "expires_at": None,
    }
    endpoint = settings.endpoint or f"https://s3.{settings.region}.amazonaws.com"
    return S3Store(
        settings.bucket,
        aws_endpoint_url_s3=endpoint,
        region=settings.region,
        virtual_hosted_style_request=False,
        skip_signature=False,
        credential_provider=lambda: key,
        client_options={
            "allow_http": endpoint.startswith("http://"),
            "connect_timeout": timedelta(seconds=limits.connect),
            "timeout": timedelta(seconds=limits.request),
        },
        retry_config={
            "max_retries": MOST_RETRIES,
            "retry_timeout": timedelta(seconds=limits.retries),
            "backoff": {
                "init_backoff": timedelta(milliseconds=100),
                "max_backoff": timedelta(seconds=1),
                "base": 2,
            },
        },
    )


def _names_no_key(said: str) -> bool:
    """Whether an answer 404 is about the key, and not about the bucket nor from another program at that address."""
    return "<Code>NoSuchKey</Code>" in said


def _describe(error: Exception, bucket: str) -> tuple[str, bool]:
    """Return the reason of a failed call, and whether the storage did not answer or asked for a pause."""
    said = str(error)
    code, status = _CODE.search(said), _STATUS.search(said)
    if code is not None and code[1] == "NoSuchBucket":
        return f"it has no bucket {bucket}", False
    if status is not None and status[1] in ("401", "403"):
        return f"it refuses the access key, or what that may do ({code[1] if code else 'no code'})", False
    if status is None:
        return NO_ANSWER, True
    return f"it answers {status[1]} ({code[1] if code else 'no code'})", status[1].startswith("5")

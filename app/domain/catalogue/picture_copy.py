"""Copies of all pictures from one storage to another, for an owner who moves to another storage or back. Broken off and
begun again, a copy goes on where it was; nothing is removed from where the pictures come."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from app.domain.catalogue.image_store import PICTURE
from app.domain.catalogue.picture_storage import PART, PictureStorage, StoredFile
from app.domain.shared.problems import DomainError

AT_ONCE = 8
BETWEEN_NOTES = 500  # Files.


class CopyDiffers(DomainError):
    """A file read back from where it was copied to is not what was written."""

    code = "copy_differs"


@dataclass(slots=True)
class CopyReport:
    """What a copy did. `present` files were there already. `damaged` are pictures whose contents do not match their
    names, as "site/name": they are not copied."""

    copied: int = 0
    copied_bytes: int = 0
    present: int = 0
    damaged: list[str] = field(default_factory=list)

    @property
    def files(self) -> int:
        return self.copied + self.present + len(self.damaged)


@dataclass(frozen=True, slots=True)
class _Outcome:
    bytes: int = 0
    is_copied: bool = False
    damaged: str = ""


def copy_pictures(
    source: PictureStorage, target: PictureStorage, note: Callable[[CopyReport], object], is_thorough: bool = False
) -> CopyReport:
    """Copy every picture and every upload that waits, and read back what was copied. A file of the same name and size
    counts as present, unless `is_thorough` has its contents compared. `note` is called from time to time. Raises
    CopyDiffers, and what a PictureStorage raises."""
    report = CopyReport()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            for outcome in pool.map(lambda task: task(), _tasks(source, target, is_thorough)):
                _add(report, outcome)
                if report.files % BETWEEN_NOTES == 0:
                    note(report)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return report


def _tasks(source: PictureStorage, target: PictureStorage, is_thorough: bool) -> Iterator[Callable[[], _Outcome]]:
    for site_id in source.sites():
        sizes = {one.name: one.bytes for one in target.files(site_id)}
        for file in source.files(site_id):
            if file.name.endswith(PART):
                continue
            if sizes.get(file.name) != file.bytes:
                yield partial(_copy, source, target, site_id, file)
            elif is_thorough:
                yield partial(_compare, source, target, site_id, file)
            else:
                yield _Outcome


def _compare(source: PictureStorage, target: PictureStorage, site_id: int, file: StoredFile) -> _Outcome:
    """Copy a file anew where the one of its name has other contents."""
    if source.read(site_id, file.name) == target.read(site_id, file.name):
        return _Outcome()
    return _copy(source, target, site_id, file)


def _copy(source: PictureStorage, target: PictureStorage, site_id: int, file: StoredFile) -> _Outcome:
    data = source.read(site_id, file.name)
    if data is None:  # Removed meanwhile.
        return _Outcome()
    checksum = hashlib.sha256(data).hexdigest()
    if PICTURE.fullmatch(file.name) and not checksum.startswith(file.name.removesuffix(".webp")):
        return _Outcome(damaged=f"{site_id}/{file.name}")
    target.write(site_id, file.name, data)
    if hashlib.sha256(target.read(site_id, file.name) or b"").hexdigest() != checksum:
        raise CopyDiffers(f"The copy of {site_id}/{file.name} differs from what was written: look at the storage.")
    return _Outcome(len(data), is_copied=True)


def _add(report: CopyReport, outcome: _Outcome) -> None:
    if outcome.damaged:
        report.damaged.append(outcome.damaged)
    elif outcome.is_copied:
        report.copied, report.copied_bytes = report.copied + 1, report.copied_bytes + outcome.bytes
    else:
        report.present += 1

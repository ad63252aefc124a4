"""The instance folder: who holds it, the shop that runs in it or a restore that replaces what lies in it; and its
files, which are for the shop's own user alone: among them are addresses, orders and hashes of passwords."""

from __future__ import annotations

import fcntl
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from app.config import Config, ConfigurationError

LOCK_FILE = "supervisor.lock"
UNFINISHED_RESTORE = "restore.unfinished"
RETIRED = ("rate-limits", "day-windows", "network-windows")
UMASK = 0o077
OTHERS = 0o007


class CannotStart(Exception):
    """The shop, or a part of it, cannot start; the message is one sentence for the operator."""

    @classmethod
    def because_of(cls, error: OSError, what: str) -> CannotStart:
        """`what` cannot be started; the operator reads the system's reason, and which file it names."""
        reason = error.strerror or str(error)
        return cls(f"{what} cannot be started ({reason}{f': {error.filename}' if error.filename else ''}).")


def claim_folder(instance: Path) -> IO[str]:
    """Hold the instance folder for this process as long as the returned file stays open. Raises CannotStart while
    another process holds it, and where it cannot be written to."""
    try:
        instance.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=instance):
            pass
        claim = (instance / LOCK_FILE).open("a+")
    except OSError as error:
        raise CannotStart(
            f"The folder {instance} cannot be written to ({error.strerror}): make it writable for this user."
        ) from error
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        claim.seek(0)
        process = claim.read().strip() or "unknown"
        claim.close()
        raise CannotStart(f"The shop in {instance} runs already, as process {process}: stop that one first.") from None
    claim.truncate(0)
    claim.write(f"{os.getpid()}\n")
    claim.flush()
    return claim


def is_unfinished(instance: Path) -> bool:
    """Whether a restore was interrupted, or is under way."""
    return (instance / UNFINISHED_RESTORE).exists()


def check_restored(instance: Path) -> None:
    """Check that no restore was interrupted: part of the shop is of the backup then, part of before. Raises
    CannotStart."""
    if is_unfinished(instance):
        raise CannotStart(
            "A restore was interrupted, so pictures and database may not fit each other: run the same restore again."
        )


def keep_private(config: Config) -> list[str]:
    """Make new files accessible to the user alone, take from group and others what access they have to stored ones, and
    return a sentence for each of these. Raises ConfigurationError for what belongs to another user and stands open to
    all."""
    os.umask(UMASK)
    return [_closed(path) for path in _stored(config) if path.exists() and path.stat().st_mode & UMASK]


def picture_place(config: Config) -> str:
    """Return the place of the pictures where that is another machine; "" where they are files of this one."""
    return f"the bucket {config.s3.bucket}" if config.pictures == "s3" and config.s3 else ""


def say_private(config: Config) -> None:
    """Call `keep_private`, print its sentences for the operator, and remove the files in which earlier releases counted
    requests by hashes of addresses."""
    for name in RETIRED:
        (config.index_dir.parent / name).unlink(missing_ok=True)
    for sentence in keep_private(config):
        print(sentence, file=sys.stderr)


def _stored(config: Config) -> Iterator[Path]:
    yield from (config.instance_folder, config.index_dir, config.media_dir, config.counting_folder)
    yield from (config.sitemap_folder, config.mail_folder, config.bundle_folder, *config.database_files)


def _closed(path: Path) -> str:
    mode = path.stat().st_mode
    try:
        path.chmod(mode & ~UMASK & 0o7777)
    except PermissionError:
        if mode & OTHERS:
            raise ConfigurationError(
                f"Other users of this machine can read {path}, and it belongs to another user: "
                f"let its owner run chmod go-rwx {path}, or start the shop as its owner."
            ) from None
        return f"The group of {path} can read it, which its owner may change with chmod go-rwx {path}."
    return f"Other users of this machine could read {path}; now only its owner can."

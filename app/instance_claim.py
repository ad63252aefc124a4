"""The claim of the instance folder: by the shop that runs in it, or by a restore that replaces what lies in it."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO

LOCK_FILE = "supervisor.lock"
UNFINISHED_RESTORE = "restore.unfinished"


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

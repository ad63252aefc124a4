"""Reasons of a failed rebuild, in words for the people who requested it."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field

from app.domain.shared.counts import numbered
from app.domain.shared.problems import DomainError
from app.log_redaction import error_summary

EXAMPLES = 5
WORDS = {
    errno.ENOSPC: "There is no space left on the disk. Free some, then rebuild.",
    errno.EDQUOT: "There is no space left for this user on the disk. Free some, then rebuild.",
    errno.EROFS: "The index folder cannot be written to: the disk is mounted read-only.",
    errno.EACCES: "The index folder cannot be written to: permission is missing.",
    errno.EMFILE: "The process has too many files open.",
    errno.EIO: "The disk failed to read or write. Look at it before you rebuild.",
    errno.ENOMEM: "There is not enough memory to build the index.",
}


EXPECTED = (DomainError, OSError, MemoryError)  # The run explains these; any other is logged with its trace.


@dataclass
class Refusals:
    """Records that could not be indexed; the others were."""

    records: set[tuple[str, int]] = field(default_factory=set)
    examples: list[str] = field(default_factory=list)

    def note(self, kind: str, record_id: int, error: Exception) -> None:
        self.records.add((kind, record_id))
        if len(self.examples) < EXAMPLES:
            self.examples.append(f"{kind} {record_id} ({error_summary(error)})")

    def summary(self) -> str | None:
        count = len(self.records)
        if not count:
            return None
        return f"{numbered(count, 'record')} could not be indexed: {'; '.join(self.examples)}"[:1000]


def why_it_failed(error: BaseException) -> str:
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno in WORDS:
        return WORDS[cause.errno]
    if isinstance(error, DomainError):
        return error.message
    if isinstance(error, MemoryError):
        return WORDS[errno.ENOMEM]
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return "The worker was stopped while it built the index."
    return f"Something unexpected went wrong ({error_summary(error)})"[:1000]

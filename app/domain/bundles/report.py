"""The report of an import: what it did, would do or refused, with the place of every refusal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from app.domain.shared.problems import Invalid, Problem

MOST_LISTED = 1_000  # Refusals; beyond them only the counts go on.
MOST_SKIPPED = 100  # Files.
WITH_CONSEQUENCES = ("other_is_active", "capability_missing")  # Codes of refusals that cause many others.
PARTS_OF = "parts of "  # Prefix of the kinds that are parts of records: these are imported without them.
OTHERS = ("…", "others")  # Dropped values of attributes that are not listed any more.
MOST_REASONS = 200  # By which refusals are counted.
MOST_EXAMPLES = 5  # Of one cause for dropped values, and of one outcome for one kind of record.
LONGEST_SHOWN_VALUE = 80
LONGEST_SHOWN_NAME = 200


class BrokenBundle(Invalid):
    """The error of a bundle that cannot be read; nothing was written. A problem's pointer is `file` or `file:line`."""

    code = "broken_bundle"

    @classmethod
    def at(cls, file: str, message: str, line: int | None = None) -> BrokenBundle:
        place = file if line is None else f"{file}:{line}"
        return cls([Problem("broken_file", f"{place}: {message}", place)])


@dataclass(slots=True)
class RecordCounts:
    """The outcome for the records of one kind, with the names of the first that were added, changed or removed."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    refused: int = 0
    examples: dict[str, list[str]] = field(default_factory=dict)

    def note(self, outcome: str, name: str) -> None:
        """Count a record as added, changed, removed or unchanged."""
        setattr(self, outcome, getattr(self, outcome) + 1)
        if outcome != "unchanged":
            named = self.examples.setdefault(outcome, [])
            if len(named) < MOST_EXAMPLES:
                named.append(name[:LONGEST_SHOWN_VALUE])

    def as_json(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in ("added", "changed", "removed", "unchanged", "refused")}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record, or a part of one, that was left out. `line` is None where the whole file is meant; `code` is that of
    the problem."""

    file: str
    line: int | None
    field: str
    reason: str
    code: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"file": self.file, "line": self.line, "field": self.field, "reason": self.reason}


@dataclass(slots=True)
class RefusalReason:
    """The records of one kind that were left out for one reason, with the first as an example."""

    kind: str
    code: str
    example: Refusal
    count: int = 0

    @property
    def gravity(self) -> tuple[bool, bool, int]:
        """Sorts the gravest first: what has others follow, then whole records, then parts of them."""
        return self.code not in WITH_CONSEQUENCES, self.kind.startswith(PARTS_OF), -self.count

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "code": self.code, "count": self.count, "example": self.example.as_json()}


@dataclass(slots=True)
class DroppedValues:
    """Attribute values that break one rule of one attribute in one way."""

    attribute_id: str
    code: str
    reason: str
    count: int = 0
    examples: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class BundleReport:
    host: str
    dry_run: bool = False
    counts: dict[str, RecordCounts] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    refused_in_all: int = 0
    reasons: dict[tuple[str, str], RefusalReason] = field(default_factory=dict)
    dropped: dict[tuple[str, str], DroppedValues] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    pictures_added: int = 0  # To products, which had none of the same files.

    def of(self, kind: str) -> RecordCounts:
        return self.counts.setdefault(kind, RecordCounts())

    def refuse(self, kind: str, refusals: Iterable[Refusal]) -> None:
        """Note one record, or one part of a record, that is left out for one or several reasons."""
        self.of(kind).refused += 1
        for refusal in refusals:
            self.refused_in_all += 1
            self._count_reason(kind, refusal)
            if len(self.refusals) < MOST_LISTED:
                self.refusals.append(refusal)

    def _count_reason(self, kind: str, refusal: Refusal) -> None:
        key = kind, refusal.code
        if key not in self.reasons and len(self.reasons) < MOST_REASONS:
            self.reasons[key] = RefusalReason(kind, refusal.code, refusal)
        if key in self.reasons:
            self.reasons[key].count += 1

    def count_of(self, kind: str, code: str) -> int:
        """Return the number of records of a kind that were left out for a reason."""
        found = self.reasons.get((kind, code))
        return found.count if found else 0

    @property
    def gravest_first(self) -> list[RefusalReason]:
        return sorted(self.reasons.values(), key=lambda reason: reason.gravity)

    def drop_value(self, attribute_id: str, code: str, reason: str, example: dict[str, Any]) -> None:
        key = attribute_id[:LONGEST_SHOWN_VALUE], code
        if key not in self.dropped and len(self.dropped) >= MOST_LISTED:
            key, reason = OTHERS, "These are further attributes."
        dropped = self.dropped.setdefault(key, DroppedValues(*key, reason))
        dropped.count += 1
        if len(dropped.examples) < MOST_EXAMPLES:
            dropped.examples.append(example)

    def skip(self, file: str, reason: str) -> None:
        """Note a file that is skipped."""
        if len(self.skipped) < MOST_SKIPPED:
            self.skipped.append((file[:LONGEST_SHOWN_NAME], reason))
        else:
            self.note(f"More than {MOST_SKIPPED} files were skipped; only the first are listed.")

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def note_first(self, text: str) -> None:
        """Put a note before all that were made so far."""
        self.notes.insert(0, text)

    @property
    def changes(self) -> int:
        """The number of records that were added, changed or removed."""
        return sum(counts.added + counts.changed + counts.removed for counts in self.counts.values())

    @property
    def dropped_in_all(self) -> int:
        return sum(dropped.count for dropped in self.dropped.values())

    def as_json(self) -> dict[str, Any]:
        return {
            "site": self.host,
            "dryRun": self.dry_run,
            "counts": {kind: counts.as_json() for kind, counts in self.counts.items()},
            "examples": {kind: counts.examples for kind, counts in self.counts.items() if counts.examples},
            "refused": [refusal.as_json() for refusal in self.refusals],
            "refusedTotal": self.refused_in_all,
            "refusedByReason": [reason.as_json() for reason in self.gravest_first],
            "droppedValues": [_dropped_json(dropped) for dropped in self.dropped.values()],
            "skipped": [{"file": file, "reason": reason} for file, reason in self.skipped],
            "notes": self.notes,
        } | ({"picturesAdded": self.pictures_added} if self.pictures_added else {})


def _dropped_json(dropped: DroppedValues) -> dict[str, Any]:
    return {
        "attributeId": dropped.attribute_id,
        "code": dropped.code,
        "reason": dropped.reason,
        "count": dropped.count,
        "examples": dropped.examples,
    }


def shorten_value(value: Any) -> Any:
    """Return a value as a report shows it: long texts are cut."""
    if isinstance(value, str) and len(value) > LONGEST_SHOWN_VALUE:
        return value[:LONGEST_SHOWN_VALUE] + "…"
    return value if isinstance(value, str | int | float | bool | None) else shorten_value(str(value))

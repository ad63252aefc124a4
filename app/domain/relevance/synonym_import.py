"""Synonyms as a table, and its import: a preview of what each line does, then its application.

A line is `type,root,words` with semicolons between the words, or as people write it: `hoover -> vacuum`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.relevance.synonym_definition import MOST_GROUPS, TakenWords, check_synonym, fingerprint
from app.domain.relevance.synonyms import add_checked, change_checked, live_groups, synonym_of
from app.domain.search.serving import configuration
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType, split_words
from app.domain.shared.author import Author
from app.domain.shared.csv_tables import ImportLine, ImportReport, RowOutcome, read_cells, refused
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.text import one_line

COLUMNS = SynonymGroup.columns()
NEEDED = COLUMNS[:3]  # The others may be left out.
TYPES = {name: kind for kind in SynonymType for name in (kind.value.casefold().replace("_", " "), kind.label)}
ARROWS = ("->", "→")


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line as it stands in the file, the first being 1; `problem` says why it is no group."""

    number: int
    text: str
    group: SynonymGroup | None = None
    problem: str = ""


def table_rows(groups: Sequence[SynonymGroup]) -> Iterator[tuple[str, ...]]:
    yield COLUMNS
    yield from (group.cells() for group in groups)


def read_table(text: str) -> list[TableLine]:
    """Read the lines of a table. Empty lines are passed over, and so is a first line with the names of the columns.
    Raises Invalid for what is no table or has too many lines."""
    found = [
        line
        for number, cells in read_cells(text)
        if (line := _read_line(number, list(map(one_line, cells)))) is not None
    ]
    if not found:
        raise Invalid.one("empty_table", "The file holds no synonyms.", "#/file")
    if len(found) > MOST_GROUPS:
        message = f"The file holds {len(found):,} synonyms; a shop has at most {MOST_GROUPS:,}."
        raise Invalid.one("too_many_synonyms", message, "#/file")
    return found


def _read_line(number: int, cells: list[str]) -> TableLine | None:
    if number == 1 and cells[0].casefold() == COLUMNS[0]:
        return None
    shown = ",".join(cells)[:200]
    if (written := _read_as_written(cells)) is not None:
        return TableLine(number, shown, written)
    if not len(NEEDED) <= len(cells) <= len(COLUMNS):
        needed = f"A line has three columns, {', '.join(NEEDED)}; this has {len(cells)}."
        return TableLine(number, shown, problem=needed)
    kind = TYPES.get(cells[0].casefold().replace("-", " ").replace("_", " "))
    if kind is None:
        known = " or ".join(f"{kind} (“{kind.label}”)" for kind in SynonymType)
        problem = f"“{cells[0][:40]}” is no type of synonyms: write {known}."
        return TableLine(number, shown, problem=problem)
    sent: dict[str, Any] = {"type": kind.value, "root": cells[1] or None, "synonyms": split_words(cells[2])}
    return TableLine(number, shown, SynonymGroup.of_json(sent))


def _read_as_written(cells: list[str]) -> SynonymGroup | None:
    """Read a group written as `hoover -> vacuum, vacuum cleaner` or `sofa = couch = settee`, as the page shows
    synonyms; None for any other line."""
    typed = ",".join(cells)
    for arrow in ARROWS:
        if arrow in cells[0]:
            root, _, words = typed.partition(arrow)
            return SynonymGroup(SynonymType.ONE_WAY, one_line(root) or None, tuple(split_words(words)))
    if "=" in cells[0]:
        return SynonymGroup(SynonymType.EQUIVALENT, None, tuple(map(one_line, typed.split("="))))
    return None


@dataclass(slots=True)
class _ImportPlan:
    """The live synonyms as the lines planned so far leave them, for planning the next line."""

    taken: TakenWords
    known: dict[str, SynonymGroup]
    room: int
    said: dict[str, int] = field(default_factory=dict)  # By fingerprint: the line that makes or keeps it.

    def plan_line(self, line: TableLine) -> ImportLine[SynonymGroup]:
        if line.group is None:
            return ImportLine(line.number, line.text, RowOutcome.REFUSED, reason=line.problem)
        try:
            group = check_synonym(line.group, TakenWords())
        except Invalid as invalid:
            return refused(line.number, line.text, invalid)
        return self._place(line, group)

    def _place(self, line: TableLine, group: SynonymGroup) -> ImportLine[SynonymGroup]:
        written = fingerprint(group)
        met = self.taken.conflicting(group)
        reason = self._refusal(written, met)
        if reason:
            return ImportLine(line.number, line.text, RowOutcome.REFUSED, group, reason=reason)
        self.said[written] = line.number
        known = self.known.get(written)
        if known is not None:
            return ImportLine(line.number, line.text, RowOutcome.SAME, group)
        replaced = met[0] if met else None
        if replaced is not None:
            self.taken.remove(replaced)
        else:
            self.room -= 1
        self.taken.add(group)
        return ImportLine(line.number, line.text, RowOutcome.CHANGED if replaced else RowOutcome.ADDED, group, replaced)

    def _refusal(self, written: str, met: Sequence[SynonymGroup]) -> str:
        """Return the reason why the line is refused; empty where it is not."""
        if written in self.said:
            return f"Line {self.said[written]} says the same."
        for other in met:
            if (number := self.said.get(fingerprint(other))) is not None:
                return f"Line {number} has one of these words already: {other}."
        if len(met) > 1:
            return f"Its words are in {len(met)} synonyms: {'; '.join(map(str, met[:3]))}. Delete all but one first."
        if not met and written not in self.known and self.room < 1:
            return f"A shop has at most {MOST_GROUPS:,} synonyms."
        return ""


def plan_import(groups: Sequence[SynonymGroup], lines: Iterable[TableLine]) -> ImportReport[SynonymGroup]:
    """Return the report of what each line does to the live synonyms. A line that conflicts with one of them, by a word
    or the root, changes that one."""
    known = {fingerprint(group): group for group in groups}
    plan = _ImportPlan(TakenWords.of(groups), known, MOST_GROUPS - len(groups))
    return ImportReport([plan.plan_line(line) for line in lines])


def preview(site_id: int, text: str) -> ImportReport[SynonymGroup]:
    """Preview an import; nothing is written. Raises Invalid."""
    return plan_import(live_groups(site_id), read_table(text))


def apply(author: Author, text: str, digest: str) -> ImportReport[SynonymGroup]:
    """Apply the changes that the preview with this digest showed; refused lines are left out. Raises Invalid, and
    Conflict where the synonyms have changed since."""
    lines = read_table(text)
    version = configuration.raise_version(author.site_id)
    report = plan_import(live_groups(author.site_id), lines)
    if report.digest != digest:
        raise Conflict("The synonyms changed since you looked. Look at what the file does now, then import it.")
    for line in report.lines:
        if line.made is not None and line.outcome is RowOutcome.ADDED:
            add_checked(author, line.made, version)
        elif line.made is not None and line.replaces is not None and line.replaces.id is not None:
            change_checked(author, synonym_of(author.site_id, line.replaces.id), line.made, version)
    return report

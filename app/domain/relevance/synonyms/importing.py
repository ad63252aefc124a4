"""Import of a table of synonyms: a preview of what each line does, then its application."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.domain.relevance.synonyms.editing import add_checked, change_checked, live_groups, synonym_of
from app.domain.relevance.synonyms.group import MOST_GROUPS, Taken, check, fingerprint
from app.domain.relevance.synonyms.table import TableLine, read_table
from app.domain.search.serving import configuration
from app.domain.search.serving.synonyms import SynonymGroup
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.table_import import ImportLine, ImportReport, RowOutcome, refused


@dataclass(slots=True)
class _Plan:
    """The live synonyms as the lines planned so far leave them, for planning the next line."""

    taken: Taken
    known: dict[str, SynonymGroup]
    room: int
    said: dict[str, int] = field(default_factory=dict)  # By fingerprint: the line that makes or keeps it.

    def of(self, line: TableLine) -> ImportLine[SynonymGroup]:
        if line.group is None:
            return ImportLine(line.number, line.text, RowOutcome.REFUSED, reason=line.problem)
        try:
            group = check(line.group, Taken())
        except Invalid as invalid:
            return refused(line.number, line.text, invalid)
        return self._placed(line, group)

    def _placed(self, line: TableLine, group: SynonymGroup) -> ImportLine[SynonymGroup]:
        written = fingerprint(group)
        met = self.taken.met_by(group)
        reason = self._refusal(written, met)
        if reason:
            return ImportLine(line.number, line.text, RowOutcome.REFUSED, group, reason=reason)
        self.said[written] = line.number
        if written in self.known:
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


def planned(groups: Sequence[SynonymGroup], lines: Iterable[TableLine]) -> ImportReport[SynonymGroup]:
    """Return the report of what each line does to the live synonyms. A line that conflicts with one of them, by a word
    or the root, changes that one."""
    known = {fingerprint(group): group for group in groups}
    plan = _Plan(Taken.by(groups), known, MOST_GROUPS - len(groups))
    return ImportReport([plan.of(line) for line in lines])


def preview(site_id: int, text: str) -> ImportReport[SynonymGroup]:
    """Preview an import; nothing is written. Raises Invalid."""
    return planned(live_groups(site_id), read_table(text))


def apply(author: Author, text: str, digest: str) -> ImportReport[SynonymGroup]:
    """Apply the changes that the preview with this digest showed; refused lines are left out. Raises Invalid, and
    Conflict where the synonyms have changed since."""
    lines = read_table(text)
    version = configuration.raise_version(author.site_id)
    report = planned(live_groups(author.site_id), lines)
    if report.digest != digest:
        raise Conflict("The synonyms changed since you looked. Look at what the file does now, then import it.")
    for line in report.lines:
        if line.made is not None and line.outcome is RowOutcome.ADDED:
            add_checked(author, line.made, version)
        elif line.made is not None and line.replaces is not None and line.replaces.id is not None:
            change_checked(author, synonym_of(author.site_id, line.replaces.id), line.made, version)
    return report

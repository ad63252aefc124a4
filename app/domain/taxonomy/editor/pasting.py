"""Many allowed values pasted at once: those that are new, known or refused, and a summary. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.domain.shared.counts import numbered
from app.domain.shared.text import UNPRINTABLE, one_line
from app.domain.taxonomy.validation.rules import LONGEST_ALLOWED_VALUE


@dataclass(frozen=True, slots=True)
class Pasted:
    """The outcome of pasting values. `values` are new and valid, in their order. `known` were there already (or twice
    in what was pasted) and `blank` lines held nothing; both are left out. `refused` lines wait to be fixed, each with
    the reason."""

    values: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    blank: int = 0
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def has_commas(self) -> bool:
        return any("," in line for line, _ in self.refused)

    @property
    def rest(self) -> str:
        """The refused lines, for the box from which they came."""
        return "\n".join(line for line, _ in self.refused)

    def sentences(self) -> list[str]:
        return [*self._summary(), *(f"“{line[:80]}” {reason}" for line, reason in self.refused[:10])]

    def _summary(self) -> Iterator[str]:
        if self.values:
            yield f"Added {numbered(len(self.values), 'value')}."
        if self.known:
            names = ", ".join(f"“{value[:40]}”" for value in self.known[:5])
            more = f" and {len(self.known) - 5:,} more" if len(self.known) > 5 else ""
            yield f"{numbered(len(self.known), 'value')} left out, in the list already: {names}{more}."
        if self.blank:
            yield f"{self.blank:,} blank {'line' if self.blank == 1 else 'lines'} left out."
        if self.refused:
            waiting = "1 line waits" if len(self.refused) == 1 else f"{len(self.refused):,} lines wait"
            yield f"{waiting} in the box to be fixed:"


def pasted(text: str, existing: Sequence[str] = (), split_at_commas: bool = False) -> Pasted:
    """Read a text of one value a line. Values are compared without case, as everywhere (a shopper would see two
    filters for one thing). No value may contain a comma, since lists of values are written with commas."""
    seen = {one_line(value).casefold() for value in existing}
    values: list[str] = []
    known: list[str] = []
    refused: list[tuple[str, str]] = []
    lines = text.strip().splitlines()
    if split_at_commas:
        lines = [part for line in lines for part in line.split(",")]
    tidy = [one_line(line) for line in lines]
    for line in filter(None, tidy):
        if line.casefold() in seen:
            known.append(line)
        elif reason := _reason(line):
            refused.append((line, reason))
        else:
            values.append(line)
            seen.add(line.casefold())
    return Pasted(tuple(values), tuple(known), tidy.count(""), tuple(refused))


def _reason(line: str) -> str | None:
    if "," in line:
        return "contains a comma, which no value may."
    if len(line) > LONGEST_ALLOWED_VALUE or UNPRINTABLE.search(line):
        return f"is over {LONGEST_ALLOWED_VALUE:,} characters long or cannot be shown."
    return None

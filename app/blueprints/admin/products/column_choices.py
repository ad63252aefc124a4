"""The columns of an imported table, as the page shows them on which people choose what each is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from werkzeug.datastructures import MultiDict

from app.domain.bundles.table_rows import (
    ATTRIBUTE,
    MOST_COLUMNS,
    NOT_IMPORTED,
    ColumnTarget,
    column_targets,
    guess_columns,
)

MOST_ATTRIBUTES = 100  # In the menu of every column; of more only the one that a column names.


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """A column of the file: its name, what its first cells hold, and what it is about, of `options`."""

    place: int
    name: str
    samples: tuple[str, ...]
    chosen: str
    options: Sequence[ColumnTarget]


def column_choices(
    header: Sequence[str],
    samples: Sequence[Sequence[str]],
    attributes: Mapping[str, str],
    chosen: Sequence[str] | None,
) -> list[ColumnChoice]:
    """Return the columns with what each is about; `chosen` None guesses that by their names."""
    every = column_targets(attributes)
    shared = every if len(attributes) <= MOST_ATTRIBUTES else [one for one in every if not _is_attribute(one.id)]
    by_id = {one.id: one for one in every}
    matched = list(chosen or guess_columns(header, attributes))
    matched += [NOT_IMPORTED] * (len(header) - len(matched))
    return [
        ColumnChoice(
            place=place,
            name=name.strip() or f"Column {place + 1}",
            samples=tuple(cells[place].strip()[:60] for cells in samples if cells[place].strip()),
            chosen=target,
            options=shared if target not in by_id or by_id[target] in shared else [*shared, by_id[target]],
        )
        for place, (name, target) in enumerate(zip(header, matched, strict=False))
    ]


def chosen_columns(sent: MultiDict[str, str]) -> list[str]:
    """Return what each column is about, as the form of the page sent it."""
    return sent.getlist("column")[:MOST_COLUMNS]


def _is_attribute(target: str) -> bool:
    return target.startswith(ATTRIBUTE)

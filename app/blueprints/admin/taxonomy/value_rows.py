"""The allowed values in the form of an attribute, a row each, and the merging of two of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.domain.shared.problems import Invalid

Rows = tuple["ValueRow", ...]


@dataclass(frozen=True, slots=True)
class ValueRow:
    """An allowed value as typed. `was` is the value that products hold, blank for one that is new; `merged` are further
    values that products hold and that become this one."""

    text: str
    was: str = ""
    merged: tuple[str, ...] = ()

    @property
    def is_renamed(self) -> bool:
        return bool(self.was) and self.text.strip() != self.was

    @property
    def is_blank(self) -> bool:
        return not self.text.strip() and not self.held

    @property
    def held(self) -> tuple[str, ...]:
        """The values of products that this row stands for."""
        return (*([self.was] if self.was else []), *self.merged)

    @property
    def key(self) -> str:
        """The name of the row in choices, which stays while its text is edited."""
        return self.was or self.text.strip()


def merge_rows(rows: Rows, value: str, into: str) -> Rows:
    """Return the rows with one value, given by its key, merged into another. Raises Invalid for unknown values and for
    the same one twice."""
    gone = next((row for row in rows if row.key == value), None)
    stays = next((row for row in rows if row.key == into), None)
    if gone is None or stays is None:
        raise Invalid.one(
            "unknown_value", "Choose one of the values.", "#/mergeFrom" if gone is None else "#/mergeInto"
        )
    if gone is stays:
        raise Invalid.one("same_value", "Choose another value than the one that is merged.", "#/mergeInto")
    whole = replace(stays, merged=(*stays.merged, *gone.held))
    return tuple(whole if row is stays else row for row in rows if row is not gone)


def unmerge_row(rows: Rows, value: str) -> Rows:
    """Return the rows with a value that was merged as a row of its own again."""
    found: list[ValueRow] = []
    for row in rows:
        if value in row.merged:
            others = tuple(other for other in row.merged if other != value)
            found += [replace(row, merged=others), ValueRow(value, value)]
        else:
            found.append(row)
    return tuple(found)

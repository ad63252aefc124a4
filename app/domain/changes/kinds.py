"""The declaration of a kind of change that can be undone, and what reverting one means: pure but for the condition that
finds the entries of a kind in the activity log."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement

from app.domain.merchandising.shop import Shop
from app.domain.seo.landing.pages import LandingPagesOf
from app.domain.shared.author import Author

Fields = dict[str, Any]
State = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Undo:
    """One undo: its author, and what use cases take from outside of the domain. `themes` are the names of the themes
    that the shop may have; `landing_pages` finds those of a shop; `may_share` lets the till use accounts and locations
    of other sites."""

    author: Author
    themes: Collection[str]
    landing_pages: Callable[[Shop], LandingPagesOf]
    may_share: bool = False


States = Callable[[int, Iterable[str]], Mapping[str, State]]
Revert = Callable[[Undo, str, State], None]


def whole_record(stored: Any) -> State:
    """Return the `before` or the `after` of an entry as a state; None where it is none."""
    return stored if isinstance(stored, dict) else None


def lock_nothing(_site_id: int, _subject_id: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class RecordKind:
    """A kind of record whose changes can be undone; `entries` are those of the activity log about it.

    `states(site_id, ids)` returns the current states of the records that exist, by subject id. `revert(undo, id,
    state)` brings one to a state, None for no record, and raises NotFound, Invalid or Conflict with the reason. Entries
    of a `partial` kind hold only the fields that changed, and `revert` is given only those; a deleted record is
    restored where the entry holds all `fields` of it. `read` returns the part of an entry's `before` or `after` that
    can be reverted, None for no record. `lock(site_id, id)` locks the record where there is one. `describe` names the
    fields of a state as its page does."""

    name: str
    label: str
    entries: ColumnElement[bool]
    states: States
    revert: Revert
    partial: bool = False
    fields: frozenset[str] = frozenset()
    read: Callable[[Any], State] = whole_record
    lock: Callable[[int, str], None] = lock_nothing
    describe: Callable[[Mapping[str, Any], str], Fields] = lambda state, _time_zone: dict(state)

    def is_as_left(self, before: State, after: State, now: State) -> bool:
        """Whether a record is still as an entry left it. One that holds only what changed is compared in its fields."""
        if after is None:
            return now is None and before is not None and self.fields <= before.keys()
        if not self.partial or now is None:
            return after == now
        earlier = before or {}
        return all(key in now and _is_value_as_left(earlier.get(key), after[key], now[key]) for key in after)


def _is_value_as_left(before: Any, after: Any, now: Any) -> bool:
    if not _holds_parts(before, after, now):
        return bool(after == now)
    return all(_part(now, name) == _part(after, name) for name in (*before, *after))


def reverted_fields(before: State, after: State, now: State) -> State:
    """Return the values that undoing a partial entry gives the fields that it changed."""
    if before is None or after is None or now is None:
        return before
    return {key: _reverted_value(value, after.get(key), now.get(key)) for key, value in before.items()}


def _reverted_value(before: Any, after: Any, now: Any) -> Any:
    if not _holds_parts(before, after, now):
        return before
    return {name: value for name, value in now.items() if name not in after} | before


def _holds_parts(*values: Any) -> bool:
    """Whether a field holds named values, of which an entry has those that changed."""
    return all(isinstance(value, dict) for value in values)


def _part(values: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    return (values[name],) if name in values else ()


def states_by_id(records: Callable[[int, list[int]], Mapping[str, State]]) -> States:
    """Return the states of records whose ids are numbers."""
    return lambda site_id, ids: records(site_id, [int(id) for id in ids if id.isdecimal()])


def revert_by_id(revert: Callable[[Author, int, State], None]) -> Revert:
    """Return the revert of records whose ids are numbers, which needs nothing but its author."""
    return lambda undo, id, state: revert(undo.author, int(id), state)

"""The other names of a level, such as “SSD” of “Solid-state drives”: searches for one mean the level as its own name
does."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.shared.folding import fold
from app.domain.shared.text import UNPRINTABLE, is_unseen
from app.domain.taxonomy.validation.sent import LevelDraft

MOST_OTHER_NAMES = 20  # Of one level.
LONGEST_OTHER_NAME = 60
PLACE = "/otherNames/"


def other_names_problems(level: LevelDraft) -> Iterator[tuple[str, str, str]]:
    """Yield (code, message, place) of each invalid name. No two may differ only in case or accents, nor one from the
    level's own name."""
    seen = {fold(level.name): level.name}
    for number, (place, name) in enumerate(level.other_names.items(), 1):
        if number > MOST_OTHER_NAMES:
            yield "too_many", f"A level has at most {MOST_OTHER_NAMES} other names.", f"{PLACE}{place}"
        elif problem := _problem(name, seen):
            yield *problem, f"{PLACE}{place}"
        else:
            seen[fold(name)] = name


def _problem(name: object, seen: dict[str, str]) -> tuple[str, str] | None:
    if not isinstance(name, str):
        return "wrong_type", "Another name of a level must be a text."
    if is_unseen(name):
        return "blank_name", "Another name of the level is blank."
    if "," in name:
        return "comma_in_name", f"The other name “{name[:80]}” contains a comma."
    if len(name) > LONGEST_OTHER_NAME:
        message = f"The other name “{name[:40]}…” is {len(name):,} characters long; at most {LONGEST_OTHER_NAME} fit."
        return "too_long", message
    if UNPRINTABLE.search(name):
        return "unprintable", "Another name of the level contains characters that cannot be shown."
    if earlier := seen.get(fold(name)):
        return "duplicate_name", f"“{earlier[:80]}” and “{name}” are the same name of the level. Keep one of them."
    return None

"""Finding a level of a taxonomy by words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.taxonomy.levels.tree import Level, TaxonomyTree

MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class FoundLevel:
    """A level that was found. `above` is the path to it, without its own name."""

    id: str
    name: str
    above: str


@dataclass(frozen=True, slots=True)
class LevelsFound:
    """The levels that were found. `more` counts those beyond the ones shown."""

    levels: Sequence[FoundLevel]
    more: int


def find_levels(tree: TaxonomyTree, words: str) -> LevelsFound:
    """Return the levels whose path contains every word, whatever the case: first those whose name begins with all the
    words, then those whose name contains one of them. Without words these are the first levels in tree order."""
    wanted = words.casefold().split()
    whole = " ".join(wanted)
    found = [(_rank(level, wanted, whole), level) for level, way in _ways(tree) if all(word in way for word in wanted)]
    ranked = [level for _, level in sorted(found, key=lambda pair: pair[0])]
    shown = [
        FoundLevel(level.id, level.name, " › ".join(above.name for above in tree.path(level.id)[:-1]))
        for level in ranked[:MOST_SHOWN]
    ]
    return LevelsFound(shown, max(0, len(ranked) - MOST_SHOWN))


def _ways(tree: TaxonomyTree) -> list[tuple[Level, str]]:
    """Every level with the names on the way to it, in tree order."""
    ways: dict[str, str] = {}
    for level in tree.levels.values():
        ways[level.id] = f"{ways.get(level.parent_id or '', '')} {level.name.casefold()}"
    return [(tree.levels[level_id], way) for level_id, way in ways.items()]


def _rank(level: Level, wanted: Sequence[str], whole: str) -> int:
    name = level.name.casefold()
    if name.startswith(whole):
        return 0
    return 1 if any(word in name for word in wanted) else 2

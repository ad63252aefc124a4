"""Levels named by the names on the way to them, as people write them: “Camping › Tents”. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.tree import TaxonomyTree

STEPS = re.compile(r"\s*[›>]\s*")
BETWEEN = " › "
MOST_NAMED = 3  # Levels of one name, in the sentence that says so.
AMBIGUOUS_LEVEL = "ambiguous_level"


@dataclass(frozen=True, slots=True)
class LevelPaths:
    """The levels of a tree by their paths, and by the ends of these: “Outdoor › Camping › Tents” is also “Camping ›
    Tents” and “Tents”, whatever the case. `whole` has the path of each level by its id, `ends` the ids of the levels
    of each end."""

    whole: Mapping[str, str]
    ends: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, tree: TaxonomyTree) -> LevelPaths:
        whole: dict[str, str] = {}
        ends: dict[str, list[str]] = {}
        for level_id in tree.levels:
            whole[level_id] = BETWEEN.join(level.name for level in tree.path(level_id))
            steps = _normal_form(whole[level_id]).split(BETWEEN)
            for first in range(len(steps)):
                ends.setdefault(BETWEEN.join(steps[first:]), []).append(level_id)
        return cls(whole, ends)

    def find(self, text: str) -> str:
        """Return the id of the level that a text names: by its id, its whole path, or an end of it that no other level
        has. A text that names none is returned as it is. Raises Invalid where it names several."""
        if text in self.whole:
            return text
        path = _normal_form(text)
        ending = self.ends.get(path, ())
        found = [level_id for level_id in ending if _normal_form(self.whole[level_id]) == path] or ending
        if len(found) > 1:
            raise Invalid.one(AMBIGUOUS_LEVEL, self._describe_ambiguity(text, found), "#/levelId")
        return found[0] if found else text

    def _describe_ambiguity(self, text: str, level_ids: Sequence[str]) -> str:
        paths = [self.whole[level_id] for level_id in level_ids]
        by = "id" if len(set(paths)) < len(paths) else "whole path"
        named = ", ".join(level_ids[:MOST_NAMED] if by == "id" else paths[:MOST_NAMED])
        more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
        return f"“{text[:80]}” names {len(paths)} levels: {named}{more}. Give the {by}."


def _normal_form(path: str) -> str:
    return BETWEEN.join(STEPS.split(path.strip())).casefold()

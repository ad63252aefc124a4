"""Validation of a category: its name, address, texts and source rule. The admin and bundles obey the same rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.domain.shared.addresses import free_slug, slug, url_problems
from app.domain.shared.problems import Problem
from app.domain.shared.text import block_problems, line_problems, one_line

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
LONGEST_SLUG = 120
LONGEST_NAME = 200
LONGEST_DESCRIPTION = 20_000
LONGEST_META_TITLE = 300
LONGEST_META_DESCRIPTION = 500
LONGEST_PATH = 1_000
DEEPEST = 12
MOST_NODES = 5_000  # In one tree.
LONGEST_MANUFACTURER = 200
MOST_BURIED = 500  # Products of one category.
MOST_SOURCES = 500  # Levels, or manufacturers, of one category.


def slug_from(name: str, taken: Collection[str]) -> str:
    """Return a slug made from a name, free among the siblings' slugs `taken`."""
    wanted = slug(name, "category")[: LONGEST_SLUG - 5].rstrip("-")
    return free_slug(wanted, taken)


def path_of(parent_path: str, own_slug: str) -> str:
    return f"{parent_path}/{own_slug}" if parent_path else own_slug


def depth_of(path: str) -> int:
    return path.count("/") + 1


def name_problems(name: str, pointer: str) -> list[Problem]:
    return line_problems(name, "The name", LONGEST_NAME, pointer, required=True)


def category_slug_problems(own_slug: str, pointer: str) -> list[Problem]:
    if SLUG.fullmatch(own_slug) and len(own_slug) <= LONGEST_SLUG:
        return []
    message = f"The slug “{own_slug[:80]}” may hold a–z, 0–9 and single hyphens, at most {LONGEST_SLUG}."
    return [Problem("invalid_slug", message, pointer)]


def depth_problems(path: str, pointer: str) -> list[Problem]:
    if depth_of(path) <= DEEPEST and len(path) <= LONGEST_PATH:
        return []
    return [Problem("too_deep", f"Categories nest at most {DEEPEST} deep.", pointer)]


def count_problems(nodes: int, pointer: str) -> list[Problem]:
    if nodes <= MOST_NODES:
        return []
    return [Problem("too_many", f"A tree has at most {MOST_NODES:,} categories.", pointer)]


def description_problems(description: str, pointer: str) -> list[Problem]:
    return block_problems(description, "The description", LONGEST_DESCRIPTION, pointer)


def canonical_problems(override: str, pointer: str) -> list[Problem]:
    """Return the problems of a canonical address, which is a path of the site, an absolute http(s) address or empty."""
    return url_problems(override, "The canonical address", pointer) if override else []


def meta_problems(title: str, description: str, pointer: str) -> Iterator[Problem]:
    """Return the problems of the two texts for search results. `pointer` is that of the object that holds both."""
    yield from line_problems(title, "The meta title", LONGEST_META_TITLE, f"{pointer}/metaTitle")
    label = "The meta description"
    yield from line_problems(description, label, LONGEST_META_DESCRIPTION, f"{pointer}/metaDescription")


@dataclass(frozen=True, slots=True)
class SourceRule:
    """The rule for the products that a category takes by itself: of one of the levels or below, and of one of the
    manufacturers, where given."""

    levels: tuple[str, ...] = ()
    manufacturers: tuple[str, ...] = ()


NO_SOURCE = SourceRule()


def tidy_source(levels: Iterable[str], manufacturers: Iterable[str]) -> SourceRule:
    """Return the rule trimmed, without what is blank or named twice."""
    makers = dict.fromkeys(map(one_line, manufacturers))
    return SourceRule(tuple(filter(None, dict.fromkeys(levels))), tuple(filter(None, makers)))


def clean_source(
    levels: Sequence[str], manufacturers: Sequence[str], known_levels: Collection[str], pointer: str
) -> tuple[SourceRule, list[Problem]]:
    """Return the rule trimmed, without what is refused, and why that is. `known_levels` are those of the active
    taxonomy, by their ids."""
    problems: list[Problem] = []
    tidy = tidy_source(levels, manufacturers)
    own, makers = list(tidy.levels), list(tidy.manufacturers)
    for name, given in (("levels", own), ("manufacturers", makers)):
        if len(given) > MOST_SOURCES:
            message = f"A category takes at most {MOST_SOURCES} {name}; the rest is left out."
            problems.append(Problem("too_many", message, f"{pointer}/{name}"))
            del given[MOST_SOURCES:]
    for index, level_id in enumerate(own):
        if level_id not in known_levels:
            message = f"The active taxonomy has no level “{level_id[:80]}”."
            problems.append(Problem("unknown_level", message, f"{pointer}/levels/{index}"))
    for index, maker in enumerate(makers):
        at = f"{pointer}/manufacturers/{index}"
        problems += line_problems(maker, "The manufacturer", LONGEST_MANUFACTURER, at)
    sound = tuple(maker for maker in makers if not line_problems(maker, "", LONGEST_MANUFACTURER, ""))
    return SourceRule(tuple(level for level in own if level in known_levels), sound), problems

"""Countries by their codes (ISO 3166-1 alpha-2), with the names that people choose from. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

NAMES: Mapping[str, str] = json.loads(Path(__file__).with_name("countries.json").read_text(encoding="utf-8"))
# Groups that are added at once.
EUROPEAN_UNION = tuple(re.findall("..", "ATBEBGHRCYCZDKEEFIFRDEGRHUIEITLVLTLUMTNLPLPTROSKSIESSE"))
GROUPS: Mapping[str, tuple[str, ...]] = {"European Union": EUROPEAN_UNION, "All countries": tuple(NAMES)}
MOST_NAMED = 3
# Countries whose names have an article within a sentence, beside islands and the united ones.
ARTICLED = frozenset(("NL", "PH", "BS", "MV", "CF", "DO", "GM", "KM", "SC", "IM"))


def name_of(code: str) -> str:
    """Return the name of a country; the code itself for one that is none."""
    return NAMES.get(code, code)


def in_sentence(code: str) -> str:
    """Return the name of a country as it stands within a sentence: "the United Kingdom", "France"."""
    name = name_of(code)
    has_article = code in ARTICLED or name.startswith("United") or "Islands" in name
    return f"the {name}" if has_article else name


def in_order(codes: Iterable[str]) -> tuple[str, ...]:
    """Return the known ones of some codes, each once, by the names of their countries."""
    known = set(codes)
    return tuple(code for code in NAMES if code in known)


def describe_countries(codes: Iterable[str]) -> str:
    """Return countries as words within a sentence: up to three by their names, more by their number."""
    names = [in_sentence(code) for code in in_order(codes)]
    if len(names) == len(NAMES):
        return "all countries"
    if len(names) > MOST_NAMED:
        return "the European Union" if set(EUROPEAN_UNION) == set(codes) else f"{len(names)} countries"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""

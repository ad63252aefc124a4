"""The seven rules for a product's search terms: extra words that find it and that shoppers never see. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.text import UNPRINTABLE

LONGEST_TERM = 50
MOST_TERMS = 50


def clean_terms(terms: Sequence[object]) -> list[str]:
    """Return the terms trimmed, without empty ones, and without those that differ only in case from an earlier one.
    Raises Invalid with every reason; a pointer names the term, as in `#/terms/2`."""
    problems = [problem for index, term in enumerate(terms) for problem in _term_problems(index, term)]
    if problems:
        raise Invalid(problems)
    kept: dict[str, str] = {}
    for term in terms:
        trimmed = str(term).strip()
        if trimmed:
            kept.setdefault(trimmed.casefold(), trimmed)
    if len(kept) > MOST_TERMS:
        message = f"A product has at most {MOST_TERMS} search terms; these are {len(kept)}."
        raise Invalid.one("too_many_terms", message, "#/terms")
    return list(kept.values())


def with_added(terms: Iterable[str], added: Sequence[object]) -> list[str]:
    """Return the terms with new ones at the end. Raises Invalid."""
    return clean_terms([*terms, *clean_terms(added)])


def split_terms(text: str) -> list[str]:
    """Return the terms of a text that is separated by commas or line breaks."""
    return [term for line in text.splitlines() for term in line.split(",")]


def describe_change(product: str, before: Sequence[str], after: Sequence[str]) -> str:
    """Describe a change of a product's search terms: “Added “mac” to Sandberg Monitor Cable”."""
    added, removed = (_quoted(one, but) for one, but in ((after, before), (before, after)))
    if added and removed:
        return f"Added {added} to {product} and removed {removed}"
    if added or removed:
        return f"Added {added} to {product}" if added else f"Removed {removed} from {product}"
    return f"Changed the order of the search terms of {product}"


def _quoted(terms: Sequence[str], but: Sequence[str]) -> str:
    named = [f"“{term}”" for term in terms if term not in but]
    return ", ".join(named[:5]) + (f" and {len(named) - 5} more" if len(named) > 5 else "")


def _term_problems(index: int, term: object) -> list[Problem]:
    pointer = f"#/terms/{index}"
    if not isinstance(term, str):
        return [Problem("invalid_term", "A search term must be text.", pointer)]
    trimmed = term.strip()
    problems = []
    if "," in trimmed:
        problems.append(Problem("comma_in_term", f"“{trimmed[:60]}” contains a comma.", pointer))
    if len(trimmed) > LONGEST_TERM:
        message = f"“{trimmed[:40]}…” has {len(trimmed)} characters; a search term has at most {LONGEST_TERM}."
        problems.append(Problem("term_too_long", message, pointer))
    if UNPRINTABLE.search(trimmed):
        problems.append(Problem("unprintable", "A search term contains characters that cannot be shown.", pointer))
    return problems

"""When to rebuild a site's index. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.shared.counts import numbered

MANY = 5_000
WORTH_A_LOOK = 100


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs that an index needs a rebuild. `products_built` and `content_built`: there is a live index of them, or
    none is wanted. `arranged_since`: categories, filters or the taxonomy changed after the last rebuild began.
    `last_failed`: the latest run failed. `drift` counts the differences of the latest reconciliation, `waiting` and
    `set_aside` changes that the index lacks."""

    products_built: bool = True
    content_built: bool = True
    arranged_since: bool = False
    last_failed: bool = False
    drift: int = 0
    waiting: int = 0
    set_aside: int = 0


def advise(signs: Signs) -> tuple[str, ...]:
    """Return a sentence of advice for each sign that calls for action; empty when all is well."""
    if not signs.products_built:
        return ("There is no product index yet. Rebuild everything to make the shop searchable.",)
    sentences = (
        (not signs.content_built, "Pages and collections are not in search yet. Rebuild the content."),
        (signs.last_failed, "The last rebuild failed. When its reason is fixed, rebuild again."),
        (
            signs.arranged_since,
            "Categories or the taxonomy changed after the last rebuild. Rebuild the products so that every "
            "category and filter shows it.",
        ),
        (
            signs.waiting >= MANY,
            f"{signs.waiting:,} changes wait for the index, after a big import perhaps. A rebuild is the quickest way.",
        ),
        (
            signs.set_aside > 0,
            f"{numbered(signs.set_aside, 'record')} could not be indexed. Save them again when they are fixed.",
        ),
        (
            signs.drift >= WORTH_A_LOOK,
            f"The last nightly check found {signs.drift:,} differences and repaired them. If that happens again, "
            "look at the worker's log.",
        ),
    )
    return tuple(sentence for applies, sentence in sentences if applies)

"""Suggestions for an address of the shop that has no page: the categories near it, and what its words find."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode, ShopTree
from app.domain.search.engine import Hit, SearchEngine
from app.domain.search.serving.query import first_ten
from app.domain.search.serving.served import Served
from app.domain.search.text import LINKING_WORDS, MAX_CHARACTERS, tokens, words

MOST_WORDS = 6
LONGEST_WORD = 24  # Longer ones are identifiers rather than words.
PRODUCTS, CATEGORIES = 4, 6
PAGE_ENDINGS = (".html", ".htm")
# The first segments of addresses at which no page ever was: files, and what belongs to one shopper.
NO_PAGES = frozenset(("basket", "checkout", "media", "order", "picture", "r", "static", "theme-preview"))
FOLDERS = frozenset(("c", "p", "pages", "collections", "search"))


@dataclass(frozen=True, slots=True)
class Suggestions:
    """`words` of the address; `categories` and `hits` are what comes closest to it, the nearest first."""

    words: str
    categories: tuple[ShopNode, ...] = ()
    hits: tuple[Hit, ...] = ()


def words_of_address(path: str) -> str:
    """Return the words of an address's last segment, from which its page can be guessed; empty for the addresses of
    files and of what belongs to one shopper."""
    steps = [step for step in path[:MAX_CHARACTERS].split("/") if step]
    if not steps or steps[0] in NO_PAGES:
        return ""
    last = "" if len(steps) == 1 and steps[0] in FOLDERS else steps[-1]
    name = next((last.removesuffix(ending) for ending in PAGE_ENDINGS if last.endswith(ending)), last)
    if "." in name:
        return ""
    found = [word for word in tokens(name) if len(word) <= LONGEST_WORD]
    return " ".join(found[:MOST_WORDS]) if any(map(str.isalpha, found)) else ""


def suggestions(engine: SearchEngine, shop: Shop, path: str, served: Served, now: datetime) -> Suggestions:
    """Suggestions for an address, in one search of its words. Raises SearchUnavailable."""
    typed = words_of_address(path)
    if not typed:
        return Suggestions("")
    hits = first_ten(engine, shop.site_id, typed, served, now, patient=False).hits[:PRODUCTS]
    return Suggestions(typed, nearest_categories(shop.tree, path, typed), hits)


def nearest_categories(tree: ShopTree, path: str, typed: str) -> tuple[ShopNode, ...]:
    """Return the categories that have words of the address in their names, those with the most of them first, then the
    nearest category above the address."""
    wanted = frozenset(words(typed)) - LINKING_WORDS
    named = [(len(wanted.intersection(words(node.name))), node) for node in tree.nodes.values()]
    closest = sorted((pair for pair in named if pair[0]), key=lambda pair: (-pair[0], len(pair[1].name), pair[1].path))
    shown = [node for _, node in closest if tree.at(node.path) is node][:CATEGORIES]
    above = _nearest_above(tree, path)
    return tuple(shown if above is None or above in shown else [*shown[: CATEGORIES - 1], above])


def _nearest_above(tree: ShopTree, path: str) -> ShopNode | None:
    """Return the category that the beginning of the address names."""
    steps = path.strip("/")[:MAX_CHARACTERS].split("/")
    if steps[0] != "c":
        return None
    above = ("/".join(steps[1:end]) for end in range(len(steps) - 1, 1, -1))
    return next((node for node in map(tree.at, above) if node is not None), None)

"""The three lists of `python -m bench spelling`, and how they are made: `python -m bench.spelling.lists` writes them
anew, the same each time, from the data beside the repository.

- slips: words of the shop's product names with one edit at any place, which neither the shop nor the language has.
- words: words of Google's product taxonomy of which no product has any form.
- names: brands of a shop of clothes, and codes of products with another last character, which no product has.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path

from Stemmer import Stemmer

from app.domain.search.engine import IndexDocument
from app.domain.search.ranking import language
from app.domain.search.ranking.analysis import PlainLexicon, analyse
from app.domain.search.text import stem, tokens
from bench.catalogue import document, levels_of
from tests.surroundings import google_taxonomy, real_bundle

BUNDLES = ("icecat-2", "icecat-3")
HALVES = ("choose", "report")
FOLDER = Path(__file__).resolve().parent
SEED = 2026
SLIPS, WORDS, BRANDS, CODES = 300, 300, 50, 50
NAMES = 5  # Products that have a word of the list of slips in their names.
SHORTEST = 5  # As in `bench.relevance`.
SHORTEST_WORD = 4
PRODUCTS_OF_BRAND = 50
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CHARACTERS = _LETTERS + "0123456789"


@dataclass(frozen=True, slots=True)
class Entry:
    """A search of a list. `meant` is the word that a slip was made of, empty in the other lists."""

    typed: str
    meant: str
    half: str


def read_list(name: str) -> list[Entry]:
    """Return the entries of the list `slips`, `words` or `names`."""
    with open(FOLDER / f"{name}.csv", newline="") as file:
        return [Entry(**row) for row in csv.DictReader(file)]


def documents_of(bundle: str) -> Iterator[IndexDocument]:
    folder = real_bundle(bundle)
    return (document(product, levels_of(folder)) for product in _products(bundle))


def main() -> None:
    chance = random.Random(SEED)
    _write("slips", _slips(chance))
    _write("words", [(word, "") for word in chance.sample(_missing_words(), WORDS)])
    names = [*chance.sample(_missing_brands(), BRANDS), *chance.sample(_missing_codes(chance), CODES)]
    _write("names", [(name, "") for name in names])


def _write(name: str, pairs: list[tuple[str, str]]) -> None:
    entries = (Entry(*pair, HALVES[place % 2]) for place, pair in enumerate(pairs))
    with open(FOLDER / f"{name}.csv", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("typed", "meant", "half"))
        rows.writerows(map(astuple, entries))


def _products(bundle: str) -> Iterator[dict[str, object]]:
    with gzip.open(real_bundle(bundle) / "products.jsonl.gz", "rt") as lines:
        yield from map(json.loads, lines)


@cache
def _shop_words() -> frozenset[str]:
    """Return the words that any field of any product has, as they are indexed."""
    fields = (analyse(made, PlainLexicon()) for made in documents_of(BUNDLES[-1]))
    return frozenset(word for of_product in fields for words in of_product.values() for word in words)


@cache
def _names_with() -> Counter[str]:
    """Return in how many names of products each token is."""
    return Counter(token for made in documents_of(BUNDLES[-1]) for token in set(tokens(made.name)))


def _slips(chance: random.Random) -> list[tuple[str, str]]:
    words = [
        word for word, names in _names_with().items() if names >= NAMES and word.isalpha() and len(word) >= SHORTEST
    ]
    slipped = ((_with_slip(word, chance), word) for word in chance.sample(sorted(words), len(words)))
    unknown = [
        (slip, word)
        for slip, word in slipped
        if stem(slip) not in _shop_words() and not language.is_word(slip, rarest=0)
    ]
    return [(slip, word) for slip, word in unknown if stem(slip) != stem(word)][:SLIPS]


def _with_slip(word: str, chance: random.Random) -> str:
    """Return the word with a letter less, more or other, or two neighbours swapped."""
    place, letter = chance.randrange(len(word)), chance.choice(_LETTERS)
    swapped = min(place, len(word) - 2)
    slips: tuple[Callable[[], str], ...] = (
        lambda: word[:place] + word[place + 1 :],
        lambda: word[:place] + letter + word[place:],
        lambda: word[:place] + letter + word[place + 1 :],
        lambda: word[:swapped] + word[swapped + 1] + word[swapped] + word[swapped + 2 :],
    )
    return chance.choice(slips)()


def _missing_words() -> list[str]:
    stemmed = Stemmer("english").stemWord
    stems = {stemmed(word) for word in _shop_words()}
    levels = (line.rpartition("]")[2] for line in google_taxonomy().read_text().splitlines())
    words = {token for level in levels for token in tokens(level) if token.isalpha() and len(token) >= SHORTEST_WORD}
    return sorted(word for word in words if stem(word) not in _shop_words() and stemmed(word) not in stems)


def _missing_brands() -> list[str]:
    brands = Counter(str(product.get("manufacturer", "")).lower() for product in _products("fashion"))
    return sorted(
        brand
        for brand, products in brands.items()
        if products >= PRODUCTS_OF_BRAND and brand.isalpha() and stem(brand) not in _shop_words()
    )


def _missing_codes(chance: random.Random) -> list[str]:
    codes = [
        word for word in sorted(_names_with()) if not word.isalpha() and not word.isdigit() and len(word) >= SHORTEST
    ]
    others = sorted({code[:-1] + chance.choice(_CHARACTERS) for code in codes})
    return [code for code in others if not code.isdigit() and not code.isalpha() and stem(code) not in _shop_words()]


if __name__ == "__main__":
    main()

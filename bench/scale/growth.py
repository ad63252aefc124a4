"""A catalogue of any size, made from a smaller one: each further copy of it has SKUs, codes, prices and words of its
own, so that the vocabulary grows with the text as Heaps' law has it for real catalogues. Pure; only the original rows
stay in memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil
from zlib import crc32

Row = dict[str, object]

WORD_GROWTH = 0.7  # Heaps' exponent of words: twice the text has 2 ** 0.7 times as many different ones.
MAKER_GROWTH = 0.5
RARE = 3  # A word that the originals have at most so many times makes room for new ones in their copies.
SHORTEST = 5  # Letters of a rare word; what is shorter is grammar or a unit.
WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
SYLLABLES = tuple(f"{first}{vowel}" for first in "bdfgklmnprstvz" for vowel in "aeiou")
LONGEST_NAME = 300
PRICES = ("price", "compareAtPrice")


class Originals:
    """The products that a larger catalogue is made of, as rows of a bundle, and which of their words are rare."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        counted = Counter(word for row in rows for word in WORD.findall(f"{row['name']} {row.get('description', '')}"))
        self._rare = frozenset(word for word, times in counted.items() if times <= RARE and len(word) >= SHORTEST)

    def products(self, count: int) -> Iterator[Row]:
        """Return so many products: the originals first, then copy after copy of them."""
        return map(self.product, range(count))

    def product(self, place: int) -> Row:
        """Return the product at a place, counted from 0."""
        copy, original = divmod(place, len(self.rows))
        return self.copied(self.rows[original], copy) if copy else self.rows[original]

    def copied(self, row: Row, copy: int) -> Row:
        """Return the product of a copy, counted from 1."""
        chance = crc32(f"{row['sku']} {copy}".encode())
        own: Row = {"sku": f"{row['sku']}-{copy}", "stock": chance % 60}
        own |= {name: max(1, int(str(row[name])) * (70 + chance % 61) // 100) for name in PRICES if row.get(name)}
        if row.get("upc"):
            own["upc"] = code_of(str(row["upc"]), copy)
        if row.get("createdAt"):
            own["createdAt"] = (
                f"{datetime.fromisoformat(str(row['createdAt'])) + timedelta(days=copy):%Y-%m-%dT%H:%M:%SZ}"
            )
        own |= {name: self._text(str(row[name]), row, copy) for name in ("name", "description") if row.get(name)}
        own["name"] = str(own["name"])[:LONGEST_NAME].strip()
        if row.get("manufacturer"):
            own["manufacturer"] = maker_of(str(row["manufacturer"]), copy)
        return row | own

    def _text(self, text: str, row: Mapping[str, object], copy: int) -> str:
        maker = str(row.get("manufacturer") or "")
        if maker:
            text = text.replace(maker, maker_of(maker, copy))
        return WORD.sub(lambda found: self.word_of(found[0], copy), text)

    def word_of(self, word: str, copy: int) -> str:
        """Return the word that stands in a copy where the originals have this one: codes of models and rare words have
        as many forms as the vocabulary has grown by."""
        is_code = is_model(word)
        if not is_code and word not in self._rare:
            return word
        edition = edition_of(word, copy, WORD_GROWTH)
        if not edition:
            return word
        return model_of(word, edition) if is_code else made_up(word, edition)


def edition_of(word: str, copy: int, growth: float) -> int:
    """Return which form of a word a copy has, 0 for the original one: by chance one of (copy + 1) ** growth."""
    return crc32(f"{word}/{copy}".encode()) % ceil((copy + 1) ** growth)


def is_model(word: str) -> bool:
    """Whether a word is a model's code: letters and digits, and no measure such as 25ft or 3M."""
    digits = sum(letter.isdigit() for letter in word)
    return digits >= 2 and len(word) - digits >= 1 and len(word) >= 4 and not word[0].isdigit()


def model_of(word: str, edition: int) -> str:
    """Return a code of the same shape with other digits."""
    digits = iter(f"{crc32(f'{word}#{edition}'.encode()):010d}"[::-1] * (1 + len(word) // 10))
    return "".join(next(digits) if letter.isdigit() else letter for letter in word)


def made_up(word: str, edition: int) -> str:
    """Return a word of syllables, about as long as the other and with its capital letter."""
    chance = crc32(f"{word}#{edition}".encode())
    syllables = []
    for _ in range(min(5, max(2, len(word) // 2))):
        chance, place = divmod(chance, len(SYLLABLES))
        syllables.append(SYLLABLES[place])
    made = "".join(syllables)
    return made.capitalize() if word[0].isupper() else made


def maker_of(maker: str, copy: int) -> str:
    """Return the manufacturer of a copy: the known ones stay, and new ones join them."""
    edition = edition_of(maker, copy, MAKER_GROWTH)
    return made_up(maker.split()[0].title(), edition) if edition else maker


def code_of(code: str, copy: int) -> str:
    """Return a product code of 13 digits, with its check digit."""
    digits = f"{(int(code[:12]) + copy * 7_919_000_003) % 10**12:012d}" if code[:12].isdigit() else f"{copy:012d}"
    weighed = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return f"{digits}{-weighed % 10}"

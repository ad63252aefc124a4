"""Searches with known answers, made from a real shop's products: what a search says of a product's price, numbers,
values, brand and kind is drawn from the product, and so is the filter that it means. Some say nothing that is a filter.

The draws are seeded. What an attribute's numbers are measured in is written here, apart from what is tested.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.search.engine import IndexName, RangeCount, SearchRequest, SearchResult
from app.domain.search.text import stem
from app.domain.search.understanding.parts import FilterPart
from app.domain.search.understanding.vocabulary import Counts
from app.domain.taxonomy.tree import Attribute, AttributeType, TaxonomyTree

SEED = 2026
COVERED = 0.8  # Of a level's products, with an attribute that searches name.
CURRENCY = "gbp"
# (unit, its words, words that name the attribute beside it); lengths in the unit of the data.
MEASURES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "display-diagonal": ((" inch", '"', "in", " inches", "-inch"), ("", " screen")),
    "maximum-screen-size-compatibility": ((" inch", '"', "-inch"), ("",)),
    "diagonal": ((" inch", '"'), (" diagonal",)),
    "cable-length": (("m", " m", " metres", " metre"), ("", " long")),
    "internal-memory": ((" GB", "gb"), (" ram", " memory", " internal memory")),
    "total-storage-capacity": ((" GB", "gb"), (" storage", " total storage capacity")),
    "hdd-capacity": ((" GB", "gb"), ("", " hdd capacity")),
    "ssd-capacity": ((" GB", "gb"), ("", " capacity")),
    "capacity": ((" GB", "gb", " gigs"), ("", " capacity")),
    "weight": ((" g", "g", " grams"), ("",)),
    "processor-frequency": ((" GHz", "ghz"), ("",)),
    "battery-capacity": ((" mAh", "mah"), ("",)),
}
WITH_CAPACITY_OF_DATA = ("storage-memory-cards-and-usb-sticks",)
OTHER_NOUNS = ("sticker", "repair", "manual", "poster", "insurance", "rental")
_ITEMS = re.compile(r"\s+and\s+|\s*,\s*")


@dataclass(frozen=True, slots=True)
class Expected:
    """A filter that a search means: a value of a facet, or numbers between two ends."""

    facet_id: str
    value: str | None = None
    low: float | None = None
    high: float | None = None

    def is_met_by(self, part: FilterPart) -> bool:
        """Whether a part is this filter; a single number may be widened a little."""
        if part.facet_id != self.facet_id or (self.value is None) != (part.value is None):
            return False
        if self.value is not None:
            return part.value is not None and part.value.casefold() == self.value.casefold()
        if self.low is not None and self.low == self.high:
            return part.low is not None and part.high is not None and _holds(self.low, part.low, part.high)
        return _near(self.low, part.low) and _near(self.high, part.high)


def _holds(number: float, low: float, high: float) -> bool:
    return low <= number <= high and high - low <= max(1.5, 0.12 * number)


def _near(wanted: float | None, found: float | None) -> bool:
    if wanted is None or found is None:
        return wanted is found
    return abs(wanted - found) <= 0.03 * max(abs(wanted), 1e-9)


@dataclass(frozen=True, slots=True)
class KnownSearch:
    words: str
    expected: tuple[Expected, ...]


Product = Mapping[str, Any]


class CountedShop:
    """The products of a bundle by level; it counts them as an index does."""

    def __init__(self, bundle: Path) -> None:
        taxonomy = json.loads((bundle / "taxonomy.json").read_text())["taxonomies"][0]
        self.tree = TaxonomyTree.parse(taxonomy["rootLevels"])
        self.of_level: dict[str | None, list[Product]] = defaultdict(list)
        self._counted: dict[str | None, Counts] = {}
        with gzip.open(bundle / "products.jsonl.gz", "rt") as lines:
            for line in lines:
                product = json.loads(line)
                self.of_level[None].append(product)
                for level_id in self.tree.path_ids((product.get("taxonomy") or {}).get("levelId")):
                    self.of_level[level_id].append(product)

    def search(self, _site_id: int, _index: IndexName, request: SearchRequest) -> SearchResult:
        """Count as an index does: the requested values and numbers of the level that is the scope."""
        level_id = request.scope[0].values[0] if request.scope else None
        counts = self._counts_of(level_id)
        facets = {name: tuple(counts.values[name]) for name in request.facets if name in counts.values}
        ranges = {name: counts.ranges[name] for name in request.range_facets if name in counts.ranges}
        return SearchResult(counts.products, facets=facets, ranges=ranges)

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        return [self.search(site_id, index, request) for request in requests]

    def _counts_of(self, level_id: str | None) -> Counts:
        if level_id not in self._counted:
            attributes = self.tree.applicable_attributes(level_id) if level_id else {}
            self._counted[level_id] = self._counts(level_id, attributes)
        return self._counted[level_id]

    def _counts(self, level_id: str | None, attributes: Mapping[str, Attribute]) -> Counts:
        products = self.of_level[level_id]
        values: dict[str, Counter[str]] = {"manufacturer": Counter(str(p.get("manufacturer", "")) for p in products)}
        numbers: dict[str, list[float]] = defaultdict(list)
        for name, value in (pair for product in products for pair in attributes_of(product).items()):
            if name in attributes and attributes[name].type is AttributeType.NUMBER:
                numbers[name].append(float(value))
            elif name in attributes:
                values.setdefault(name, Counter()).update(_texts(value))
        ranges = {name: RangeCount(min(found), max(found), len(found)) for name, found in numbers.items()}
        return Counts(len(products), {name: found.most_common() for name, found in values.items()}, ranges)


def attributes_of(product: Product) -> Mapping[str, Any]:
    return (product.get("taxonomy") or {}).get("attributes") or {}


def _texts(value: object) -> list[str]:
    if isinstance(value, bool):
        return ["true" if value else "false"]
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


class SearchMaker:
    """Makes searches from the products of a shop."""

    def __init__(self, shop: CountedShop, seed: int = SEED) -> None:
        self._shop = shop
        self._chance = random.Random(seed)
        leaves = [level for level in shop.tree.levels if level not in shop.tree.children and shop.of_level[level]]
        self._names = self._distinct_names(leaves)
        self._levels = [level for level in leaves if self._names.get(level)]
        self._measured = {level: self._covered_measures(level) for level in self._levels}
        self._valued = {level: self._distinct_values(level) for level in self._levels}

    def make(self, count: int) -> list[KnownSearch]:
        makers = (self._positive, self._positive, self._positive, self._positive, self._negative)
        return [self._chance.choice(makers)() for _ in range(count)]

    def _positive(self) -> KnownSearch:
        """A search for a product by some of: price, a number, a value, its brand; always with its kind."""
        while True:
            level = self._chance.choice(self._levels)
            product = self._chance.choice(self._shop.of_level[level])
            made = [*self._said_of(level, product)]
            if made:
                break
        parts = self._chance.sample(made, min(len(made), self._chance.choice((1, 1, 2))))
        if sum(isinstance(one.low or one.high, float) and one.facet_id != "price" for _, one in parts) > 1:
            parts = parts[:1]
        before = [words for words, one in parts if one.value is not None or self._chance.random() < 0.5]
        after = [words for words, _ in parts if words not in before]
        name = self._chance.choice(self._names[level])
        expected = (*(one for _, one in parts), Expected("level", level))
        return KnownSearch(" ".join([*before, name, *after]), expected)

    def _said_of(self, level: str, product: Product) -> Iterator[tuple[str, Expected]]:
        if self._chance.random() < 0.3:
            yield self._price()
        values = attributes_of(product)
        for name in self._measured[level]:
            if values.get(name, 0) > 0:
                yield self._measure(name, float(values[name]))
        for name, texts in self._valued[level].items():
            for text in _texts(values.get(name, [])):
                if text in texts:
                    yield text.lower(), Expected(name, text)
        maker = str(product.get("manufacturer", ""))
        if maker and not self._is_value(level, maker):
            yield maker.lower(), Expected("manufacturer", maker)

    def _price(self) -> tuple[str, Expected]:
        low = self._chance.choice((10, 20, 50, 100, 250))
        high = low * self._chance.choice((2, 3, 4))
        return self._chance.choice(
            (
                (f"under £{high}", Expected("price", high=high * 100)),
                (f"below {high} pounds", Expected("price", high=high * 100)),
                (f"{low}-{high} pounds", Expected("price", low=low * 100, high=high * 100)),
                (f"over £{low}", Expected("price", low=low * 100)),
                (f"between £{low} and £{high}", Expected("price", low=low * 100, high=high * 100)),
                (f"less than £{high}", Expected("price", high=high * 100)),
            )
        )

    def _measure(self, name: str, number: float) -> tuple[str, Expected]:
        units, names = MEASURES[name]
        unit, label = self._chance.choice(units), self._chance.choice(names)
        text = f"{number:g}" if number < 100_000 else f"{number:.0f}"
        exact = float(text)
        shape = self._chance.random()
        if shape < 0.6:
            return f"{text}{unit}{label}", Expected(name, low=number, high=number)
        if shape < 0.75:
            return f"at least {text}{unit}{label}", Expected(name, low=exact)
        if shape < 0.9:
            return f"up to {text}{unit}{label}", Expected(name, high=exact)
        upper = f"{exact * 1.5:g}"
        return f"{text}-{upper}{unit}{label}", Expected(name, low=exact, high=float(upper))

    def _negative(self) -> KnownSearch:
        """A search with words that look like filters and are none."""
        level = self._chance.choice(self._levels)
        name, noun = self._chance.choice(self._names[level]), self._chance.choice(OTHER_NOUNS)
        number = self._chance.choice((5, 12, 27, 300))
        code = f"{self._chance.choice('abcdkx')}{number}"
        texts = [text for found in self._valued[level].values() for text in found]
        value = self._chance.choice(texts).lower() if texts else "black"
        made = (
            f"{name} {noun}",
            f"{noun} for {name}",
            f"{value} {noun} for {name}",
            f"{number}gb2 {name} {noun}",
            f"{name} {code}",
            f"{name} ${number}",
            f"cheap {name}",
            f"{name} {noun} {number} cm",
            f"{name} without {value}",
            f"{number} {name}",
        )
        return KnownSearch(self._chance.choice(made), ())

    def _distinct_names(self, leaves: Sequence[str]) -> dict[str, list[str]]:
        """Return, by level, its names that are no other level's; of a list each plural, and the last."""
        found: dict[str, list[str]] = {}
        for level in self._shop.tree.levels.values():
            items = _ITEMS.split(level.name)
            found[level.id] = [one.lower() for one in items if one is items[-1] or one.endswith("s")]
        levels_of = Counter(_stems(name) for names in found.values() for name in set(names))
        return {level: [name for name in found[level] if levels_of[_stems(name)] == 1] for level in leaves}

    def _covered_measures(self, level: str) -> list[str]:
        return [
            name
            for name in self._covered(level)
            if name in MEASURES and (name != "capacity" or level in WITH_CAPACITY_OF_DATA)
        ]

    def _covered(self, level: str) -> list[str]:
        products = self._shop.of_level[level]
        having = Counter(name for product in products for name in attributes_of(product))
        return [name for name, count in having.items() if count >= COVERED * len(products)]

    def _distinct_values(self, level: str) -> dict[str, set[str]]:
        """Return the values that one covered attribute of the level alone has and that are no brand, by attribute."""
        attributes = self._shop.tree.applicable_attributes(level)
        found: dict[str, set[str]] = defaultdict(set)
        for product in self._shop.of_level[level]:
            for name, value in attributes_of(product).items():
                if name in attributes and attributes[name].type.is_choice:
                    found[name].update(_texts(value))
        holders = Counter(
            _stems(text) for texts in found.values() for text in {_stems(one): one for one in texts}.values()
        )
        brands = {_stems(str(product.get("manufacturer", ""))) for product in self._shop.of_level[level]}
        covered = self._covered(level)
        return {
            name: {
                text
                for text in found[name]
                if holders[_stems(text)] == 1 and _stems(text) not in brands and _is_word(text, self._names[level])
            }
            for name in found
            if name in covered
        }

    def _is_value(self, level: str, maker: str) -> bool:
        attributes = self._shop.tree.applicable_attributes(level)
        return any(
            _stems(maker) == _stems(text)
            for product in self._shop.of_level[level]
            for name, value in attributes_of(product).items()
            if name in attributes and attributes[name].type.is_choice
            for text in _texts(value)
        )


def _stems(text: str) -> str:
    return " ".join(stem(word) for word in re.findall(r"[^\W_]+", text.lower()))


def _is_word(text: str, names: Sequence[str]) -> bool:
    """Whether a value is one that shoppers would type: one to three words of letters, no part of the level's name."""
    words = _stems(text).split()
    in_names = {word for name in names for word in _stems(name).split()}
    is_plain = re.fullmatch(r"[A-Za-z][A-Za-z -]{2,}", text) is not None
    return is_plain and len(words) <= 3 and in_names.isdisjoint(words)


@dataclass(frozen=True, slots=True)
class Score:
    """How well searches were understood: `right` of the `made` filters, and of the `wanted` ones."""

    right: int
    made: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.right / self.made if self.made else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else 1.0


def score(answers: Sequence[tuple[KnownSearch, Sequence[FilterPart]]]) -> Score:
    right = made = wanted = 0
    for search, parts in answers:
        right += sum(any(one.is_met_by(part) for part in parts) for one in search.expected)
        made += len(parts)
        wanted += len(search.expected)
    return Score(right, made, wanted)

"""The score of a document for a search, and its place in the order.

A document scores by its words (BM25 by field), which sales, newness and stock lift, as does the kind of product that
the words mean. Products of a level are lifted by that level's share in the first results; where the words are a name of
the level, whole, they are lifted further: "laptop" names Laptops, and the many laptop bags that have the word as well
do not outrank them.

The order by words and the order by meaning are fused by reciprocal ranks. Meaning adds the nearest documents to those
that the words find, unless the words name a level: then it only orders what they find. A request may place documents by
hand.
The functions of scores and ranks take a number or an array of numbers alike, so that an engine may compute all
documents at once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import log
from types import MappingProxyType
from typing import Any

from app.domain.search.engine import IndexDocument, PlacedGroup, SearchRequest, Sort
from app.domain.search.ranking_settings import RankingSettings, Weight
from app.domain.search.text import LINKING_WORDS, words

Amount = Any  # A number, or an array of numbers.
# Fields of exact words, scored by how rare a word is alone: whole codes, neighbours written as one, parts of codes.
EXACT_FIELDS: Mapping[str, float] = MappingProxyType({"codes": 8.0, "pairs": 4.0, "parts": 1.0})
K1 = 1.6  # Of BM25: how soon more of the same word in a field adds little.
FORM_WORTH = 0.5  # Another form of a word: hiking in place of hike.
PREFIX_WORTH = 0.4  # A longer word in place of its beginning.
ALTERNATIVE_WORTH = 0.8  # An alternative in place of the words that it stands for.
COMPOUND_WORTH = 0.5  # Two words written as one, in place of each of the two.
PHRASE_WEIGHT = 3.0  # Two words of the search side by side in the name, on top.
CODE_WEIGHT = 100.0  # All words of the search together are a code, on top.
DEMOTION = 0.99  # The best of what has less of the words, beside the last of what has more.

# Sales, newness and stock. Each is a share between 0 and 1, lifted by a weight; the lifts are bounded.
SALES = "_sales"  # Units sold in the last 90 days; no attribute may have such a name.
LOW_STOCK = "_lowStock"  # Units left, where they are few.
CREATED = "createdAt"  # Seconds since 1970.
IN_STOCK, YES = "inStock", "true"
NEW_DAYS = 60  # After so many days a product is half as new.
FEW_LEFT = 5  # Units.
FEW_SHARE = 0.5  # A product with few left, beside one with enough.
SECONDS_A_DAY = 86_400
LIFTS = {Weight.NONE: 0.0, Weight.LOW: 0.1, Weight.MEDIUM: 0.2, Weight.HIGH: 0.3}
MOST_LIFT = (1 + max(LIFTS.values())) ** len(RankingSettings.DEFAULT.weights)  # Of all signals together.

# The kind of product that the words mean: by the level whose products answer best, and by a level that they name.
KIND = "level"  # The name of the values that say of what kind a document is, from the root of the taxonomy down.
FIRST_RESULTS = 50
SHARE_LIFT = 0.5
NAME_LIFT = 4.0  # The first results of a level's name are nearly all of that level, see bench/README.md.
_BETWEEN_NAMES = re.compile(r"\band\b|[,&]", re.IGNORECASE)
# In place of the lift by share: a named level is lifted by the larger of the two.
LIFT_BY_NAME = 1 + NAME_LIFT
Phrase = tuple[str, ...]

# The order by words and the order by meaning as one (Cormack, Clarke and Büttcher, 2009). Ranks begin with 0; documents
# that score the same share the rank of the first.
NEAREST = 300  # Of the documents of a level that the words name, those whose meaning counts.
NEAREST_OF_ALL = 100  # Of all documents in the scope, those that other words find by their meaning.
PARTIAL_SHARE = 0.3  # Of the points by words, for documents that lack some of the words.
ADDED_COSINE = 0.5  # From which on documents are found by meaning beside those that the words find, and
ADDED_ALONE_COSINE = 0.55  # where the words find nothing; see bench/README.md.
RANKED = 2_000  # Documents whose rank by words is exact; what lies behind is moved to the first 150 at most.
OFFSET = 61
BEST_BY_WORDS = 100.0  # Points, which are easier to read than reciprocals of ranks.
BEST_BY_MEANING = 0.3 * BEST_BY_WORDS
LONGEST_TEXT = 300
MOST_SIMILAR = 12
SIMILAR_COSINE = 0.62


@dataclass(frozen=True, slots=True)
class TextField:
    """`weight` is the field's share in what a document is about; `b` how much a long field counts less than a short
    one (the b of BM25)."""

    weight: float
    b: float


TEXT_FIELDS: Mapping[str, TextField] = MappingProxyType(
    {
        "name": TextField(6.0, 0.5),
        "terms": TextField(6.0, 0.5),
        "manufacturer": TextField(2.0, 0.3),
        "kind": TextField(3.0, 0.5),
        "description": TextField(0.5, 0.3),
        "attributes": TextField(0.5, 0.9),
    }
)
FIELDS = (*TEXT_FIELDS, *EXACT_FIELDS)


def field_weight(field: str) -> float:
    text = TEXT_FIELDS.get(field)
    return text.weight if text else EXACT_FIELDS[field]


def inverse_document_frequency(documents: int, holders: int) -> float:
    """Return the inverse document frequency of a word that `holders` of all documents have in a field."""
    return log(documents / (holders + 1)) + 1


def length_norm(field: str, length: Amount, average: float) -> Amount:
    """Return the length norm of a text field of that many words, beside the average: what it takes from the frequency
    of a word."""
    b = TEXT_FIELDS[field].b
    return K1 * ((1 - b) + b * length / average)


def saturated(frequency: Amount, norm: Amount) -> Amount:
    """The share of BM25 that grows with the frequency of a word in a field."""
    return frequency * (K1 + 1) / (frequency + norm)


def demotion(best_of_lower: float, last_of_higher: float) -> float:
    """Return the factor for the scores of documents with less of the words, by which they follow those with more.
    Brought down together they keep the order among them."""
    limit = DEMOTION * last_of_higher
    return limit / best_of_lower if best_of_lower > limit else 1.0


def lift(weight: Weight, share: Amount) -> Amount:
    """Return the factor for the scores of documents."""
    return 1 + LIFTS[weight] * share


def sales_share(logarithm: Amount, largest: float) -> Amount:
    """Return the share by units sold, given as log(1 + units) beside that of the shop's best seller: ten more matter to
    a product that sold two, and little to one that sold hundreds."""
    return logarithm / largest


def newness_share(created: Amount, day: int) -> Amount:
    """Return the share by age on a day, counted from 1970: 1 on the day of its creation, half after NEW_DAYS."""
    days = day - created // SECONDS_A_DAY
    return 0.5 ** (days * (days > 0) / NEW_DAYS)


def stock_share(in_stock: Amount, has_few: Amount) -> Amount:
    """Return the share by what is left: enough, few or none. What is not counted is enough."""
    return in_stock * (1 - (1 - FEW_SHARE) * has_few)


def lift_by_share(evidence: Amount, total: float) -> Amount:
    """Return the factor for the scores of a level's products. `evidence` is the sum of the squared scores of those
    among the first results, `total` that of the products of all levels. So a level that is merely the commonest of many
    is lifted little."""
    return 1 + SHARE_LIFT * evidence / total


def phrase_of(query: Sequence[str], optional: Collection[str] = LINKING_WORDS) -> Phrase:
    """Return the words of a query that may name a level: all but the optional ones."""
    return tuple(word for word in query if word not in optional)


def phrases(names: Iterable[str]) -> Iterator[Phrase]:
    """Yield the phrases that name a level with these names: a name such as "Drums and ribbons" is two."""
    for name in names:
        for part in _BETWEEN_NAMES.split(name):
            if phrase := phrase_of(words(part)):
                yield phrase


def points_by_words(rank: Amount) -> Amount:
    return BEST_BY_WORDS * OFFSET / (OFFSET + rank)


def points_by_meaning(rank: Amount) -> Amount:
    """Return the points of a document among the nearest; others get none."""
    return BEST_BY_MEANING * OFFSET / (OFFSET + rank)


def least_cosine(found_by_words: int) -> float:
    """Return how near a document must be to be found by meaning. What is nearest to words that nothing has is nonsense,
    or another brand's, more often."""
    return ADDED_COSINE if found_by_words else ADDED_ALONE_COSINE


def rank_by_meaning(points: float) -> int:
    """Return the rank that gave so many points."""
    return round(BEST_BY_MEANING * OFFSET / points - OFFSET)


def meaning_text(document: IndexDocument) -> str:
    """Return the text of a document that is compared with searches by its meaning."""
    return " ".join(filter(None, (document.name, document.manufacturer, document.kind)))[:LONGEST_TEXT]


def reads_as_code(words: Sequence[str]) -> bool:
    """Whether every word has a digit, as codes, sizes and models do: they mean nothing but themselves."""
    return all(any(map(str.isdigit, word)) for word in words)


@dataclass(frozen=True, slots=True)
class PlacedDocuments:
    """`pins` maps 0-based places of the whole list to document ids; boosts and buries leave the pinned out, so that no
    document stands twice. `total` counts the whole list."""

    total: int
    pins: Mapping[int, str]
    boosts: tuple[str, ...]
    buries: tuple[str, ...]

    @classmethod
    def of(
        cls, request: SearchRequest, kept: Collection[str], total: int, alone: Collection[str] = ()
    ) -> PlacedDocuments:
        """Place the documents of a request that are among the results; only the order by relevance can be shaped. Those
        `alone`, which are found by their meaning alone, are not boosted."""
        if not kept or request.sort is not Sort.RELEVANCE:
            return cls(total, {}, (), ())
        pins = pin_places([(pin.position - 1, pin.id) for pin in request.pins if pin.id in kept], total)
        pinned = set(pins.values())
        boosts = tuple(id for id in dict.fromkeys(request.boosts) if id in kept and id not in pinned.union(alone))
        lifted = pinned.union(boosts)
        buries = tuple(id for id in dict.fromkeys(request.buries) if id in kept and id not in lifted)
        return cls(total, pins, boosts, buries)

    def __bool__(self) -> bool:
        return bool(self.pins or self.boosts or self.buries)

    def slots(self, start: int, end: int) -> tuple[int, list[str | None]]:
        """Return the stretch from place `start` to before `end`: how many documents that are not pinned stand before
        it, and for each place the id of the document pinned there, None for the next one that is not pinned."""
        before = start - sum(place < start for place in self.pins)
        return before, [self.pins.get(place) for place in range(start, min(end, self.total))]

    def rank(self, place: int) -> int:
        """Return the 1-based rank of a document that stands at a 0-based place among those that are not pinned."""
        for taken in sorted(self.pins):
            place += taken <= place
        return place + 1

    def placed(self, document_id: str, group: PlacedGroup | None = None) -> str | None:
        """Return how the request placed a document, by its id or else by its group: `pinned`, `boosted`, `buried` or
        None."""
        kinds = (("pinned", self.pins.values()), ("boosted", self.boosts), ("buried", self.buries))
        by_group = None if group is None else "boosted" if group.is_boosted else "buried"
        return next((kind for kind, ids in kinds if document_id in ids), by_group)

    def pin_rank(self, document_id: str) -> int | None:
        """Return the 1-based rank of a pinned document, None for another."""
        return next((place + 1 for place, pinned in self.pins.items() if pinned == document_id), None)


def group_tiers(groups: Sequence[PlacedGroup]) -> tuple[list[int], int]:
    """Return the tier of each group, the lowest first in the order, and that of documents in none: boosted groups come
    one after the other, then what is in no group, then all buried ones together."""
    ordinary = sum(group.is_boosted for group in groups)
    boosted = count()
    return [next(boosted) if group.is_boosted else ordinary + 1 for group in groups], ordinary


def pin_places(wanted: Sequence[tuple[int, str]], total: int) -> dict[int, str]:
    """Return the places of pins in a list of `total`. Each keeps its position although others are filtered out; those
    beyond the end stand at the end in their order. A position that is taken yields the next."""
    ids: dict[str, int] = {}
    for place, document_id in wanted:
        ids.setdefault(document_id, max(place, 0))
    standing: dict[int, str] = {}
    free_from = 0
    in_order = sorted(ids.items(), key=lambda pin: pin[1])
    for left, (document_id, place) in zip(range(len(in_order), 0, -1), in_order, strict=True):
        at = min(max(place, free_from), total - left)
        standing[at] = document_id
        free_from = at + 1
    return standing

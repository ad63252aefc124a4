"""Explanation of a search: values for the page, its JSON and the advice."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.domain.search.engine import EngineState, FieldMatch, ScorePart
from app.domain.search.listings.content import NO_CONTENT, ContentHits
from app.domain.search.serving.rules import Banner, Rule
from app.domain.search.serving.synonyms import AppliedSynonym, SynonymGroup

FIRST = 10  # Specification: the first ten results are shown.


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """`reference` is a product's SKU, SEO name or id. `at` is the moment as of which rules apply; None is now."""

    words: str = ""
    reference: str = ""
    at: datetime | None = None

    @property
    def is_blank(self) -> bool:
        return not (self.words or self.reference)


@dataclass(frozen=True, slots=True)
class EngineHealth:
    state: EngineState
    error: str | None = None

    @property
    def answers(self) -> bool:
        return self.state is EngineState.HEALTHY


@dataclass(frozen=True, slots=True)
class ScoreExplanation:
    """Explanation of a product's rank. `parts` sum up to `score`; `placed` is `pinned`, `boosted` or `buried`. `would`
    are the parts that learning would add, were it served, and `would_rank` where the product would stand."""

    score: float | None = None
    parts: tuple[ScorePart, ...] = ()
    matches: tuple[FieldMatch, ...] = ()
    missing: tuple[str, ...] = ()
    placed: str | None = None
    would: tuple[ScorePart, ...] = ()
    would_rank: int | None = None


@dataclass(frozen=True, slots=True)
class ScoredHit:
    """One of the first ten results, or a product similar to the search. `price` is in minor units; `image` is the file
    of its picture."""

    position: int
    id: int
    sku: str
    name: str
    seo_name: str
    price: int
    image: str | None
    why: ScoreExplanation = ScoreExplanation()


@dataclass(frozen=True, slots=True)
class PendingSuggestion:
    """A suggested synonym that would apply once accepted. `finds` is how many products the search would find then; None
    where that was not computed."""

    id: int
    revision: int
    group: SynonymGroup
    typed: str
    others: tuple[str, ...]
    finds: int | None = None


@dataclass(frozen=True, slots=True)
class ProductExplanation:
    """One product in the search. `indexed` is None where the engine does not answer. `is_waiting`: its latest change is
    not in the index yet; `set_aside` is why it could not be indexed. `rank` is None where the search does not find
    it."""

    id: int
    sku: str
    name: str
    seo_name: str
    enabled: bool
    terms: int
    indexed: bool | None
    is_waiting: bool = False
    set_aside: str | None = None
    rank: int | None = None
    why: ScoreExplanation = ScoreExplanation()
    is_hidden_as_sold_out: bool = False


@dataclass(frozen=True, slots=True)
class SearchExplanation:
    """The explanation of a search. `optional` are the tokens that a product may lack. `zone` is the shop's time zone.
    `found` is None where the engine does not answer or no words were given. `inactive_rule` is a rule for exactly these
    words that does not apply at the requested moment. `unknown` are words that no product has; `corrected` is the
    spelling that is searched instead. `full` counts the results that have all words. `content` are the pages and
    collections that shoppers see beside the results; `similar` are the products that follow them by meaning alone, with
    cosines as scores. `is_behind`: a saved synonym or rule is not served yet. `page_size` is how many products a page
    of the shop shows."""

    request: ExplainRequest
    engine: EngineHealth
    now: datetime
    page_size: int = 24
    tokens: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    applied: tuple[AppliedSynonym, ...] = ()
    suggested: tuple[PendingSuggestion, ...] = ()
    rule: Rule | None = None
    inactive_rule: Rule | None = None
    redirect: str | None = None
    banner: Banner | None = None
    found: int | None = None
    full: int | None = None
    hits: tuple[ScoredHit, ...] = ()
    content: ContentHits = NO_CONTENT
    similar: tuple[ScoredHit, ...] = ()
    corrected: str | None = None
    relaxed: bool = False
    unknown: tuple[str, ...] = ()
    product: ProductExplanation | None = None
    is_behind: bool = False
    is_rebuilding: bool = False
    zone: str = "UTC"

    @property
    def words(self) -> str:
        return self.request.words

    @property
    def is_answered_by_content(self) -> bool:
        """Whether a page or a collection answers the search, and no product does."""
        return self.found == 0 and bool(self.content.titled)

    @property
    def is_waiting(self) -> bool:
        """Whether a saved change that affects this search is not served, or not indexed, yet."""
        return self.is_behind or (self.product is not None and self.product.is_waiting)

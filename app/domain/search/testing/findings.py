"""What a test of a search finds out: values, for the page, its JSON and the advice alike."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.domain.search.engine import EngineState, FieldMatch, ScorePart
from app.domain.search.live.served import AppliedSynonym, Banner, Rule, SynonymGroup

FIRST = 10  # Specification: the first ten results are shown.


@dataclass(frozen=True, slots=True)
class Question:
    """`reference` is a product's SKU, SEO name or id. `at` is the moment as of which rules apply; None is now."""

    words: str = ""
    reference: str = ""
    at: datetime | None = None

    @property
    def is_blank(self) -> bool:
        return not (self.words or self.reference)


@dataclass(frozen=True, slots=True)
class Engine:
    state: EngineState
    error: str | None = None

    @property
    def answers(self) -> bool:
        return self.state is EngineState.HEALTHY


@dataclass(frozen=True, slots=True)
class Why:
    """Why a product stands where it stands. `parts` sum up to `score`; `placed` is `pinned`, `boosted` or `buried`."""

    score: float | None = None
    parts: tuple[ScorePart, ...] = ()
    matches: tuple[FieldMatch, ...] = ()
    missing: tuple[str, ...] = ()
    placed: str | None = None


@dataclass(frozen=True, slots=True)
class ScoredHit:
    """One of the first ten. `price` is in minor units; `image` is the file of its picture."""

    position: int
    id: int
    sku: str
    name: str
    seo_name: str
    price: int
    image: str | None
    why: Why = Why()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested synonym that would apply once accepted, and how many products the search would find then; None where
    that was not asked."""

    id: int
    revision: int
    group: SynonymGroup
    typed: str
    others: tuple[str, ...]
    finds: int | None = None


@dataclass(frozen=True, slots=True)
class ProductFindings:
    """One product against the search. `indexed` None: the engine does not answer. `is_waiting`: its latest change is
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
    why: Why = Why()


@dataclass(frozen=True, slots=True)
class Findings:
    """`optional` are the tokens that a product may lack. `zone` is the shop's time zone. `found` is None where the
    engine does not answer or no words were given. `sleeping` is the rule for these very words that does not apply at
    the moment asked about. `unknown` are words that no product has; `corrected` is the spelling that is searched
    instead. `full` counts the results that have all words. `is_behind`: something saved of synonyms or rules is not
    live yet. `page_size` is how many products a page of the shop shows."""

    question: Question
    engine: Engine
    now: datetime
    page_size: int = 24
    tokens: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    applied: tuple[AppliedSynonym, ...] = ()
    suggested: tuple[Suggestion, ...] = ()
    rule: Rule | None = None
    sleeping: Rule | None = None
    redirect: str | None = None
    banner: Banner | None = None
    found: int | None = None
    full: int | None = None
    hits: tuple[ScoredHit, ...] = ()
    corrected: str | None = None
    relaxed: bool = False
    unknown: tuple[str, ...] = ()
    product: ProductFindings | None = None
    is_behind: bool = False
    is_rebuilding: bool = False
    zone: str = "UTC"

    @property
    def words(self) -> str:
        return self.question.words

    @property
    def is_waiting(self) -> bool:
        """Whether a change that this answer depends on is saved and not in search yet."""
        return self.is_behind or (self.product is not None and self.product.is_waiting)

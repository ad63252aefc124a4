"""The explanation of a search: its values, the share of learning in a score, scores in words, and the JSON. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from app.domain.merchandising.shop import ContentLink
from app.domain.relevance.rule_definition import rule_effects
from app.domain.search.document_ids import product_document_id
from app.domain.search.engine import EngineFault, EngineState, FieldMatch, Hit, ScorePart, SearchRequest
from app.domain.search.listings.content import NO_CONTENT, ContentHits
from app.domain.search.ranking.learning import WINDOW, LearnedLevel, LearnedSearch
from app.domain.search.ranking.scoring import rank_by_meaning
from app.domain.search.ranking_settings import SIGNALS
from app.domain.search.serving.applied_rules import LostEffect
from app.domain.search.serving.plan import factors_of
from app.domain.search.serving.rules import Banner, Rule
from app.domain.search.serving.synonyms import AppliedSynonym, SynonymGroup
from app.domain.search.understanding.parts import Understanding, UnderstandingMode
from app.domain.shared.clock import rfc3339

FIRST = 10  # Specification: the first ten results are shown.
LEARNED_PART, LEVEL_PART, MEANING_PART = "learned", "learned_level", "meaning"
WOULD_STAND = 50  # Results that are read, as learning would order them.
Answer = Callable[[SearchRequest], Sequence[Hit]]
FIELDS = {
    "name": "name",
    "terms": "search terms",
    "manufacturer": "manufacturer",
    "kind": "kind of product",
    "description": "description",
    "attributes": "attributes",
    "codes": "SKU or barcode",
    "pairs": "words written as one",
    "parts": "part of a code",
}
LEARNED_TEXTS = {
    "learned": "shoppers who searched this open it often",
    "learned_level": "shoppers who searched this open products of its level often",
}
LIFTS = {
    "level": "the best results are mostly of its kind of product",
    "level_name": "the words name its kind of product",
    **SIGNALS,
}
PLACED_TEXTS = {
    "pinned": "Pinned here by a rule",
    "boosted": "Moved up by a rule",
    "buried": "Put last by a rule",
    "sold_out": "Put last because it is sold out",
}


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
    """The health of the engine, as the Overview has it. `is_lost`: its index was built and cannot be read now, so that
    the shop rebuilds it by itself."""

    state: EngineState
    error: str | None = None
    fault: EngineFault | None = None
    is_lost: bool = False

    @property
    def answers(self) -> bool:
        return self.state is EngineState.HEALTHY


@dataclass(frozen=True, slots=True)
class ScoreExplanation:
    """Explanation of a product's rank. `parts` sum up to `score`; `placed` is `pinned`, `boosted` or `buried`.
    `by_meaning_alone`: the words do not find it. `would` are the parts that learning would add, were it served, and
    `would_rank` where the product would stand."""

    score: float | None = None
    parts: tuple[ScorePart, ...] = ()
    matches: tuple[FieldMatch, ...] = ()
    missing: tuple[str, ...] = ()
    placed: str | None = None
    would: tuple[ScorePart, ...] = ()
    would_rank: int | None = None
    by_meaning_alone: bool = False


@dataclass(frozen=True, slots=True)
class ScoredHit:
    """One of the first ten results, or a product similar to the search. `price` is in minor units; `image` is the file
    of its picture, `kind` the name of its level."""

    position: int
    id: int
    sku: str
    name: str
    seo_name: str
    price: int
    image: str | None
    kind: str = ""
    colour: str | None = None
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
    it, and where it `is_far_down`."""

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
    is_far_down: bool = False


@dataclass(frozen=True, slots=True)
class SearchExplanation:
    """The explanation of a search. `optional` are the tokens that a product may lack. `zone` is the shop's time zone.
    `found` is None where the engine does not answer or no words were given. `rules` apply to the search, the
    first of them `rule`, and `lost` are the effects that one of them takes from another. `inactive_rule` is a rule for
    these words, where none applies at the requested moment. `unknown` are words that no product has; `corrected` is the
    spelling that is searched instead, `did_you_mean` one that is only offered. `full` counts the results that have all
    words, `by_meaning_alone` those that the words do not find. `content` are the pages and collections that shoppers
    see beside the results; `similar` are products near in meaning that follow them, with cosines as scores.
    `is_behind`: a saved synonym or rule is not served yet. `page_size` is how many products a page of the shop shows.
    `meaning` is what is understood of the words, which `mode` offers or applies; `was_emptied`: as filters it would
    have left no product, so the words were searched."""

    request: ExplainRequest
    engine: EngineHealth
    now: datetime
    page_size: int = 24
    tokens: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    applied: tuple[AppliedSynonym, ...] = ()
    suggested: tuple[PendingSuggestion, ...] = ()
    rule: Rule | None = None
    rules: tuple[Rule, ...] = ()
    lost: tuple[LostEffect, ...] = ()
    inactive_rule: Rule | None = None
    redirect: str | None = None
    banner: Banner | None = None
    found: int | None = None
    full: int | None = None
    by_meaning_alone: int = 0
    hits: tuple[ScoredHit, ...] = ()
    content: ContentHits = NO_CONTENT
    similar: tuple[ScoredHit, ...] = ()
    corrected: str | None = None
    did_you_mean: str | None = None
    relaxed: bool = False
    unknown: tuple[str, ...] = ()
    product: ProductExplanation | None = None
    is_behind: bool = False
    is_rebuilding: bool = False
    zone: str = "UTC"
    mode: UnderstandingMode = UnderstandingMode.OFF
    meaning: Understanding = Understanding.NOTHING
    was_emptied: bool = False

    @property
    def words(self) -> str:
        return self.request.words

    @property
    def is_answered_by_content(self) -> bool:
        """Whether a page or a collection answers the search, and no product does."""
        return self.found == 0 and bool(self.content.titled)

    @property
    def understands(self) -> bool:
        """Whether there is something to say of what is understood of the words."""
        return bool(self.meaning.parts or self.meaning.left)

    @property
    def outcome(self) -> str:
        """What became of the understood parts, in a sentence."""
        if not self.meaning.parts:
            return "Nothing of it is a filter."
        if self.mode is UnderstandingMode.SUGGESTED:
            return "Shoppers see these filters above the results; a click applies one. The words are searched as typed."
        if self.was_emptied:
            return "No product passes these filters, so the words are searched as typed."
        left = self.meaning.searched
        return f"Applied as filters; what is searched is “{left}”." if left else "Applied as filters."

    @property
    def is_waiting(self) -> bool:
        """Whether a saved change that affects this search is not served, or not indexed, yet."""
        return self.is_behind or (self.product is not None and self.product.is_waiting)


@dataclass(frozen=True, slots=True)
class WouldBe:
    """A product as learning would place it."""

    rank: int
    parts: tuple[ScorePart, ...]


def with_evidence(parts: Sequence[ScorePart], document_id: str, learned: LearnedSearch) -> tuple[ScorePart, ...]:
    """Return all parts of a score, those of learning with how often shoppers opened the product or products of its
    level."""
    opens = {product_document_id(one.product_id): one.opens for one in learned.products}
    evidence = {LEARNED_PART: opens.get(document_id), LEVEL_PART: _opens_of_level(parts, learned.levels)}
    return tuple(replace(part, opens=evidence[part.kind]) if part.kind in evidence else part for part in parts)


def _opens_of_level(parts: Sequence[ScorePart], levels: Sequence[LearnedLevel]) -> int | None:
    """Return the opens of the level by whose factor the score was multiplied, None where it was not. The factor is the
    last one, so it follows from its part of the score; of levels with the same factor, the fewest opens."""
    score = sum(part.worth for part in parts if part.kind != MEANING_PART)
    worth = sum(part.worth for part in parts if part.kind == LEVEL_PART)
    if not worth or not levels:
        return None
    factor = score / (score - worth)
    return min(levels, key=lambda one: (round(abs(one.factor - factor), 5), one.opens)).opens


def learned_places(answer: Answer, request: SearchRequest, learned: LearnedSearch) -> Mapping[str, WouldBe]:
    """Return, by document id, each of the first WOULD_STAND results as learning would place it; empty where nothing is
    learned. Raises SearchUnavailable."""
    if not learned:
        return {}
    served = replace(request, learned=factors_of(learned), page=1, per_page=WOULD_STAND, explain=True)
    places = {}
    for rank, hit in enumerate(answer(served), start=1):
        parts = with_evidence(hit.explanation.parts if hit.explanation else (), hit.id, learned)
        places[hit.id] = WouldBe(rank, tuple(part for part in parts if part.kind in (LEARNED_PART, LEVEL_PART)))
    return places


def field_name(field: str | None) -> str:
    return FIELDS.get(field or "", field or "text")


def describe_matches(matches: Iterable[FieldMatch]) -> list[tuple[str, tuple[str, ...]]]:
    """Return (label of the field, words) of each match."""
    return [(field_name(match.field), match.words) for match in matches]


def describe_part(part: ScorePart) -> str:
    """Return a description such as "“rain” in the name"."""
    if part.kind == "meaning":
        return f"its meaning is near: rank {rank_by_meaning(part.worth) + 1}"
    if part.kind in LEARNED_TEXTS:
        opens = f": {part.opens:,} open{'' if part.opens == 1 else 's'} in {WINDOW} weeks" if part.opens else ""
        return f"{LEARNED_TEXTS[part.kind]}{opens}"
    if not part.words:
        return LIFTS.get(part.kind, "all of the words together")
    words = f"“{' '.join(part.words)}”"
    where = field_name(part.field)
    sentences = {
        "word": f"{words} in the {where}",
        "form": f"{words} in the {where}, another form of the word",
        "alternative": f"{words} in the {where}, by a synonym",
        "beginning": f"{words} in the {where}, as a longer word",
        "side_by_side": f"{words} side by side in the {where}",
        "code": f"{words} is its code",
    }
    return sentences.get(part.kind, f"{words} in the {where}")


def describe_placing(placed: str | None) -> str | None:
    return PLACED_TEXTS.get(placed or "")


def explanation_json(explanation: SearchExplanation) -> dict[str, Any]:
    """Return the JSON of an explanation without its advice, whose links only the pages and tools know. `found` is null
    where the engine does not answer."""
    return {
        "query": explanation.words,
        "asOf": rfc3339(explanation.request.at) if explanation.request.at else None,
        "engine": {"state": explanation.engine.state.value, "error": explanation.engine.error},
        "tokens": list(explanation.tokens),
        "synonymsApplied": [_applied_json(one) for one in explanation.applied],
        "synonymsSuggested": [_suggested_json(one) for one in explanation.suggested],
        "rule": _rule_json(explanation.rule) if explanation.rule else None,
        "rules": [_applied_rule_json(rule, explanation.lost) for rule in explanation.rules],
        "redirect": explanation.redirect,
        "found": explanation.found,
        "foundByMeaningAlone": explanation.by_meaning_alone,
        "correctedTo": explanation.corrected,
        "didYouMean": explanation.did_you_mean,
        "products": [_hit_json(hit) for hit in explanation.hits],
        "content": [
            *_content_json(explanation.content.titled, True),
            *_content_json(explanation.content.others, False),
        ],
        "understanding": {"mode": explanation.mode.value, "outcome": explanation.outcome}
        | {"wasEmptied": explanation.was_emptied}
        | explanation.meaning.as_json(),
        "similar": [_similar_json(hit) for hit in explanation.similar],
        "product": _product_json(explanation),
    }


def _content_json(links: Iterable[ContentLink], answers: bool) -> Iterator[dict[str, Any]]:
    return ({"name": link.name, "path": link.path, "answers": answers} for link in links)


def _applied_json(one: AppliedSynonym) -> dict[str, Any]:
    return _group_json(one.group) | {"typed": one.typed, "finds": list(one.others)}


def _suggested_json(one: PendingSuggestion) -> dict[str, Any]:
    return _group_json(one.group) | {"typed": one.typed, "finds": list(one.others), "foundOnceAccepted": one.finds}


def _group_json(group: SynonymGroup) -> dict[str, Any]:
    return {"id": str(group.id)} | group.as_json()


def _rule_json(rule: Rule) -> dict[str, Any]:
    served = {name: value for name, value in rule.as_json().items() if name != "note"}
    return {"id": str(rule.id), "normalizedTerm": rule.normalized_term} | served


def _applied_rule_json(rule: Rule, lost: Iterable[LostEffect]) -> dict[str, Any]:
    yielded = [{"effect": one.effect, "to": str(one.winner.id)} for one in lost if one.rule is rule]
    about = {"match": rule.match.value, "term": rule.term, "priority": rule.priority}
    return {"id": str(rule.id), **about, "effects": rule_effects(rule), "lost": yielded}


def _hit_json(hit: ScoredHit) -> dict[str, Any]:
    shown = {"position": hit.position, "id": str(hit.id), "sku": hit.sku, "name": hit.name, "seoName": hit.seo_name}
    return shown | {"price": hit.price} | _why_json(hit.why)


def _similar_json(hit: ScoredHit) -> dict[str, Any]:
    nearness = None if hit.why.score is None else round(hit.why.score, 4)
    return {"id": str(hit.id), "sku": hit.sku, "name": hit.name, "seoName": hit.seo_name, "similarity": nearness}


def _product_json(explanation: SearchExplanation) -> dict[str, Any] | None:
    """Return the JSON of the requested product, None where none was requested; an unknown one has its reference as
    SKU."""
    product = explanation.product
    if product is not None:
        return {
            "id": str(product.id),
            "sku": product.sku,
            "name": product.name,
            "seoName": product.seo_name,
            "inCatalogue": True,
            "enabled": product.enabled,
            "indexed": product.indexed,
            "rank": product.rank,
        } | _why_json(product.why)
    if not explanation.request.reference:
        return None
    absent = {"sku": explanation.request.reference, "inCatalogue": False, "enabled": False, "indexed": False}
    return absent | {"rank": None, "matches": [], "missingWords": []}


def _why_json(why: ScoreExplanation) -> dict[str, Any]:
    return {
        "score": None if why.score is None else round(why.score, 4),
        "parts": [_part_json(part) for part in why.parts],
        "placed": why.placed,
        "matches": [{"field": match.field, "words": list(match.words)} for match in why.matches],
        "missingWords": list(why.missing),
        "byMeaningAlone": why.by_meaning_alone,
        "wouldRank": why.would_rank,
        "wouldAdd": [_part_json(part) for part in why.would],
    }


def _part_json(part: ScorePart) -> dict[str, Any]:
    return {
        "kind": part.kind,
        "field": part.field,
        "words": list(part.words),
        "worth": round(part.worth, 4),
        "opens": part.opens,
    }

"""Explain a search: run it as the shop does, and gather everything that affects its results. Nothing is counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select

from app.domain.catalogue.product_rules import is_in_stock
from app.domain.catalogue.products import product_of
from app.domain.catalogue.queries import referred_product
from app.domain.relevance.explanation import (
    FIRST,
    EngineHealth,
    ExplainRequest,
    PendingSuggestion,
    ProductExplanation,
    ScoredHit,
    ScoreExplanation,
    SearchExplanation,
    WouldBe,
    learned_places,
    with_evidence,
)
from app.domain.relevance.models import Synonym
from app.domain.relevance.synonym_definition import SUGGESTED
from app.domain.search.document_ids import PRODUCT, product_document_id
from app.domain.search.engine import (
    EngineFault,
    EngineState,
    Explanation,
    Hit,
    IndexName,
    SearchEngine,
    SearchRequest,
    SearchUnavailable,
)
from app.domain.search.index import outbox, runs
from app.domain.search.index.documents import content_search_is_on
from app.domain.search.index.healing import engine_health, lost_indexes
from app.domain.search.listings.content import NO_CONTENT, ContentHits, content_hits
from app.domain.search.listings.understood import without_respelled_parts
from app.domain.search.ranking.learning import LearnedSearch
from app.domain.search.ranking_settings import RankingSettings
from app.domain.search.serving import configuration
from app.domain.search.serving.plan import LearningMode, Plan, Served, plan
from app.domain.search.serving.query import UnderstoodAnswer, UnderstoodSearch, search_understood
from app.domain.search.serving.synonyms import SynonymSet
from app.domain.search.text import LINKING_WORDS, query_words
from app.domain.search.understanding.facts import reader_of_site
from app.domain.search.understanding.parts import Understanding, UnderstandingMode
from app.domain.shared.clock import Clock
from app.domain.sites.settings import settings_of
from app.domain.sites.sites import time_zone_of
from app.extensions import db

MOST_SUGGESTIONS = 5  # Suggested synonyms whose effect on the search is computed.


@dataclass(frozen=True, slots=True)
class _ServedSearch:
    """A search with the serving configuration of the requested moment."""

    engine: SearchEngine
    site_id: int
    served: Served
    plan: Plan
    meaning: Understanding

    def results(self, per_page: int = FIRST, *, explain: bool = False, correct: bool = True) -> UnderstoodAnswer:
        request = SearchRequest(
            words=self.plan.words,
            per_page=per_page,
            explain=explain,
            correct=correct,
            similar_below=settings_of(self.site_id)["listing-page-size"],
        )
        applied = self.meaning if self.served.understanding is UnderstandingMode.ON else Understanding.NOTHING
        search = UnderstoodSearch(request, self.plan, applied)
        return search_understood(self.engine, self.site_id, [search], self.served.stop_words)[0]

    def content(self) -> ContentHits:
        if not content_search_is_on(self.site_id):
            return NO_CONTENT
        return content_hits(self.engine, self.site_id, self.plan.words)

    def would_be(self, request: SearchRequest) -> Mapping[str, WouldBe]:
        """Return, by document id, the ranks and parts of the score that learning would give; empty unless it is in
        shadow. Raises SearchUnavailable."""
        known = self.served.learned
        learned = known.of(self.plan.words) if known.mode is LearningMode.SHADOW else LearnedSearch()

        def answer(served: SearchRequest) -> Sequence[Hit]:
            return self.engine.search(self.site_id, IndexName.PRODUCTS, served).hits

        return learned_places(answer, request, learned)

    def score_of(self, hit: Hit, would: Mapping[str, WouldBe]) -> ScoreExplanation:
        return self.score(hit.id, hit.explanation, would) if hit.explanation else ScoreExplanation()

    def score(self, document_id: str, found: Explanation, would: Mapping[str, WouldBe]) -> ScoreExplanation:
        parts = with_evidence(found.parts, document_id, self.served.learned.of(self.plan.words))
        known = would.get(document_id)
        return ScoreExplanation(
            found.score,
            parts,
            found.matches,
            found.missing_words,
            found.placed,
            known.parts if known else (),
            known.rank if known else None,
            found.by_meaning_alone,
        )

    def explain(self, request: SearchRequest, product_id: int) -> Explanation:
        return self.engine.explain(self.site_id, IndexName.PRODUCTS, request, product_document_id(product_id))


def explain_search(clock: Clock, engine: SearchEngine, site_id: int, request: ExplainRequest) -> SearchExplanation:
    """Return the explanation of a search, also while the engine is unavailable: its results are then left out, and
    `engine` has the reason."""
    now, served = clock.now(), configuration.served(site_id)
    planned = plan(request.words, served, request.at or now)
    state = configuration.serving_state(site_id)
    latest = runs.latest_run(site_id)
    meaning = _meaning_of(engine, site_id, request.words, served)
    is_applied = bool(meaning) and served.understanding is UnderstandingMode.ON
    tokens = query_words(meaning.searched if is_applied else request.words)
    optional = tuple(token for token in tokens if token in LINKING_WORDS or token in served.stop_words)
    status = engine_health(engine, site_id)
    is_lost = status.state is not EngineState.HEALTHY and bool(lost_indexes(engine, site_id))
    explanation = SearchExplanation(
        request=request,
        engine=EngineHealth(status.state, status.error, status.fault, is_lost),
        now=now,
        page_size=settings_of(site_id)["listing-page-size"],
        tokens=tokens,
        optional=optional if len(optional) < len(tokens) else (),
        applied=planned.expansion.applied,
        mode=served.understanding,
        meaning=meaning,
        rule=planned.rule,
        rules=planned.rules,
        lost=planned.applied.lost,
        inactive_rule=None if planned.rule else next(iter(served.rules.matching(request.words)), None),
        redirect=planned.redirect,
        banner=planned.banner,
        product=_explain_product(site_id, request.reference, served.ranking),
        is_behind=state is not None and state.live_version != state.saved_version,
        is_rebuilding=latest is not None and latest.is_unfinished,
        zone=time_zone_of(site_id),
    )
    if not explanation.engine.answers:  # A process that has a lost index open still could; others cannot.
        return explanation
    try:
        return _with_results(_ServedSearch(engine, site_id, served, planned, meaning), explanation)
    except SearchUnavailable as unavailable:
        health = EngineHealth(EngineState.UNREACHABLE, unavailable.message, unavailable.fault)
        return replace(explanation, engine=health)


def _meaning_of(engine: SearchEngine, site_id: int, words: str, served: Served) -> Understanding:
    """Return what a search means, whether it is applied or only offered; nothing where the site has it off."""
    if not words or served.understanding is UnderstandingMode.OFF:
        return Understanding.NOTHING
    return reader_of_site(site_id).understand(engine, words)


def _with_results(search: _ServedSearch, explanation: SearchExplanation) -> SearchExplanation:
    product = explanation.product
    if not explanation.words:
        if product is None:
            return explanation
        indexed = search.explain(SearchRequest(), product.id).indexed
        return replace(explanation, product=replace(product, indexed=indexed))
    content = NO_CONTENT if explanation.engine.fault is EngineFault.CONTENT_INDEX else search.content()
    understood = search.results(explain=True, correct=not content.answer(explanation.words))
    answer = understood.answer
    result = without_respelled_parts(answer.result, search.meaning)
    would = search.would_be(answer.request)
    if product is not None:
        found = search.explain(answer.request, product.id)
        why = search.score(product_document_id(product.id), found, would)
        product = replace(product, indexed=found.indexed, rank=found.rank, why=why, is_far_down=found.is_far_down)
    return replace(
        explanation,
        was_emptied=understood.was_emptied,
        found=result.total,
        full=result.full_matches,
        by_meaning_alone=result.by_meaning_alone,
        hits=tuple(
            _scored_hit(position, hit, search.score_of(hit, would)) for position, hit in enumerate(result.hits, start=1)
        ),
        content=content.beside(result, explanation.words),
        similar=tuple(
            _scored_hit(position, hit, ScoreExplanation(hit.score))
            for position, hit in enumerate(result.similar, start=1)
        ),
        corrected=result.suggestion if result.corrected else None,
        did_you_mean=None if result.corrected else result.suggestion,
        relaxed=result.relaxed,
        unknown=_unknown_words(search, explanation.tokens)
        if result.corrected or result.relaxed or result.total == result.by_meaning_alone
        else (),
        suggested=tuple(_applying_suggestions(search)),
        product=product,
    )


def _explain_product(site_id: int, reference: str, ranking: RankingSettings) -> ProductExplanation | None:
    product = referred_product(site_id, reference)
    if product is None:
        return None
    waits, set_aside = outbox.of_record(site_id, PRODUCT, product.id)
    return ProductExplanation(
        id=product.id,
        sku=product.sku,
        name=product.name,
        seo_name=product.seo_name,
        enabled=product.enabled,
        terms=len(product.search_terms),
        indexed=None,
        is_waiting=waits,
        set_aside=set_aside,
        is_hidden_as_sold_out=ranking.hides_sold_out
        and not is_in_stock(product.stock, [variant.stock for variant in product.variants]),
    )


def _scored_hit(position: int, hit: Hit, why: ScoreExplanation) -> ScoredHit:
    card = hit.card
    image = card.get("image")
    return ScoredHit(
        position=position,
        id=int(str(card["id"])),
        sku=str(card["sku"]),
        name=str(card["name"]),
        seo_name=str(card["seoName"]),
        price=int(str(card["price"])),
        image=str(image) if image else None,
        kind=str(card.get("kind") or ""),
        colour=str(card.get("colour") or "") or None,
        why=why,
    )


def _unknown_words(search: _ServedSearch, tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words that, each searched alone, find nothing."""
    alone = [SearchRequest(words=word, correct=False, prefix_last=False, per_page=0) for word in tokens]
    results = search.engine.search_many(search.site_id, IndexName.PRODUCTS, alone)
    return tuple(word for word, result in zip(tokens, results, strict=True) if not result.total)


def _applying_suggestions(search: _ServedSearch) -> Iterator[PendingSuggestion]:
    """Yield the suggestions that apply to the words, each with what the search would find were it accepted alone."""
    query = select(Synonym).where(Synonym.site_id == search.site_id, Synonym.status == SUGGESTED).order_by(Synonym.id)
    rows = {row.id: row for row in db.session.scalars(query)}
    groups = {row_id: row.group for row_id, row in rows.items()}
    applied = SynonymSet.of(groups.values()).expand(search.plan.words).applied
    for one in applied[:MOST_SUGGESTIONS]:
        assert one.group.id is not None, "it was read from the database"
        synonyms = search.served.synonyms.with_group(one.group)
        widened = replace(search.plan, expansion=synonyms.expand(search.plan.words), synonyms=synonyms)
        accepted = replace(search, served=replace(search.served, synonyms=synonyms), plan=widened)
        finds = accepted.results(per_page=0).answer.result.total
        yield PendingSuggestion(one.group.id, rows[one.group.id].revision, one.group, one.typed, one.others, finds)


def reindex_product(site_id: int, product_id: int) -> str:
    """Put the product into the outbox as it is and return its name. Raises NotFound."""
    product = product_of(site_id, product_id)
    outbox.enqueue(db.session, site_id, PRODUCT, [product.id])
    return product.name

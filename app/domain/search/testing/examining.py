"""Tests a search: asks the engine as the shop does, and everything around it that tells why. Nothing is counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlalchemy import select

from app.domain.catalogue.product_reference import referred_product
from app.domain.search.engine import (
    EngineState,
    Explanation,
    Hit,
    IndexName,
    SearchEngine,
    SearchRequest,
    SearchUnavailable,
)
from app.domain.search.index import runs, wishes
from app.domain.search.index.document import product_document_id
from app.domain.search.index.outbox import PRODUCT
from app.domain.search.live import publishing
from app.domain.search.live.asking import Asked, ask
from app.domain.search.live.models import Synonym
from app.domain.search.live.plan import Plan, plan
from app.domain.search.live.served import Served, SynonymSet, normalized_term
from app.domain.search.live.snapshot import group_of
from app.domain.search.models import UNFINISHED
from app.domain.search.synonyms.record import SUGGESTED
from app.domain.search.testing.findings import (
    FIRST,
    Engine,
    Findings,
    ProductFindings,
    Question,
    ScoredHit,
    Suggestion,
    Why,
)
from app.domain.search.text import LINKING_WORDS, query_words
from app.domain.shared.clock import Clock
from app.domain.sites.settings import settings_of
from app.domain.sites.time_zone import time_zone_of
from app.extensions import db

MOST_SUGGESTIONS = 5  # Whose effect on the search is asked.


@dataclass(frozen=True, slots=True)
class _Asking:
    """A search as it is served at the moment asked about."""

    engine: SearchEngine
    site_id: int
    served: Served
    plan: Plan

    def ask(self, per_page: int = FIRST) -> Asked:
        request = SearchRequest(words=self.plan.words, per_page=per_page)
        return ask(self.engine, self.site_id, request, self.plan, self.served.stop_words)

    def with_synonyms(self, synonyms: SynonymSet) -> _Asking:
        served = replace(self.served, synonyms=synonyms)
        expansion = synonyms.expand(self.plan.words)
        return replace(self, served=served, plan=replace(self.plan, expansion=expansion, synonyms=synonyms))

    def explain(self, asked: Asked, product_id: int) -> Explanation:
        document_id = product_document_id(product_id)
        return self.engine.explain(self.site_id, IndexName.PRODUCTS, asked.request, document_id)


def examine(clock: Clock, engine: SearchEngine, site_id: int, question: Question) -> Findings:
    """Always answers: what the engine cannot tell is left out, and `engine` says why."""
    now, served = clock.now(), publishing.served(site_id)
    planned = plan(question.words, served, question.at or now)
    state = publishing.served_state(site_id)
    latest = runs.latest_run(site_id)
    findings = Findings(
        question=question,
        engine=_engine(engine, site_id),
        now=now,
        page_size=settings_of(site_id)["listing-page-size"],
        tokens=query_words(question.words),
        optional=_optional(question.words, served.stop_words),
        applied=planned.expansion.applied,
        rule=planned.rule,
        sleeping=None if planned.rule else served.rules.by_term.get(normalized_term(question.words)),
        redirect=planned.redirect,
        banner=planned.banner,
        product=_product(site_id, question.reference),
        is_behind=state is not None and state.live_version != state.saved_version,
        is_rebuilding=latest is not None and latest.state in UNFINISHED,
        zone=time_zone_of(site_id),
    )
    try:
        return _asked(_Asking(engine, site_id, served, planned), findings)
    except SearchUnavailable as unavailable:
        return replace(findings, engine=_not_answering(findings.engine, unavailable))


def _optional(words: str, stop_words: frozenset[str]) -> tuple[str, ...]:
    """Linking and stop words, unless there is nothing else to look for."""
    tokens = query_words(words)
    optional = tuple(token for token in tokens if token in LINKING_WORDS or token in stop_words)
    return optional if len(optional) < len(tokens) else ()


def _asked(asking: _Asking, findings: Findings) -> Findings:
    if not findings.words:
        return replace(findings, product=_looked_up(asking, findings.product))
    asked = asking.ask()
    result = asked.result
    return replace(
        findings,
        found=result.total,
        full=result.full_matches,
        hits=tuple(_hits(asking, asked)),
        corrected=result.suggestion if result.corrected else None,
        relaxed=result.relaxed,
        unknown=_unknown(asking, findings.tokens) if result.corrected or result.relaxed or not result.total else (),
        suggested=tuple(_suggested(asking)),
        product=_explained(asking, asked, findings.product),
    )


def _engine(engine: SearchEngine, site_id: int) -> Engine:
    status = engine.status(site_id, IndexName.PRODUCTS)
    return Engine(status.state, status.error)


def _not_answering(engine: Engine, unavailable: SearchUnavailable) -> Engine:
    """One that is not set up stays so."""
    return replace(engine, state=EngineState.UNREACHABLE, error=unavailable.message) if engine.answers else engine


def _product(site_id: int, reference: str) -> ProductFindings | None:
    product = referred_product(site_id, reference)
    if product is None:
        return None
    waits, set_aside = wishes.of_record(site_id, PRODUCT, product.id)
    return ProductFindings(
        id=product.id,
        sku=product.sku,
        name=product.name,
        seo_name=product.seo_name,
        enabled=product.enabled,
        terms=len(product.search_terms),
        indexed=None,
        is_waiting=waits,
        set_aside=set_aside,
    )


def _explained(asking: _Asking, asked: Asked, product: ProductFindings | None) -> ProductFindings | None:
    if product is None:
        return None
    explanation = asking.explain(asked, product.id)
    return replace(product, indexed=explanation.indexed, rank=explanation.rank, why=_why(explanation))


def _looked_up(asking: _Asking, product: ProductFindings | None) -> ProductFindings | None:
    """Whether the index has the product, where no words say what to look for."""
    if product is None:
        return None
    document_id = product_document_id(product.id)
    explanation = asking.engine.explain(asking.site_id, IndexName.PRODUCTS, SearchRequest(), document_id)
    return replace(product, indexed=explanation.indexed)


def _why(explanation: Explanation) -> Why:
    return Why(explanation.score, explanation.parts, explanation.matches, explanation.missing_words, explanation.placed)


def _hits(asking: _Asking, asked: Asked) -> Iterator[ScoredHit]:
    for position, hit in enumerate(asked.result.hits, start=1):
        shown = _hit(position, hit)
        yield replace(shown, why=_why(asking.explain(asked, shown.id)))


def _hit(position: int, hit: Hit) -> ScoredHit:
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
    )


def _unknown(asking: _Asking, tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Words that, each asked alone, find nothing."""
    return tuple(word for word in tokens if not _finds(asking, word))


def _finds(asking: _Asking, word: str) -> int:
    request = SearchRequest(words=word, correct=False, prefix_last=False, per_page=0)
    return asking.engine.search(asking.site_id, IndexName.PRODUCTS, request).total


def _suggested(asking: _Asking) -> Iterator[Suggestion]:
    """Suggestions that the words would meet, each with what the search would find were it accepted alone."""
    query = select(Synonym).where(Synonym.site_id == asking.site_id, Synonym.status == SUGGESTED).order_by(Synonym.id)
    rows = {row.id: row for row in db.session.scalars(query)}
    groups = {row_id: group_of(row) for row_id, row in rows.items()}
    applied = SynonymSet.of(groups.values()).expand(asking.plan.words).applied
    for one in applied[:MOST_SUGGESTIONS]:
        assert one.group.id is not None, "it was read from the database"
        accepted = asking.with_synonyms(asking.served.synonyms.with_group(one.group))
        finds = accepted.ask(per_page=0).result.total
        yield Suggestion(one.group.id, rows[one.group.id].revision, one.group, one.typed, one.others, finds)

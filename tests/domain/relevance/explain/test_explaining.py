"""A test of a search against the real engine and both databases."""

from __future__ import annotations

from copy import copy
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask

from app.adapters.null_engine import NullEngine
from app.domain.catalogue.models import Product
from app.domain.relevance import publishing
from app.domain.relevance.advice import advise_on_search
from app.domain.relevance.explain import explain_search, reindex_product
from app.domain.relevance.explanation import ExplainRequest, SearchExplanation, explanation_json
from app.domain.relevance.models import SearchRule, Synonym
from app.domain.search.engine import EngineState, SearchContext
from app.domain.search.index.rebuild import rebuild
from app.domain.search.models import OutboxEntry, ServedConfiguration
from app.domain.search.serving import configuration
from app.domain.search_statistics.models import SearchDay, SearchWordDay
from app.domain.shared.problems import NotFound
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.searching import add_page, add_product, add_site, request
from tests.snapshots import built

WHEN = datetime(2026, 11, 1, tzinfo=UTC)


class Shop:
    def __init__(self, indexing: SearchContext) -> None:
        self.indexing = indexing
        with transaction():
            self.site_id = add_site().id
            self.ids = {
                sku: add_product(self.site_id, sku, name, variants=[f"{sku}-XL"]).id
                for sku, name in (("T-1", "Ridge tent"), ("U-1", "Storm umbrella"), ("C-1", "Rain coat"))
            }

    def build(self) -> None:
        rebuild(self.indexing, request(self.indexing, self.site_id))

    def explain(self, words: str = "", reference: str = "", at: datetime | None = None) -> SearchExplanation:
        return explain_search(
            self.indexing.clock, self.indexing.engine, self.site_id, ExplainRequest(words, reference, at)
        )

    def synonym(self, *words: str, status: str = "LIVE") -> None:
        with transaction():
            fields = {"type": "EQUIVALENT", "words": list(words), "status": status, "fingerprint": words[0]}
            signed = {"created_at": WHEN, "updated_at": WHEN, "updated_by": "Mia"}
            db.session.add(
                Synonym(
                    site_id=self.site_id, words_version=configuration.raise_version(self.site_id), **fields, **signed
                )
            )
            db.session.flush()
            publishing.publish(self.indexing.clock, self.site_id)

    def rule(self, term: str, **more: object) -> None:
        with transaction():
            signed = {"created_at": WHEN, "updated_at": WHEN, "updated_by": "Mia"}
            version = configuration.raise_version(self.site_id)
            db.session.add(
                SearchRule(
                    site_id=self.site_id, term=term, normalized_term=term, words_version=version, **more, **signed
                )
            )
            db.session.flush()
            publishing.publish(self.indexing.clock, self.site_id)


@pytest.fixture
def shop(app: Flask, indexing: SearchContext, context: None) -> Shop:
    def build() -> Shop:
        made = Shop(indexing)
        made.build()
        return made

    found = copy(built(app, build, __name__))
    found.indexing = indexing
    return found


def names(explanation: SearchExplanation) -> list[str]:
    return [hit.name for hit in explanation.hits]


def test_the_first_ten_stand_in_the_order_of_the_shop_each_with_its_reasons(shop: Shop) -> None:
    found = shop.explain("ridge tents")
    assert (found.found, names(found), found.tokens) == (1, ["Ridge tent"], ("ridge", "tent"))
    why = found.hits[0].why
    assert {match.field for match in why.matches} >= {"name"}
    assert why.score == pytest.approx(sum(part.worth for part in why.parts), rel=1e-4)


@pytest.mark.parametrize("reference", ["U-1", "u-1", "U-1-XL", "u-1-xl", " U-1 "])
def test_a_product_is_known_by_its_sku_and_by_that_of_a_variant_in_any_case(shop: Shop, reference: str) -> None:
    found = shop.explain("umbrella", reference).product
    assert found is not None and found.rank == 1


def test_a_product_is_known_by_its_seo_name_and_its_id_and_only_on_its_own_site(shop: Shop) -> None:
    with transaction():
        product = db.session.get(Product, shop.ids["U-1"])
        product.seo_name = "storm-umbrella"
        other = add_product(add_site("other.test").id, "X-1").id
    assert shop.explain("", "storm-umbrella").product.sku == "U-1"
    assert shop.explain("", str(shop.ids["U-1"])).product.sku == "U-1"
    assert shop.explain("", str(other)).product is None
    assert shop.explain("", "9" * 30).product is None


def test_a_product_that_is_not_found_says_which_words_it_lacks(shop: Shop) -> None:
    product = shop.explain("umbrella tent", "T-1").product
    assert product.indexed and product.why.missing == ("umbrella",)
    assert shop.explain("coat", "T-1").product.rank is None


def test_live_synonyms_apply_and_suggested_ones_say_what_they_would_find(shop: Shop) -> None:
    shop.synonym("tent", "shelter")
    shop.synonym("brolly", "umbrella", status="SUGGESTED")
    applied = shop.explain("shelter")
    assert [one.typed for one in applied.applied] == ["shelter"] and names(applied) == ["Ridge tent"]
    suggested = shop.explain("brolly")
    assert suggested.found == 0
    assert [(one.typed, one.others, one.finds) for one in suggested.suggested] == [("brolly", ("umbrella",), 1)]


def test_words_that_no_product_has_are_named(shop: Shop) -> None:
    assert shop.explain("gearbox toyota").unknown == ("gearbox", "toyota")
    assert shop.explain("tent").unknown == ()


def test_pages_and_collections_that_shoppers_see_are_shown_and_one_that_answers_needs_no_advice(shop: Shop) -> None:
    with transaction():
        add_page(shop.site_id, "returns", "<p>No tent is too large.</p>")
    rebuild(shop.indexing, request(shop.indexing, shop.site_id, "CONTENT"))
    answered = shop.explain("returns")
    assert (answered.found, answered.is_answered_by_content, advise_on_search(answered)) == (0, True, ())
    assert [link.path for link in answered.content.titled] == ["/pages/returns"]
    mentioned = shop.explain("tent")
    assert [link.name for link in mentioned.content.others] == ["returns"] and not mentioned.is_answered_by_content
    assert explanation_json(mentioned)["content"] == [{"name": "returns", "path": "/pages/returns", "answers": False}]
    with transaction():
        change_settings(shop.site_id, {"search-content-enabled": False})
    unseen = shop.explain("returns")
    assert unseen.content.titled == () and advise_on_search(unseen) != ()


def test_a_page_of_another_spelling_is_not_shown_beside_products_that_have_the_words(shop: Shop) -> None:
    with transaction():
        add_page(shop.site_id, "tnet", "<p>Of fish.</p>")
    rebuild(shop.indexing, request(shop.indexing, shop.site_id, "CONTENT"))
    assert shop.explain("tnet").content.titled and not shop.explain("tent").content.titled


def test_words_that_may_be_missing_are_marked_unless_nothing_else_is_typed(shop: Shop) -> None:
    with transaction():
        change_settings(shop.site_id, {"search-stop-words": ["cheap"]})
    assert shop.explain("cheap tent for rain").optional == ("cheap", "for")
    assert shop.explain("cheap").optional == ()


def test_a_rule_applies_as_of_the_moment_asked_about(shop: Shop) -> None:
    begins = shop.indexing.clock.now() + timedelta(days=7)
    shop.rule("coat", pins=[{"sku": "T-1", "position": 1}], starts_at=begins)
    now = shop.explain("coat")
    assert now.rule is None and now.inactive_rule is not None and names(now) == ["Rain coat"]
    then = shop.explain("coat", "T-1", at=begins)
    assert names(then) == ["Ridge tent", "Rain coat"]
    assert (then.product.rank, then.product.why.placed) == (1, "pinned")


def test_a_redirect_is_told_beside_what_would_be_found_without_it(shop: Shop) -> None:
    shop.rule("coat", redirect_url="/pages/rain")
    found = shop.explain("coat")
    assert (found.redirect, names(found)) == ("/pages/rain", ["Rain coat"])


def test_what_is_saved_and_not_live_is_told(shop: Shop) -> None:
    assert not shop.explain("tent").is_behind
    with transaction():
        db.session.add(ServedConfiguration(site_id=shop.site_id, saved_version=2, live_version=1))
    assert shop.explain("tent").is_behind


def test_a_change_that_waits_is_told_and_so_is_one_that_was_set_aside(shop: Shop) -> None:
    assert not shop.explain("", "T-1").product.is_waiting
    with transaction():
        entry = {"site_id": shop.site_id, "kind": "product", "record_id": shop.ids["U-1"]}
        db.session.add(OutboxEntry(**entry, attempts=1, error="too deep"))
    assert shop.explain("", "U-1").product.set_aside == "too deep"
    with transaction():
        assert reindex_product(shop.site_id, shop.ids["T-1"]) == "Ridge tent"
    assert shop.explain("", "T-1").product.is_waiting


def test_a_product_is_indexed_again_only_on_its_own_site(shop: Shop) -> None:
    with transaction():
        other = add_site("other.test").id
    with pytest.raises(NotFound), transaction():
        reindex_product(other, shop.ids["T-1"])


def test_without_an_index_the_catalogue_still_answers(indexing: SearchContext, context: None) -> None:
    found = Shop(indexing).explain("tent", "T-1")
    assert found.engine.state is EngineState.UNREACHABLE and found.engine.error
    assert (found.found, found.product.indexed, found.product.enabled) == (None, None, True)


def test_without_an_engine_it_says_so(indexing: SearchContext, context: None) -> None:
    shop = Shop(indexing)
    found = explain_search(indexing.clock, NullEngine(), shop.site_id, ExplainRequest("tent", "T-1"))
    assert found.engine.state is EngineState.NOT_SET_UP and found.product is not None


def test_nothing_of_a_test_is_counted(shop: Shop) -> None:
    shop.explain("tent", "T-1")
    assert db.session.query(SearchDay).count() == db.session.query(SearchWordDay).count() == 0


def test_another_sites_words_do_not_reach_in(shop: Shop) -> None:
    other = Shop.__new__(Shop)
    other.indexing = shop.indexing
    with transaction():
        other.site_id = add_site("other.test").id
    other.synonym("tent", "shelter")
    other.rule("coat", redirect_url="/pages/theirs")
    assert shop.explain("shelter").applied == () and shop.explain("coat").rule is None

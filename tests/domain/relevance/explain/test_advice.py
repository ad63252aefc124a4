from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.catalogue.product_rules import LONGEST_TERM
from app.domain.relevance.advice import Act, Advice, advise_on_search, inactive_reason
from app.domain.relevance.explanation import (
    EngineHealth,
    ExplainRequest,
    PendingSuggestion,
    ProductExplanation,
    ScoreExplanation,
    SearchExplanation,
)
from app.domain.search.engine import EngineState
from app.domain.search.serving.rules import Rule
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.search.text import query_words

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
TENT = ProductExplanation(
    id=7, sku="T-1", name="Ridge tent", seo_name="ridge-tent", enabled=True, terms=0, indexed=True
)


def explained(words: str = "rain coat", **more) -> SearchExplanation:
    reference = "T-1" if more.get("product") else more.pop("reference", "")
    question = ExplainRequest(words, reference, more.pop("at", None))
    return SearchExplanation(
        question, EngineHealth(EngineState.HEALTHY), NOW, tokens=query_words(words), **({"found": 3} | more)
    )


def codes(found: SearchExplanation) -> list[str]:
    return [one.code for one in advise_on_search(found)]


def the(found: SearchExplanation, code: str) -> Advice:
    return next(one for one in advise_on_search(found) if one.code == code)


def test_where_all_is_well_there_is_nothing_to_do() -> None:
    assert advise_on_search(explained()) == ()
    assert advise_on_search(explained(product=replace(TENT, rank=3))) == ()
    assert advise_on_search(explained("")) == ()


def test_a_product_that_is_not_there_is_looked_for_in_the_catalogue() -> None:
    assert the(explained(reference="X-9"), "not_in_catalogue").act is Act.FIND_PRODUCT


def test_a_hidden_product_is_shown_first_of_all() -> None:
    hidden = replace(TENT, enabled=False, indexed=False, is_waiting=True)
    assert [one.act for one in advise_on_search(explained(product=hidden))] == [Act.ENABLE]


@pytest.mark.parametrize(
    ("product", "act"),
    [
        (replace(TENT, indexed=False), Act.INDEX),
        (replace(TENT, indexed=False, is_waiting=True), Act.AGAIN),
        (replace(TENT, indexed=False, set_aside="too deep"), Act.EDIT_PRODUCT),
    ],
)
def test_a_product_that_is_not_in_the_index_says_why(product: ProductExplanation, act: Act) -> None:
    assert [one.act for one in advise_on_search(explained(product=product))] == [act]


def test_words_that_a_product_lacks_become_a_term_as_they_were_typed() -> None:
    product = replace(TENT, why=ScoreExplanation(missing=("coat",)))
    assert the(explained("Rain COATS", product=product), "missing_words").words == "coats"
    assert "write_words" in codes(explained("Rain coats", product=product))


def test_the_term_is_what_was_typed_not_what_was_searched_instead() -> None:
    product = replace(TENT, why=ScoreExplanation(missing=("coat",)))
    corrected = explained("rain coaat", corrected="rain coat", product=product)
    assert the(corrected, "missing_words").words == "coaat"
    parted = explained("raincoaat", corrected="rain coat", product=product)
    assert the(parted, "missing_words").words == "raincoaat"


@given(st.text(alphabet="abc ", max_size=200))
def test_a_term_that_is_offered_is_never_too_long(words: str) -> None:
    product = replace(TENT, why=ScoreExplanation(missing=query_words(words)))
    offered = [one.words for one in advise_on_search(explained(words, product=product)) if one.act is Act.ADD_TERM]
    assert all(len(term) <= LONGEST_TERM for term in offered)


def test_a_product_far_down_can_be_pinned() -> None:
    down = the(explained(found=90, product=replace(TENT, rank=30)), "far_down")
    assert "page 2" in down.message and down.act is Act.ADD_RULE
    assert codes(explained(found=90, product=replace(TENT, rank=10))) == []


def test_a_product_behind_all_pages_can_be_pinned_too() -> None:
    down = the(explained(found=90_000, product=replace(TENT, is_far_down=True)), "far_down")
    assert "behind the first 10,000" in down.message and down.act is Act.ADD_RULE


def test_a_buried_product_leads_to_the_rule_that_buries_it() -> None:
    buried = replace(TENT, rank=90, why=ScoreExplanation(placed="buried"))
    advice = the(explained(rule=Rule("rain coat", buries=("T-1",), id=4), product=buried), "buried")
    assert (advice.act, advice.id) == (Act.EDIT_RULE, 4)


def test_a_redirect_is_told_because_nobody_sees_the_results() -> None:
    rule = Rule("rain coat", redirect_url="/pages/rain", id=4)
    assert "/pages/rain" in the(explained(rule=rule, redirect="/pages/rain"), "redirected").message


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (Rule("rain coat", enabled=False, id=4), "paused"),
        (Rule("rain coat", starts_at=NOW + timedelta(days=9), id=4), "begins 30 November."),
        (Rule("rain coat", ends_at=NOW - timedelta(days=9), id=4), "ended 12 November"),
    ],
)
def test_a_rule_that_does_not_apply_says_why(rule: Rule, said: str) -> None:
    assert said in the(explained(inactive_rule=rule), "rule_sleeps").message


def test_a_suggested_synonym_can_be_accepted_and_says_what_it_would_find() -> None:
    group = SynonymGroup(SynonymType.EQUIVALENT, None, ("brolly", "umbrella"), 5)
    suggested = (PendingSuggestion(5, 1, group, "brolly", ("umbrella",), finds=12),)
    advice = the(explained("brolly", found=0, suggested=suggested), "synonym_suggested")
    assert (advice.act, advice.id) == (Act.ACCEPT, 5)
    assert "12 products" in advice.message


def test_what_finds_nothing_can_become_a_term_a_synonym_or_a_rule() -> None:
    nothing = explained("brolly", found=0, unknown=("brolly",))
    assert [one.act for one in advise_on_search(nothing)] == [Act.ADD_SYNONYM, Act.CHOOSE_PRODUCT, Act.ADD_RULE]
    assert all(one.words in ("brolly", "") for one in advise_on_search(nothing))


def test_a_corrected_spelling_needs_no_advice() -> None:
    assert codes(explained("monitr", corrected="monitor", unknown=("monitr",))) == []


def test_a_word_that_no_product_has_is_told_although_the_others_find_something() -> None:
    some = explained("brolly tent", found=13, full=0, relaxed=True, unknown=("brolly", "tent"), corrected="brolly test")
    assert [one.words for one in advise_on_search(some)] == ["brolly"]


def test_an_engine_that_does_not_answer_comes_first() -> None:
    broken = replace(
        explained(found=None, product=replace(TENT, indexed=None)), engine=EngineHealth(EngineState.UNREACHABLE)
    )
    assert codes(broken) == ["unreachable"]
    assert codes(replace(broken, engine=EngineHealth(EngineState.NOT_SET_UP))) == ["not_set_up"]


def test_when_a_rule_begins_or_ended_is_told_in_the_days_of_the_shop() -> None:
    january = datetime(2027, 1, 10, tzinfo=UTC)
    ended = explained(at=january, inactive_rule=Rule("x", ends_at=datetime(2026, 12, 23, 23, 30, tzinfo=UTC)))
    assert inactive_reason(replace(ended, zone="Europe/Berlin")) == "ended 24 December 2026"
    begins = explained(at=january, inactive_rule=Rule("x", starts_at=datetime(2027, 3, 1, tzinfo=UTC)))
    assert inactive_reason(begins) == "begins 1 March"
    assert inactive_reason(explained(inactive_rule=Rule("x", enabled=False))) == "is paused"

"""What a change that is not saved would do: each kind, against the same change saved."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.domain.catalogue import products, terms
from app.domain.relevance.comparison import Comparison, Movement
from app.domain.relevance.previews import Preview, preview_change
from app.domain.relevance.proposals import Proposal, RuleProposal, SynonymProposal, TermsProposal
from app.domain.search.engine import SearchContext
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.serving.configuration import served
from app.domain.search.serving.query import first_ten
from app.domain.search.serving.rules import Banner, PinnedSku, Rule
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.shared.author import Author
from app.domain.shared.problems import NotFound
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.transaction import transaction
from tests.domain.relevance.trials.preview_shop import product_id, save_rule, save_synonym, shop

pytestmark = pytest.mark.usefixtures("context")


def _group(*words: str, root: str | None = None, id: int | None = None) -> SynonymGroup:
    return SynonymGroup(SynonymType.ONE_WAY if root else SynonymType.EQUIVALENT, root, words, id)


def _try(indexing: SearchContext, site_id: int, proposal: Proposal, query: str = "") -> Preview:
    return preview_change(indexing.engine, indexing.clock, site_id, proposal, query)


def _names(comparison: Comparison) -> list[str]:
    return [str(place.card["name"]) for place in comparison.after.places]


def _found(indexing: SearchContext, site_id: int, words: str) -> list[str]:
    """What shoppers find now."""
    ten = first_ten(indexing.engine, site_id, words, served(site_id), indexing.clock.now())
    return [str(hit.card["name"]) for hit in ten.hits]


def test_a_synonym_is_compared_for_each_of_its_words(indexing: SearchContext) -> None:
    tried = _try(indexing, shop(indexing), SynonymProposal(_group("mug", "cup")))
    assert [one.words for one in tried.comparisons] == ["mug", "cup"]
    mug = tried.comparisons[0]
    assert (mug.before.total, mug.after.total, mug.new, mug.gone) == (2, 4, 2, 0)
    assert mug.summary == "2 new in the first ten"
    assert set(_names(mug)[:2]) == {"Blue mug", "Green mug"}, "the word that was typed ranks first"


def test_a_one_way_synonym_changes_its_root_alone(indexing: SearchContext) -> None:
    tried = _try(indexing, shop(indexing), SynonymProposal(_group("cup", root="mug")))
    assert [(one.words, one.is_changed) for one in tried.comparisons] == [("mug", True), ("cup", False)]


def test_what_is_tried_is_what_saving_brings(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    tried = _try(indexing, site_id, SynonymProposal(_group("mug", "cup")))
    save_synonym(indexing, site_id, "mug", "cup")
    for comparison in tried.comparisons:
        assert _names(comparison) == _found(indexing, site_id, comparison.words)


def test_trying_saves_nothing(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    before = _found(indexing, site_id, "mug")
    mug = product_id(site_id, "JUG-1")
    _try(indexing, site_id, SynonymProposal(_group("mug", "cup")))
    _try(indexing, site_id, TermsProposal(mug, ("mug",)))
    _try(indexing, site_id, RuleProposal(Rule("mug", pins=(PinnedSku("JUG-1", 1),))))
    assert _found(indexing, site_id, "mug") == before
    assert not db.session.query(AuditEntry).count()
    assert not db.session.dirty and not db.session.new


def test_a_saved_synonym_is_replaced_or_taken_away_on_trial(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    saved = save_synonym(indexing, site_id, "mug", "cup")
    changed = _try(indexing, site_id, SynonymProposal(_group("mug", "jug", id=saved)), "mug").comparisons[0]
    assert set(_names(changed)) == {"Blue mug", "Green mug", "Water jug"}
    removed = _try(indexing, site_id, SynonymProposal(_group(id=saved), remove=True))
    assert removed.summary == "Without the synonym “mug = cup”"
    assert [(one.words, one.after.total, one.gone) for one in removed.comparisons] == [("mug", 2, 2), ("cup", 2, 2)]


def test_a_rule_moves_what_it_pins(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    last = _try(indexing, site_id, RuleProposal(Rule("mug"))).comparisons[0].after.places[-1].card["sku"]
    rule = Rule("Mug ", pins=(PinnedSku(str(last), 1),), banner=Banner("Two for one"))
    (comparison,) = _try(indexing, site_id, RuleProposal(rule)).comparisons
    places = comparison.after.places
    assert [(place.mark, place.steps, place.pinned) for place in places] == [
        (Movement.UP, 1, True),
        (Movement.DOWN, 1, False),
    ]
    assert comparison.summary == "2 moved in the first ten; the banner changes"


def test_a_rule_that_sends_away_is_told_with_its_path(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    rule = Rule("mug", redirect_url="/pages/mugs")
    (comparison,) = _try(indexing, site_id, RuleProposal(rule)).comparisons
    assert comparison.after.redirect == "/pages/mugs"
    assert comparison.summary.startswith("goes to /pages/mugs")
    assert not comparison.finds_less


def test_a_rule_that_begins_later_is_looked_at_when_it_begins(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    begins = indexing.clock.now() + timedelta(days=3)
    rule = Rule("mug", pins=(PinnedSku("JUG-1", 1),), starts_at=begins)
    tried = _try(indexing, site_id, RuleProposal(rule))
    assert tried.as_of == begins
    assert _names(tried.comparisons[0])[0] == "Water jug"


def test_a_rule_is_taken_away_on_trial(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    saved = save_rule(indexing, site_id, "mug", pins=[{"sku": "JUG-1", "position": 1}])
    tried = _try(indexing, site_id, RuleProposal(Rule("", id=saved), remove=True))
    assert tried.summary == "Without the rule for “mug”"
    assert (tried.comparisons[0].before.total, tried.comparisons[0].after.total) == (3, 2)


def test_search_terms_are_tried_as_they_would_be_indexed(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    jug = product_id(site_id, "JUG-1")
    tried = _try(indexing, site_id, TermsProposal(jug, ("pitcher", "mug")))
    assert [(one.words, one.before.total, one.after.total) for one in tried.comparisons] == [
        ("pitcher", 0, 1),
        ("mug", 2, 3),
    ]
    with transaction():
        terms.replace_terms(Author(site_id, "Mia", indexing.clock), jug, ["pitcher", "mug"])
    apply_waiting(indexing, site_id)
    for comparison in tried.comparisons:
        assert _names(comparison) == _found(indexing, site_id, comparison.words)


def test_terms_are_tried_beside_those_that_are_there_or_instead_of_them(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    jug = product_id(site_id, "JUG-1")
    with transaction():
        terms.replace_terms(Author(site_id, "Mia", indexing.clock), jug, ["pitcher"])
    apply_waiting(indexing, site_id)
    added = _try(indexing, site_id, TermsProposal(jug, ("carafe",), add=True), "pitcher").comparisons[0]
    replaced = _try(indexing, site_id, TermsProposal(jug, ("carafe",)), "pitcher").comparisons[0]
    assert (added.after.total, replaced.after.total) == (1, 0)
    assert replaced.finds_less


def test_terms_of_a_hidden_product_find_nothing_and_it_is_said_why(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    jug = product_id(site_id, "JUG-1")
    with transaction():
        products.set_enabled(Author(site_id, "Mia", indexing.clock), [jug], False)
    apply_waiting(indexing, site_id)
    tried = _try(indexing, site_id, TermsProposal(jug, ("pitcher",)))
    assert tried.note == "The product is not shown to shoppers, so no search finds it."
    assert not tried.comparisons[0].is_changed


def test_boosting_what_the_search_does_not_find_is_told_to_do_nothing(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    rule = Rule("mug", boosts=("MUG-2", "JUG-1", "NONE"), buries=("CUP-1", "MUG-1"))
    tried = _try(indexing, site_id, RuleProposal(rule))
    assert "Not found by “mug”: JUG-1; boosting does nothing, pin it. Not found by “mug”: CUP-1; burying" in tried.note
    assert _try(indexing, site_id, RuleProposal(Rule("mug", boosts=("MUG-2",)))).note == ""
    assert _try(indexing, site_id, RuleProposal(rule, remove=True)).note == ""


def test_what_a_rule_cannot_place_is_named(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    with transaction():
        products.set_enabled(Author(site_id, "Mia", indexing.clock), [product_id(site_id, "JUG-1")], False)
    apply_waiting(indexing, site_id)
    rule = Rule("mug", pins=(PinnedSku("JUG-1", 1), PinnedSku("NONE", 2)), boosts=("MUG-2",))
    tried = _try(indexing, site_id, RuleProposal(rule))
    assert tried.note == "Not in the catalogue: NONE. Hidden from shoppers, so not placed: JUG-1."
    assert len(tried.comparisons[0].after.places) == 2


def test_the_product_of_another_site_is_not_found(indexing: SearchContext) -> None:
    own, other = shop(indexing), shop(indexing, "other.test")
    with pytest.raises(NotFound):
        _try(indexing, own, TermsProposal(product_id(other, "JUG-1"), ("pitcher",)))


def test_any_other_search_can_be_compared(indexing: SearchContext) -> None:
    tried = _try(indexing, shop(indexing), SynonymProposal(_group("mug", "cup")), "green mug")
    assert [one.words for one in tried.comparisons] == ["green mug"]

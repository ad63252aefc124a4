"""Changes that are not saved, as they are sent and kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.relevance.proposals import (
    Proposal,
    RuleProposal,
    SynonymProposal,
    TermsProposal,
    apply_proposal,
    as_json,
    complete_removal,
    describe,
    preview_moment,
    read_proposal,
    searches_of,
    stored_proposal,
)
from app.domain.search.serving.plan import Served
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import Banner, PinnedSku, Rule
from app.domain.search.serving.synonyms import SynonymGroup, SynonymSet, SynonymType
from app.domain.shared.problems import Invalid

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
word = st.text("abcdefgh é-", min_size=1, max_size=12).map(lambda text: " ".join(text.split())).filter(bool)
words = st.lists(word, min_size=2, max_size=6, unique=True).map(tuple)
ids = st.none() | st.integers(1, 10**6)
times = st.none() | st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
groups = st.one_of(
    st.builds(SynonymGroup, st.just(SynonymType.EQUIVALENT), st.none(), words, ids),
    st.builds(SynonymGroup, st.just(SynonymType.ONE_WAY), word, words, ids),
)
rules = st.builds(
    Rule,
    term=word,
    pins=words.map(lambda skus: tuple(PinnedSku(sku, number) for number, sku in enumerate(skus, 1))),
    boosts=words,
    buries=words,
    redirect_url=st.none() | st.just("/pages/mugs"),
    banner=st.none() | st.builds(Banner, word, st.none() | st.just("/pages/mugs")),
    enabled=st.booleans(),
    starts_at=times,
    ends_at=times,
    id=ids,
)
proposals = st.one_of(
    st.builds(SynonymProposal, groups, st.booleans()),
    st.builds(RuleProposal, rules, st.booleans()),
    st.builds(TermsProposal, st.integers(1, 10**6), words, st.booleans()),
)


@given(proposals)
def test_a_proposal_survives_its_way_through_a_page(proposal: Proposal) -> None:
    back = read_proposal(json.loads(json.dumps(as_json(proposal))))
    if isinstance(proposal, TermsProposal):
        assert isinstance(back, TermsProposal) and back.product_id == proposal.product_id
        assert [term.casefold() for term in back.terms] == list(
            dict.fromkeys(term.casefold() for term in proposal.terms)
        )
    else:
        assert back == proposal
    assert describe(back) and searches_of(back)


FIELDS = ("kind", "pins", "terms", "banner", "synonyms", "id", "term", "productId", "startsAt")
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner),
    max_leaves=9,
)


@given(anything, st.sampled_from(("synonym", "rule", "terms", "other")))
def test_whatever_is_sent_is_a_proposal_or_refused_in_words(sent: object, kind: str) -> None:
    body = {**sent, "kind": kind} if isinstance(sent, dict) else sent
    try:
        proposal = read_proposal(body)
    except Invalid as invalid:
        assert all(problem.message for problem in invalid.problems)
    else:
        assert read_proposal(as_json(proposal)) == proposal


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({}, "Say what to try"),
        ({"kind": "synonym", "synonyms": ["mug"]}, "Write the words first"),
        ({"kind": "synonym", "type": "ONE_WAY", "synonyms": ["mug"]}, "Write the words first"),
        ({"kind": "synonym", "type": "BOTH", "synonyms": ["mug", "cup"]}, "“type” must be"),
        ({"kind": "synonym", "synonyms": ["x"] * 21}, "at most 20"),
        ({"kind": "rule", "term": "  "}, "Write the search"),
        ({"kind": "rule", "term": "mug", "startsAt": "tomorrow"}, "must be a time"),
        ({"kind": "rule", "term": "mug", "boostGroups": [{"newDays": 999_999}]}, "are 1 to 3,650"),
        ({"kind": "rule", "term": "mug", "buryGroups": [{"priceTo": -1}]}, "A price is at least 0"),
        ({"kind": "terms", "terms": ["mug"]}, "Choose the product"),
        ({"kind": "terms", "productId": 5, "terms": ["a,b"]}, "contains a comma"),
        ({"kind": "terms", "productId": 5, "terms": [], "add": True}, "Write the search term"),
    ],
)
def test_what_cannot_be_tried_is_said(sent: dict[str, object], said: str) -> None:
    with pytest.raises(Invalid, match=said):
        read_proposal(sent)


def test_a_number_of_a_group_is_refused_in_its_place_and_read_where_it_is_stored() -> None:
    sent = {"kind": "rule", "term": "mug", "buryGroups": [{"onSale": True}, {"newDays": 999_999}]}
    with pytest.raises(Invalid) as raised:
        read_proposal(sent)
    assert [problem.pointer for problem in raised.value.problems] == ["#/buryGroups/1/newDays"]
    assert stored_proposal(sent).rule.bury_groups[1].new_days == 999_999


def test_ids_may_be_text_as_in_the_json_of_the_admin() -> None:
    proposal = read_proposal({"kind": "rule", "id": "12", "term": "mug"})
    assert isinstance(proposal, RuleProposal) and proposal.rule.id == 12
    with pytest.raises(Invalid, match="whole number"):
        read_proposal({"kind": "terms", "productId": "9" * 30, "terms": ["a"]})


@pytest.mark.parametrize("sent", ["2026-12-01T09:00", "2026-12-01T09:00:00Z", "2026-12-01T11:00:00+02:00"])
def test_a_time_without_a_zone_is_in_utc(sent: str) -> None:
    proposal = read_proposal({"kind": "rule", "term": "mug", "startsAt": sent})
    assert isinstance(proposal, RuleProposal)
    assert proposal.rule.starts_at == datetime(2026, 12, 1, 9, tzinfo=UTC)


def test_two_products_at_one_position_are_no_reason_to_refuse_a_look() -> None:
    pins = [{"sku": "A", "position": 1}, {"sku": "B", "position": 1}, {"sku": "A", "position": 2}, {"sku": "C"}]
    proposal = read_proposal({"kind": "rule", "term": "mug", "pins": pins})
    assert isinstance(proposal, RuleProposal) and proposal.rule.pins == (PinnedSku("A", 1),)


def _served() -> Served:
    group = SynonymGroup(SynonymType.EQUIVALENT, None, ("mug", "cup"), 3)
    return Served(7, SynonymSet.of([group]), RuleSet.of([Rule("mug", boosts=("A",), id=5)]))


def test_a_removal_that_names_the_id_alone_is_told_whole() -> None:
    synonym = complete_removal(SynonymProposal(SynonymGroup(SynonymType.EQUIVALENT, None, (), 3), True), _served())
    rule = complete_removal(RuleProposal(Rule("", id=5), True), _served())
    assert (searches_of(synonym), searches_of(rule)) == (("mug", "cup"), ("mug",))


def test_a_rule_is_removed_by_its_term_where_it_has_no_id() -> None:
    assert not apply_proposal(_served(), RuleProposal(Rule(" MUG"), True)).rules.by_term
    assert apply_proposal(_served(), RuleProposal(Rule("jug"), True)) == _served()


def test_an_unsaved_group_cannot_be_removed() -> None:
    unsaved = SynonymProposal(SynonymGroup(SynonymType.EQUIVALENT, None, ("a", "b")), True)
    assert apply_proposal(_served(), unsaved).synonyms == _served().synonyms


def test_terms_change_nothing_of_what_is_served() -> None:
    assert apply_proposal(_served(), TermsProposal(1, ("a",))) == _served()


def test_a_rule_of_the_past_is_looked_at_now() -> None:
    rule = Rule("mug", starts_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert preview_moment(RuleProposal(rule), NOW) == NOW
    assert preview_moment(TermsProposal(1, ("a",)), NOW) == NOW

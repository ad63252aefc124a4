"""Which synonyms widen a search, and which rule applies to it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.serving.plan import stop_words_of
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import Rule
from app.domain.search.serving.synonyms import SynonymGroup, SynonymSet, SynonymType
from app.domain.search.text import query_words

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


def equal(*words: str, id: int | None = None) -> SynonymGroup:
    return SynonymGroup(SynonymType.EQUIVALENT, None, words, id)


def one_way(root: str, *words: str, id: int | None = None) -> SynonymGroup:
    return SynonymGroup(SynonymType.ONE_WAY, root, words, id)


SYNONYMS = SynonymSet.of(
    [
        equal("gearboxes", "shifter", "gear lever", id=1),
        one_way("phone", "mobile", "handset", id=2),
        equal("cell phone", "smartphone", id=3),
        equal("jug", "pitcher", id=4),
        one_way("jug", "kettle", id=5),
    ]
)


def widened(words: str, synonyms: SynonymSet = SYNONYMS) -> dict[str, set[str]]:
    """What answers for each run of the words."""
    query = query_words(words)
    return {
        " ".join(query[run.place : run.place + run.length]): {" ".join(other) for other in run.others}
        for run in synonyms.expand(words).alternatives
    }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("gearbox toyota", {"gearbox": {"shifter", "gear lever"}}),
        ("Toyota GEAR LEVERS", {"gear lever": {"gearbox", "shifter"}}),
        ("shifters", {"shifter": {"gearbox", "gear lever"}}),
        ("gear for a lever", {}),
        ("phone", {"phone": {"mobile", "handset"}}),
        ("mobile", {}),
        ("cell phone case", {"cell phone": {"smartphone"}}),
        ("jug", {"jug": {"pitcher", "kettle"}}),
        ("kettle", {}),
        ("phone jug", {"phone": {"mobile", "handset"}, "jug": {"pitcher", "kettle"}}),
        ("", {}),
        ("*:*", {}),
    ],
)
def test_each_expression_is_widened_by_its_groups(words: str, expected: dict[str, set[str]]):
    assert widened(words) == expected


@pytest.mark.parametrize("words", ['"gearbox" toyota', "toyota “gearbox”", '"toyota gearbox"', '"gear" lever'])
def test_nothing_within_quotes_is_widened(words: str):
    assert widened(words) == {}


def test_a_quote_that_is_not_closed_quotes_nothing():
    assert widened('"gearbox toyota') == {"gearbox": {"shifter", "gear lever"}}


def test_what_applied_is_told_as_it_was_typed_and_as_the_group_writes_it():
    applied = SYNONYMS.expand("Gear-levers JUG").applied
    assert [(one.group.id, one.typed, one.others) for one in applied] == [
        (1, "gear levers", ("gearboxes", "shifter")),
        (4, "jug", ("pitcher",)),
        (5, "jug", ("kettle",)),
    ]


def test_what_an_expression_finds_is_not_widened_again():
    chain = SynonymSet.of([equal("sofa", "couch"), one_way("couch", "settee")])
    assert widened("sofa", chain) == {"sofa": {"couch"}}


def test_a_search_of_many_widened_words_has_a_bounded_number_of_answers():
    groups = [equal(*(f"w{n}x{m}" for m in range(20))) for n in range(16)]
    runs = SynonymSet.of(groups).expand(" ".join(f"w{n}x0" for n in range(16))).alternatives
    assert {len(run.others) for run in runs} == {7}
    assert len(runs) == 16
    (one,) = SynonymSet.of(groups).expand("w3x4").alternatives
    assert len(one.others) == 19


def test_a_group_replaces_the_one_of_its_id_and_can_be_taken_out():
    changed = SYNONYMS.with_group(one_way("phone", "telephone", id=2))
    assert widened("phone", changed) == {"phone": {"telephone"}}
    assert widened("phone", SYNONYMS.without(2)) == {}
    assert widened("lamp", SYNONYMS.with_group(equal("lamp", "light"))) == {"lamp": {"light"}}
    assert len(SYNONYMS.groups) == 5


def test_words_that_are_one_to_search_do_not_answer_for_themselves():
    assert widened("lamp", SynonymSet.of([equal("lamp", "Lamps"), one_way("lamp", "LAMP", "!")])) == {}


@given(st.lists(st.sampled_from(["gear", "lever", "gearbox", "cell", "phone", "jug", '"', "x"]), max_size=12))
def test_runs_lie_within_the_words_and_never_overlap(pieces: list[str]):
    words = " ".join(pieces)
    runs = sorted((run.place, run.place + run.length) for run in SYNONYMS.expand(words).alternatives)
    assert all(end <= start for (_, end), (start, _) in pairwise(runs))
    assert all(0 <= start < end <= len(query_words(words)) for start, end in runs)


@given(st.text(max_size=300))
def test_any_text_can_be_expanded(text: str):
    expanded = SYNONYMS.expand(text)
    assert all(run.place + run.length <= len(query_words(text)) for run in expanded.alternatives)
    assert bool(expanded.applied) == bool(expanded.alternatives)


@pytest.mark.parametrize("words", ["rain coat", "  RAIN   coat ", "ＲＡＩＮ coat", "rain\u00a0coat"])
def test_a_rule_applies_to_its_term_however_it_is_spaced_and_written(words: str):
    rules = RuleSet.of([Rule("Rain Coat", id=1)])
    assert rules.find(words, NOW) == rules.by_term["rain coat"]


@pytest.mark.parametrize("words", ["rain coats", "coat rain", "raincoat", "rain coat red", ""])
def test_a_rule_applies_to_nothing_else(words: str):
    assert RuleSet.of([Rule("rain coat")]).find(words, NOW) is None


@pytest.mark.parametrize(
    ("starts", "ends", "applies"),
    [(None, None, True), (0, None, True), (1, None, False), (None, 0, False), (None, 1, True), (-2, -1, False)],
)
def test_a_rule_applies_from_its_beginning_on_and_until_just_before_its_end(
    starts: int | None, ends: int | None, applies: bool
):
    def at(hours: int | None) -> datetime | None:
        return None if hours is None else NOW + timedelta(hours=hours)

    rule = Rule("coat", starts_at=at(starts), ends_at=at(ends))
    assert (RuleSet.of([rule]).find("coat", NOW) is not None) is applies


def test_a_paused_rule_does_not_apply():
    assert RuleSet.of([Rule("coat", enabled=False)]).find("coat", NOW) is None


def test_stop_words_are_kept_as_they_are_indexed():
    assert stop_words_of(["Pleases", "the BEST"]) == {"please", "the", "best"}

"""How a rule is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.relevance.rule_definition import RuleState, deletion_effects, rule_effects, state_of
from app.domain.search.serving.rules import Banner, PinnedSku, Rule

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
PINS = tuple(PinnedSku(f"A-{number}", number) for number in (1, 2, 3))


@pytest.mark.parametrize(
    ("changed", "state"),
    [
        ({}, RuleState.LIVE),
        ({"enabled": False, "ends_at": NOW - HOUR}, RuleState.PAUSED),
        ({"starts_at": NOW + HOUR}, RuleState.SCHEDULED),
        ({"starts_at": NOW}, RuleState.LIVE),
        ({"ends_at": NOW}, RuleState.ENDED),
        ({"ends_at": NOW + HOUR}, RuleState.LIVE),
    ],
)
def test_the_state_says_whether_search_applies_the_rule(changed: dict, state: RuleState):
    rule = Rule(term="coat", pins=PINS, **changed)
    assert state_of(rule, NOW) is state
    assert rule.applies_at(NOW) == (state is RuleState.LIVE)


def test_what_a_rule_does_is_told_in_parts():
    rule = Rule(term="coat", pins=PINS, buries=("B",), redirect_url="/c/Coats", banner=Banner("Dry"))
    assert rule_effects(rule) == ["redirect to /c/Coats", "3 pinned", "1 buried", "banner"]


def test_deleting_states_what_will_change():
    rule = Rule(term="coat", pins=PINS, boosts=("B",), redirect_url="/c/coats", banner=Banner("Dry"))
    assert deletion_effects(rule, NOW) == [
        "Shoppers see results again instead of /c/coats.",
        "3 pinned products go back to their usual places.",
        "1 boosted product goes back to its usual place, where the search finds it at all.",
        "The banner above the results goes.",
    ]


def test_deleting_what_does_nothing_changes_nothing():
    rule = Rule(term="coat", pins=PINS, enabled=False)
    assert deletion_effects(rule, NOW) == ["The rule is paused, so shoppers see no difference."]

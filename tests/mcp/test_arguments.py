"""Reading arguments: whatever JSON is sent, it is read or refused with places that were sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.shared.problems import Invalid
from app.mcp.arguments import read_arguments
from app.mcp.registry import all_tools
from tests.examples import examples

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("a\ud800"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
NAMES = sorted({str(field.alias) for tool in all_tools().values() for field in tool.arguments.model_fields.values()})
SENT = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=8), VALUES, max_size=6)


@settings(max_examples=examples(200))
@given(tool=st.sampled_from(list(all_tools().values())), sent=SENT)
def test_whatever_is_sent_is_read_or_refused_with_its_place(tool: Any, sent: dict[str, Any]) -> None:
    try:
        read = read_arguments(tool.arguments, sent)
    except Invalid as refused:
        assert refused.problems
        assert all(problem.message and problem.pointer.startswith("#") for problem in refused.problems)
    else:
        known = {field.alias for field in tool.arguments.model_fields.values()}
        assert set(sent) <= known
        assert {tool.arguments.model_fields[name].alias for name in read.model_fields_set} == set(sent)


@pytest.mark.parametrize("tool", all_tools().values(), ids=all_tools().keys())
def test_a_tools_words_are_for_agents_that_know_nothing_of_the_shop(tool: Any) -> None:
    assert len(tool.description) > 80
    assert tool.title and tool.name[0].islower()
    for wanted in tool.actions:
        assert wanted in str(tool.arguments.model_fields[tool.chosen_by].description)


@pytest.mark.parametrize(
    ("name", "sent", "code", "sentence"),
    [
        ("searchDiagnose", {"query": "x" * 5000}, "too_long", "“query” has at most"),
        ("searchDiagnose", {"product": ""}, "too_short", "“product” must not be empty."),
        ("searchInsights", {"report": "top", "days": 91}, "unknown_days", "“days” must be 7, 30 or 90, not 91."),
        ("searchInsights", {"report": "top", "pageNumber": 0}, "out_of_range", "“pageNumber” is 1 or more."),
    ],
)
def test_bounds_are_named_in_the_shops_words(name: str, sent: dict[str, Any], code: str, sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_arguments(all_tools()[name].arguments, sent)
    (problem,) = refused.value.problems
    assert problem.code == code
    assert problem.message.startswith(sentence)

"""The proposal to change how searches are understood."""

from __future__ import annotations

import pytest

from app.domain.relevance.proposals import (
    UnderstandingProposal,
    apply_proposal,
    as_json,
    describe,
    read_proposal,
    searches_of,
)
from app.domain.search.serving.plan import Served
from app.domain.search.understanding.parts import UnderstandingMode
from app.domain.shared.problems import Invalid


@pytest.mark.parametrize("mode", list(UnderstandingMode))
def test_it_is_read_as_it_was_written_and_changes_what_is_served(mode: UnderstandingMode):
    proposal = UnderstandingProposal(mode)
    assert read_proposal(as_json(proposal)) == proposal
    assert apply_proposal(Served(), proposal).understanding is mode
    assert searches_of(proposal) == ()
    assert mode.value in describe(proposal)


@pytest.mark.parametrize("mode", [None, "", "always", 1, []])
def test_an_unknown_mode_is_refused(mode: object):
    with pytest.raises(Invalid) as refused:
        read_proposal({"kind": "understanding", "mode": mode})
    assert refused.value.problems[0].pointer == "#/mode"

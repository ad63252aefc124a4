"""The 200 top searches asked before and after a change that is not saved, on the Icecat shop: a synonym, a rule, and
search terms, for which a part of the index is made anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

from app.adapters.whoosh import WhooshEngine
from app.domain.relevance.proposals import Proposal, RuleProposal, SynonymProposal, TermsProposal, apply_proposal
from app.domain.relevance.replays import BETWEEN_NOTES
from app.domain.relevance.trials import Trial
from app.domain.search.engine import IndexDocument, SearchRequest, Upsert
from app.domain.search.serving.plan import Served
from app.domain.search.serving.rules import Rule
from app.domain.search.serving.synonyms import SynonymGroup, SynonymSet, SynonymType
from bench.catalogue import documents, queries
from bench.measuring import PRODUCTS, SITE, Yardstick, at_most, build, heading, run, seconds, workspace

SEARCHES = 200
GROUPS = 200
TIMES = 4  # Synonyms, rules and the comparison come on top.
CHANGES: dict[str, Proposal] = {
    "a synonym": SynonymProposal(SynonymGroup(SynonymType.EQUIVALENT, None, ("laptop", "notebook"))),
    "a rule": RuleProposal(Rule("laptop", redirect_url="/pages/laptops")),
    "search terms": TermsProposal(1, ("laptop", "computer")),
}


def main() -> None:
    with workspace() as directory:
        made = list(documents())
        engine = WhooshEngine(directory / "shop")
        build(engine, made)
        top = [words for words, _ in Counter(queries()).most_common(SEARCHES)]
        served = Served(synonyms=SynonymSet.of(_groups(top)))
        heading(f"The top {len(top)} searches replayed, {GROUPS} synonyms live")
        plain = Yardstick("as many plain searches", seconds(lambda: _search(engine, top)), "s")
        for name, change in CHANGES.items():
            took = seconds(lambda change=change: _replay(engine, made[0], change, served, top))  # type: ignore[misc]
            at_most(f"{name} replayed", took, TIMES * plain)


def _search(engine: WhooshEngine, top: list[str]) -> None:
    """Before and after, a page each."""
    for words in 2 * top:
        engine.search(SITE, PRODUCTS, SearchRequest(words=words))


def _replay(engine: WhooshEngine, first: IndexDocument, change: Proposal, served: Served, top: list[str]) -> None:
    is_terms = isinstance(change, TermsProposal)
    changes = [Upsert(replace(first, terms=change.terms))] if isinstance(change, TermsProposal) else []
    with engine.trial(SITE, PRODUCTS, changes) as changed:
        after = changed if is_terms else engine
        trial = Trial(SITE, engine, after, served, apply_proposal(served, change), datetime.now(UTC))
        for start in range(0, len(top), BETWEEN_NOTES):
            trial.compare(top[start : start + BETWEEN_NOTES])


def _groups(top: list[str]) -> list[SynonymGroup]:
    return [
        SynonymGroup(SynonymType.EQUIVALENT, None, (words, f"other{number}"), number)
        for number, words in enumerate(top[:GROUPS])
    ]


if __name__ == "__main__":
    run(main)

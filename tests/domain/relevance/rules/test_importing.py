"""Rules as tables, out and in."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.blueprints.admin.spreadsheet import lines
from app.domain.relevance import rule_import
from app.domain.relevance.rule_import import read_rule, read_table, table_rows
from app.domain.relevance.rules import stored_rules
from app.domain.search.serving.product_groups import ProductGroup
from app.domain.search.serving.rules import Banner, PinnedSku, Rule
from app.domain.search.serving.term_index import Match
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid
from app.domain.sites.models import Site
from app.transaction import transaction
from tests.factories import make_product, make_rule, make_site
from tests.fakes.clock import StoppedClock

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=12)
RULES = st.builds(
    Rule,
    term=TEXT,
    pins=st.lists(st.builds(PinnedSku, TEXT, st.integers(1, 99)), max_size=3).map(tuple),
    boosts=st.lists(TEXT, max_size=3).map(tuple),
    redirect_url=st.sampled_from((None, "/c/coats")),
    banner=st.none() | st.builds(Banner, TEXT, st.sampled_from((None, "/c/coats"))),
    enabled=st.booleans(),
    starts_at=st.sampled_from((None, datetime(2026, 1, 1, tzinfo=UTC))),
    note=st.sampled_from(("", "=1+1\nand more")),
    match=st.sampled_from(Match),
    other_terms=st.lists(TEXT, max_size=2).map(tuple),
    levels=st.lists(TEXT, max_size=2).map(tuple),
    priority=st.integers(1, 1000),
    boost_groups=st.sampled_from(((), (ProductGroup(("A; B", "C&D"), stock="out"), ProductGroup(price_to=0)))),
)


@pytest.fixture
def site(context: None) -> Site:
    with transaction():
        site = make_site()
        for sku in ("COAT-1", "COAT-2"):
            make_product(site, sku)
        make_rule(site, "rain coat", pins=[{"sku": "COAT-1", "position": 1}], note="Summer")
        make_rule(site, "boots", redirect_url="/search?q=shoes")
    return site


@given(RULES)
def test_what_goes_out_comes_in_again(rule: Rule):
    ((_, cells),) = read_table(lines(table_rows([rule])))
    assert read_rule(cells) == rule


def outcomes(site: Site, *typed: str) -> list[tuple[int, str, str]]:
    return [
        (line.number, line.outcome.value, line.reason) for line in rule_import.preview(site.id, "\n".join(typed)).lines
    ]


def test_each_line_says_what_it_does(site: Site):
    results = outcomes(
        site,
        "term,pins,enabled,redirectUrl",
        "Rain  Coat,1:COAT-1,yes,",
        "boots,,no,/search?q=shoes",
        "hats,2:COAT-2;1:COAT-1,,",
        "HATS,1:COAT-1,,",
        "gloves,1:NONE,,",
        "socks,COAT-1,,",
        "scarves,,maybe,",
        "caps,,,/c/nowhere",
        "nothing,,,",
        ",1:COAT-1,,",
    )
    assert [(number, outcome) for number, outcome, _ in results] == [
        (2, "changed"), (3, "changed"), (4, "added"), (5, "refused"), (6, "refused"), (7, "refused"), (8, "refused"),
        (9, "refused"), (10, "refused"), (11, "refused"),
    ]  # fmt: skip
    reasons = [reason for *_, reason in results[3:]]
    assert reasons[0] == "Line 4 is about the same search."
    assert reasons[1] == "The shop has no product with the SKU “NONE”."
    assert "write its place and its SKU" in reasons[2]
    assert "must be yes or no" in reasons[3]
    assert "leads nowhere" in reasons[4]
    assert "would change nothing" in reasons[5]
    assert reasons[6] == "The term is missing."


def test_what_a_table_has_no_column_for_stays(site: Site):
    assert outcomes(site, "term,note", "rain coat,Summer")[0][1:] == ("same", "")
    ((_, cells),) = read_table("term,note\nrain coat,Winter")
    stored = next(rule for rule in stored_rules(site.id) if rule.term == "rain coat")
    assert read_rule(cells, stored).pins == stored.pins


def test_a_line_with_more_than_its_columns_is_refused(site: Site):
    assert outcomes(site, "term,pins", "hats,1:COAT-1, 2:COAT-2")[0][1] == "refused"


def test_an_unknown_column_is_named(site: Site):
    with pytest.raises(Invalid) as refused:
        rule_import.preview(site.id, "term,pinned\nhats,1:COAT-1")
    assert "Unknown: pinned." in refused.value.problems[0].message


def test_only_what_was_previewed_is_written(site: Site, clock: StoppedClock):
    author, text = Author(site.id, "Mia Moss", clock), "term,boosts\nboots,COAT-2\nhats,COAT-1"
    seen = rule_import.preview(site.id, text)
    with pytest.raises(Conflict), transaction():
        rule_import.apply(author, text, "of another preview")
    assert len(stored_rules(site.id)) == 2
    with transaction():
        rule_import.apply(author, text, seen.digest)
    assert {rule.term: rule.boosts for rule in stored_rules(site.id)} == {
        "boots": ("COAT-2",),
        "hats": ("COAT-1",),
        "rain coat": (),
    }

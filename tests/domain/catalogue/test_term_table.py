"""Search terms as tables, out and in."""

from __future__ import annotations

import pytest
from flask import Flask
from hypothesis import given, reject
from hypothesis import strategies as st

from app.blueprints.admin.spreadsheet import lines
from app.domain.catalogue import terms as term_table
from app.domain.catalogue.product_rules import clean_terms
from app.domain.catalogue.terms import COLUMNS, MOST_LINES, ProductTerms, plan_import
from app.domain.shared.author import Author
from app.domain.shared.csv_tables import read_named
from app.domain.shared.problems import Conflict, Invalid
from app.transaction import transaction
from tests.factories import make_product, make_site
from tests.fakes.clock import StoppedClock
from tests.statements import statements

STORED = {
    "KETTLE": ProductTerms(1, "KETTLE", ("boiler", "tea kettle")),
    "MUG": ProductTerms(2, "MUG", ()),
    "POT": ProductTerms(3, "POT", ("pan",)),
}


def outcomes(*typed: str) -> list[tuple[int, str, str]]:
    report = plan_import(STORED, read_named("\n".join(typed), COLUMNS, ("sku", "terms"), "products", MOST_LINES))
    return [(line.number, line.outcome.value, line.reason) for line in report.lines]


def test_each_line_says_what_it_does_to_its_product():
    results = outcomes(
        "Name,SKU,Terms",
        'Kettle,KETTLE,"boiler, tea kettle"',
        "Mug,MUG,beaker",
        "",
        "Pot,POT,",
        "Lid,LID,cover",
        "Mug,MUG,cup",
        f"Pot,POT,{'x' * 51}",
        ",,cup",
    )
    assert [(number, outcome) for number, outcome, _ in results] == [
        (2, "same"), (3, "added"), (5, "changed"), (6, "refused"), (7, "refused"), (8, "refused"), (9, "refused"),
    ]  # fmt: skip
    reasons = [reason for *_, reason in results[3:]]
    assert reasons[0] == "The shop has no product with the SKU “LID”."
    assert reasons[1] == "Line 3 is about the same product."
    assert reasons[2] == "Line 5 is about the same product."
    assert reasons[3] == "The SKU is missing."


def test_a_line_break_in_a_cell_separates_no_terms():
    (pot,) = outcomes("sku,terms", 'POT,"tea\ncup"')
    assert (pot[1], pot[2]) == (
        "refused",
        "“tea cup” contains a line break. Make it two terms, or write a space instead.",
    )


def test_a_line_with_less_or_more_than_its_columns_is_refused_and_takes_no_terms_away():
    results = outcomes("sku,terms,name", "KETTLE", "MUG,beaker,Mug, cup", "POT,,Pot,,")
    assert [outcome for _, outcome, _ in results] == ["refused", "refused", "changed"]
    assert "ends before its terms" in results[0][2] and "no column for “cup”" in results[1][2]


@pytest.mark.parametrize("typed", ["", "KETTLE,boiler", "sku,words\nKETTLE,a", "sku\nKETTLE", "sku,terms,sku\nA,b,C"])
def test_a_file_without_its_columns_is_refused(typed: str):
    with pytest.raises(Invalid):
        outcomes(typed)


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=("C",), exclude_characters=","), max_size=30),
        max_size=5,
    )
)
def test_what_goes_out_comes_in_again(typed: list[str]):
    try:
        terms = tuple(clean_terms(typed))
    except Invalid:
        reject()
    text = lines([("sku", "name", "terms"), ("MUG", "Mug", ", ".join(terms))])
    (read,) = plan_import(STORED | {"MUG": ProductTerms(2, "MUG", terms)}, read_named(text, COLUMNS, (), "", 9)).lines
    assert read.outcome.value == "same"


def test_only_what_was_previewed_is_written(context: None, clock: StoppedClock):
    with transaction():
        site = make_site()
        kettle, mug = (make_product(site, sku, search_terms=["boiler"]) for sku in ("KETTLE", "MUG"))
    author, text = Author(site.id, "Mia Moss", clock), "sku,terms\nKETTLE,\nMUG,cup\nLID,cover"
    seen = term_table.preview_import(site.id, text)
    assert (seen.count("changed"), seen.count("refused")) == (2, 1)
    with transaction():
        mug.search_terms = ["beaker"]
    with pytest.raises(Conflict), transaction():
        term_table.apply_import(author, text, seen.digest)
    assert kettle.search_terms == ["boiler"]
    with transaction():
        term_table.apply_import(author, text, term_table.preview_import(site.id, text).digest)
    assert (kettle.search_terms, mug.search_terms) == ([], ["cup"])
    assert list(term_table.table_rows(site.id)) == [("sku", "name", "terms"), ("MUG", mug.name, "cup")]


def test_a_preview_asks_for_hundreds_of_products_at_once(app: Flask, context: None):
    with transaction():
        site = make_site()
        make_product(site, "MUG")
    text = "sku,terms\n" + "\n".join(f"X-{number},cup" for number in range(900))
    with statements(app) as seen:
        assert term_table.preview_import(site.id, text).count("refused") == 900
    assert len(seen) <= 4

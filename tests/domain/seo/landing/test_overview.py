"""What the editor of a category shows of the values of its rules."""

from __future__ import annotations

from app.domain.seo.landing.overview import MOST_ROWS, ValueState, rule_overviews
from app.domain.seo.landing.pages import FacetCounts, LandingSubject

TENTS = LandingSubject("Tents", "tents", frozenset(), "Small shop", 3)
VALUES = (("All", 20), ("Nearly", 19), ("Moor", 5), ("moor", 4), ("Fern", 3), ("Two", 2), ("One", 1), ("日本", 9))


def states(rule: dict, least: int | None = None, subject: LandingSubject = TENTS) -> dict[str, ValueState]:
    (found,) = rule_overviews(subject, [rule], {"manufacturer": FacetCounts(20, VALUES)}, least)
    assert found.rows is not None
    return {row.value: row.state for row in found.rows}


BRAND = {"facetId": "manufacturer"}
PAGE, CANDIDATE, EXCLUDED, BLOCKED = ValueState


def test_pages_and_values_without_an_address_of_their_own_are_shown():
    assert states(BRAND) == {"Nearly": PAGE, "日本": BLOCKED, "Moor": PAGE, "moor": BLOCKED, "Fern": PAGE}


def test_a_lower_threshold_adds_candidates_and_a_higher_one_takes_nothing_away():
    assert states(BRAND, 2) == states(BRAND) | {"Two": CANDIDATE}
    assert states(BRAND, 9) == states(BRAND)
    assert states(BRAND | {"minProducts": 5}, 3) == states(BRAND) | {"Fern": CANDIDATE, "moor": BLOCKED}


def test_excluded_values_stay_in_sight_whatever_their_number():
    rule = BRAND | {"overrides": [{"value": "moor", "excluded": True}, {"value": "one", "excluded": True}]}
    assert states(rule) == {
        "Nearly": PAGE, "日本": BLOCKED, "Moor": PAGE, "moor": EXCLUDED, "Fern": PAGE, "One": EXCLUDED,
    }  # fmt: skip


def test_a_value_that_no_product_carries_is_known_whatever_its_case():
    rule = BRAND | {"overrides": [{"value": "MOOR", "heading": "x"}, {"value": "Gone", "excluded": True}]}
    (found,) = rule_overviews(TENTS, [rule], {"manufacturer": FacetCounts(20, VALUES)}, None)
    assert found.uncarried == {"Gone"}
    (unknown,) = rule_overviews(TENTS, [rule], {"manufacturer": None}, None)
    assert unknown.uncarried == frozenset(), "nothing is known while search is away"


def test_no_value_of_a_skipped_rule_is_a_candidate():
    taken = LandingSubject("Tents", "tents", frozenset(("brand",)), "Small shop", 3)
    assert set(states(BRAND, 1, taken).values()) == {BLOCKED}


def test_a_page_with_nearly_all_products_is_like_its_category():
    (found,) = rule_overviews(TENTS, [BRAND], {"manufacturer": FacetCounts(20, VALUES)}, None)
    assert found.rows and [row.value for row in found.rows if row.is_like_category] == ["Nearly"]
    assert (found.pages, found.minimum, found.segment) == (3, 3, "brand")


def test_what_cannot_be_counted_has_no_rows_and_long_lists_are_cut():
    (unknown,) = rule_overviews(TENTS, [BRAND], {"manufacturer": None}, None)
    assert unknown.rows is None and unknown.pages == 0
    many = tuple((f"Brand {number}", 5) for number in range(MOST_ROWS + 7))
    (found,) = rule_overviews(TENTS, [BRAND], {"manufacturer": FacetCounts(9_999, many)}, None)
    assert found.rows and (len(found.rows), found.more) == (MOST_ROWS, 7)

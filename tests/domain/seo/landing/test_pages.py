"""Which landing pages a category has."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.domain.seo.landing.pages import FacetCounts, LandingPages, LandingSubject, WarningKind, landing_pages
from app.domain.seo.landing.rules import LandingMode, Rule, effective_rules, mode_of, moved_segments

BRAND: Rule = {"facetId": "manufacturer"}
COLOUR: Rule = {"facetId": "colour"}
TENTS = LandingSubject(name="Tents", path="camping/tents", taken=frozenset(), site_name="Small shop", least_products=3)


def pages(rule: Rule, *counts: tuple[str, int], total: int = 100, **subject: object) -> LandingPages:
    about = LandingSubject(**({name: getattr(TENTS, name) for name in TENTS.__slots__} | subject))
    return landing_pages(about, [rule], {rule["facetId"]: FacetCounts(total, counts)})


def slugs(found: LandingPages) -> list[str]:
    return [page.slug for page in found.pages]


def test_a_value_has_a_page_where_enough_products_carry_it_but_not_all():
    found = pages(BRAND, ("All", 10), ("Nearly", 9), ("Three", 3), ("Two", 2), ("None", 0), total=10)
    assert [(page.path, page.products) for page in found.pages] == [
        ("/c/camping/tents/brand/nearly", 9),
        ("/c/camping/tents/brand/three", 3),
    ]


def test_a_rule_has_its_own_minimum():
    assert slugs(pages(BRAND | {"minProducts": 1}, ("One", 1), ("Nine", 9))) == ["nine", "one"]
    assert slugs(pages(BRAND | {"minProducts": 9}, ("One", 1), ("Nine", 9))) == ["nine"]


def test_an_excluded_value_has_no_page_in_whichever_case_it_is_written():
    rule = BRAND | {"overrides": [{"value": "moor", "excluded": True}]}
    assert slugs(pages(rule, ("Moor", 9), ("Fern", 8))) == ["fern"]


def test_the_copy_has_the_defaults_of_the_specification():
    (page,) = pages(BRAND, ("Moor", 1_200), total=5_000).pages
    assert (page.heading, page.title, page.intro) == ("Moor Tents", "Moor Tents | Small shop", "")
    assert page.description == "Shop Moor Tents at Small shop: 1,200 products to choose from."


def test_overrides_replace_the_copy_and_the_intro_describes_where_nothing_else_does():
    def page(**override: str):
        return pages(BRAND | {"overrides": [{"value": "MOOR", **override}]}, ("Moor", 9)).pages[0]

    headed = page(heading="Tents for the moor")
    assert (headed.heading, headed.title) == ("Tents for the moor", "Tents for the moor | Small shop")
    assert "Tents for the moor" in headed.description
    assert page(heading="x", metaTitle="As written").title == "As written"
    assert page(intro="Hardy.").description == "Hardy."
    assert page(intro="Hardy.", metaDescription="Buy.").description == "Buy."


def test_of_values_with_one_slug_the_one_with_more_products_gets_it_and_the_alphabet_decides_a_tie():
    found = pages(BRAND, ("Möor", 5), ("moor", 7), ("Moor", 7))
    assert [(page.value, page.products) for page in found.pages] == [("Moor", 7)]
    assert [warning.kind for warning in found.warnings] == [WarningKind.SAME_SLUG] * 2
    assert "“Moor”" in found.warnings[0].message


def test_a_value_without_letters_or_digits_gets_no_page_but_a_warning():
    found = pages(BRAND, ("日本", 5), ("!!!", 4))
    assert slugs(found) == []
    assert [warning.kind for warning in found.warnings] == [WarningKind.EMPTY_SLUG] * 2


def test_a_rule_whose_segment_is_a_visible_sub_category_is_skipped_with_a_warning():
    found = pages(BRAND, ("Moor", 9), taken=frozenset(("brand",)))
    assert slugs(found) == [] and [warning.kind for warning in found.warnings] == [WarningKind.SEGMENT_TAKEN]
    assert slugs(pages(BRAND | {"pathSegment": "maker"}, ("Moor", 9), taken=frozenset(("brand",)))) == ["moor"]


def test_a_category_always_wins_its_address_even_a_hidden_one():
    found = pages(BRAND, ("Moor", 9), ("Fern", 8), categories=frozenset((("brand", "moor"),)))
    assert slugs(found) == ["fern"] and [warning.kind for warning in found.warnings] == [WarningKind.IS_CATEGORY]


def test_a_rule_whose_counts_are_unknown_has_no_pages_and_leaves_the_others():
    counts = {"manufacturer": None, "colour": FacetCounts(9, (("Fern", 4),))}
    found = landing_pages(TENTS, [BRAND, COLOUR], counts)
    assert [page.path for page in found.pages] == ["/c/camping/tents/colour/fern"]
    assert found.by_facet.keys() == {"colour"}


def test_a_category_inherits_switches_off_or_has_its_own():
    assert (mode_of(None), effective_rules(None, [BRAND])) == (LandingMode.INHERIT, [BRAND])
    assert (mode_of([]), effective_rules([], [BRAND])) == (LandingMode.OFF, [])
    assert (mode_of([COLOUR]), effective_rules([COLOUR], [BRAND])) == (LandingMode.OWN, [COLOUR])


def test_a_rule_with_another_segment_moves_its_pages():
    makers = BRAND | {"pathSegment": "makers"}
    assert moved_segments([BRAND, COLOUR], [makers]) == [("brand", "makers")]
    assert moved_segments([BRAND], [BRAND | {"pathSegment": "brand", "minProducts": 2}, COLOUR]) == []
    assert moved_segments([makers], [COLOUR]) == [], "its pages are gone, not moved"


values = st.lists(
    st.tuples(st.text(alphabet="abÄß -!1", max_size=5), st.integers(0, 30)), unique_by=lambda pair: pair[0], max_size=12
)


@given(
    st.integers(1, 30), values, values, st.integers(1, 5), st.sets(st.sampled_from(["a", "b", "ab", "1"]), max_size=2)
)
def test_no_two_pages_share_an_address_and_each_is_worth_one(total, brands, colours, least, excluded):
    overrides = [{"value": value, "excluded": True} for value in sorted(excluded)]
    rules = [BRAND | {"minProducts": least, "overrides": overrides}, COLOUR]
    counts = {"manufacturer": FacetCounts(total, tuple(brands)), "colour": FacetCounts(total, tuple(colours))}
    found = landing_pages(TENTS, rules, counts)
    assert len({page.path for page in found.pages}) == len(found.pages) == len(found.by_address)
    for page in found.pages:
        minimum = least if page.facet_id == "manufacturer" else TENTS.least_products
        assert minimum <= page.products < total
        assert page.facet_id == "colour" or page.value.casefold() not in excluded
        assert page.slug and found.by_address[page.segment, page.slug] is found.by_value[page.facet_id, page.value]

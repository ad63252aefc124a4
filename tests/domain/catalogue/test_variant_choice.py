"""Which variant a shopper looks at, and where each further choice leads."""

from __future__ import annotations

from app.domain.catalogue.product_rules import VariantOnOffer, choose_variant, option_groups


def offer(sku: str, size: str, colour: str, in_stock: bool = True) -> VariantOnOffer:
    return VariantOnOffer(sku, {"Size": size, "Colour": colour}, 1000, in_stock)


SMALL_RED = offer("SR", "S", "Red")
LARGE_RED = offer("LR", "L", "Red")
LARGE_BLUE = offer("LB", "L", "Blue")
ALL = [SMALL_RED, LARGE_RED, LARGE_BLUE]


def test_the_variant_asked_for_is_shown():
    assert choose_variant(ALL, "LB") is LARGE_BLUE


def test_otherwise_the_first_that_can_be_had_is_shown():
    gone = offer("XX", "M", "Red", in_stock=False)
    assert choose_variant([gone, SMALL_RED], "") is SMALL_RED
    assert choose_variant([gone], "unknown") is gone
    assert choose_variant([], "SR") is None


def test_options_and_values_come_in_the_order_of_the_variants():
    groups = option_groups(ALL, SMALL_RED)
    assert [(group.name, [choice.value for choice in group.choices]) for group in groups] == [
        ("Size", ["S", "L"]),
        ("Colour", ["Red", "Blue"]),
    ]


def test_a_choice_keeps_as_much_of_the_present_one_as_it_can():
    size, colour = option_groups(ALL, SMALL_RED)
    assert [choice.sku for choice in size.choices] == ["SR", "LR"]
    assert [choice.sku for choice in colour.choices] == ["SR", "LB"]
    assert [choice.chosen for choice in colour.choices] == [True, False]


def test_among_equals_a_choice_leads_to_one_that_can_be_had():
    gone = offer("M1", "M", "Green", in_stock=False)
    there = offer("M2", "M", "Black")
    (size, _) = option_groups([SMALL_RED, gone, there], SMALL_RED)
    assert size.choices[1].sku == "M2"
    assert size.choices[1].in_stock


def test_variants_need_not_share_their_options():
    plain = VariantOnOffer("P", {"Size": "One"}, 1000, True)
    (size, colour) = option_groups([plain, SMALL_RED], plain)
    assert [choice.value for choice in size.choices] == ["One", "S"]
    assert [(choice.value, choice.chosen) for choice in colour.choices] == [("Red", False)]

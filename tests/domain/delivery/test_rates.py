"""What delivery costs: by one price, by weight and by value, and from which value it is free."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.delivery.declaration import Delivery, DeliveryMethod, RateKind, WeightUnit, method_problems
from app.domain.delivery.fields import RateStep
from app.domain.delivery.rates import Parcel, format_weight, price_of, quote, weight_of

AMOUNTS = st.integers(0, 100_000)
ENDS = st.lists(st.integers(1, 50_000), min_size=1, max_size=6, unique=True).map(sorted)


@st.composite
def methods(draw: st.DrawFn) -> DeliveryMethod:
    """A method that a shop may save."""
    rate = draw(st.sampled_from(RateKind))
    if rate is RateKind.FLAT:
        steps = [RateStep(None, draw(AMOUNTS))]
    else:
        ends: list[int | None] = [*draw(ENDS)]
        if draw(st.booleans()):
            ends.append(None)
        prices = sorted(draw(st.lists(AMOUNTS, min_size=len(ends), max_size=len(ends))))
        steps = [RateStep(end, price) for end, price in zip(ends, prices, strict=True)]
    free_from = draw(st.none() | st.integers(1, 100_000))
    return DeliveryMethod("Post", rate, tuple(steps), free_from, ("GB",))


PARCELS = st.builds(Parcel, st.integers(0, 80_000), st.integers(0, 200_000))


@given(methods(), PARCELS)
def test_a_price_is_that_of_a_step_or_nothing_from_the_value_on_that_is_free(
    method: DeliveryMethod, parcel: Parcel
) -> None:
    assert not method_problems(method)
    price = price_of(method, parcel)
    is_free = method.free_from is not None and parcel.value >= method.free_from
    if price is not None:
        assert price == 0 if is_free else price in [step.price for step in method.steps]


@given(methods(), PARCELS, st.integers(0, 50_000))
def test_what_weighs_more_never_costs_less(method: DeliveryMethod, parcel: Parcel, more: int) -> None:
    lighter, heavier = (price_of(method, Parcel(parcel.weight + by, parcel.value)) for by in (0, more))
    assert heavier is None or (lighter is not None and lighter <= heavier)


@given(methods(), PARCELS)
def test_a_method_is_left_out_above_its_last_step_alone_and_says_why(method: DeliveryMethod, parcel: Parcel) -> None:
    size = {RateKind.FLAT: 0, RateKind.WEIGHT: parcel.weight, RateKind.VALUE: parcel.value}[method.rate]
    last = method.steps[-1].up_to
    offered = quote(method, parcel, "gbp")
    is_free_by_value = method.rate is RateKind.VALUE and parcel.value >= (method.free_from or math.inf)
    is_left_out = last is not None and size > last and not is_free_by_value
    assert (offered.price is None) == is_left_out == bool(offered.reason)


def test_each_step_holds_up_to_its_end_that_included() -> None:
    method = DeliveryMethod("Post", RateKind.WEIGHT, (RateStep(1_000, 395), RateStep(2_000, 595)), None, ("GB",))
    prices = [price_of(method, Parcel(weight, 0)) for weight in (0, 1_000, 1_001, 2_000, 2_001)]
    assert prices == [395, 395, 595, 595, None]
    assert quote(method, Parcel(2_480, 0), "gbp").reason == "Up to 2 kg, and your basket weighs 2.48 kg."


def test_what_is_free_from_a_value_on_needs_no_step_of_that_value() -> None:
    method = DeliveryMethod("Post", RateKind.VALUE, (RateStep(5_000, 495),), 5_000, ("GB",))
    assert [price_of(method, Parcel(0, value)) for value in (4_999, 5_000, 5_001)] == [495, 0, 0]
    late = replace(method, free_from=9_000)
    assert [price_of(late, Parcel(0, value)) for value in (5_000, 5_001, 9_000)] == [495, None, 0]


def test_a_heavy_basket_is_not_offered_a_method_even_where_its_value_is_free() -> None:
    method = DeliveryMethod("Post", RateKind.WEIGHT, (RateStep(1_000, 395),), 5_000, ("GB",))
    assert price_of(method, Parcel(900, 5_000)) == 0 and price_of(method, Parcel(1_100, 5_000)) is None


@pytest.mark.parametrize(
    ("unit", "value", "grams"),
    [
        (WeightUnit.GRAMS, 1480.0, 1_480),
        (WeightUnit.KILOGRAMS, 2.15, 2_150),
        (WeightUnit.OUNCES, 1, 29),
        (WeightUnit.POUNDS, 2, 908),
        (WeightUnit.GRAMS, 0, 700),
        (WeightUnit.GRAMS, -3, 700),
        (WeightUnit.GRAMS, True, 700),
        (WeightUnit.GRAMS, "300", 700),
        (WeightUnit.GRAMS, None, 700),
    ],
)
def test_a_product_weighs_what_its_attribute_says_or_the_default(unit: WeightUnit, value: object, grams: int) -> None:
    delivery = Delivery(weight_attribute="weight", weight_unit=unit, default_weight=700)
    assert weight_of(delivery, {"weight": value}) == grams


def test_weights_are_written_as_people_read_them() -> None:
    written = [format_weight(grams) for grams in (0, 850, 1_000, 2_150, 12_300)]
    assert written == ["0 g", "850 g", "1 kg", "2.15 kg", "12.3 kg"]


def test_ends_that_do_not_rise_and_prices_that_fall_with_the_weight_are_refused() -> None:
    def codes(rate: RateKind, *steps: tuple[int | None, int]) -> list[tuple[str, str]]:
        method = DeliveryMethod("Post", rate, tuple(RateStep(*step) for step in steps), None, ("GB",))
        return [(problem.code, problem.pointer) for problem in method_problems(method)]

    assert codes(RateKind.WEIGHT, (2_000, 395), (1_000, 595)) == [("not_ascending", "#/steps/1/upTo")]
    assert codes(RateKind.WEIGHT, (1_000, 595), (2_000, 395)) == [("falling_price", "#/steps/1/price")]
    assert codes(RateKind.VALUE, (1_000, 595), (2_000, 395)) == []
    assert codes(RateKind.VALUE, (None, 595), (2_000, 395)) == [("not_last", "#/steps/0/upTo")]
    assert codes(RateKind.FLAT, (1_000, 595)) == [("flat_rate", "#/steps")]
    assert codes(RateKind.FLAT) == [("required", "#/steps/0/price")]
    assert codes(RateKind.FLAT, (None, -1)) == [("out_of_range", "#/steps/0/price")]

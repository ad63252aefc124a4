"""What an engine must do with groups of documents that a request boosts or buries by conditions."""

from __future__ import annotations

import pytest

from app.domain.search.engine import (
    Pin,
    PlacedGroup,
    RangeFilter,
    SearchEngine,
    SearchRequest,
    Sort,
    Upsert,
    ValueFilter,
)
from tests.contracts.search_engine_contract import PRODUCTS, SITE, apply, found, rebuild, shoe
from tests.contracts.taught_search_contract import result_of

RED, BLUE = (ValueFilter("colour", (colour,)) for colour in ("Red", "Blue"))
SOLD_OUT = ValueFilter("inStock", ("true",))


def boosted(*values: ValueFilter, **parts: tuple[object, ...]) -> PlacedGroup:
    return PlacedGroup(True, values, **parts)  # type: ignore[arg-type]


def buried(*values: ValueFilter, **parts: tuple[object, ...]) -> PlacedGroup:
    return PlacedGroup(False, values, **parts)  # type: ignore[arg-type]


class PlacedGroupsContract:
    @pytest.fixture
    def pots(self, engine: SearchEngine) -> SearchEngine:
        """P1 to P8 are red and blue in turn, P7 and P8 are in stock, and P9 has the word in its text alone."""
        in_stock = {"values": {"inStock": ("true",)}}
        pots = [
            shoe(n, "Pot", colours=("Red",) if n % 2 else ("Blue",), **(in_stock if n > 6 else {})) for n in range(1, 9)
        ]
        rebuild(engine, [*pots, shoe(9, "Lid", description="For a pot", colours=("Green",))])
        return engine

    def test_a_boosted_group_comes_first_and_keeps_the_order_within(self, pots: SearchEngine) -> None:
        plain, green = found(pots, "pot"), ValueFilter("colour", ("Green",))
        blue = [id for id in plain if id in ("P2", "P4", "P6", "P8")]
        others = [id for id in plain if id not in blue]
        assert found(pots, "pot", groups=(boosted(BLUE),)) == [*blue, *others]
        assert found(pots, "pot", groups=(boosted(green),)) == ["P9", *plain[:-1]]

    def test_boosted_groups_come_in_their_order_and_buried_ones_last_together(self, pots: SearchEngine) -> None:
        plain = found(pots, "pot")
        groups = (boosted(BLUE), buried(ranges=(RangeFilter("price", high=1500),)), boosted(RED, SOLD_OUT))
        ranked = found(pots, "pot", groups=groups)
        blue = [id for id in plain if id in ("P2", "P4", "P6", "P8")]
        assert ranked == [*blue, "P7", *(id for id in plain if id in ("P3", "P5", "P9")), "P1"]

    def test_a_range_of_an_attribute_holds_what_has_its_number(self, engine: SearchEngine) -> None:
        pots = [shoe(n, "Pot") for n in range(1, 4)]
        pots[1].numbers["weight"], pots[2].numbers["weight"] = 450.5, 900.0  # type: ignore[index]
        rebuild(engine, pots)
        light, any_weight, absent = (
            (RangeFilter(name, low, high),)
            for name, low, high in (("weight", None, 450.5), ("weight", -1e15, None), ("volume", None, 1e15))
        )
        assert found(engine, "pot", groups=(boosted(ranges=light),))[0] == "P2"
        assert found(engine, "pot", groups=(buried(ranges=any_weight),))[0] == "P1"
        assert found(engine, "pot", groups=(buried(ranges=absent),)) == found(engine, "pot")

    def test_a_document_belongs_to_the_first_group_that_holds_it(self, pots: SearchEngine) -> None:
        dear = (RangeFilter("price", low=7000),)
        assert found(pots, "pot", groups=(buried(RED), boosted(ranges=dear)))[:2] in (["P8", "P9"], ["P9", "P8"])
        assert set(found(pots, "pot", groups=(buried(RED), boosted(ranges=dear)))[-4:]) == {"P1", "P3", "P5", "P7"}
        assert set(found(pots, "pot", groups=(boosted(ranges=dear), buried(RED)))[:3]) == {"P7", "P8", "P9"}

    def test_a_group_of_what_lacks_a_value_is_what_is_sold_out(self, pots: SearchEngine) -> None:
        assert set(found(pots, "pot", groups=(buried(excluded=(SOLD_OUT,)),))[:2]) == {"P7", "P8"}
        assert found(pots, "pot", groups=(buried(excluded=(ValueFilter("nothing", ("x",)),)),)) == found(pots, "pot")

    def test_what_a_request_names_by_its_id_goes_before_groups(self, pots: SearchEngine) -> None:
        groups = (boosted(BLUE), buried(RED))
        ranked = found(pots, "pot", groups=groups, pins=(Pin("P1", 2),), boosts=("P3",), buries=("P2",))
        assert (ranked[0], ranked[1], ranked[-1]) == ("P3", "P1", "P2")
        assert set(ranked[2:5]) == {"P4", "P6", "P8"}

    def test_groups_add_nothing_and_leave_other_orders(self, pots: SearchEngine) -> None:
        request = {"facets": ("colour",), "filters": (RED,)}
        plain, grouped = (result_of(pots, "pot", groups=groups, **request) for groups in ((), (boosted(BLUE),)))
        assert plain == grouped
        for sort in (Sort.PRICE_ASC, Sort.NEWEST, Sort.NAME, Sort.FEATURED):
            assert found(pots, "pot", groups=(buried(RED),), sort=sort) == found(pots, "pot", sort=sort)

    def test_a_group_is_filled_anew_as_products_change(self, pots: SearchEngine) -> None:
        apply(pots, Upsert(shoe(5, "Pot", colours=("Green",))))
        groups = (boosted(ValueFilter("colour", ("Green",))),)
        assert set(found(pots, "pot", groups=groups)[:2]) == {"P5", "P9"}

    def test_pages_cover_the_results_once_and_each_is_explained(self, pots: SearchEngine) -> None:
        request = {"groups": (boosted(BLUE), buried(RED, SOLD_OUT)), "boosts": ("P1",), "buries": ("P4",)}
        whole = found(pots, "pot", per_page=50, **request)
        assert [id for page in range(1, 6) for id in found(pots, "pot", page=page, per_page=2, **request)] == whole
        expected = {"P1": "boosted", "P2": "boosted", "P4": "buried", "P7": "buried", "P3": None}
        for place, id in enumerate(whole, 1):
            why = pots.explain(SITE, PRODUCTS, SearchRequest(words="pot", **request), id)
            assert why.rank == place
            assert why.placed == expected.get(id, why.placed)

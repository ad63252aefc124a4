from __future__ import annotations

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.catalogue.listing import ProductList, ProductOrder, Shown, Stock, page_number, page_size

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30).map(
    lambda text: " ".join(text.split())
)
LISTS = st.builds(
    ProductList,
    words=WORDS,
    shown=st.sampled_from(Shown),
    stock=st.sampled_from(Stock),
    manufacturer=WORDS,
    level_id=WORDS,
    order=st.sampled_from(ProductOrder),
    page=st.integers(1, 500),
)


@given(LISTS)
def test_the_address_of_a_list_reads_back_as_the_same_list(product_list: ProductList) -> None:
    assert ProductList.read(dict(parse_qsl(product_list.query(page=product_list.page)))) == product_list


@given(LISTS)
def test_another_order_begins_at_the_first_page(product_list: ProductList) -> None:
    assert ProductList.read(dict(parse_qsl(product_list.query(order=ProductOrder.NAME)))).page == 1


@given(st.dictionaries(st.sampled_from(["q", "shown", "stock", "manufacturer", "level", "sort", "p"]), st.text()))
def test_whatever_an_address_says_is_a_list(parameters: dict[str, str]) -> None:
    ProductList.read(parameters)


@pytest.mark.parametrize("text", [None, "", "0", "-1", "1.5", "1e3", "٣", "x"])
def test_what_is_no_page_number_is_the_first_page(text: str | None) -> None:
    assert page_number(text) == 1


def test_a_page_behind_all_others_is_no_first_page() -> None:
    assert page_number("9" * 5_000) == page_number("99999999") == page_number("100000") > 1


@pytest.mark.parametrize(
    ("text", "size"), [(None, 50), ("", 50), ("abc", 50), ("-5", 50), ("0", 1), ("7", 7), ("999", 100)]
)
def test_the_size_of_a_page_is_1_to_100_and_50_where_it_is_no_number(text: str | None, size: int) -> None:
    assert page_size(text) == size


def test_a_list_without_filters_knows_it() -> None:
    assert not ProductList(order=ProductOrder.PRICE, page=3).is_filtered
    assert ProductList(stock=Stock.OUT).is_filtered

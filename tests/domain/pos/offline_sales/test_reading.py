"""A sale is read strictly: what is missing, unknown or of another type refuses it, with the place."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.pos.offline_sale_rules import OfflineSale, cash_of, id_of, read_sale
from app.domain.shared.problems import Unprocessable
from tests.blueprints.v1.test_rubbish import JSON

ID = "0B9C2F0E-7f0a-4c55-9a3e-5d8f0f6f1a01"
LINE = {"skuCode": "MUG", "quantity": 2, "unitPriceInPence": 625}
SALE = {
    "clientSaleId": ID,
    "soldAt": "2026-11-20T22:04:05.250+01:00",
    "lines": [LINE, LINE | {"unitPriceInPence": 0}],
    "tenderedInPence": 2_000,
    "note": " For\nMia ",
}
LEFT_OUT = ...
CASES = [
    ("clientSaleId", LEFT_OUT, "#/clientSaleId"),
    ("clientSaleId", 7, "#/clientSaleId"),
    ("clientSaleId", ID.replace("-", ""), "#/clientSaleId"),
    ("clientSaleId", f"{{{ID}}}", "#/clientSaleId"),
    ("clientSaleId", f"{ID}\n", "#/clientSaleId"),
    ("soldAt", LEFT_OUT, "#/soldAt"),
    ("soldAt", None, "#/soldAt"),
    ("soldAt", "2026-11-20T21:04:05", "#/soldAt"),
    ("soldAt", "yesterday", "#/soldAt"),
    ("soldAt", 1_763_672_645, "#/soldAt"),
    ("lines", LEFT_OUT, "#/lines"),
    ("lines", [], "#/lines"),
    ("lines", {}, "#/lines"),
    ("lines", [LINE] * 51, "#/lines"),
    ("lines", ["MUG"], "#/lines/0"),
    ("lines", [LINE, LINE | {"skuCode": None}], "#/lines/1/skuCode"),
    ("lines", [LINE | {"quantity": 0}], "#/lines/0/quantity"),
    ("lines", [LINE | {"quantity": 100}], "#/lines/0/quantity"),
    ("lines", [LINE | {"quantity": 1.0}], "#/lines/0/quantity"),
    ("lines", [LINE | {"quantity": True}], "#/lines/0/quantity"),
    ("lines", [LINE | {"quantity": "1"}], "#/lines/0/quantity"),
    ("lines", [LINE | {"unitPriceInPence": -1}], "#/lines/0/unitPriceInPence"),
    ("lines", [LINE | {"unitPriceInPence": 10**30}], "#/lines/0/unitPriceInPence"),
    ("lines", [LINE | {"unitPriceInPence": 0}], "#"),
    ("lines", [LINE | {"quantity": 2, "unitPriceInPence": 50_000_000}], "#"),
    ("lines", [LINE | {"name": "Mug"}], "#/lines/0/name"),
    ("tenderedInPence", -1, "#/tenderedInPence"),
    ("tenderedInPence", 100_000_000, "#/tenderedInPence"),
    ("tenderedInPence", "2000", "#/tenderedInPence"),
    ("note", 7, "#/note"),
    ("note", "\0", "#"),
    ("note", "half of a pair \ud83d", "#"),
    ("total", 1_250, "#/total"),
]


def test_a_sale_is_read() -> None:
    sale = read_sale(SALE)
    assert (sale.id, sale.total, sale.tendered, sale.note) == (ID.lower(), 1_250, 2_000, "For Mia")
    assert sale.sold_at == datetime(2026, 11, 20, 21, 4, 5, 250_000, tzinfo=UTC)
    assert [line.unit_price for line in sale.lines] == [625, 0]


def test_what_may_be_left_out_may_be_null() -> None:
    left_out = read_sale({name: SALE[name] for name in ("clientSaleId", "soldAt", "lines")})
    assert read_sale(SALE | {"tenderedInPence": None, "note": None}) == left_out
    assert (left_out.tendered, left_out.note) == (None, "")


@pytest.mark.parametrize(("name", "value", "place"), CASES, ids=[f"{name} {value!r:.30}" for name, value, _ in CASES])
def test_a_wrong_field_refuses_the_sale(name: str, value: Any, place: str) -> None:
    sent = {key: kept for key, kept in (SALE | {name: value}).items() if kept is not LEFT_OUT}
    with pytest.raises(Unprocessable) as refusal:
        read_sale(sent)
    assert refusal.value.code == "invalid_sale"
    assert refusal.value.message.startswith(f"{place}: ")
    assert "4242" not in refusal.value.message


def test_the_first_problems_are_named_and_the_reason_stays_short() -> None:
    sent = SALE | {"x" * 100_000: 1, "lines": [LINE | {"quantity": 0}] * 50}
    with pytest.raises(Unprocessable) as refusal:
        read_sale(sent)
    assert len(refusal.value.message) < 1_000


@given(sent=JSON)
def test_rubbish_is_refused(sent: Any) -> None:
    with pytest.raises(Unprocessable):
        read_sale(sent)


@given(data=st.data(), value=JSON)
def test_a_sale_with_a_part_of_rubbish_is_read_or_refused(data: st.DataObject, value: Any) -> None:
    sent = deepcopy(SALE)
    part = data.draw(st.sampled_from([sent, sent["lines"][0]]))
    part[data.draw(st.sampled_from(sorted(part)))] = value
    _read_or_refuse(sent)


def _read_or_refuse(sent: Any) -> None:
    found = id_of(sent)
    assert found is None or isinstance(found, str)
    try:
        sale = read_sale(sent)
    except Unprocessable as refusal:
        assert refusal.code == "invalid_sale"
    else:
        assert 0 < sale.total < 10**8


@given(
    prices=st.lists(st.integers(1, 5_000), min_size=1, max_size=3),
    tendered=st.none() | st.integers(0, 20_000),
    step=st.sampled_from((0, 5, 10)),
)
def test_the_cash_of_a_sale_adds_up(prices: list[int], tendered: int | None, step: int) -> None:
    lines = [LINE | {"quantity": 1, "unitPriceInPence": price} for price in prices]
    sale = read_sale(SALE | {"lines": lines, "tenderedInPence": tendered})
    assert isinstance(sale, OfflineSale)
    try:
        cash = cash_of(sale, step, "gbp")
    except Unprocessable as refusal:
        assert refusal.code == "invalid_sale"
        assert tendered is not None and tendered < sale.total - 5
    else:
        assert cash.change >= 0
        assert tendered is None or cash.paid + cash.change == tendered
        assert abs(cash.paid - sale.total) <= 5
        assert cash.note is None or cash.change == 0


@pytest.mark.parametrize("note", ["x" * 501, "Card 4242 4242 4242 4242", "Right to left: \u202e"])
def test_a_note_that_cannot_be_stored_is_left_out_and_the_sale_stays(note: str) -> None:
    sale = read_sale(SALE | {"note": note})
    assert (sale.note, [remark.code for remark in sale.remarks]) == ("", ["note_left_out"])

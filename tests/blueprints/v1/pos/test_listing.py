"""The payments of a location."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask

from app.domain.pos.models import PosAgent, PosLocation
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.pos.conftest import ADMIN, FAIR, OTHER_AGENT, SHOP, TillClient, Tills, problem
from tests.factories import make_transaction
from tests.statements import statements

SUMMER = datetime(2026, 7, 1, 0, 30, tzinfo=UTC)  # Half past one in London.
NAMES = {
    "id", "agentId", "amountInPence", "currency", "status", "transactionType", "orderId", "orderNumber", "cardBrand",
    "cardLast4", "created", "tenderType", "tipInPence", "changeInPence", "roundingInPence", "clientSaleId",
}  # fmt: skip


@pytest.fixture
def history(app: Flask, fair: int) -> None:
    """One payment a status, an hour apart, and one at another location."""
    states = ("SUCCEEDED", "CANCELLED", "CREATING", "PENDING", "UNKNOWN", "REFUNDED", "FAILED")
    with app.app_context(), transaction():
        agent, other = db.session.query(PosAgent).order_by(PosAgent.id)
        fair_, shop = (db.session.query(PosLocation).filter_by(location_id=name).one() for name in (FAIR, SHOP))
        for hours, status in enumerate(states):
            made_at = SUMMER + timedelta(hours=hours)
            make_transaction(agent if hours % 2 else other, fair_, status, id=f"t{hours}", created_at=made_at)
        make_transaction(agent, shop, "SUCCEEDED", id="elsewhere", created_at=SUMMER)


def ids(till: TillClient, **query: object) -> list[str]:
    answer = till.list(**query)
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json["items"]]


@pytest.mark.usefixtures("history")
def test_the_newest_are_first_a_page_at_a_time(agent: TillClient) -> None:
    page = agent.list(pageSize=3, pageNumber=2).json
    assert [item["id"] for item in page["items"]] == ["t3", "t2", "t1"]
    assert {name: page[name] for name in page if name != "items"} == {
        "pageNumber": 2, "pageSize": 3, "totalItems": 7, "totalPages": 3,
    }  # fmt: skip
    assert agent.list().json["pageSize"] == 20
    assert agent.list(pageNumber=9).json["items"] == []


@pytest.mark.usefixtures("history")
def test_a_payment_has_the_fields_of_the_specification_and_no_secret(agent: TillClient) -> None:
    items = agent.list().json["items"]
    assert all(set(item) == NAMES for item in items)
    assert items[0] | {"agentId": ""} == {
        "id": "t6", "agentId": "", "amountInPence": 1_250, "currency": "gbp", "status": "FAILED",
        "transactionType": "QUICK_PAYMENT", "orderId": None, "orderNumber": None, "cardBrand": None, "cardLast4": None,
        "created": "2026-07-01T06:30:00Z", "tenderType": "CARD", "tipInPence": 0, "changeInPence": None,
        "roundingInPence": None, "clientSaleId": None,
    }  # fmt: skip


@pytest.mark.usefixtures("history")
def test_what_is_being_created_counts_as_pending(agent: TillClient) -> None:
    assert ids(agent, status="PENDING") == ["t3", "t2"]
    assert ids(agent, status="UNKNOWN") == ["t4"]
    assert problem(agent.list(status="CREATING")) == (400, "invalid")
    assert problem(agent.list(status="pending")) == (400, "invalid")


@pytest.mark.usefixtures("history")
def test_the_list_is_of_all_agents_or_of_one(agent: TillClient, till: Tills) -> None:
    agent_id = agent.list(status="CANCELLED").json["items"][0]["agentId"]
    assert ids(agent, agentId=agent_id) == ["t5", "t3", "t1"]
    assert ids(agent, agentId="nobody") == ids(agent, agentId="9" * 30) == []
    assert len(ids(till(OTHER_AGENT))) == len(ids(till(ADMIN))) == 7
    assert ids(till(ADMIN, SHOP)) == ["elsewhere"]


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    ("start", "end", "found"),
    (
        ("2026-07-01", "2026-07-01", 7),  # The days of London, of which the end counts.
        ("2026-07-01", None, 7),
        (None, "2026-06-30", 0),
        ("2026-07-01T01:30:00", "2026-07-01T02:30:00", 2),  # By the clock on the wall.
        ("2026-07-01T00:30:00Z", "2026-07-01T00:30:00Z", 1),
        ("2026-07-01T03:30:00+02:00", "2026-07-01T02:31:00Z", 2),
        ("2026-07-02", None, 0),
    ),
)
def test_dates_are_days_of_the_shop_or_moments(
    agent: TillClient, start: str | None, end: str | None, found: int
) -> None:
    query = {name: value for name, value in (("startDate", start), ("endDate", end)) if value}
    assert len(ids(agent, **query)) == found


@pytest.mark.parametrize(
    "query",
    (
        {"startDate": "yesterday"},
        {"startDate": "2026-02-30"},
        {"endDate": "20260701"},
        {"startDate": ""},
        {"endDate": "0001-01-01"},
        {"endDate": "9999-12-31"},
        {"startDate": "2026-07-02", "endDate": "2026-07-01"},
        {"startDate": "2026-W27-3"},
        {"startDate": "9999-12-31T23:59:59-23:59"},
    ),
)
def test_what_is_no_date_is_named(agent: TillClient, query: dict[str, str]) -> None:
    answer = agent.list(**query)
    assert problem(answer) == (400, "bad_request")
    assert answer.json["errors"][0]["pointer"].removeprefix("#/") in query


@pytest.mark.parametrize("query", ({"pageSize": 0}, {"pageSize": 101}, {"pageNumber": 0}, {"pageSize": "x"}))
def test_pages_are_of_1_to_100(agent: TillClient, query: dict[str, object]) -> None:
    assert problem(agent.list(**query)) == (400, "invalid")


def test_an_empty_list_has_no_pages(agent: TillClient) -> None:
    assert agent.list().json == {"items": [], "pageNumber": 1, "pageSize": 20, "totalItems": 0, "totalPages": 0}


@pytest.mark.usefixtures("history")
def test_a_list_takes_as_many_statements_however_long_it_is(app: Flask, agent: TillClient) -> None:
    agent.list()  # The first call notes where the work session is.
    with statements(app) as of_one:
        agent.list(pageSize=1)
    with statements(app) as of_all:
        agent.list(pageSize=100)
    assert len(of_one) == len(of_all) <= 7


@pytest.mark.usefixtures("history")
def test_one_payment_is_read_by_the_shops_own_id(agent: TillClient, till: Tills) -> None:
    shown = agent.call("GET", "transactions/t5")
    assert (shown.status_code, set(shown.json)) == (200, NAMES | {"paymentIntentId", "refundedAmount", "refunds"})
    for missing in ("elsewhere", "nothing"):
        assert problem(agent.call("GET", f"transactions/{missing}")) == (404, "transaction_not_found")

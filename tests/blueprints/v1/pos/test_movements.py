"""Cash movements over the API: what is answered, in which order things are checked, and the list."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from werkzeug.test import TestResponse

from app.domain.sites.accounts import Role
from tests.blueprints.v1.conftest import Signed
from tests.blueprints.v1.pos.conftest import ADMIN, OTHER_AGENT, SHOP, TillClient, Tills, problem
from tests.fakes.clock import StoppedClock

DROP = {"type": "DROP", "amountInPence": 5_000, "reason": "To the safe"}


def move(till: TillClient, key: str | None = None, **body: object) -> TestResponse:
    headers = {"Idempotency-Key": key} if key else {}
    return till.call("POST", "cashMovements", DROP | body, headers=headers)


@pytest.fixture
def mover(agent: TillClient, set_agent: Callable[..., None]) -> TillClient:
    """An agent who may move cash."""
    set_agent(can_move_cash=True)
    return agent


def test_a_movement_is_answered_and_listed(mover: TillClient) -> None:
    answer = move(mover)
    assert answer.status_code == 201
    assert answer.json == {
        "id": answer.json["id"],
        "type": "DROP",
        "amountInPence": 5_000,
        "reason": "To the safe",
        "agentId": answer.json["agentId"],
        "created": "2026-11-20T12:00:00Z",
    }
    listed = mover.call("GET", "cashMovements").json
    assert listed == {"items": [answer.json], "pageNumber": 1, "pageSize": 20, "totalItems": 1, "totalPages": 1}


def test_a_key_makes_a_repetition_the_same_movement(mover: TillClient) -> None:
    first, second = move(mover, "k"), move(mover, "k")
    assert (second.status_code, second.json, second.headers["Idempotent-Replayed"]) == (201, first.json, "true")
    assert problem(move(mover, "k", type="PAY_IN")) == (422, "idempotency_mismatch")


def test_the_list_is_of_one_location_the_newest_first_and_in_pages(
    mover: TillClient, till: Tills, clock: StoppedClock
) -> None:
    for amount in (1, 2, 3):
        clock.move(days=1)
        mover.api.tokens = mover.api.sign_in("pos_agent@shop.test", audience="pos").json
        move(mover, amountInPence=amount)

    def amounts(**query: object) -> list[int]:
        return [each["amountInPence"] for each in mover.call("GET", "cashMovements", query_string=query).json["items"]]

    assert amounts() == [3, 2, 1]
    assert (amounts(pageSize=2, pageNumber=2), amounts(pageNumber=9)) == ([1], [])
    assert amounts(startDate="2026-11-22", endDate="2026-11-22") == [2]
    assert amounts(startDate="2026-11-22T12:00:01Z") == [3]
    answer = mover.call("GET", "cashMovements", query_string={"startDate": "yesterday"})
    assert problem(answer) == (400, "bad_request")
    assert till(ADMIN, SHOP).call("GET", "cashMovements").json["items"] == []


def test_agents_need_the_permission_and_admins_do_not(agent: TillClient, till: Tills) -> None:
    assert problem(move(agent)) == (403, "cash_movements_not_permitted")
    answer = move(till(ADMIN))
    assert (answer.status_code, answer.json["agentId"]) == (201, None)


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"type": "THEFT"}, (400, "invalid")),
        ({"reason": " "}, (400, "invalid")),
        ({"reason": "x" * 201}, (400, "invalid")),
        ({"amountInPence": "5"}, (400, "invalid")),
        ({"amountInPence": 0}, (422, "amount_invalid")),
        ({"amountInPence": 100_000_000}, (422, "amount_invalid")),
    ],
)
def test_what_is_wrong_is_named(mover: TillClient, body: dict[str, object], answer: tuple[int, str]) -> None:
    assert problem(move(mover, **body)) == answer


def test_checks_come_in_their_order(
    mover: TillClient,
    signed_in: Signed,
    set_agent: Callable[..., None],
    set_site: Callable[..., None],
) -> None:
    mover.location = SHOP
    assert problem(move(mover)) == (403, "location_access_denied")
    mover.location = "tml_none"
    assert problem(move(mover)) == (404, "location_not_found")
    mover.location = "tml_fair"
    set_site(posAllowCash=False)
    set_agent(can_move_cash=False)
    assert problem(move(mover, amountInPence=0)) == (422, "amount_invalid")
    assert problem(move(mover)) == (403, "cash_disabled")
    set_site(posAllowCash=True)
    assert problem(move(mover)) == (403, "cash_movements_not_permitted")
    set_site(posEnabled=False)
    assert problem(move(mover, amountInPence=0)) == (403, "pos_disabled")
    assert mover.call("GET", "cashMovements").status_code == 200
    stranger = TillClient(signed_in(Role.MERCHANDISER), mover.processor)
    assert problem(move(stranger)) == (403, "pos_role_required")


def test_a_program_that_manages_the_shop_has_no_drawer(till: Tills) -> None:
    assert problem(move(till(ADMIN, audience="api"))) == (404, "work_session_not_found")


def test_so_many_movements_a_minute_are_enough(mover: TillClient, till: Tills) -> None:
    for _ in range(30):
        assert move(mover).status_code == 201
    assert problem(move(mover)) == (429, "rate_limited")
    assert problem(move(till(OTHER_AGENT))) == (403, "cash_movements_not_permitted")

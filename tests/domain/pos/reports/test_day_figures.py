"""The figures of a day at the till."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.pos.report_figures import (
    DayFigures,
    Sale,
    change_in_percent,
    takings_by_agent,
    takings_by_hour,
    tips_in_refunds,
)
from app.domain.shared.clock import ends_at, same_time_before, starts_at

LONDON = ZoneInfo("Europe/London")


def test_net_is_what_stays_and_the_average_is_of_a_sale() -> None:
    figures = DayFigures(sales=3, gross=1_000, refunds=250)
    assert (figures.net, figures.average) == (750, 333)
    assert DayFigures().average is None
    assert DayFigures(gross=1_000, in_cash=400, tips=50).by_card == 600


def test_an_hour_is_that_of_the_clock_on_the_wall() -> None:
    summer = Sale(1, datetime(2026, 7, 1, 8, 30, tzinfo=UTC), 500)
    winter = Sale(1, datetime(2026, 12, 1, 8, 30, tzinfo=UTC), 700)
    assert takings_by_hour([summer], LONDON)[9] == 500 and takings_by_hour([winter], LONDON)[8] == 700


def test_takings_are_summed_by_agent() -> None:
    at = datetime(2026, 7, 1, tzinfo=UTC)
    assert takings_by_agent([Sale(1, at, 5), Sale(2, at, 7), Sale(1, at, 1)]) == {1: 6, 2: 7}


@pytest.mark.parametrize(("now", "before", "change"), [(150, 100, 50), (50, 100, -50), (5, 0, None), (0, 0, None)])
def test_a_change_is_of_what_was_before(now: int, before: int, change: int | None) -> None:
    assert change_in_percent(now, before) == change


def test_a_day_on_which_clocks_are_turned_has_23_or_25_hours() -> None:
    for day, hours in ((date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 11, 1), 24)):
        assert ends_at(day, LONDON) - starts_at(day, LONDON) == timedelta(hours=hours)


def test_a_week_before_is_the_same_time_on_the_wall() -> None:
    monday = datetime(2026, 10, 26, 12, 0, tzinfo=UTC)  # Winter time; a week before, summer time.
    assert same_time_before(monday, 7, LONDON) == datetime(2026, 10, 19, 11, 0, tzinfo=UTC)


@given(
    st.lists(
        st.builds(
            Sale,
            st.integers(1, 5),
            st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC)),
            st.integers(1, 10**8),
        )
    ),
    st.sampled_from(["Europe/London", "Asia/Kathmandu", "America/St_Johns", "UTC"]),
)
def test_no_penny_is_lost_between_hours_and_agents(sales: list[Sale], zone: str) -> None:
    total = sum(sale.amount for sale in sales)
    assert sum(takings_by_hour(sales, ZoneInfo(zone))) == total == sum(takings_by_agent(sales).values())


@pytest.mark.parametrize(
    ("sale", "refunds", "tips"),
    [
        (1_000, [], []),
        (1_000, [1_000], [0]),
        (1_000, [1_100], [100]),
        (1_000, [600, 600], [0, 200]),
        (1_000, [1_050, 50], [50, 50]),
        (0, [10, 20], [10, 20]),
    ],
)
def test_a_refund_gives_back_the_sale_first_and_the_tip_last(sale: int, refunds: list[int], tips: list[int]) -> None:
    assert tips_in_refunds(sale, refunds) == tips


def test_tips_that_were_given_back_lower_no_net() -> None:
    assert DayFigures(gross=1_000, refunds=1_100, tips=100, tips_refunded=100).net == 0

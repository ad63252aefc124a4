"""The tool that reads what shoppers search for has the figures of the page and of its tables."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.domain.search_statistics.counting import queries
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.ports import clock as shop_clock
from app.transaction import transaction
from tests.counted_searches import count
from tests.factories import make_user
from tests.mcp.agent import Agent
from tests.page_client import PageClient

TOOL = "searchInsights"


@pytest.fixture(autouse=True)
def searches(app: Flask, site_id: int) -> None:
    with app.app_context(), transaction():
        today = queries.site_today(shop_clock(), site_id)
        yesterday = today - timedelta(days=1)
        count(site_id, today, yesterday, "tent", searches=12, clicked=6, added_to_basket=3, ordered=1, revenue=12_345)
        count(site_id, today, today, "tent", searches=2, clicked=1)
        count(site_id, today, today, "parasol", finds=0, searches=4, found_nothing=4)
        count(site_id, today, yesterday, "rope", searches=20, clicked=1)
        count(site_id, today, today - timedelta(days=40), "skis", searches=5)


def table(app: Flask, site_id: int, name: str) -> list[list[str]]:
    with app.app_context(), transaction():
        make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
    pages = PageClient(app).signed_in("mia@shop.test")
    answer = pages.client.get(f"/admin/search/analytics/{name}.csv?days=30", base_url=pages.base)
    return list(csv.reader(io.StringIO(answer.get_data(as_text=True).removeprefix("\ufeff"))))[1:]


def as_cells(row: dict[str, Any]) -> list[str]:
    shares = (row["clickedShare"], row["addedToBasketShare"], row["orderedShare"])
    counts = ("searches", "foundNothing", "followed", "clicked", "addedToBasket", "ordered")
    written = ["–" if share is None else f"{100 * share:.1f}%" for share in shares]
    return [*(str(row[name]) for name in counts), f"{row['revenue'] / 100:.2f}", *written]


@pytest.mark.parametrize("report", ["top", "found-nothing", "rarely-clicked", "leads-to"])
def test_a_list_says_what_its_table_says(app: Flask, agent: Agent, site_id: int, report: str) -> None:
    result = agent.call(TOOL, report=report)
    assert not result.is_error
    (found,) = result.body["lists"]
    rows = [[one["search"], *as_cells(one), str(one["latestResults"])] for one in found["searches"]]
    assert rows == [row[:-1] for row in table(app, site_id, report)] != []
    assert found["paging"]["totalItems"] == len(rows)


def test_the_days_say_what_their_table_says(app: Flask, agent: Agent, site_id: int) -> None:
    days = agent.call(TOOL, report="days").body["days"]
    assert [[one["day"], *as_cells(one)] for one in days] == table(app, site_id, "days")


def test_the_overview_has_figures_and_the_first_of_every_list(agent: Agent) -> None:
    result = agent.call(TOOL).body
    assert result["period"]["days"] == 30
    assert {one["key"]: one["figure"] for one in result["measures"]}["searches"] == "38"
    assert [one["name"] for one in result["lists"]] == ["top", "found-nothing", "rarely-clicked", "leads-to"]
    assert [one["search"] for one in result["lists"][1]["searches"]] == ["parasol"]
    assert result["lists"][0]["searches"][0]["trend"][-2:] == [20, 0]
    assert result["notes"] == []


@pytest.mark.parametrize("report", [None, "overview", "days"])
def test_what_a_report_does_not_do_is_refused(agent: Agent, report: str | None) -> None:
    chosen = {"report": report} if report else {}
    result = agent.call(TOOL, **chosen, words="tent", sort="ordered", pageNumber=2)
    assert (result.codes, result.pointers) == (["unknown_field"] * 3, ["#/pageNumber", "#/sort", "#/words"])
    assert f"The report {report or 'overview'} takes no field “words”." in result.text


def test_a_list_is_filtered_sorted_and_paged(agent: Agent) -> None:
    def words(**sent: Any) -> list[str]:
        return [one["search"] for one in agent.call(TOOL, report="top", **sent).body["lists"][0]["searches"]]

    assert words() == ["rope", "tent", "parasol"]
    assert words(sort="revenue")[0] == "tent"
    assert words(words="RO") == ["rope"]
    assert words(pageNumber=2) == []
    assert "skis" in words(days=90)
    assert agent.call(TOOL, days=31).pointers == ["#/days"]


def test_what_is_not_counted_is_said(app: Flask, agent: Agent, site_id: int) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {"search-click-tracking-enabled": False})
    result = agent.call(TOOL).body
    assert [one["name"] for one in result["lists"]] == ["top", "found-nothing"]
    assert result["notes"][0].startswith("Clicks and sales are not counted")
    (tent,) = agent.call(TOOL, report="top", words="tent").body["lists"][0]["searches"]
    assert (tent["searches"], tent["clicked"], tent["revenue"], tent["clickedShare"]) == (14, None, None, None)
    assert {(day["followed"], day["ordered"]) for day in agent.call(TOOL, report="days").body["days"]} == {(None, None)}
    for report in ("rarely-clicked", "leads-to"):
        none = agent.call(TOOL, report=report).body
        assert (none["lists"], none["notes"]) == ([], result["notes"])

"""What search learned from clicks: seen, tested, forgotten and restored by a merchandiser."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from flask import Flask

from app.domain.relevance.learned_searches import learned_rows
from app.domain.relevance.learning import learn_site
from app.domain.relevance.replays import replay
from app.domain.search import settings
from app.domain.search.index.runs import request_rebuild
from app.domain.search.serving import configuration
from app.domain.search.settings import stored_settings
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.sites.settings import change_settings
from app.jobs import search as search_jobs
from app.jobs.scheduled import run_scheduled
from app.operations.work_context import work_context
from app.ports import search_engine, worker_locks
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.counted_searches import count, count_opens
from tests.factories import make_product, make_site, make_user
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.page_client import PageClient, check_page
from tests.snapshots import built

PAGE = "/admin/search/learning"


@pytest.fixture
def mia(app: Flask, clock: StoppedClock) -> Merchandiser:
    """Of a shop with three tents, of which shoppers who search “tent” open the last."""

    def build() -> int:
        with transaction():
            site = make_site()
            make_user(site, Role.MERCHANDISER, email="mia@shop.test")
            tents = [make_product(site, f"T-{number}", name=f"Tent {number}") for number in (1, 2, 3)]
            run, _ = request_rebuild(Author(site.id, "tests", clock), search_engine(), worker_locks(), "ALL")
            today = clock.now().date()
            count_opens(site.id, today, "tent", tents[2].id, opens=20, bought=7)
            for age in range(20):
                count(site.id, today, today - timedelta(days=age), "tent", searches=4, clicked=3)
            site_id, run_id = site.id, run.id
        search_jobs.rebuild(run_id)
        return site_id

    site_id = built(app, build, __name__)
    clock.move(seconds=2)  # Hosts are read anew once a second.
    return Merchandiser(PageClient(app).signed_in("mia@shop.test"), site_id)


def learn(app: Flask, mia: Merchandiser, clock: StoppedClock, mode: str) -> None:
    with app.app_context(), transaction():
        change_settings(mia.site_id, {"search-learning": mode})
        learn_site(clock, mia.site_id)
    clock.move(seconds=2)  # What is served is read anew once a second.


def shown(mia: Merchandiser, path: str) -> str:
    """The words of a page, which is checked like every page."""
    html = mia.pages.client.get(path, base_url=mia.pages.base).text
    check_page(html)
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())


def order_in_shop(app: Flask) -> list[str]:
    page = app.test_client().get("/search?q=tent").text
    return sorted(("Tent 1", "Tent 2", "Tent 3"), key=page.index)


def answers(mia: Merchandiser) -> dict:
    answer = mia.pages.client.get("/admin/search/test?q=tent", headers={"Accept": "application/json"})
    return {product["name"]: product for product in answer.json["products"]}


def test_on_what_shoppers_open_stands_first_and_test_a_search_says_why(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    before = order_in_shop(app)
    assert before[0] != "Tent 3"
    learn(app, mia, clock, "on")
    assert order_in_shop(app)[0] == "Tent 3"
    [part] = [part for part in answers(mia)["Tent 3"]["parts"] if part["kind"] == "learned"]
    assert part["opens"] == 60 and part["worth"] > 0
    page = shown(mia, "/admin/search/test?q=tent")
    assert "shoppers who searched this open it often: 60 opens in 9 weeks" in page


@pytest.mark.parametrize("mode", ["off", "shadow"])
def test_off_and_in_shadow_shoppers_see_no_difference(
    app: Flask, mia: Merchandiser, clock: StoppedClock, mode: str
) -> None:
    before = order_in_shop(app)
    learn(app, mia, clock, mode)
    assert order_in_shop(app) == before


def test_in_shadow_test_a_search_says_what_learning_would_do(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    learn(app, mia, clock, "shadow")
    product = answers(mia)["Tent 3"]
    assert product["wouldRank"] == 1 and product["position"] > 1
    assert [part["kind"] for part in product["wouldAdd"]] == ["learned"]
    assert "learned" not in {part["kind"] for part in product["parts"]}
    page = shown(mia, "/admin/search/test?q=tent")
    assert "It would stand at 1." in page and "Would be 1" in page


def test_without_a_queue_switching_it_on_learns_at_once(
    app: Flask, mia: Merchandiser, clock: StoppedClock, queue: RecordingQueue
) -> None:
    queue.down = True
    with app.app_context():
        with transaction():
            settings.change(Author(mia.site_id, "tests", clock), {"search-learning": "on"})
        assert [row.word for row in learned_rows(mia.site_id).items] == ["tent"]
    clock.move(seconds=2)
    assert order_in_shop(app)[0] == "Tent 3"


def test_switched_off_nothing_is_in_shadow_even_before_it_is_unlearned(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    learn(app, mia, clock, "shadow")
    with app.app_context(), transaction():
        change_settings(mia.site_id, {"search-learning": "off"})
        configuration.raise_version(mia.site_id)
    clock.move(seconds=2)
    product = answers(mia)["Tent 3"]
    assert not product.get("wouldAdd") and not product.get("wouldRank")


@pytest.mark.parametrize(("mode", "change"), [("shadow", "With"), ("on", "Without")])
def test_a_replay_shows_which_searches_the_other_state_of_learning_would_change(
    app: Flask, mia: Merchandiser, clock: StoppedClock, mode: str, change: str
) -> None:
    learn(app, mia, clock, mode)
    assert "Replay the top searches with and without" in shown(mia, PAGE)
    page = mia.get(PAGE)
    answer = mia.post("/admin/search/replays", {"proposal": page.value("proposal")})
    replay_id = answer.headers["Location"].rsplit("/", 1)[1]
    with app.app_context():
        assert replay(work_context(), replay_id)
    report = shown(mia, f"/admin/search/replays/{replay_id}")
    assert "Touches 1 of your one top search" in report and f"{change} what was learned from clicks" in report


def test_the_page_shows_what_was_learned_and_forgets_and_restores_it(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    learn(app, mia, clock, "on")
    page = shown(mia, PAGE)
    assert "Tent 3" in page and "60 opens, 21 bought" in page and "Did it help?" in page
    mia.post(f"{PAGE}/forget", {"word": "tent"})
    page = shown(mia, PAGE)
    assert "Forgot what was learned for “tent”." in page and "Nothing learned yet" in page
    clock.move(seconds=2)
    assert order_in_shop(app)[0] != "Tent 3"
    mia.post(f"{PAGE}/restore", {"word": "tent"})
    page = shown(mia, PAGE)
    assert "60 opens, 21 bought" in page
    assert re.search(r"The counts of “tent” teach again\.\s*(Undo)", page)
    mia.post(f"{PAGE}/forget", {"all": "1"})
    assert "All searches" in shown(mia, PAGE)


def test_forgetting_stands_in_the_activity_of_search_with_undo(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    learn(app, mia, clock, "on")
    mia.post(f"{PAGE}/forget", {"word": "tent"})
    page = shown(mia, "/admin/search/activity")
    assert "Forgot what was learned from clicks for the search “tent”" in page


def test_what_is_not_learned_cannot_be_forgotten(mia: Merchandiser) -> None:
    mia.get(PAGE)
    mia.post(f"{PAGE}/forget", {"word": "stove"}, 404)


def test_off_and_without_anything_learned_the_page_says_what_to_do(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    assert "Nothing is learned." in shown(mia, PAGE)
    with app.app_context(), transaction():
        change_settings(mia.site_id, {"search-learning": "shadow", "search-click-tracking-enabled": False})
    page = shown(mia, PAGE)
    assert "Nothing learned yet" in page and "Clicks are not recorded" in page


def test_learning_on_demand_and_each_night(app: Flask, mia: Merchandiser, clock: StoppedClock) -> None:
    with app.app_context(), transaction():
        change_settings(mia.site_id, {"search-learning": "shadow"})
    mia.get(PAGE)
    mia.post(f"{PAGE}/learn", {})
    with app.app_context():
        run_scheduled("learn")
    assert "Tent 3" in shown(mia, PAGE)


def test_the_same_as_json(app: Flask, mia: Merchandiser, clock: StoppedClock) -> None:
    learn(app, mia, clock, "on")
    found = mia.pages.client.get(PAGE, headers={"Accept": "application/json"}).json
    assert (found["mode"], found["totalItems"]) == ("on", 1)
    [search] = found["searches"]
    assert search["query"] == "tent" and search["products"][0]["sku"] == "T-3"


def test_the_setting_is_saved_noted_and_begins_to_learn(app: Flask, mia: Merchandiser) -> None:
    mia.get("/admin/settings/search")
    form = {"contentSearch": "on", "tracking": "on", "clickTracking": "on", "learning": "shadow"}
    mia.post("/admin/settings/search", form)
    assert "learning from clicks" in shown(mia, "/admin/settings/search")
    with app.app_context():
        assert stored_settings(mia.site_id).learning == "shadow"


def test_its_effect_is_compared_once_shoppers_are_served_it(app: Flask, mia: Merchandiser, clock: StoppedClock) -> None:
    assert "Not in search yet" in shown(mia, "/admin/search/effect/learning")
    learn(app, mia, clock, "on")
    clock.move(days=5)
    mia.pages.signed_in("mia@shop.test")
    page = shown(mia, "/admin/search/effect/learning")
    assert "The 1 search for which something is learned" in page

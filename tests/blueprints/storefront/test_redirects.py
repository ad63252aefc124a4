"""Addresses of the shop that have no page any more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest
from flask import Flask

from app.domain.catalogue.models import Product
from app.domain.merchandising import nodes
from app.domain.merchandising.arrangement import Target
from app.domain.merchandising.models import Node
from app.domain.merchandising.shop import read_shop
from app.domain.seo.landing.pages import LandingPages
from app.domain.seo.models import Redirect as StoredRedirect
from app.domain.seo.redirects import redirect_table
from app.domain.seo.redirects.moved_addresses import Choice, addresses_left_by
from app.domain.seo.redirects.rules import Source
from app.domain.seo.redirects.stored_redirects import RedirectDraft, add
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs.search_statistics import drain
from app.transaction import transaction
from tests.blueprints.storefront.conftest import Get
from tests.blueprints.storefront.landing import FELL, MOOR, TENTS, Rules
from tests.fakes.clock import StoppedClock

Rename = Callable[..., None]
Redirect = Callable[[str, str], None]


@pytest.fixture
def rename(app: Flask, site_id: int, clock: StoppedClock) -> Rename:
    def rename(old: str, new: str, choice: Choice | None = None) -> None:
        with app.app_context(), addresses_left_by(choice), transaction():
            product = db.session.query(Product).filter_by(site_id=site_id, seo_name=old).one()
            product.seo_name = new
        clock.move(seconds=1)

    return rename


@pytest.fixture
def redirect(app: Flask, site_id: int, clock: StoppedClock) -> Redirect:
    def redirect(old: str, new: str) -> None:
        author = Author(site_id, "merch@demo.test", clock)
        with app.app_context(), transaction():
            add(author, read_shop(site_id), lambda _node: LandingPages(), RedirectDraft(old, new), Source.PERSON)

    return redirect


@pytest.fixture
def move(app: Flask, site_id: int, clock: StoppedClock) -> Rename:
    """Moves a category, by its path, below another one."""

    def move(path: str, below: str) -> None:
        with app.app_context(), transaction():
            ids = {node.path: node.id for node in db.session.query(Node).filter_by(site_id=site_id)}
            nodes.move(Author(site_id, "merch@demo.test", clock), ids[path], Target(ids[below]))
        clock.move(seconds=1)

    return move


def leads(get: Get, path: str) -> str:
    answer = get(path)
    assert answer.status_code == 301, f"{path}: {answer.status_code}"
    return answer.headers["Location"]


def test_the_old_address_of_a_product_leads_to_its_new_one_for_good(get: Get, rename: Rename):
    rename("tent-4", "moor-tent")
    answer = get("/p/tent-4")
    assert (answer.status_code, answer.headers["Location"]) == (301, "/p/moor-tent")
    assert answer.headers["Cache-Control"] == "no-store", "or renaming back would send browsers in circles"
    assert answer.headers["X-Robots-Tag"] == "index, follow"
    assert get("/p/moor-tent").status_code == 200


def test_parameters_stay_on_the_way(get: Get, rename: Rename):
    rename("tent-4", "moor-tent")
    assert leads(get, "/p/tent-4?utm_source=mail&variant=S-4") == "/p/moor-tent?utm_source=mail&variant=S-4"


def test_a_slash_behind_and_capital_letters_need_no_second_step(get: Get, rename: Rename):
    rename("tent-4", "moor-tent")
    assert leads(get, "/p/tent-4/?p=2") == "/p/moor-tent?p=2"
    assert leads(get, "/P/Tent-4") == "/p/moor-tent"


def test_a_page_that_is_renamed_twice_is_one_step_away_and_renaming_back_ends_it(get: Get, rename: Rename):
    rename("tent-4", "one")
    rename("one", "two")
    assert leads(get, "/p/tent-4") == leads(get, "/p/one") == "/p/two"
    rename("two", "tent-4")
    assert get("/p/tent-4").status_code == 200
    assert leads(get, "/p/one") == leads(get, "/p/two") == "/p/tent-4"


def test_a_new_page_at_an_old_address_is_shown(app: Flask, get: Get, rename: Rename):
    rename("tent-4", "moor-tent")
    rename("tent-5", "tent-4")
    assert get("/p/tent-4").status_code == 200
    assert leads(get, "/p/tent-5") == "/p/tent-4"


def test_a_moved_category_takes_all_below_it_along_with_their_landing_pages(get: Get, brands: None, move: Rename):
    move("camping", "gifts")
    assert leads(get, "/c/camping") == "/c/gifts/camping"
    assert leads(get, f"{TENTS}?p=2") == "/c/gifts/camping/tents?p=2"
    assert leads(get, f"{MOOR}?utm_source=a") == "/c/gifts/camping/tents/brand/moor?utm_source=a"
    assert get("/c/gifts/camping/tents/brand/moor").status_code == 200
    assert get(f"{TENTS}/brand/unknown").status_code == 404


def test_a_filter_that_has_a_landing_page_leads_there_in_one_step(get: Get, brands: None, move: Rename):
    move("camping", "gifts")
    assert leads(get, f"{TENTS}?manufacturer=Moor&gclid=1") == "/c/gifts/camping/tents/brand/moor?gclid=1"


def test_landing_pages_follow_the_segment_of_their_rule(get: Get, brands: None, change: Rules):
    change("camping/tents", landing_rules=[{"facetId": "manufacturer", "pathSegment": "maker"}])
    assert leads(get, FELL) == f"{TENTS}/maker/fell-fern"
    assert get("/c/camping/brand/moor").status_code == 200, "other categories keep the rules of the tree"


def test_landing_pages_that_are_gone_answer_404_unless_the_category_shall_stand_in(
    app: Flask, clock: StoppedClock, get: Get, brands: None, change: Rules
):
    change("camping", landing_rules=[])
    assert get("/c/camping/brand/moor").status_code == 404
    with app.app_context(), addresses_left_by(Choice(redirects=True, gone_to_category=True)), transaction():
        db.session.query(Node).filter_by(path="camping/tents").one().landing_rules = []
    clock.move(seconds=1)
    assert leads(get, MOOR) == TENTS
    excluded = {"facetId": "manufacturer", "overrides": [{"value": "Moor", "excluded": True}]}
    change("camping/tents", landing_rules=[excluded])
    assert get(MOOR).status_code == 404, "an excluded value of a rule that is there has no page (spec)"


def test_a_category_that_moved_twice_and_changed_its_segment_needs_one_step(
    get: Get, brands: None, move: Rename, change: Rules
):
    move("camping/tents", "gifts")
    change("gifts/tents", landing_rules=[{"facetId": "manufacturer", "pathSegment": "maker"}])
    move("gifts", "camping")
    assert leads(get, MOOR) == "/c/camping/gifts/tents/maker/moor"


def test_nothing_is_left_behind_where_the_site_or_the_user_does_not_want_it(
    app: Flask, site_id: int, get: Get, rename: Rename
):
    rename("tent-4", "moor-tent", Choice(redirects=False))
    with app.app_context(), transaction():
        change_settings(site_id, {"seo-redirect-changed-addresses": False})
    rename("tent-5", "fell-tent")
    assert (get("/p/tent-4").status_code, get("/p/tent-5").status_code) == (404, 404)


def test_addresses_of_an_earlier_shop_lead_on_with_their_parameters(get: Get, redirect: Redirect):
    redirect("/shop/Tents.html", "/c/camping/tents?sort=name")
    redirect("/about.php", "https://about.test/us")
    assert leads(get, "/shop/tents.html?utm_source=a") == f"{TENTS}?sort=name&utm_source=a"
    assert leads(get, "/about.php") == "https://about.test/us"


def test_a_redirect_names_no_parameter_twice_and_its_own_win(get: Get, redirect: Redirect):
    redirect("/shop/tents.html", "/c/camping/tents?sort=name")
    redirect("/about.php", "https://about.test/us?lang=en")
    assert leads(get, "/shop/tents.html?sort=price_asc&p=2") == f"{TENTS}?sort=name&p=2"
    assert leads(get, "/about.php?lang=de&a=1&a=2") == "https://about.test/us?lang=en&a=1&a=2"


def test_a_filter_keeps_the_parameters_of_the_redirect(get: Get, brands: None, redirect: Redirect):
    redirect("/shop/tents.html", "/c/camping/tents?sort=name")
    assert leads(get, "/shop/tents.html?manufacturer=Moor") == f"{TENTS}?sort=name&manufacturer=Moor"


def test_a_file_keeps_its_capital_letters_and_signs(get: Get, redirect: Redirect):
    redirect("/leaflet", "/media/1/Abc%3F.PDF")
    assert leads(get, "/leaflet") == "/media/1/Abc%3F.PDF"


def test_no_redirect_is_added_that_a_moved_category_would_lead_back(get: Get, move: Rename, redirect: Redirect):
    move("camping", "gifts")
    with pytest.raises(Invalid, match="leads back to /c/gifts/camping/old"):
        redirect("/c/gifts/camping/old", "/c/camping/old")
    assert get("/c/camping/old").status_code == 404
    redirect("/shop/tents", "/c/camping/tents/")
    assert leads(get, "/shop/tents") == "/c/gifts/camping/tents"


def test_a_table_has_no_redirect_either_that_a_moved_category_would_lead_back(app: Flask, site_id: int, move: Rename):
    move("camping", "gifts")
    with app.app_context():
        table = "from,to\n/c/gifts/camping/old,/c/camping/old\n/shop/tents,/c/camping/other\n"
        lines = redirect_table.preview(read_shop(site_id), lambda _node: LandingPages(), table).lines
    assert [line.outcome.value for line in lines] == ["refused", "added"]
    assert str(lines[1].made) == "/shop/tents → /c/gifts/camping/other"


def test_redirects_that_a_move_makes_lead_back_answer_404(get: Get, move: Rename, redirect: Redirect):
    redirect("/c/gifts/camping/old", "/c/camping/old")
    move("camping", "gifts")
    assert get("/c/camping/old").status_code == 404
    assert get("/c/gifts/camping/old").status_code == 404


def test_a_request_of_a_script_makes_the_browser_go_there(get: Get, rename: Rename):
    rename("tent-4", "moor-tent")
    answer = get("/p/tent-4", HX_Request="true")
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (204, "/p/moor-tent")


def test_only_reading_is_redirected(app: Flask, site_id: int, get: Get, rename: Rename):
    rename("tent-4", "moor-tent")
    client = app.test_client()
    head = client.head("/p/tent-4", base_url="http://shop.test")
    assert (head.status_code, head.headers["Location"]) == (301, "/p/moor-tent")
    post = client.post("/p/tent-4", base_url="http://shop.test", headers={"Sec-Fetch-Site": "same-origin"})
    assert post.status_code == 405


def test_an_address_without_a_redirect_answers_404_as_ever(get: Get, rename: Rename):
    rename("tent-4", "moor-tent")
    for path in ("/p/tent", "/p/tent-4/more", "/c/none", "/nowhere", "/v1/none", "/admin/none", "/a%2500"):
        assert get(path).status_code == 404, path


def test_who_is_sent_on_is_counted_with_the_last_day(
    app: Flask, site_id: int, get: Get, redirect: Redirect, clock: StoppedClock
) -> None:
    def counted() -> list[tuple[str, int, date | None]]:
        with app.app_context():
            drain()
            rows = db.session.query(StoredRedirect).order_by(StoredRedirect.old_path)
            return [(row.old_path, row.hits, row.last_hit_on) for row in rows]

    redirect("/old-tents", "/c/tents")
    redirect("/rarely", "/c/tents")
    today = clock.now().date()
    leads(get, "/old-tents")
    leads(get, "/Old-Tents/?page=2")
    assert counted() == [("/old-tents", 2, today), ("/rarely", 0, None)]
    clock.move(days=1)
    leads(get, "/old-tents")
    assert get("/nowhere").status_code == 404
    assert counted() == [("/old-tents", 3, today + timedelta(days=1)), ("/rarely", 0, None)]

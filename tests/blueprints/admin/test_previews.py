"""Preview: comparing and replaying from the pages, with and without JavaScript, and as JSON."""

from __future__ import annotations

import json
import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.adapters.whoosh import WhooshEngine
from app.domain.relevance.replays import REPLAY
from app.domain.search.engine import SearchContext
from app.domain.sites.accounts import Role
from app.domain.work import leases
from app.extensions import db
from app.jobs.relevance import replay
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.domain.relevance.trials.preview_shop import product_id, shop
from tests.factories import make_user
from tests.page_client import PageClient, loses_focus

TRY = "/admin/search/try"
SYNONYM = {"type": "EQUIVALENT", "words": "mug, cup", "id": ""}


@pytest.fixture
def someone(app: Flask, indexing: SearchContext) -> Merchandiser:
    with app.app_context():
        site_id = shop(indexing, "localhost")
        with transaction():
            from app.domain.sites.models import Site

            make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
    indexing.clock.move(seconds=2)  # type: ignore[attr-defined]
    return Merchandiser(PageClient(app).signed_in("mia@shop.test"), site_id)


def _json(client: FlaskClient, someone: Merchandiser, body: object, status: int = 200) -> dict:
    headers = {"Accept": "application/json", "X-CSRFToken": someone.pages.token}
    answer = client.post(TRY, json=body, headers=headers, base_url=someone.pages.base)
    assert answer.status_code == status, answer.text
    return answer.json


def test_the_form_of_a_synonym_is_compared_in_place(someone: Merchandiser) -> None:
    answer = someone.swap(f"{TRY}?kind=synonym", SYNONYM)
    assert answer.status_code == 200 and "<html" not in answer.text
    assert "With the synonym “mug = cup”" in answer.text
    assert "2 of 2 searches would change." in " ".join(answer.text.split())
    assert answer.text.count('class="mark good">new') == 4


def test_without_javascript_the_comparison_is_a_page(someone: Merchandiser) -> None:
    page = someone.post(f"{TRY}?kind=synonym", SYNONYM, 200)
    assert page.texts["h1"] == "Preview"


def test_another_search_is_compared_from_what_the_page_kept(someone: Merchandiser) -> None:
    page = someone.post(f"{TRY}?kind=synonym", SYNONYM, 200)
    again = someone.post(TRY, {"proposal": page.value("proposal"), "query": "tea  cup"}, 200)
    assert "tea cup" in again.texts["span"]


def test_the_editor_marks_a_boosted_product_that_the_search_does_not_find(someone: Merchandiser) -> None:
    form = {"term": "mug", "boost": ["JUG-1", "MUG-1"], "bury": "CUP-1", "intent": "remove:NONE"}
    text = someone.swap("/admin/search/ranking/new", form).text
    assert text.count("Not found by “mug”") == 2
    assert "Not found by “mug”: boosting does nothing, pin it." in text
    assert "Not found by “mug”: burying does nothing." in text


def test_products_are_pinned_from_the_comparison_beside_the_editor(someone: Merchandiser) -> None:
    rule = {"term": "mug", "pin": ["JUG-1"], "position": ["1"]}
    text = someone.swap(f"{TRY}?kind=rule", rule).text
    assert 'value="remove:JUG-1"' in text and 'value="pin:MUG-1"' in text
    answer = someone.swap("/admin/search/ranking/new", rule | {"intent": "pin:MUG-1", "beside": "1"}).text
    assert 'name="pin" value="MUG-1"' in answer and "data-focus" not in answer


def test_another_search_and_other_changes_offer_no_pins(someone: Merchandiser) -> None:
    rule = {"term": "mug", "pin": ["JUG-1"], "position": ["1"]}
    assert "pin:" not in someone.swap(f"{TRY}?kind=rule", rule | {"query": "cup"}).text
    assert "pin:" not in someone.swap(f"{TRY}?kind=synonym", SYNONYM).text
    page = someone.post(f"{TRY}?kind=rule", rule, 200)
    assert not [one for one in page.all("button") if one.get("value", "").startswith("pin:")]


def test_the_form_of_a_rule_is_compared(someone: Merchandiser) -> None:
    rule = {"term": "mug", "pin": ["JUG-1"], "position": ["1"], "bannerText": "Two for one", "enabled": "on"}
    text = someone.swap(f"{TRY}?kind=rule", rule).text
    assert "With the rule for “mug”" in text and "pinned" in text and "Two for one" in text


def test_a_rule_that_is_switched_off_does_nothing(someone: Merchandiser) -> None:
    rule = {"kind": "rule", "term": "mug", "pins": [{"sku": "JUG-1", "position": 1}], "enabled": False}
    assert "nothing changes for “mug”" in " ".join(someone.swap(TRY, {"proposal": json.dumps(rule)}).text.split())


def test_a_paused_rule_is_compared_as_if_it_were_not(someone: Merchandiser) -> None:
    rule = {"term": "mug", "pin": ["", "JUG-1"], "position": ["4", " 1 "], "paused": "on"}
    assert "pinned" in someone.swap(f"{TRY}?kind=rule", rule).text


def test_times_without_a_zone_are_of_the_shop(someone: Merchandiser) -> None:
    rule = {"term": "mug", "pin": "JUG-1", "startsAt": "2026-12-01T09:00", "endsAt": "2026-12-02T09:00:00Z"}
    text = " ".join(someone.swap(f"{TRY}?kind=rule", rule).text.split())
    assert 'as of <time datetime="2026-12-01T09:00:00Z"' in text


def test_the_form_of_search_terms_is_compared(someone: Merchandiser, app: Flask) -> None:
    with app.app_context():
        jug = product_id(someone.site_id, "JUG-1")
    text = someone.swap(f"{TRY}?kind=terms", {"productId": str(jug), "terms": "pitcher, carafe"}).text
    assert "0 → 1 found" in text and "Water jug" in text


@pytest.mark.parametrize(
    ("kind", "form", "said"),
    [
        ("synonym", {"words": "mug"}, "Write the words first"),
        ("rule", {"term": " "}, "Write the search"),
        ("rule", {"term": "mug", "startsAt": "soon"}, "“soon” is not a date and time."),
        ("terms", {"terms": "mug"}, "Choose the product"),
        ("other", {}, "Say what to try"),
        ("", {"proposal": "{"}, "is not valid JSON"),
    ],
)
def test_what_cannot_be_tried_is_said_in_place(
    someone: Merchandiser, kind: str, form: dict[str, str], said: str
) -> None:
    answer = someone.swap(f"{TRY}?kind={kind}", form)
    assert answer.status_code == 400 and said in answer.text and "<html" not in answer.text


def test_a_product_that_is_not_there_is_told(someone: Merchandiser) -> None:
    answer = someone.swap(f"{TRY}?kind=terms", {"productId": "999999", "terms": "mug"})
    assert answer.status_code == 404 and "no such product" in answer.text


def test_the_same_as_json(someone: Merchandiser) -> None:
    body = {"kind": "synonym", "type": "EQUIVALENT", "synonyms": ["mug", "cup"]}
    answer = _json(someone.pages.client, someone, body)
    assert [(item["query"], item["before"]["found"], item["after"]["found"]) for item in answer["items"]] == [
        ("mug", 2, 4),
        ("cup", 2, 4),
    ]
    assert {product["mark"] for product in answer["items"][0]["after"]["products"]} <= {"same", "new", "up", "down"}
    assert _json(someone.pages.client, someone, {"kind": "rule"}, 400)["errors"][0]["pointer"] == "#/term"
    assert _json(someone.pages.client, someone, ["what"], 400)["errors"]


def test_words_are_shown_as_text(someone: Merchandiser) -> None:
    text = someone.swap(f"{TRY}?kind=synonym", {"words": '<script>alert(1)</script>, “"cup'}).text
    assert "<script>" not in text
    kept = re.search(r'name="proposal" value="([^"]*)"', text)
    assert kept is not None and "&lt;script&gt;" in kept[1]


def test_search_that_does_not_answer_is_told_in_place(someone: Merchandiser, indexing: SearchContext) -> None:
    indexing.engine.forget(someone.site_id)
    answer = someone.swap(f"{TRY}?kind=synonym", SYNONYM)
    assert answer.status_code == 200 and "Search does not answer" in answer.text


def _requested(someone: Merchandiser) -> str:
    proposal = json.dumps({"kind": "synonym", "synonyms": ["mug", "cup"]})
    answer = someone.pages.post("/admin/search/replays", {"proposal": proposal})
    return str(answer.location.rpartition("/")[2])


def test_a_replay_is_followed_to_its_report(someone: Merchandiser, app: Flask) -> None:
    replay_id = _requested(someone)
    address = f"/admin/search/replays/{replay_id}"
    waiting = someone.fragment(address).text
    assert 'hx-trigger="every 1s"' in waiting and "starts in a moment" in waiting
    assert loses_focus(waiting) == []
    with app.app_context():
        assert replay(replay_id)
    done = someone.fragment(address).text
    assert "hx-trigger" not in done and "nothing to replay" in done
    assert someone.get(address).texts["h1"] == "Replay of the top searches"


def test_a_replay_that_failed_says_why(someone: Merchandiser, app: Flask, indexing: SearchContext) -> None:
    replay_id = _requested(someone)
    indexing.clock.move(minutes=16)  # type: ignore[attr-defined]
    with app.app_context(), transaction():
        leases.expire(REPLAY, indexing.clock)
    text = someone.fragment(f"/admin/search/replays/{replay_id}").text
    assert "not finished within a quarter of an hour" in text and "hx-trigger" not in text


def test_what_cannot_be_replayed_is_said(someone: Merchandiser) -> None:
    answer = someone.swap("/admin/search/replays", {"proposal": "{}"})
    assert answer.status_code == 400 and "Say what to try" in answer.text


@pytest.mark.parametrize("body", [{"kind": "rule"}, {}, ["what"], {"kind": "rule", "term": "x", "pins": 7}])
@pytest.mark.parametrize("path", [TRY, "/admin/search/replays"])
def test_what_a_program_sends_wrongly_is_told_as_a_program_reads_it(
    someone: Merchandiser, path: str, body: object
) -> None:
    headers = {"X-CSRFToken": someone.pages.token, "Origin": someone.pages.base}
    answer = someone.pages.client.post(path, json=body, headers=headers, base_url=someone.pages.base)
    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    assert answer.json["errors"][0]["pointer"].startswith("#")


def test_an_engine_without_trials_says_that_search_terms_cannot_be_previewed(
    app: Flask, someone: Merchandiser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WhooshEngine, "supports_trials", False)
    with app.app_context():
        jug = product_id(someone.site_id, "JUG-1")
    answer = someone.swap(f"{TRY}?kind=terms", {"productId": str(jug), "terms": "pitcher"})
    assert answer.status_code == 200
    assert "This search engine cannot preview search terms." in answer.text
    assert "Compare" not in answer.text
    assert someone.swap(f"{TRY}?kind=synonym", SYNONYM).text.count('class="mark good">new') == 4

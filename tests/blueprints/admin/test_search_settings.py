"""The search settings: what is found, what is counted, and the filters beside results."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import select

from app.blueprints.admin.search.settings import SearchSettingsForm
from app.domain.search import settings
from app.domain.search.sentence_model import SentenceModel, SentenceModelUnavailable
from app.domain.search.serving import configuration
from app.domain.search.serving.plan import LearningMode
from app.domain.search.settings import (
    LONGEST_BLOCKED,
    MOST_BLOCKED,
    MOST_FILTERS,
    MOST_STOP_WORDS,
    SearchSettings,
    filter_problems,
    stored_settings,
)
from app.domain.sites.models import AuditEntry, Setting
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.models import Taxonomy
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.factories import WHEN
from tests.fakes.sentence_model import WordSums
from tests.page_client import PageClient

PATH = "/admin/settings/search"
ON = {"contentSearch": "on", "tracking": "on", "clickTracking": "on"}


@pytest.fixture
def browser(signed_in) -> PageClient:
    page: PageClient = signed_in()
    page.get(PATH)
    return page


def test_settings_are_saved_and_noted(app: Flask, browser: PageClient, site_id: int) -> None:
    browser.post(PATH, {"contentSearch": "on", "filter": ["price", "rating"]})
    with app.app_context():
        assert stored_settings(site_id) == SearchSettings(True, False, False, ("price", "rating"))
        entry = db.session.scalars(select(AuditEntry)).one()
        assert (entry.actor, entry.action) == ("The Merchandiser", "settings.search")
        assert entry.after["search-default-filters"] == ["price", "rating"]
        assert "search-content-enabled" not in entry.after


def test_saving_what_is_stored_changes_nothing(app: Flask, browser: PageClient) -> None:
    browser.post(PATH, ON | {"filter": ["manufacturer", "price", "inStock", "onSale"]})
    assert "No changes to save." in browser.client.get(PATH).text
    with app.app_context():
        assert db.session.scalars(select(AuditEntry)).all() == []


def test_saving_leaves_what_another_user_changed_meanwhile(app: Flask, browser: PageClient, site_id: int) -> None:
    shown = browser.get(PATH).value("shown")
    filters = ["manufacturer", "price", "inStock", "onSale"]
    with app.app_context(), transaction():
        change_settings(site_id, {"search-click-tracking-enabled": False, "search-stop-words": ["cheap"]})
    browser.post(PATH, ON | {"filter": ["price", "<none>"], "holdGolden": "on", "shown": shown}, status=400)
    browser.post(PATH, ON | {"filter": filters, "holdGolden": "on", "shown": shown, "stopWords": ""})
    with app.app_context():
        stored = stored_settings(site_id)
        assert (stored.hold_golden, stored.click_tracking, stored.stop_words) == (True, False, ("cheap",))
        entry = db.session.scalars(select(AuditEntry)).one()
        assert entry.after == {"search-golden-hold": True}


def test_a_button_of_the_filters_keeps_what_the_form_was_opened_with(app: Flask, browser: PageClient) -> None:
    shown = browser.get(PATH).value("shown")
    page = browser.post(PATH, {"filter": ["price", "rating"], "intent": "up:1", "shown": shown}, status=200)
    assert page.value("shown") == shown


def test_attributes_of_the_active_taxonomy_can_be_filters(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        _activate_taxonomy(site_id)
    text = browser.client.get(PATH).text
    assert ">Colour, of All</option>" in text and ">Colour, of Paint</option>" in text
    browser.post(PATH, ON | {"filter": ["main-colour", "price"]})
    with app.app_context():
        assert stored_settings(site_id).filters == ("main-colour", "price")


def test_filters_that_cannot_be_are_refused_and_nothing_is_saved(app: Flask, browser: PageClient) -> None:
    too_many = [f"f{number}" for number in range(MOST_FILTERS + 1)]
    for filters in (["nothing"], ["<script>"], too_many):
        page = browser.post(PATH, {"filter": filters}, status=400)
        assert page.value("filter") == filters[0]
    with app.app_context():
        assert db.session.scalars(select(Setting)).all() == []


def test_a_filter_chosen_twice_is_shown_once(app: Flask, browser: PageClient, site_id: int) -> None:
    assert [problem.code for problem in filter_problems(["price", "price"], {"price"})] == ["duplicate_filter"]
    browser.post(PATH, ON | {"filter": ["price", "rating", "price"]})
    with app.app_context():
        assert stored_settings(site_id).filters == ("price", "rating")


def test_a_filter_that_the_taxonomy_lost_may_stay(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {"search-default-filters": ["gone", "price"]})
    browser.get(PATH)
    browser.post(PATH, ON | {"filter": ["price", "gone"]})
    with app.app_context():
        assert stored_settings(site_id).filters == ("price", "gone")


@pytest.mark.parametrize(
    ("intent", "after"),
    [
        ("up:1", ("b", "a", "c")),
        ("down:0", ("b", "a", "c")),
        ("up:0", ("a", "b", "c")),
        ("down:2", ("a", "b", "c")),
        ("remove:1", ("a", "c")),
        ("add", ("a", "b", "c", "d")),
        ("remove:9", ("a", "b", "c")),
        ("remove:-1", ("a", "b", "c")),
        ("dance:1", ("a", "b", "c")),
        ("up:٣", ("a", "b", "c")),
    ],
)
def test_the_buttons_of_the_filters_only_arrange_them(intent: str, after: tuple[str, ...]) -> None:
    form = SearchSettingsForm(SearchSettings(True, True, True, ("a", "b", "c")), chosen="d")
    assert form.after(intent).settings.filters == after


def test_a_button_answers_with_the_list_alone_and_saves_nothing(app: Flask, browser: PageClient) -> None:
    form = {"csrf_token": browser.token, "filter": ["price", "rating"], "intent": "up:1"}
    fragment = browser.client.post(PATH, data=form, headers={"HX-Request": "true"}).text
    assert fragment.index('value="rating"') < fragment.index('value="price"')
    assert "<html" not in fragment
    page = browser.post(PATH, form, status=200)
    assert page.texts["h1"] == "Search settings"
    with app.app_context():
        assert db.session.scalars(select(Setting)).all() == []


def _activate_taxonomy(site_id: int) -> None:
    attribute = {"attributeId": "main-colour", "name": "Colour", "type": "STRING"}
    levels = [
        {"levelId": "all", "name": "All", "attributes": [attribute], "children": []},
        {"levelId": "paint", "name": "Paint", "attributes": [attribute | {"attributeId": "shade"}], "children": []},
    ]
    db.session.add(
        Taxonomy(
            site_id=site_id, id="t", catalogue_id="c", name="T", root_levels=levels, created_at=WHEN, updated_at=WHEN
        )
    )
    change_settings(site_id, {"taxonomy-active-id": "t"})


def test_words_that_may_be_missing_are_saved_without_repetition(app: Flask, browser: PageClient, site_id: int) -> None:
    browser.post(PATH, ON | {"filter": ["price"], "stopWords": "Cheap, buy,, cheap , café, Cafe"})
    with app.app_context():
        assert stored_settings(site_id).stop_words == ("Cheap", "buy", "café")
        assert configuration.served(site_id).stop_words >= {"cheap", "buy", "cafe"}


def test_what_is_no_word_may_not_be_missing(app: Flask, browser: PageClient, site_id: int) -> None:
    for text in ("best price", "!!!", "x" * 51, ", ".join(f"w{number}" for number in range(MOST_STOP_WORDS + 1))):
        page = browser.post(PATH, ON | {"filter": ["price"], "stopWords": text}, status=400)
        assert page.texts["h1"] == "Search settings"
    with app.app_context():
        assert stored_settings(site_id).stop_words == ()


def test_a_rebuild_can_be_made_to_heed_golden_searches(app: Flask, browser: PageClient, site_id: int) -> None:
    browser.post(PATH, ON | {"filter": ["price"], "holdGolden": "on"})
    with app.app_context():
        assert stored_settings(site_id).hold_golden


def test_suggestions_are_switched_off_and_on_and_the_change_is_noted(
    app: Flask, browser: PageClient, site_id: int
) -> None:
    browser.post(PATH, ON | {"filter": ["price"], "suggestions": "off"})
    with app.app_context():
        assert not stored_settings(site_id).suggestions
        entry = db.session.scalars(select(AuditEntry)).one()
        assert entry.after["search-suggestions-enabled"] is False
        assert "suggestions as shoppers type" in entry.summary
    browser.post(PATH, ON | {"filter": ["price"], "suggestions": ["off", "on"]})
    with app.app_context():
        assert stored_settings(site_id).suggestions


@pytest.mark.parametrize("are_on", [True, False])
def test_what_a_form_says_nothing_of_stays_as_it_is(
    app: Flask, browser: PageClient, site_id: int, are_on: bool
) -> None:
    result = {
        settings.SUGGESTIONS: are_on,
        settings.BY_MEANING: are_on,
        settings.BLOCKED: ["rude"],
        settings.STOP_WORDS: ["cheap"],
        settings.LEARNING: LearningMode.SHADOW.value,
    }
    with app.app_context(), transaction():
        change_settings(site_id, result)
    browser.post(PATH, ON | {"filter": ["price"]})
    browser.post(PATH, ON | {"filter": ["price"], "learning": "nonsense"})
    with app.app_context():
        stored = stored_settings(site_id)
        assert stored == SearchSettings(
            True, True, True, ("price",), ("cheap",), False, are_on, are_on, ("rude",), LearningMode.SHADOW
        )
    browser.post(PATH, ON | {"filter": ["price"], "learning": "off", "blockedWords": "", "stopWords": ""})
    with app.app_context():
        emptied = stored_settings(site_id)
        assert (emptied.learning, emptied.blocked_words, emptied.stop_words) == (LearningMode.OFF, (), ())


def test_words_are_blocked_and_what_is_no_word_is_refused(app: Flask, browser: PageClient, site_id: int) -> None:
    browser.post(PATH, ON | {"filter": ["price"], "blockedWords": "rude, Very Rude, rude"})
    for words in ("!!!", "x" * 51, ", ".join(f"w{number}" for number in range(MOST_BLOCKED + 1))):
        page = browser.post(PATH, ON | {"filter": ["price"], "blockedWords": words}, status=400)
        assert page.texts["h1"] == "Search settings"
    with app.app_context():
        assert stored_settings(site_id).blocked_words == ("rude", "Very Rude")


def test_as_many_words_as_may_be_are_saved_in_any_script(app: Flask, browser: PageClient, site_id: int) -> None:
    words = [f"{number} " + "ж" * (LONGEST_BLOCKED - 4) for number in range(100, 100 + MOST_BLOCKED)]
    with app.app_context(), transaction():
        change_settings(site_id, {settings.BLOCKED: words[1:]})
    shown = browser.get(PATH).value("shown")
    browser.post(PATH, ON | {"filter": ["price"], "blockedWords": ", ".join(words), "shown": shown})
    with app.app_context():
        assert stored_settings(site_id).blocked_words == tuple(words)


class Broken(WordSums):
    @property
    def label(self) -> str:  # type: ignore[override]
        raise SentenceModelUnavailable("Its file config.json is missing.")


def with_model(app: Flask, model: SentenceModel | None) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], sentence_model=model)


def test_the_page_says_how_to_get_a_sentence_model(browser: PageClient) -> None:
    page = browser.client.get(PATH).text
    assert "No sentence model is installed" in page and "<code>make semantic</code>" in page


def test_the_page_says_by_which_model_search_ranks(app: Flask, browser: PageClient) -> None:
    with_model(app, WordSums())
    assert "by the sentence model sums of words" in browser.client.get(PATH).text


def test_the_page_says_why_a_model_cannot_be_used(app: Flask, browser: PageClient) -> None:
    with_model(app, Broken())
    assert "Unusable" in (page := browser.client.get(PATH).text) and "Its file config.json is missing." in page
    assert "Fix the files, then restart the shop." in " ".join(page.split())


def test_ranking_by_meaning_is_switched_off_for_a_site_and_the_change_is_noted(
    app: Flask, browser: PageClient, site_id: int
) -> None:
    with_model(app, WordSums())
    with app.app_context():
        assert configuration.served(site_id).by_meaning
    browser.post(PATH, ON | {"filter": ["price"], "byMeaning": "off"})
    with app.app_context():
        assert not stored_settings(site_id).by_meaning
        assert not configuration.served(site_id).by_meaning
        entry = db.session.scalars(select(AuditEntry)).one()
        assert entry.after["search-by-meaning"] is False
        assert "ranking by meaning" in entry.summary
    assert "The sentence model sums of words is installed." in browser.client.get(PATH).text
    browser.post(PATH, ON | {"filter": ["price"], "byMeaning": ["off", "on"]})
    with app.app_context():
        assert configuration.served(site_id).by_meaning

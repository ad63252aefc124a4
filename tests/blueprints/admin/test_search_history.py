"""The activity log of the Search section: who changed what, and undoing it."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.catalogue.terms import replace_terms
from app.domain.changes import history
from app.domain.changes.kinds import Undo
from app.domain.relevance import golden, rules, synonym_suggestions, synonyms
from app.domain.relevance.models import SearchRule, Synonym
from app.domain.relevance.synonym_mining import Candidate
from app.domain.search import settings as search_settings
from app.domain.search.serving.rules import Banner, PinnedSku, Rule
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.seo.landing.pages import LandingPages
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import NotFound
from app.domain.sites import activity
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.ports import clock
from app.transaction import transaction
from tests.factories import make_product, make_site
from tests.page_client import PageClient
from tests.statements import statements

PATH = "/admin/search/activity"


@pytest.fixture
def browser(signed_in) -> PageClient:
    page: PageClient = signed_in()
    page.get(PATH)
    return page


def draft(*words: str) -> SynonymGroup:
    return SynonymGroup(SynonymType.EQUIVALENT, None, words)


def newest() -> AuditEntry:
    return db.session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(1)).one()


def undo_newest(browser: PageClient, app: Flask) -> str:
    with app.app_context():
        entry_id = newest().id
    return undo(browser, entry_id)


def undo(browser: PageClient, entry_id: int) -> str:
    """What the page then says."""
    browser.post(f"{PATH}/{entry_id}/undo", {})
    answer: str = browser.client.get(PATH, base_url=browser.base).text
    return answer


def groups(app: Flask) -> list[list[str]]:
    with app.app_context():
        return [row.words for row in db.session.scalars(select(Synonym).where(Synonym.status == "LIVE"))]


def test_a_new_synonym_is_taken_back_and_that_is_taken_back(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        synonyms.add(Author(site_id, "Mia Moss", clock()), draft("sofa", "couch"))
    page = undo_newest(browser, app)
    assert "Undone: Added the synonym" in page
    assert groups(app) == []
    with app.app_context():
        assert f'<form class="undo" method="post" action="{PATH}/{newest().id}/undo">' in page
    undo_newest(browser, app)
    assert groups(app) == [["sofa", "couch"]]


def test_a_message_that_waits_since_the_release_before_has_its_undo(app: Flask, browser: PageClient) -> None:
    older = {"text": "Added the synonym sofa, couch.", "undo": 5, "back": "/admin/search/synonyms"}
    with browser.client.session_transaction(base_url=browser.base) as session:
        session["_flashes"] = [("good", older)]
    page = browser.get(PATH)
    assert "Added the synonym sofa, couch." in page.texts["p"]
    assert f"{PATH}/5/undo" in [form.get("action") for form in page.all("form")]
    assert page.value("back") == "/admin/search/synonyms"


def test_a_message_with_undo_is_a_plain_one_to_the_release_before(
    app: Flask, browser: PageClient, site_id: int
) -> None:
    with app.app_context(), transaction():
        synonyms.add(Author(site_id, "Mia Moss", clock()), draft("sofa", "couch"))
        db.session.flush()
        entry_id = newest().id
    browser.post(f"{PATH}/{entry_id}/undo", {})
    with browser.client.session_transaction(base_url=browser.base) as session:
        [(_, message)] = session["_flashes"]
    assert message.startswith("Undone: Added the synonym")
    assert '<p class="note good">Undone' in browser.client.get(PATH, base_url=browser.base).text


def test_a_synonym_without_evidence_has_no_line_of_it(app: Flask, site_id: int) -> None:
    with app.app_context(), transaction():
        synonyms.add(Author(site_id, "Mia Moss", clock()), draft("sofa", "couch"))
        db.session.flush()
        (added,) = history.history_page(site_id, 1).items
    fields = [change.field for change in added.differences]
    assert "words" in fields and "evidence" not in fields


def test_undoing_an_addition_lists_only_what_goes(app: Flask, site_id: int) -> None:
    with app.app_context():
        with transaction():
            make_product(db.session.get_one(Site, site_id), "COAT-1")
            rules.add(Author(site_id, "Mia Moss", clock()), Rule(term="coat", boosts=("COAT-1",), note="for autumn"))
        added = newest().id
        found = history.history_entry(site_id, added)
    assert {"boosted", "note"} <= {change.field for change in found.reverted}
    assert all(change.before or change.after for change in found.reverted)


def test_a_change_of_a_synonym_is_taken_back(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context():
        with transaction():
            made = synonyms.add(Author(site_id, "Mia Moss", clock()), draft("sofa", "couch"))
            known = made.id, made.revision
        with transaction():
            synonyms.change(Author(site_id, "Mia Moss", clock()), *known, draft("sofa", "settee"))
    undo_newest(browser, app)
    assert groups(app) == [["sofa", "couch"]]


def test_undo_is_refused_with_the_reason_when_something_newer_depends_on_it(
    app: Flask, browser: PageClient, site_id: int
) -> None:
    with app.app_context():
        with transaction():
            made = synonyms.add(Author(site_id, "Mia Moss", clock()), draft("sofa", "couch"))
            added, known = newest().id, (made.id, made.revision)
        with transaction():
            synonyms.change(Author(site_id, "Max Moor", clock()), *known, draft("sofa", "settee"))
    said = undo(browser, added)
    assert "later Max Moor did" in said and "Undo that first." in said
    assert groups(app) == [["sofa", "settee"]]


def test_a_deleted_synonym_whose_word_was_given_away_stays_deleted(
    app: Flask, browser: PageClient, site_id: int
) -> None:
    with app.app_context():
        with transaction():
            made = synonyms.add(Author(site_id, "Mia Moss", clock()), draft("sofa", "couch"))
        with transaction():
            synonyms.delete(Author(site_id, "Mia Moss", clock()), made.id, made.revision)
            deleted = newest().id
        with transaction():
            synonyms.add(Author(site_id, "Mia Moss", clock()), draft("couch", "settee"))
    assert "This cannot be undone any more" in undo(browser, deleted)
    assert groups(app) == [["couch", "settee"]]


def test_undoing_an_acceptance_leaves_the_live_synonym_of_somebody_else(
    app: Flask, browser: PageClient, site_id: int
) -> None:
    thought = Candidate(SynonymType.EQUIVALENT, None, ("blorf", "monitor"))
    with app.app_context():
        with transaction():
            synonym_suggestions.store_suggestions(clock(), site_id, [thought], "MINED")
        suggestion = db.session.scalars(select(Synonym.id)).one()
        with transaction():
            synonyms.accept(Author(site_id, "Ann Ash", clock()), suggestion, 1, draft("zonk", "laptop"))
            accepted = newest().id
        with transaction():
            synonyms.add(Author(site_id, "Bob Birch", clock()), draft("blorf", "monitor"))
    assert "blorf = monitor is live as a synonym of its own" in undo(browser, accepted)
    assert sorted(groups(app)) == [["blorf", "monitor"], ["zonk", "laptop"]]


def test_a_deleted_rule_comes_back_whole(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context():
        with transaction():
            make_product(db.session.get(Site, site_id), "COAT-1")
            wanted = Rule(term="Rain  Coat", boosts=("COAT-1",), banner=Banner("New in"), note="for autumn")
            rule = rules.add(Author(site_id, "Mia Moss", clock()), wanted)
            rule_id, before = rule.id, rule.value.as_json()
        with transaction():
            rules.delete(Author(site_id, "Mia Moss", clock()), rule_id, rule.revision)
    undo_newest(browser, app)
    with app.app_context():
        again = db.session.get(SearchRule, rule_id)
        assert again.value.as_json() == before


def test_what_was_undone_is_told_alike_for_every_kind(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context():
        with transaction():
            make_product(db.session.get(Site, site_id), "TV-1")
            rule = rules.add(Author(site_id, "Mia Moss", clock()), Rule(term="iphone", boosts=("TV-1",)))
            golden_search = golden.add(Author(site_id, "Mia Moss", clock()), golden.Expectation("tv", "TV-1", 3))
            made = synonyms.add(Author(site_id, "Mia Moss", clock()), draft("sofa", "couch"))
            known = [(row.id, row.revision) for row in (rule, golden_search, made)]
        for act, (row_id, revision), wanted in zip(
            (rules.change, golden.change, synonyms.change),
            known,
            (Rule(term="iphone", buries=("TV-1",)), golden.Expectation("tv", "TV-1", 5), draft("sofa", "settee")),
            strict=True,
        ):
            with transaction():
                act(Author(site_id, "Mia Moss", clock()), row_id, revision, wanted)
            with transaction():
                history.undo_change(
                    Undo(Author(site_id, "Max Moor", clock()), (), lambda _shop: lambda _node: LandingPages()),
                    newest().id,
                )
            assert newest().summary.startswith("Undid a change of the ")


def test_only_the_search_terms_of_a_product_are_taken_back(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context():
        with transaction():
            product_id = make_product(db.session.get(Site, site_id), name="Kettle", search_terms=["jug"]).id
        with transaction():
            replace_terms(Author(site_id, "Mia Moss", clock()), product_id, ["boiler", "pot"])
        with transaction():
            db.session.get(Product, product_id).name = "Electric kettle"
    undo_newest(browser, app)
    with app.app_context():
        product = db.session.get(Product, product_id)
        assert (product.search_terms, product.name) == (["jug"], "Electric kettle")


def test_settings_are_taken_back_one_by_one(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context():
        with transaction():
            search_settings.change(Author(site_id, "Mia Moss", clock()), {search_settings.STOP_WORDS: ["cheap"]})
            first = newest().id
        with transaction():
            search_settings.change(Author(site_id, "Mia Moss", clock()), {search_settings.HOLD: True})
    undo(browser, first)
    with app.app_context():
        stored = search_settings.stored_settings(site_id)
        assert (stored.stop_words, stored.hold_golden) == ((), True)


def test_the_log_shows_one_kind_where_asked_and_says_so_when_there_is_nothing(
    app: Flask, browser: PageClient, site_id: int
) -> None:
    assert "Nothing was changed yet" in browser.client.get(PATH, base_url=browser.base).text
    with app.app_context(), transaction():
        synonyms.add(Author(site_id, "Mia Moss", clock()), draft("sofa", "couch"))
    for kind, shown in (("", True), ("synonym", True), ("rule", False), ("<b>", True)):
        page = browser.client.get(PATH, base_url=browser.base, query_string={"kind": kind}).text
        assert ("Added the synonym" in page) is shown


def test_a_product_saved_without_new_terms_is_no_matter_of_search(
    app: Flask, browser: PageClient, site_id: int
) -> None:
    with app.app_context(), transaction():
        product = make_product(db.session.get(Site, site_id))
        entry = AuditEntry(
            site_id=site_id, at=_now(clock()), actor="Mia Moss", action="product.save", subject_type="product",
            subject_id=str(product.id), summary="Changed it", before={"name": "a"}, after={"name": "b"},
        )  # fmt: skip
        db.session.add(entry)
        db.session.flush()
        entry_id = entry.id
    browser.post(f"{PATH}/{entry_id}/undo", {}, status=404)
    browser.post(f"{PATH}/999999/undo", {}, status=404)
    assert "Changed it" not in browser.client.get(PATH, base_url=browser.base).text


def test_what_orders_took_off_the_stock_is_no_matter_of_search(app: Flask, site_id: int) -> None:
    with app.app_context(), transaction():
        product = make_product(db.session.get(Site, site_id), stock=5)
        subject = ("product", str(product.id))
        said = "Order 1 took 2 of Xerox"
        activity.record(Author(site_id, "Order 1", clock()), "product.stock", subject, said, {"stock": 5}, {"stock": 3})
        assert history.history_page(site_id, 1).items == []
        with pytest.raises(NotFound):
            history.history_entry(site_id, newest().id)


def test_a_change_of_terms_names_the_terms_and_the_product(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context():
        with transaction():
            product_id = make_product(db.session.get(Site, site_id), name="Cable", search_terms=["jug"]).id
        for terms in (["jug", "mac"], ["mac"], ["pot"], ["pot", "lid"], ["lid", "pot"]):
            with transaction():
                replace_terms(Author(site_id, "Mia Moss", clock()), product_id, terms)
        assert [one.summary for one in history.history_page(site_id, 1).items] == [
            "Changed the order of the search terms of Cable",
            "Added “lid” to Cable",
            "Added “pot” to Cable and removed “mac”",
            "Removed “jug” from Cable",
            "Added “mac” to Cable",
        ]


def test_a_change_that_others_followed_says_who_and_when_and_leads_there(
    app: Flask, browser: PageClient, site_id: int
) -> None:
    with app.app_context():
        with transaction():
            made = synonyms.add(Author(site_id, "Mia Moss", clock()), draft("sofa", "couch"))
            known = made.id, made.revision
        with transaction():
            synonyms.change(Author(site_id, "Max Moor", clock()), *known, draft("sofa", "settee"))
            later = newest().id
    text = browser.client.get(PATH, base_url=browser.base).text
    assert f'{PATH}/{later}">Max Moor changed it on ' in text
    assert browser.get(f"{PATH}/{later}").texts["h2"].endswith("Undo this?")


def test_settings_are_in_the_way_only_of_the_same_setting(app: Flask, site_id: int) -> None:
    with app.app_context():
        for values in (
            {search_settings.STOP_WORDS: ["cheap"]},
            {search_settings.STOP_WORDS: ["best"]},
            {search_settings.HOLD: True},
        ):
            with transaction():
                search_settings.change(Author(site_id, "Mia Moss", clock()), values)
        hold, best, cheap = history.history_page(site_id, 1).items
        assert (hold.can_be_undone, best.can_be_undone, cheap.can_be_undone) == (True, True, False)
        assert cheap.later is not None and cheap.later.id == best.id


def test_undo_asks_first_and_says_in_words_what_it_changes(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context():
        with transaction():
            make_product(db.session.get(Site, site_id), "IC-1")
            wanted = Rule(term="coat", pins=(PinnedSku("IC-1", 1),), banner=Banner("New in"), enabled=False)
            rule = rules.add(Author(site_id, "Mia Moss", clock()), wanted)
            known = rule.id, rule.revision
        with transaction():
            rules.change(Author(site_id, "Mia Moss", clock()), *known, Rule(term="coat", banner=Banner("New in")))
            entry_id = newest().id
    page = browser.get(f"{PATH}/{entry_id}")
    assert "IC-1 at 1" in page.texts["ins"] and "paused" in page.texts["dt"] and "pins" in page.texts["dt"]
    with app.app_context():
        assert db.session.get(SearchRule, known[0]).enabled, "looking changes nothing"
    browser.post(f"{PATH}/{entry_id}/undo", {})
    with app.app_context():
        assert not db.session.get(SearchRule, known[0]).enabled
    browser.get(f"{PATH}/999999", status=404)


def test_undoing_says_whether_something_goes_or_comes_back(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        made = synonyms.add(Author(site_id, "Mia Moss", clock()), draft("sofa", "couch"))
        added, known = newest().id, (made.id, made.revision)
    assert "What was added goes away again" in browser.get(f"{PATH}/{added}").texts["p"]
    with app.app_context(), transaction():
        synonyms.delete(Author(site_id, "Mia Moss", clock()), *known)
        deleted = newest().id
    assert "What was deleted comes back as it was" in browser.get(f"{PATH}/{deleted}").texts["p"]


def test_the_list_is_filtered_by_itself(app: Flask, browser: PageClient, site_id: int) -> None:
    answer = browser.client.get(PATH, base_url=browser.base, headers={"HX-Request": "true"})
    assert answer.text.lstrip().startswith("<section")
    assert ">Filter</button>" in browser.client.get(PATH, base_url=browser.base).text


def test_a_page_of_changes_is_read_in_as_many_statements_however_long_it_is(app: Flask, site_id: int) -> None:
    def request_status() -> int:
        with app.app_context(), statements(app) as seen:
            history.history_page(site_id, 1)
        return len(seen)

    def change_all(words: list[str]) -> None:
        with app.app_context():
            for word in words:
                with transaction():
                    made = synonyms.add(Author(site_id, "Mia Moss", clock()), draft(word, f"{word} x"))
                    known = made.id, made.revision
                with transaction():
                    synonyms.change(Author(site_id, "Max Moor", clock()), *known, draft(word, f"{word} y"))

    change_all(["aa"])
    few = request_status()
    change_all(["bb", "cc", "dd"])
    assert request_status() == few


def test_another_shops_changes_are_not_there(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context():
        with transaction():
            other = make_site("other.localhost").id
        with transaction():
            synonyms.add(Author(other, "Oz", clock()), draft("sofa", "couch"))
            entry_id = newest().id
        assert history.history_page(site_id, 1).items == []
    browser.post(f"{PATH}/{entry_id}/undo", {}, status=404)
    assert groups(app) == [["sofa", "couch"]]


def _now(clock: Clock):
    return clock.now()

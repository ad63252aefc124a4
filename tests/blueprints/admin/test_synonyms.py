"""The page of synonyms: edited in place and without JavaScript, its suggestions, tables and JSON."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.relevance import synonym_suggestions, synonyms
from app.domain.relevance.models import Synonym
from app.domain.relevance.synonym_mining import Candidate
from app.domain.search.models import ServedConfiguration
from app.domain.search.serving import configuration
from app.domain.search.serving.synonyms import SynonymType
from app.domain.sites.models import Site
from app.extensions import db
from app.ports import clock
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.factories import make_synonym
from tests.page_client import Reading
from tests.statements import statements

PATH = "/admin/search/synonyms"
REST = f"{PATH}/rest"
BOTH = {"type": "EQUIVALENT", "words": "mobile, cell phone"}
ONE_WAY = {"type": "ONE_WAY", "root": "telly", "words": "television"}


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    made = merchandiser(app)
    made.get(PATH)
    return made


def only(app: Flask) -> Synonym:
    with app.app_context():
        return db.session.scalars(select(Synonym)).one()


def suggested(app: Flask, mia: Merchandiser, root: str = "labtop", *words: str) -> int:
    evidence = {"reason": "spelling", "word": root, "searches": 43, "days": 30, "wouldFind": 12}
    thought = Candidate(SynonymType.ONE_WAY, root, words or ("laptop",), evidence)
    with app.app_context(), transaction():
        synonym_suggestions.store_suggestions(clock(), mia.site_id, [thought], "MINED")
    with app.app_context():
        return db.session.scalars(select(Synonym.id).where(Synonym.root == root)).one()


def json(mia: Merchandiser, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    headers = {"Accept": "application/json", "X-CSRFToken": mia.pages.token}
    return mia.pages.client.open(path, method=method, json=body, base_url=mia.pages.base, headers=headers)


def test_without_javascript_a_synonym_is_added_changed_and_deleted(app: Flask, mia: Merchandiser) -> None:
    assert "No synonyms yet" in mia.get(PATH).texts["p"]
    mia.get(f"{PATH}/new")
    mia.post(PATH, ONE_WAY)
    mia.get(PATH)
    address = f"{PATH}/{only(app).id}"
    assert mia.get(address).value("words") == "television"
    mia.post(address, ONE_WAY | {"words": "television, tv", "revision": "1"})
    assert only(app).words == ["television", "tv"]
    assert "only says" in mia.get(f"{address}/delete").texts["strong"] + mia.fragment(f"{address}/delete").text
    mia.post(f"{address}/delete", {"revision": "2"})
    mia.get(address, 404)


def test_htmx_answers_with_the_list_and_marks_the_row(app: Flask, mia: Merchandiser) -> None:
    added = mia.swap(f"{PATH}?sort=word", BOTH).text
    assert 'id="results"' in added and "just-changed" in added and "<html" not in added
    assert 'hx-target="#new-synonym"' in added, "the form that was used closes"
    address = f"{PATH}/{only(app).id}"
    form = mia.fragment(f"{address}?sort=word").text
    assert form.lstrip().startswith("<tr") and f'action="{address}?sort=word"' in form
    saved = mia.swap(f"{address}?sort=word", BOTH | {"words": "mobile, phone", "revision": "1"})
    assert "mobile, phone" in saved.text
    assert "mobile, phone" not in mia.swap(f"{address}/delete", {"revision": "2"}).text


def test_the_chosen_order_is_sent_with_the_filters(mia: Merchandiser) -> None:
    """The links that choose it bring the list alone, so that its field comes with the list."""
    assert "synonym-filters" in [form.get("id") for form in mia.get(PATH).all("form")]
    for query in ("sort=word", "sort=word&q=nothing"):
        fields = Reading(mia.fragment(f"{PATH}?{query}").text).all("input")
        assert [one["value"] for one in fields if one.get("form") == "synonym-filters"] == ["word"]
    assert "synonym-filters" not in mia.fragment(PATH).text


def test_a_refused_synonym_stays_as_it_was_typed_with_the_other_one_named(app: Flask, mia: Merchandiser) -> None:
    mia.post(PATH, BOTH)
    mia.get(PATH)
    page = mia.post(PATH, {"type": "EQUIVALENT", "words": "Cell phones, handset"}, 400)
    assert page.value("words") == "Cell phones, handset"
    refused = mia.swap(PATH, {"type": "EQUIVALENT", "words": "Cell phones, handset"})
    assert refused.status_code == 400 and refused.text.lstrip().startswith("<form")
    assert "is in another synonym already: mobile = cell phone." in refused.text


def test_a_stale_save_keeps_what_was_typed_over_the_stored_revision(app: Flask, mia: Merchandiser) -> None:
    mia.post(PATH, ONE_WAY)
    address = f"{PATH}/{only(app).id}"
    mia.get(address)
    mia.post(address, ONE_WAY | {"words": "tv", "revision": "1"})
    mia.get(address)
    stale = mia.post(address, ONE_WAY | {"words": "screen", "revision": "1"}, 409)
    assert (stale.value("words"), stale.value("revision")) == ("screen", "2")
    assert mia.swap(address, ONE_WAY | {"words": "screen", "revision": "1"}).status_code == 409


def test_a_word_from_another_page_begins_a_synonym(mia: Merchandiser) -> None:
    page = mia.get(f"{PATH}?word=+labtop+")
    assert page.value("root") == "labtop"
    assert [kind["value"] for kind in page.all("input") if kind.get("name") == "type" and "checked" in kind] == [
        "ONE_WAY"
    ]


def test_suggestions_show_their_evidence_and_are_accepted_or_rejected(app: Flask, mia: Merchandiser) -> None:
    first, second = suggested(app, mia), suggested(app, mia, "fone", "phone")
    page = mia.get(PATH)
    assert "Would find 12 products, searched 43 times in 30 days." in page.texts["p"]
    assert mia.fragment(f"{PATH}/{first}").text.lstrip().startswith("<li")
    assert "Accepted" in mia.swap(f"{PATH}/{first}/accept", {"revision": "1"}).text
    assert "Rejected" in mia.swap(f"{PATH}/{second}/reject", {"revision": "1"}).text
    assert mia.swap(f"{PATH}/{second}/reject", {"revision": "2"}).status_code == 409
    listed = mia.get(f"{PATH}?status=REJECTED")
    assert listed.texts["h2"].endswith("Rejected suggestions")
    mia.post(f"{PATH}/{second}", {"type": "ONE_WAY", "root": "fone", "words": "phone, handset", "revision": "2"})
    with app.app_context():
        groups = synonyms.live_groups(mia.site_id)
        assert [(group.root, group.words) for group in groups] == [
            ("labtop", ("laptop",)),
            ("fone", ("phone", "handset")),
        ]


def test_all_suggestions_that_are_shown_are_rejected_at_once_but_for_those_that_changed(
    app: Flask, mia: Merchandiser
) -> None:
    first, second = suggested(app, mia), suggested(app, mia, "fone", "phone")
    for address in (PATH, f"{PATH}?status=SUGGESTED"):
        shown = [one["value"] for one in mia.get(address).all("input") if one.get("name") == "shown"]
        assert sorted(shown) == [f"{first}:1", f"{second}:1"]
    mia.swap(f"{PATH}/{first}/accept", {"revision": "1"})
    late = suggested(app, mia, "kettel", "kettle")
    hostile = ["x", ":", f"{late}", "9" * 40 + ":1"]
    said = mia.swap(f"{PATH}/reject?status=SUGGESTED", {"shown": [*shown, *hostile]}).text
    assert "Rejected 1 of" in said and "kettel" in said
    with app.app_context():
        statuses = {one.id: one.status for one in db.session.scalars(select(Synonym))}
    assert statuses == {first: "LIVE", second: "REJECTED", late: "SUGGESTED"}


def test_a_suggestion_that_cannot_stand_any_more_opens_with_the_reason(app: Flask, mia: Merchandiser) -> None:
    late = suggested(app, mia, "telly", "tv")
    mia.swap(PATH, ONE_WAY)
    refused = mia.swap(f"{PATH}/{late}/accept", {"revision": "1"})
    assert refused.status_code == 400
    assert "“telly” has a synonym already" in refused.text and f'id="synonym-form-{late}"' in refused.text


def test_resync_is_offered_while_something_is_not_live(app: Flask, mia: Merchandiser) -> None:
    mia.post(PATH, BOTH)
    assert "Resync" not in mia.get(PATH).texts["button"]
    with app.app_context(), transaction():
        state = db.session.scalars(select(ServedConfiguration)).one()
        db.session.scalars(select(Synonym)).one().words_version = state.saved_version = 7
    page = mia.get(PATH)
    assert "Not everything is live." in page.texts["strong"]
    assert "Not live yet" in mia.fragment(f"{PATH}?live=no").text
    assert "are live" in mia.swap(f"{PATH}/resync", {}).text
    with app.app_context():
        state = configuration.serving_state(mia.site_id)
        assert state is not None and state.live_version == 7


def test_the_page_says_that_something_waits_whenever_a_row_does(app: Flask, mia: Merchandiser) -> None:
    mia.post(PATH, BOTH)
    for saved, live, waits in ((1, 1, False), (2, 1, True), (2, 2, False)):
        with app.app_context(), transaction():
            state = db.session.scalars(select(ServedConfiguration)).one()
            state.saved_version, state.live_version = saved, live
            db.session.scalars(select(Synonym)).one().words_version = saved
        text = mia.fragment(PATH).text
        assert ("Not live yet" in text, "Not everything is live." in text) == (waits, waits)


def test_resync_gives_shoppers_what_was_not_served_yet(app: Flask, mia: Merchandiser) -> None:
    mia.post(PATH, BOTH)
    with app.app_context(), transaction():
        state = db.session.scalars(select(ServedConfiguration)).one()
        state.synonyms, state.live_version = [], 0
    with app.app_context():
        assert not configuration.served(mia.site_id).synonyms.groups
    mia.swap(f"{PATH}/resync", {})
    with app.app_context():
        assert [group.words for group in configuration.served(mia.site_id).synonyms.groups] == [
            ("mobile", "cell phone")
        ]
    assert "Not live yet" not in mia.fragment(PATH).text


def test_the_words_and_the_kind_filter_the_suggestions_too(app: Flask, mia: Merchandiser) -> None:
    suggested(app, mia)
    suggested(app, mia, "blorf", "monitor")
    text = mia.fragment(f"{PATH}?q=blorf").text
    assert "blorf" in text and "labtop" not in text
    assert "No suggestion matches these filters" in mia.fragment(f"{PATH}?type=EQUIVALENT").text


def test_a_row_leads_to_whether_it_helped(app: Flask, mia: Merchandiser) -> None:
    mia.post(PATH, BOTH)
    assert f'/admin/search/effect/synonym/{only(app).id}"' in mia.fragment(PATH).text


def test_refused_lines_are_corrected_where_they_are_told(app: Flask, mia: Merchandiser) -> None:
    mia.get(f"{PATH}/import")
    looked = mia.post(f"{PATH}/import", {"table": "alone =\nhoover -> vacuum"}, 200)
    assert "Correct the lines" in looked.texts["h2"] and "alone = hoover -> vacuum" in looked.texts["textarea"]
    again = mia.post(f"{PATH}/import", {"table": "alone = by oneself\nhoover -> vacuum"}, 200)
    assert "Import 2 synonyms" in again.texts["button"]


def test_a_file_is_looked_at_before_it_is_imported(app: Flask, mia: Merchandiser) -> None:
    mia.post(PATH, BOTH)
    mia.get(f"{PATH}/import")
    file = BytesIO("\ufefftype,root,words\r\nEQUIVALENT,,mobile;phone\r\nONE_WAY,café,coffee shop\r\nx,,y;z".encode())
    page = mia.post(f"{PATH}/import", {"file": (file, "s.csv")}, 200)
    assert "Import 2 synonyms" in page.texts["button"]
    assert only(app).words == ["mobile", "cell phone"]
    sent = {"table": "EQUIVALENT,,mobile;phone\r\nONE_WAY,café,coffee shop", "digest": "of another look"}
    assert "Import 2 synonyms" in mia.post(f"{PATH}/import/apply", sent, 409).texts["button"]
    looked = mia.post(f"{PATH}/import", {"table": sent["table"]}, 200)
    mia.post(f"{PATH}/import/apply", sent | {"digest": looked.value("digest")})
    exported = mia.pages.client.get(f"{PATH}/export.csv", base_url=mia.pages.base)
    assert exported.mimetype == "text/csv"
    assert exported.text.removeprefix("\ufeff").splitlines() == [
        '"type","root","words"',
        '"EQUIVALENT","","mobile;phone"',
        '"ONE_WAY","café","coffee shop"',
    ]


def test_a_file_that_is_no_table_is_refused_in_words(mia: Merchandiser) -> None:
    mia.get(f"{PATH}/import")
    page = mia.post(f"{PATH}/import", {"file": (BytesIO(b"\xff\xfe\x00x"), "s.csv")}, 400)
    assert "UTF-8" in page.texts["a"]


def test_what_a_spreadsheet_would_run_is_exported_as_text(app: Flask, mia: Merchandiser) -> None:
    mia.post(PATH, {"type": "ONE_WAY", "root": "=cmd", "words": "+1+1, calm"})
    exported = mia.pages.client.get(f"{PATH}/export.csv", base_url=mia.pages.base)
    assert '"ONE_WAY","\'=cmd","\'+1+1;calm"' in exported.text


def test_synonyms_are_listed_added_changed_and_deleted_as_json(app: Flask, mia: Merchandiser) -> None:
    added = json(mia, "POST", REST, {"type": "ONE_WAY", "root": "phone", "synonyms": ["mobile", "cell phone"]})
    assert added.status_code == 201
    path, made = added.headers["Location"], added.json
    assert (made["root"], made["synonyms"], made["status"], made["source"]) == (
        "phone",
        ["mobile", "cell phone"],
        "LIVE",
        "MANUAL",
    )
    assert (made["synced"], made["revision"], made["evidence"], made["updatedBy"]) == (True, 1, None, "Mia Moss")
    suggested(app, mia)
    listed = json(mia, "GET", f"{PATH}?pageSize=1").json
    assert (listed["totalItems"], listed["totalPages"], listed["pageSize"], len(listed["items"])) == (2, 2, 1, 1)
    sizes = {given: json(mia, "GET", f"{PATH}?pageSize={given}").json["pageSize"] for given in ("abc", "0", "1000")}
    assert sizes == {"abc": 50, "0": 1, "1000": 100}
    assert json(mia, "GET", f"{PATH}?status=LIVE").json["items"] == [json(mia, "GET", path).json]
    changed = {"type": "EQUIVALENT", "synonyms": ["phone", "mobile"], "revision": 1}
    assert json(mia, "PUT", path, changed).json["revision"] == 2
    stale = json(mia, "PUT", path, changed)
    assert (stale.status_code, stale.json["currentRevision"]) == (409, 2)
    assert json(mia, "DELETE", f"{path}?revision=2").status_code == 204
    assert json(mia, "GET", path).status_code == 404


def test_a_program_deletes_only_what_it_has_read(app: Flask, mia: Merchandiser) -> None:
    mia.post(PATH, BOTH)
    path = f"{REST}/{only(app).id}"
    for body, address in ((None, path), ({}, path), ({"revision": None}, path), (None, f"{path}?revision=x")):
        refused = json(mia, "DELETE", address, body)
        assert (refused.status_code, refused.json["errors"][0]["pointer"]) == (400, "#/revision")
    assert only(app).status == "LIVE"


def test_a_suggestion_is_answered_as_json(app: Flask, mia: Merchandiser) -> None:
    first, second = suggested(app, mia), suggested(app, mia, "fone", "phone")
    assert json(mia, "POST", f"{REST}/{first}/reject", {"revision": 1}).json["status"] == "REJECTED"
    edited = {"type": "ONE_WAY", "root": "fone", "synonyms": ["telephone"], "revision": 1}
    assert json(mia, "POST", f"{REST}/{second}/accept", edited).json["synonyms"] == ["telephone"]


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, ["#/type", "#/synonyms"]),
        ({"type": "ONE_WAY", "root": 3, "synonyms": ["a", 4]}, ["#/root", "#/synonyms"]),
        ({"type": "EQUIVALENT", "root": "a", "synonyms": ["b"]}, ["#/root", "#/synonyms"]),
        ({"type": "EQUIVALENT", "words": ["a", "b"]}, ["#/words"]),
    ],
)
def test_every_problem_of_a_body_is_told_at_once(mia: Merchandiser, body: dict[str, Any], pointers: list[str]) -> None:
    answer = json(mia, "POST", REST, body)
    assert (answer.status_code, [one["pointer"] for one in answer.json["errors"]]) == (400, pointers)


def test_the_page_costs_as_many_statements_for_many_synonyms_as_for_few(app: Flask, mia: Merchandiser) -> None:
    mia.post(PATH, BOTH)
    suggested(app, mia)
    with statements(app) as few:
        mia.get(PATH)
    with app.app_context(), transaction():
        site = db.session.get_one(Site, mia.site_id)
        for number in range(60):
            make_synonym(site, f"left{number}", f"right{number}")
    with statements(app) as many:
        mia.get(PATH)
    assert len(many) == len(few) <= 18


def test_hostile_words_are_shown_as_text(app: Flask, mia: Merchandiser) -> None:
    mia.post(PATH, {"type": "EQUIVALENT", "words": "<script>alert(1)</script>, \"quoted' word"})
    page = mia.pages.client.get(f"{PATH}?q=<b>", base_url=mia.pages.base).text
    assert "<script>alert" not in page and "<b>" not in page
    mia.get(f"{PATH}?p=99999999999&type=y&status=x&sort=%FF&live=maybe")

"""The page that tests a search, and the same answer as JSON."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask
from sqlalchemy import select

from app.blueprints.admin.search.test import label_of
from app.domain.catalogue.models import Product
from app.domain.relevance.advice import Act, Advice
from app.domain.relevance.explain import reindex_product
from app.domain.relevance.models import SearchRule, Synonym
from app.domain.search.index.runs import request_rebuild
from app.domain.search.models import OutboxEntry
from app.domain.search.serving import configuration
from app.domain.search_statistics.models import SearchDay, SearchWordDay
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.jobs import search
from app.ports import EXTENSION, search_engine, worker_locks
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.factories import WHEN, make_product, make_site, make_user
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient
from tests.snapshots import built

TEST = "/admin/search/test"
XSS = "'\"><script>alert(1)</script>"


@pytest.fixture
def mia(app: Flask, clock: StoppedClock) -> Merchandiser:
    """Of a shop with a tent, an umbrella and a hidden stove, indexed."""

    def build() -> int:
        with transaction():
            site = make_site()
            make_user(site, Role.MERCHANDISER, email="mia@shop.test")
            for sku, name in (("T-1", "Ridge tent"), ("U-1", "Storm umbrella")):
                make_product(site, sku, name=name)
            make_product(site, "S-1", name="Camp stove", enabled=False)
            run, _ = request_rebuild(Author(site.id, "tests", clock), search_engine(), worker_locks(), "ALL")
            site_id, run_id = site.id, run.id
        search.rebuild(run_id)
        return site_id

    site_id = built(app, build, __name__)
    clock.move(seconds=2)  # Hosts are read anew once a second.
    return Merchandiser(PageClient(app).signed_in("mia@shop.test"), site_id)


def explain(mia: Merchandiser, **request: Any) -> dict[str, Any]:
    answer = mia.pages.client.get(
        TEST, query_string=request, base_url=mia.pages.base, headers={"Accept": "application/json"}
    )
    assert answer.status_code == 200, answer.text
    assert answer.headers["Vary"].startswith("Accept")
    return answer.json


def product_id(app: Flask, sku: str) -> int:
    with app.app_context():
        return db.session.scalars(select(Product.id).where(Product.sku == sku)).one()


def synonym(app: Flask, site_id: int, status: str, *words: str) -> int:
    with app.app_context(), transaction():
        made = Synonym(site_id=site_id, type="EQUIVALENT", words=list(words), status=status, fingerprint=words[0])
        made.created_at = made.updated_at = WHEN
        made.updated_by, made.words_version = "Mia", configuration.raise_version(site_id)
        db.session.add(made)
        db.session.flush()
        return made.id


def test_the_page_begins_with_what_to_enter(mia: Merchandiser) -> None:
    assert mia.get(TEST).texts["h1"] == "Test a search"


def test_the_json_has_the_shape_of_the_contract(mia: Merchandiser) -> None:
    answer = explain(mia, q="ridge tents", product="t-1")
    assert (answer["query"], answer["tokens"], answer["found"], answer["rule"]) == (
        "ridge tents",
        ["ridge", "tent"],
        1,
        None,
    )
    assert [one["sku"] for one in answer["products"]] == ["T-1"]
    assert answer["synonymsApplied"] == answer["synonymsSuggested"] == []
    product = answer["product"]
    assert {name: product[name] for name in ("sku", "inCatalogue", "enabled", "indexed", "rank", "missingWords")} == {
        "sku": "T-1",
        "inCatalogue": True,
        "enabled": True,
        "indexed": True,
        "rank": 1,
        "missingWords": [],
    }
    assert {"field": "name", "words": ["ridge", "tent"]} in product["matches"]
    assert answer["advice"] == []


def test_a_word_of_the_language_that_no_product_has_is_left_as_it_is(mia: Merchandiser) -> None:
    answer = explain(mia, q="tint")
    assert (answer["found"], answer["correctedTo"], answer["didYouMean"]) == (0, None, "tent")
    assert [(one["code"], one["message"].split(".")[0]) for one in answer["advice"]][:2] == [
        ("unknown_word", "No product has the word “tint”"),
        ("found_nothing", "If shoppers mean one product by this, add it to that product as a search term"),
    ]
    page = mia.pages.client.get(TEST, query_string={"q": "tint"}, base_url=mia.pages.base).text
    assert "Did you mean “tent”?" in page
    corrected = explain(mia, q="tnet")
    assert (corrected["found"], corrected["correctedTo"], corrected["didYouMean"]) == (1, "tent", None)


def test_the_form_of_a_word_that_counted_is_named(mia: Merchandiser) -> None:
    product = explain(mia, q="ridged", product="T-1")["product"]
    assert (product["rank"], product["missingWords"]) == (1, [])
    assert [(part["kind"], part["field"], part["words"]) for part in product["parts"]] == [("form", "name", ["ridge"])]
    page = mia.pages.client.get(f"{TEST}?q=ridged&product=T-1", base_url=mia.pages.base).text
    assert "“ridge” in the name, another form of the word" in page
    plain = mia.pages.client.get(f"{TEST}?q=ridge&product=T-1", base_url=mia.pages.base).text
    assert "“ridge” in the name" in plain and "another form" not in plain


def test_a_product_that_is_not_there_and_one_that_is_hidden_are_told_apart(mia: Merchandiser) -> None:
    absent = explain(mia, q="stove", product="X-9")
    assert absent["product"]["inCatalogue"] is False
    assert absent["advice"][0]["link"].startswith("/admin/catalogue/products?q=X-9")
    hidden = explain(mia, q="stove", product="S-1")
    assert (hidden["product"]["enabled"], hidden["product"]["indexed"]) == (False, False)
    assert hidden["advice"][0]["code"] == "hidden"


def test_every_piece_of_advice_has_a_link_that_opens(app: Flask, mia: Merchandiser) -> None:
    synonym(app, mia.site_id, "SUGGESTED", "brolly", "umbrella")
    for request in ({"q": "brolly"}, {"q": "gearbox", "product": "T-1"}, {"q": "stove", "product": "S-1"}):
        advice = explain(mia, **request)["advice"]
        assert advice
        for one in advice:
            assert one["message"].endswith((".", "found.")) and one["label"]
            assert mia.pages.client.get(one["link"], base_url=mia.pages.base).status_code == 200, one


def test_a_hidden_product_is_shown_by_the_button(app: Flask, mia: Merchandiser) -> None:
    stove = product_id(app, "S-1")
    page = mia.get(f"{TEST}?q=stove&product=S-1")
    assert page.value("id") == str(stove)
    answer = mia.post(TEST, {"act": "enable_product", "id": stove, "q": "stove", "product": "S-1"})
    assert answer.location == f"{TEST}?q=stove&product=S-1&follow=5"
    with app.app_context():
        assert db.session.get(Product, stove).enabled


def test_after_a_button_the_page_tests_again_until_search_has_followed(app: Flask, mia: Merchandiser) -> None:
    def follows(address: str) -> list[str]:
        return [tag["hx-get"] for tag in mia.get(address).all("p") if "hx-get" in tag]

    again = f"{TEST}?q=tent&product=T-1&follow"
    assert follows(f"{again}=5") == []
    with app.app_context(), transaction():
        reindex_product(mia.site_id, product_id(app, "T-1"))
    assert follows(f"{again}=5") == [f"{again}=4"] and follows(f"{again}=1") == [f"{again}=0"]
    assert follows(f"{again}=0") == follows(f"{again}=no") == follows(f"{TEST}?q=tent&product=T-1") == []
    assert follows(f"{again}=999999999") == [f"{again}=4"]
    answer = mia.fragment(f"{again}=4")
    assert "Search follows" in answer.text and "HX-Push-Url" not in answer.headers
    assert answer.headers["HX-Replace-Url"] == f"{TEST}?q=tent&product=T-1"


def undo_the_message(mia: Merchandiser, address: str) -> None:
    """Press the Undo of the message on a page, which leads back there."""
    (form,) = [form for form in mia.get(address).all("form") if "undo" in form.get("class", "").split()]
    assert mia.post(form["action"], {"back": address}).headers["Location"] == address


def test_a_missing_word_becomes_a_term_by_the_button(app: Flask, mia: Merchandiser) -> None:
    mia.get(f"{TEST}?q=gearbox&product=T-1")
    mia.post(TEST, {"act": "add_term", "id": product_id(app, "T-1"), "term": "gearbox", "q": "gearbox"})
    with app.app_context():
        assert db.session.get(Product, product_id(app, "T-1")).search_terms == ["gearbox"]
    undo_the_message(mia, f"{TEST}?q=gearbox")
    with app.app_context():
        assert db.session.get(Product, product_id(app, "T-1")).search_terms == []
    assert "comma" in _after(mia, {"act": "add_term", "id": product_id(app, "T-1"), "term": "a,b"})


def test_a_product_is_indexed_again_by_the_button(app: Flask, mia: Merchandiser) -> None:
    tent = product_id(app, "T-1")
    with app.app_context(), transaction():
        db.session.query(OutboxEntry).delete()
    mia.get(TEST)
    mia.post(TEST, {"act": "index_product", "id": tent, "product": "T-1"})
    with app.app_context():
        assert [entry.record_id for entry in db.session.scalars(select(OutboxEntry))] == [tent]


def test_a_suggested_synonym_is_accepted_by_the_button(app: Flask, mia: Merchandiser) -> None:
    suggested = synonym(app, mia.site_id, "SUGGESTED", "brolly", "umbrella")
    answer = explain(mia, q="brolly")
    assert (answer["found"], answer["synonymsSuggested"][0]["foundOnceAccepted"]) == (0, 1)
    page = mia.get(f"{TEST}?q=brolly")
    mia.post(TEST, {"act": "accept_synonym", "id": suggested, "revision": page.value("revision"), "q": "brolly"})
    answer = explain(mia, q="brolly")
    assert answer["found"] == 1 and answer["synonymsApplied"][0]["typed"] == "brolly"
    undo_the_message(mia, f"{TEST}?q=brolly")
    assert explain(mia, q="brolly")["found"] == 0
    mia.post(TEST, {"act": "accept_synonym", "id": suggested, "revision": 1, "q": "brolly"})
    again = _after(mia, {"act": "accept_synonym", "id": suggested, "revision": page.value("revision")})
    assert "note bad" in again


def test_a_scheduled_rule_shows_as_of_its_date(app: Flask, mia: Merchandiser, clock: StoppedClock) -> None:
    begins = clock.now() + timedelta(days=30)
    with app.app_context(), transaction():
        signed = {"created_at": WHEN, "updated_at": WHEN, "updated_by": "Mia", "starts_at": begins}
        version = configuration.raise_version(mia.site_id)
        pins = [{"sku": "U-1", "position": 1}]
        db.session.add(
            SearchRule(
                site_id=mia.site_id, term="Tent", normalized_term="tent", pins=pins, words_version=version, **signed
            )
        )
    assert explain(mia, q=" TENT ")["rule"] is None
    then = explain(mia, q="tent", at=begins.isoformat())
    assert (then["rule"]["term"], [one["sku"] for one in then["products"]]) == ("Tent", ["U-1", "T-1"])
    assert then["products"][0]["placed"] == "pinned"
    assert mia.get(f"{TEST}?q=tent&at={begins:%Y-%m-%dT%H:%M}").value("at") == f"{begins:%Y-%m-%dT%H:%M}"


def test_what_is_no_date_is_told_and_kept(mia: Merchandiser) -> None:
    page = mia.get(f"{TEST}?q=tent&at=tomorrow")
    assert page.value("at") == "tomorrow"
    answer = mia.pages.client.get(
        f"{TEST}?q=tent&at=9999-12-31T23:59:59Z", base_url=mia.pages.base, headers={"Accept": "application/json"}
    )
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "words",
    [
        XSS,
        "{{ 7919*7927 }}",
        "%00",
        "\u202etent",
        "x" * 1_500,
        '"' * 300,
        "(((((AND OR NOT",
        "*:*",
        "tent~9^9",
        " ",
        "🏕" * 90,
        "a " * 300,
    ],
)
def test_whatever_is_typed_is_shown_as_it_is_and_never_run(mia: Merchandiser, words: str) -> None:
    html = mia.pages.client.get(TEST, query_string={"q": words, "product": words}, base_url=mia.pages.base)
    assert html.status_code == 200
    assert "<script>alert" not in html.text and "62773913" not in html.text
    mia.pages.get(f"{TEST}?{_query(words)}")
    assert explain(mia, q=words, product=words)["advice"] is not None


def test_htmx_gets_the_answer_alone(mia: Merchandiser) -> None:
    html = mia.fragment(f"{TEST}?q=tent&product=T-1").text
    assert html.lstrip().startswith('<div id="answer"') and "<html" not in html


def test_an_engine_that_does_not_answer_leaves_the_rest_standing(app: Flask, mia: Merchandiser) -> None:
    app.extensions[EXTENSION].search_engine.forget(mia.site_id)
    html = mia.pages.client.get(f"{TEST}?q=tent&product=T-1", base_url=mia.pages.base).text
    assert "Search does not answer" in html and "Ridge tent" in html and "Index not known" in html
    assert explain(mia, q="tent", product="T-1")["found"] is None


def test_a_product_of_another_site_is_not_in_this_catalogue(app: Flask, mia: Merchandiser) -> None:
    other = merchandiser(app, "other.localhost")
    tent = product_id(app, "T-1")
    for reference in ("T-1", "t-1", str(tent)):
        assert explain(other, q="tent", product=reference)["product"]["inCatalogue"] is False
    other.get(TEST)
    for act in ("enable_product", "index_product", "add_term", "accept_synonym"):
        sent = {"act": act, "id": tent, "term": "x", "revision": 1, "csrf_token": other.pages.token}
        assert other.pages.client.post(TEST, data=sent, base_url=other.pages.base).status_code == 404


def test_an_unknown_button_does_nothing(app: Flask, mia: Merchandiser) -> None:
    mia.get(TEST)
    mia.post(TEST, {"act": "__class__", "id": 1}, 404)
    with app.app_context():
        assert db.session.query(AuditEntry).count() == 0


def test_a_test_is_not_counted(app: Flask, mia: Merchandiser) -> None:
    mia.get(f"{TEST}?q=tent&product=T-1")
    explain(mia, q="gearbox")
    with app.app_context():
        assert db.session.query(SearchDay).count() + db.session.query(SearchWordDay).count() == 0


def test_the_product_editor_leads_to_a_test_of_its_product(app: Flask, mia: Merchandiser) -> None:
    page = mia.get(f"/admin/catalogue/product/{product_id(app, 'T-1')}")
    assert f"{TEST}?product=T-1" in [link.get("href") for link in page.all("a")]
    html = mia.pages.client.get(f"{TEST}?product=T-1", base_url=mia.pages.base).text
    assert "In the index" in html and "Enter search words" in html


def _after(mia: Merchandiser, form: dict[str, Any]) -> str:
    """The page after a button was pressed, with what it says."""
    answer = mia.post(TEST, form)
    return mia.pages.client.get(answer.location, base_url=mia.pages.base).text


def _query(words: str) -> str:
    return urlencode({"q": words[:500], "product": words[:500]})


def test_every_act_has_words_for_its_button() -> None:
    labels = {act: label_of(Advice("x", "x", act, words="brolly")) for act in Act}
    assert all(labels.values()) and labels[Act.ADD_TERM] == "Add “brolly” as a search term"

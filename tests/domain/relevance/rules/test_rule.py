"""What a search rule must satisfy."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.relevance.rule_definition import LAST_POSITION, MOST_PLACED, KnownNames, check_rule
from app.domain.search.serving.rules import RULE, Banner, PinnedSku, Rule, safe_redirect
from app.domain.shared.problems import Invalid

SKUS = dict.fromkeys(("A-1", "A-2", "A-3"), "")
SOUND = Rule(term="rain coat", pins=(PinnedSku("A-1", 1),))


def check(rule: Rule, skus: dict[str, str]) -> Rule:
    return check_rule(rule.tidied(), KnownNames(skus))


def problems(**changed: object) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as refused:
        check(replace(SOUND, **changed), SKUS)
    return [(problem.code, problem.pointer) for problem in refused.value.problems]


def test_a_sound_rule_is_trimmed_and_its_pins_stand_in_the_order_of_their_positions():
    draft = Rule(
        term="  Rain   Coat ",
        pins=(PinnedSku(" A-2 ", 3), PinnedSku("A-1", 1)),
        redirect_url=" ",
        banner=Banner("  Dry  feet ", "/c/boots "),
        starts_at=datetime(2026, 11, 1, 9, 0, 0, 123, tzinfo=UTC),
        note=" Autumn\r\nsale ",
    )
    clean = check(draft, SKUS)
    assert clean.term == "Rain Coat"
    assert clean.pins == (PinnedSku("A-1", 1), PinnedSku("A-2", 3))
    assert (clean.redirect_url, clean.banner) == (None, Banner("Dry feet", "/c/boots"))
    assert clean.starts_at == datetime(2026, 11, 1, 9, tzinfo=UTC)
    assert clean.note == "Autumn\nsale"


def test_a_rule_without_any_effect_is_refused():
    assert problems(pins=()) == [("without_effect", "#")]


@pytest.mark.parametrize("effect", [{"boosts": ("A-2",)}, {"buries": ("A-2",)}, {"redirect_url": "/c/coats"}])
def test_any_one_effect_is_enough(effect: dict):
    assert check(replace(SOUND, pins=(), **effect), SKUS).has_effect


def test_an_unknown_sku_is_refused_by_name():
    with pytest.raises(Invalid) as refused:
        check(replace(SOUND, boosts=("GONE-7",), pins=(PinnedSku("A-1", 1), PinnedSku("NO", 2))), SKUS)
    problem_list = [(problem.pointer, problem.message) for problem in refused.value.problems]
    assert problem_list == [
        ("#/pins/1/sku", "The shop has no product with the SKU “NO”."),
        ("#/boosts/0", "The shop has no product with the SKU “GONE-7”."),
    ]


def test_every_problem_is_told_at_once():
    problem_list = problems(
        term=" ",
        pins=(PinnedSku("A-1", 0), PinnedSku("A-1", 2)),
        redirect_url="https://other.example/",
        banner=Banner("", "/c/x"),
        starts_at=datetime(2026, 12, 2, tzinfo=UTC),
        ends_at=datetime(2026, 12, 1, tzinfo=UTC),
        note="\x00",
    )
    assert problem_list == [
        ("required", "#/term"),
        ("invalid_position", "#/pins/0/position"),
        ("duplicate_sku", "#/pins/1/sku"),
        ("invalid_path", "#/redirectUrl"),
        ("required", "#/banner/text"),
        ("ends_before_start", "#/endsAt"),
        ("unprintable", "#/note"),
    ]


def test_a_product_has_one_place_in_a_rule():
    assert problems(boosts=("A-1",), buries=("A-2", "A-2")) == [
        ("duplicate_sku", "#/boosts/0"),
        ("duplicate_sku", "#/buries/1"),
    ]


def test_two_products_cannot_stand_at_one_position():
    assert problems(pins=(PinnedSku("A-1", 2), PinnedSku("A-2", 2))) == [("duplicate_position", "#/pins/1/position")]


@pytest.mark.parametrize("position", [0, -1, LAST_POSITION + 1])
def test_positions_are_one_to_a_hundred(position: int):
    assert problems(pins=(PinnedSku("A-1", position),)) == [("invalid_position", "#/pins/0/position")]


def test_each_list_has_an_end():
    many = tuple(f"S-{number}" for number in range(MOST_PLACED + 5))
    with pytest.raises(Invalid) as refused:
        check(replace(SOUND, boosts=many), SKUS | dict.fromkeys(many, ""))
    assert [problem.message for problem in refused.value.problems] == [
        "At most 100 products can be boosted in one rule."
    ]


def test_a_refusal_names_products_as_people_know_them():
    pins = (PinnedSku("A-1", 3), PinnedSku("A-2", 3))
    with pytest.raises(Invalid) as refused:
        check(replace(SOUND, pins=pins, boosts=()), {"A-1": "Kettle", "A-2": "Mug"})
    assert refused.value.problems[0].message == "“Mug” (A-2) and “Kettle” (A-1) are both pinned to 3."


def test_a_redirect_to_the_same_search_is_refused():
    assert problems(redirect_url="/search?q=RAIN+%20coat") == [("redirect_loop", "#/redirectUrl")]
    assert check(replace(SOUND, redirect_url="/search?q=umbrella"), SKUS)


@pytest.mark.parametrize(
    "path",
    [
        *("/%73earch?q=rain+coat", "/%73%65%61%72%63%68/?q=RAIN%20coat", "/%2573earch?q=rain+coat"),
        *("/search?q=&q=rain+coat", "/search?q=%20&q=rain+coat", "/search?p=2&%71=rain++coat#top"),
        *("/search?q=%C2%A0&q=rain+coat", "/search?q=%0b&q=rain+coat", "/search?q=%0brain+coat"),
    ],
)
def test_a_redirect_to_the_same_search_is_refused_however_it_is_written(path: str):
    assert problems(redirect_url=path) == [("redirect_loop", "#/redirectUrl")]


@pytest.mark.parametrize(
    "path",
    [
        *("https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)"),
        *("/\t/evil.example", "/\n/evil.example", "c/coats", " /c/coats", "/c/coats ", "/c//coats", "/../x", "/./x"),
        *("/\u202egnp.exe", "/\x00", "/" + "x" * 500, "", "http:/c/coats", "/\u3000x", "/..//evil.example"),
        *("/%2e%2e", "/c/%2E./x", "/%5c", "/%5Cevil.example", "/%2f%2fevil.example", "/%2f/evil.example", "/a%2F%2Fb"),
        *("/%252f%252fevil.example", "/%25252f%2fevil.example", "/%255cevil.example", "/%252e%252e/x", "/%2f"),
        *(
            "/%09/evil.example",
            "/%0d%0aLocation:x",
            "/%250a",
            "/%00",
            "/c/%ff",
            "/search?q=%ff",
            "/%e2%80%aex",
            "/c/%25ff",
        ),
    ],
)
def test_what_leads_away_or_hides_is_no_page_of_the_shop(path: str):
    assert safe_redirect(path) is None
    if path.strip() == path and path:
        assert problems(redirect_url=path)[0][1] == "#/redirectUrl"
        assert problems(banner=Banner("Sale", path))[0][1] == "#/banner/linkUrl"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/c/coats",
        "/pages/returns#how",
        "/search?q=coat&p=2",
        "/c/regenmäntel",
        "/c/x?next=//y",
        "/c/50%25-off",
        "/a%2Fb",
        "/c/%C3%A9t%C3%A9?x=%5c",
    ],
)
def test_paths_of_the_shop_are_taken_as_they_are(path: str):
    assert safe_redirect(path) == path


@given(st.text(alphabet=st.sampled_from("/\\.:@?#%\t\r\n a0é\u2028\u202e"), max_size=12))
def test_whatever_is_taken_stays_on_the_host(path: str):
    taken = safe_redirect(path)
    if taken is not None:
        read_by_a_browser = "".join(sign for sign in taken if sign not in "\t\r\n").replace("\\", "/")
        assert urlsplit(urljoin("https://shop.test/search", read_by_a_browser)).netloc == "shop.test"


texts = st.text(st.characters(blacklist_categories=("Cs",)), max_size=30)
drafts = st.builds(
    Rule,
    term=texts,
    pins=st.lists(st.builds(PinnedSku, texts, st.integers(-5, 200)), max_size=4).map(tuple),
    boosts=st.lists(texts, max_size=3).map(tuple),
    buries=st.lists(texts, max_size=3).map(tuple),
    redirect_url=st.none() | texts,
    banner=st.none() | st.builds(Banner, texts, st.none() | texts),
    enabled=st.booleans(),
    starts_at=st.none() | st.datetimes(datetime(2000, 1, 2), datetime(2199, 1, 1), timezones=st.just(UTC)),
    note=texts,
)


@given(drafts)
def test_a_rule_that_was_taken_is_taken_again_and_comes_back_from_json_as_it_is(draft: Rule):
    known = dict.fromkeys((sku.strip() for sku in draft.skus), "")
    try:
        clean = check(draft, known)
    except Invalid as refused:
        assert refused.problems
        return
    assert check(clean, known) == clean
    assert Rule.of_json(RULE.load(clean.as_json())) == clean


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | texts,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "term",
                        "pins",
                        "boosts",
                        "buries",
                        "banner",
                        "text",
                        "linkUrl",
                        "sku",
                        "position",
                        "startsAt",
                        "enabled",
                        "x",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_whatever_is_sent_as_json_is_a_draft_or_refused_in_words(sent: object):
    try:
        assert isinstance(Rule.of_json(RULE.load(sent)), Rule)
    except Invalid as refused:
        assert all(problem.message and problem.pointer.startswith("#") for problem in refused.problems)


@pytest.mark.parametrize(
    "text", ["2026-11-20", "2026-11-20T21:04:05", "tomorrow", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:00"]
)
def test_a_time_needs_a_zone_and_a_sensible_year(text: str):
    with pytest.raises(Invalid) as refused:
        RULE.load({"term": "coat", "startsAt": text})
    assert [problem.pointer for problem in refused.value.problems] == ["#/startsAt"]


def test_search_works_with_the_rule_as_a_value():
    rule = check(replace(SOUND, banner=Banner("Dry feet"), id=7), SKUS)
    assert (rule.id, rule.normalized_term, rule.banner.text, rule.skus) == (7, "rain coat", "Dry feet", ("A-1",))

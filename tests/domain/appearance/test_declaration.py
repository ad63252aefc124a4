"""What an appearance may hold, and how it is read."""

from __future__ import annotations

import pytest

from app.domain.appearance.appearances import read_sent
from app.domain.appearance.declaration import UNCHANGED, Appearance
from app.domain.appearance.sections import DEFAULT_SECTIONS, Section, SectionKind
from app.domain.shared.problems import Invalid


def problems_of(**sent: object) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as refused:
        read_sent(sent)
    return [(problem.code, problem.pointer) for problem in refused.value.problems]


def test_an_appearance_is_the_same_after_its_json() -> None:
    changed = read_sent({"accent": "#1f5c43", "sections": [{"kind": "text", "heading": "Repairs"}], "social": []})
    assert read_sent(changed.as_json()) == changed
    assert Appearance.of_json({}) == UNCHANGED and UNCHANGED.sections == DEFAULT_SECTIONS


def test_a_home_page_may_have_no_section() -> None:
    assert read_sent({"sections": []}).sections == ()


def test_unknown_fields_and_choices_are_refused_by_name() -> None:
    assert problems_of(logos=None) == [("unknown_field", "#/logos")]
    assert problems_of(font="comic") == [("unknown_font", "#/font")]
    assert problems_of(sections=[{"kind": "video"}]) == [("unknown_kind", "#/sections/0/kind")]


def test_sections_lack_nothing_that_their_kind_shows() -> None:
    sections = [
        {"kind": "collection"},
        {"kind": "products", "rule": "level"},
        {"kind": "text"},
        {"kind": "text", "heading": "Repairs", "linkLabel": "Read more"},
        {"kind": "hero"},
        {"kind": "hero"},
    ]
    assert problems_of(sections=sections) == [
        ("repeated_section", "#/sections"),
        ("required", "#/sections/0/collection"),
        ("required", "#/sections/1/ruleValue"),
        ("required", "#/sections/2/heading"),
        ("required", "#/sections/3/link"),
    ]


@pytest.mark.parametrize("link", ["javascript:alert(1)", "//evil.test", "data:text/html,x", 'https://a.test/"x'])
def test_links_lead_to_pages_alone(link: str) -> None:
    (problem,) = problems_of(heroButton="Go", heroLink=link)
    assert problem[1] == "#/heroLink"


def test_links_may_be_mails_and_phone_numbers() -> None:
    assert read_sent({"heroButton": "Write", "heroLink": "mailto:hello@shop.test"}).hero_link
    assert read_sent({"heroButton": "Call", "heroLink": "tel:+44 1539 496"}).hero_link


def test_a_picture_is_one_of_the_store() -> None:
    assert problems_of(logo={"file": "../x.webp", "width": 1, "height": 1}) == [("unknown_picture", "#/logo")]
    assert problems_of(logo={"file": f"{'a' * 32}.webp", "width": 0, "height": 1}) == [("unknown_picture", "#/logo")]


def test_opening_hours_are_read_line_by_line() -> None:
    hours = read_sent({"openingHours": "Mon–Fri: 9:00–17:30\n\nClosed on holidays"}).hours
    assert hours == [("Mon–Fri", "9:00–17:30"), ("Closed on holidays", "")]


def test_a_row_without_a_heading_is_named_by_what_it_shows() -> None:
    assert Section(SectionKind.NEWEST).title == "New in"
    assert (
        Section.of_json({"kind": "products", "rule": "manufacturer", "ruleValue": "Fellgate"}).title == "From Fellgate"
    )

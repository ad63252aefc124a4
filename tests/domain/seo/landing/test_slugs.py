"""Slugs of landing pages."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.seo.landing.pages import landing_slug


@pytest.mark.parametrize(
    ("value", "slug"),
    [
        ("Moor", "moor"),
        ("Fell & Fern", "fell-fern"),
        ("  Ünïcode -- Ålesund! ", "unicode-alesund"),
        ("Œuvre ﬁne Straße ẞ", "oeuvre-fine-strasse-ss"),
        ("Łódź Øre Þór", "lodz-ore-thor"),
        ("A/B\\C", "a-b-c"),
        ("½ m²", "1-2-m2"),
        ("日本", ""),
        ("--", ""),
        ("", ""),
    ],
)
def test_a_slug_is_lower_case_without_accents_and_others_are_one_hyphen(value, slug):
    assert landing_slug(value) == slug


@given(st.text())
def test_a_slug_holds_letters_digits_and_single_hyphens_between_and_stays_as_it_is(value):
    slug = landing_slug(value)
    assert slug == "" or re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert landing_slug(slug) == slug
    assert landing_slug(value.upper()) == landing_slug(value.upper().lower())

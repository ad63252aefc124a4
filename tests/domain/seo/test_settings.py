"""What may be set for a site's pages in search engines."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select

from app.domain.search.listings.listing import listing_parameters
from app.domain.seo import settings
from app.domain.seo.settings import SeoSettings, setting_problems, split_parameters
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid
from app.domain.sites.models import AuditEntry
from app.extensions import db
from tests.factories import make_site
from tests.fakes.clock import StoppedClock

FILTERS = listing_parameters({"colour"}, {"weight"})
PLAIN = SeoSettings(3, stale_counts=True, drop_canonical=False, tracking=(), skipped=())


def codes(wanted: SeoSettings) -> list[str]:
    return [problem.code for problem in setting_problems(wanted, FILTERS)]


@pytest.mark.parametrize("least", [None, 0, -1, 10_001])
def test_a_landing_page_needs_a_sensible_number_of_products(least: int | None):
    assert codes(replace(PLAIN, least_products=least)) == ["invalid_least_products"]


@pytest.mark.parametrize("name", ["colour", "q", "p", "price_min", "weight_max"])
def test_what_filters_products_cannot_be_ignored(name: str):
    assert codes(replace(PLAIN, tracking=(name,))) == ["parameter_in_use"]


@pytest.mark.parametrize("name", ["a b", "x" * 65, "a&b", "*", "ünï", "a\r\nDisallow:"])
def test_only_names_of_parameters_can_be_named(name: str):
    assert codes(replace(PLAIN, tracking=(name,), skipped=(name,))) == ["invalid_parameter"] * 2


def test_a_list_of_parameters_ends_somewhere():
    many = tuple(f"n{number}" for number in range(51))
    assert codes(replace(PLAIN, skipped=many)) == ["too_many_parameters"]


def test_bots_are_never_asked_to_skip_the_further_pages_of_a_list():
    assert codes(replace(PLAIN, skipped=("session", "p"))) == ["page_parameter"]
    assert codes(replace(PLAIN, skipped=("page", "P"))) == []


def test_names_are_read_one_a_line_or_with_commas():
    assert split_parameters(" ref, session\n\nref  sid ") == ("ref", "session", "sid")
    assert split_parameters("  \n") == () and split_parameters("ref,") == ("ref",)


@pytest.fixture
def author(context: None, clock: StoppedClock) -> Author:
    return Author(make_site().id, "Mira", clock)


def test_a_parameter_is_ignored_until_it_counts_again(author: Author):
    assert settings.treat_as_tracking(author, "ref", ["colour"])
    assert not settings.treat_as_tracking(author, "ref", ["colour"]), "it is already"
    assert settings.stored_settings(author.site_id).tracking == ("ref",)
    assert settings.treat_as_tracking(author, "ref", ["colour"], is_tracking=False)
    assert settings.stored_settings(author.site_id).tracking == ()
    summaries = db.session.scalars(select(AuditEntry.summary).order_by(AuditEntry.id)).all()
    assert summaries == ["Changed tracking parameters"] * 2


def test_bots_are_asked_to_skip_a_parameter(author: Author):
    assert settings.skip_in_robots(author, "session")
    assert settings.stored_settings(author.site_id).skipped == ("session",)
    with pytest.raises(Invalid):
        settings.skip_in_robots(author, "no name")
    with pytest.raises(Invalid, match="page number"):
        settings.skip_in_robots(author, "p")
    assert not settings.skip_in_robots(author, "p", is_skipped=False), "what is skipped already can be taken back"


def test_what_became_a_filter_since_keeps_nobody_from_deciding_on_another(author: Author):
    assert settings.treat_as_tracking(author, "size", [])
    assert settings.treat_as_tracking(author, "ref", ["size"])
    with pytest.raises(Invalid):
        settings.treat_as_tracking(author, "size", ["size"])
    assert settings.treat_as_tracking(author, "size", ["size"], is_tracking=False)
    assert settings.stored_settings(author.site_id).tracking == ("ref",)


def test_settings_are_checked_as_a_whole_also_where_one_is_changed(author: Author):
    assert settings.treat_as_tracking(author, "size", [])
    with pytest.raises(Invalid) as refused:
        settings.change_seo_settings(author, {settings.LEAST_PRODUCTS: 0}, ["size"])
    assert [problem.pointer for problem in refused.value.problems] == ["#/leastProducts", "#/tracking"]
    assert settings.change_seo_settings(author, {settings.LEAST_PRODUCTS: 5}, []) == ("products for a landing page",)
    assert settings.stored_settings(author.site_id).tracking == ("size",)

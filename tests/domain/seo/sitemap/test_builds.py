"""Builds of sitemaps: who does them, what happens when they fail, and which sites are due."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from shutil import rmtree

import pytest
from flask import Flask, current_app
from sqlalchemy import select
from structlog.typing import EventDict

from app import ports
from app.adapters.null_engine import NullEngine
from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node
from app.domain.search.engine import EngineState, EngineStatus, SearchContext, SearchEngine, SearchUnavailable
from app.domain.search.index.rebuild import rebuild
from app.domain.seo.models import SitemapBuild
from app.domain.seo.sitemap import builds
from app.domain.seo.sitemap.builds import SITEMAP, StagingSite
from app.domain.shared.author import Author
from app.domain.sites.models import Domain, Site
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.domain.seo.sitemap.reading import built, paths
from tests.factories import make_product, make_site
from tests.fakes.clock import StoppedClock
from tests.purging import purged
from tests.searching import request as request_rebuild
from tests.snapshots import built as snapshot
from tests.statements import statements

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site_id(app: Flask) -> int:
    return snapshot(app, small_shop.build)


class SearchIsAway:
    """The engine while its index cannot be read."""

    def __init__(self, engine: SearchEngine) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def search(self, *_request: object) -> object:
        raise SearchUnavailable("The index cannot be read.")

    def status(self, *_index: object) -> EngineStatus:
        return EngineStatus(EngineState.UNREACHABLE, "The index cannot be read.")


class SearchGoesAway(SearchIsAway):
    """The engine as its index becomes unreadable after the first search of a build."""

    _has_answered = False

    def search(self, *request: object) -> object:
        if self._has_answered:
            return super().search(*request)
        self._has_answered = True
        return self._engine.search(*request)  # type: ignore[arg-type]


def _due(indexing: SearchContext) -> list[int]:
    read_afresh()
    return list(builds.sites_due(indexing.clock, indexing.engine, ports.sitemaps()))


def _request(indexing: SearchContext, site_id: int) -> str:
    with transaction():
        return builds.request_build(Author(site_id, "Mia Moss", indexing.clock)).id


def _build(indexing: SearchContext, build_id: str) -> bool:
    return builds.run_build(indexing, ports.sitemaps(), build_id)


def test_a_request_joins_the_build_under_way(indexing: SearchContext, site_id: int) -> None:
    assert _request(indexing, site_id) == _request(indexing, site_id)


def test_a_build_is_done_once(indexing: SearchContext, site_id: int) -> None:
    build_id = _request(indexing, site_id)
    assert _build(indexing, build_id) and not _build(indexing, build_id)
    assert _request(indexing, site_id) != build_id


def test_a_staging_site_has_no_sitemap(indexing: SearchContext, site_id: int) -> None:
    build_id = _request(indexing, site_id)
    with transaction():
        db.session.get_one(Site, site_id).staging = True
    with pytest.raises(StagingSite):
        _request(indexing, site_id)
    assert _build(indexing, build_id)
    read_afresh()
    assert builds.build_of(indexing.clock, site_id, build_id).has_failed
    assert ports.sitemaps().files(site_id) == []
    assert _due(indexing) == []


def test_a_page_that_cannot_be_listed_is_left_out_with_a_warning_and_the_others_follow(
    indexing: SearchContext, site_id: int, log_lines: list[EventDict]
) -> None:
    with transaction():
        site = db.session.get_one(Site, site_id)
        for number, name in enumerate(("a\x0bb", "b￿", "<&]]>"), 1):
            make_product(site, f"BAD-{number}", seo_name=name)
    build = built(indexing, site_id)
    assert (build.state, build.left_out) == ("done", 2)
    reason = "its address holds characters that cannot be shown"
    assert build.warnings == (f"/p/a\ufffdb: {reason}", f"/p/b\ufffd: {reason}")
    assert "/p/%3C%26%5D%5D%3E" in paths(site_id)
    rejected = [line for line in log_lines if line["event"] == "sitemap_entry_rejected"]
    assert len(rejected) == 2 and {line["log_level"] for line in rejected} == {"warning"}


def test_of_many_rejected_pages_the_first_are_named(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        site = db.session.get_one(Site, site_id)
        for number in range(builds.MOST_WARNINGS + 5):
            make_product(site, f"BAD-{number}", seo_name=f"\x0b{number}")
    build = built(indexing, site_id)
    assert (build.left_out, len(build.warnings)) == (builds.MOST_WARNINGS + 5, builds.MOST_WARNINGS)


def test_a_build_that_lost_its_lease_publishes_nothing(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    build_id = _request(indexing, site_id)
    store = ports.sitemaps()

    class HaltedAtTheEnd:
        """Stands still past its lease right before it publishes, while another takes the build over."""

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

        def start(self, *of: object) -> object:
            with transaction():
                row = db.session.get_one(SitemapBuild, build_id)
                row.fence += 1
            return store.start(*of)  # type: ignore[arg-type]

    assert not builds.run_build(indexing, HaltedAtTheEnd(), build_id)  # type: ignore[arg-type]
    assert store.files(site_id) == []


def test_a_worker_that_is_killed_leaves_nothing_behind_for_longer_than_until_the_next(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    store, build_id = ports.sitemaps(), _request(indexing, site_id)
    for _ in range(3):
        with transaction():
            killed = leases.claim(SITEMAP, indexing.clock, SitemapBuild.id == build_id)
        assert killed is not None
        store.start(site_id, build_id, killed.fence)
        clock.move(minutes=1)
    assert _build(indexing, build_id)
    folder = current_app.config["SHOP"].sitemap_folder / str(site_id)
    assert [path.name for path in folder.iterdir() if not path.is_symlink()] == [(folder / "current").readlink().name]


def test_a_site_that_fails_keeps_its_sitemap_and_is_logged(
    indexing: SearchContext, site_id: int, log_lines: list[EventDict]
) -> None:
    built(indexing, site_id)
    before = paths(site_id)
    with transaction():
        db.session.add(make_product(db.session.get_one(Site, site_id)))
    store = ports.sitemaps()

    class Full:
        """Has no room for a new generation."""

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

        def start(self, *_of: object) -> object:
            raise OSError(28, "No space left on device")

    build_id = _request(indexing, site_id)
    with pytest.raises(OSError, match="No space"):
        builds.run_build(indexing, Full(), build_id)  # type: ignore[arg-type]
    read_afresh()
    assert builds.build_of(indexing.clock, site_id, build_id).has_failed
    assert paths(site_id) == before
    assert [line["site"] for line in log_lines if line["event"] == "sitemap_not_built"] == [site_id]


def test_a_shop_of_which_nothing_can_be_listed_keeps_the_sitemap_before(indexing: SearchContext, site_id: int) -> None:
    built(indexing, site_id)
    before = paths(site_id)
    with transaction():
        for domain in db.session.scalars(select(Domain).where(Domain.site_id == site_id)):
            domain.host = f"kältezelte-{domain.id}.test"
    build = built(indexing, site_id)
    assert build.has_failed and "not one address" in str(build.error)
    assert paths(site_id) == before


class TestWhileSearchIsAway:
    """F46."""

    def test_categories_stay_and_landing_pages_go(self, indexing: SearchContext, site_id: int) -> None:
        with transaction():
            for node in db.session.scalars(select(Node).where(Node.site_id == site_id)):
                node.landing_rules = [{"facetId": "manufacturer"}]
        built(indexing, site_id)
        complete = paths(site_id)
        assert "/c/camping/brand/moor" in complete
        built(replace(indexing, engine=NullEngine()), site_id)
        assert paths(site_id) == [path for path in complete if "/brand/" not in path]
        built(indexing, site_id)
        assert paths(site_id) == complete

    def test_it_is_said_and_made_up_for_once_search_is_back(
        self, indexing: SearchContext, site_id: int, clock: StoppedClock
    ) -> None:
        away = replace(indexing, engine=SearchIsAway(indexing.engine))
        build = built(away, site_id)
        assert (build.left_out, build.warnings) == (0, (builds.SEARCH_AWAY,))
        assert _due(indexing) == [], "it may have been for a moment"
        clock.move(minutes=6)
        assert _due(away) == []
        assert _due(indexing) == [site_id]
        assert built(indexing, site_id).warnings == ()
        clock.move(minutes=6)
        assert _due(indexing) == []

    def test_so_is_search_that_goes_away_during_the_build(self, indexing: SearchContext, site_id: int) -> None:
        with transaction():
            for node in db.session.scalars(select(Node).where(Node.site_id == site_id)):
                node.landing_rules = [{"facetId": "manufacturer"}]
        build = built(replace(indexing, engine=SearchGoesAway(indexing.engine)), site_id)
        assert build.warnings == (builds.SEARCH_AWAY,)
        assert not [path for path in paths(site_id) if "/brand/" in path]

    def test_a_shop_without_search_lacks_nothing(self, indexing: SearchContext, site_id: int) -> None:
        assert built(replace(indexing, engine=NullEngine()), site_id).warnings == ()

    def test_an_empty_category_is_kept_too(self, indexing: SearchContext, site_id: int) -> None:
        with transaction():
            for product in db.session.scalars(select(Product).where(Product.site_id == site_id)):
                product.enabled = False
        small_shop.index(site_id)
        built(indexing, site_id)
        assert not any(path.startswith("/c/") for path in paths(site_id))
        built(replace(indexing, engine=NullEngine()), site_id)
        assert len([path for path in paths(site_id) if path.startswith("/c/")]) == 4


def test_sites_without_a_sitemap_are_due_and_those_whose_index_was_rebuilt_since(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    with transaction():
        other = make_site("other.test").id
    assert _due(indexing) == [site_id, other]
    built(indexing, site_id)
    assert _due(indexing) == [other]
    clock.move(minutes=1)
    run_id = request_rebuild(indexing, site_id)
    assert _due(indexing) == [other], "it waits for the index"
    clock.move(minutes=1)
    rebuild(indexing, run_id)
    read_afresh()
    assert _due(indexing) == [site_id, other]
    built(indexing, site_id)
    assert _due(indexing) == [other]


def test_a_site_whose_build_is_under_way_is_not_due(indexing: SearchContext, site_id: int, clock: StoppedClock) -> None:
    _request(indexing, site_id)
    clock.move(minutes=1)
    rebuild(indexing, request_rebuild(indexing, site_id))
    assert _due(indexing) == []


def test_what_a_wrong_clock_dated_ahead_makes_nothing_due_and_holds_nothing_up(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    clock.jump(days=365)
    rebuild(indexing, request_rebuild(indexing, site_id))
    clock.jump(days=-365)
    built(indexing, site_id)
    assert _due(indexing) == []
    clock.jump(days=365)
    built(indexing, site_id)
    clock.jump(days=-365)
    clock.move(minutes=1)
    rebuild(indexing, request_rebuild(indexing, site_id))
    assert _due(indexing) == [site_id]


def test_a_site_whose_files_are_lost_is_due_a_few_minutes_after_its_last_build(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    built(indexing, site_id)
    clock.move(minutes=6)
    assert _due(indexing) == [] and builds.is_request_due(clock, site_id)
    rmtree(current_app.config["SHOP"].sitemap_folder)
    assert _due(indexing) == [site_id]
    build_id = _request(indexing, site_id)
    assert _due(indexing) == [] and not builds.is_request_due(clock, site_id), "one is under way"
    _build(indexing, build_id)
    rmtree(current_app.config["SHOP"].sitemap_folder)
    assert _due(indexing) == [] and not builds.is_request_due(clock, site_id), "they were lost again at once"
    clock.move(minutes=6)
    assert _due(indexing) == [site_id]


def test_builds_are_kept_for_a_month(indexing: SearchContext, site_id: int, clock: StoppedClock) -> None:
    built(indexing, site_id)
    retention = leases.retention(SITEMAP, "builds of sitemaps")
    clock.move(days=29)
    assert purged(clock, retention) == 0
    clock.move(days=2)
    assert purged(clock, retention, is_confirmed=True) == 1


def test_another_sites_builds_are_not_found(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        other = make_site("other.test").id
    build_id = _request(indexing, site_id)
    with pytest.raises(Exception, match="no such build"):
        builds.build_of(indexing.clock, other, build_id)


def test_two_sites_have_a_sitemap_each(app: Flask, indexing: SearchContext, site_id: int) -> None:
    with transaction():
        site = make_site("other.test")
        make_product(site, "KETTLE")
        other = site.id
    built(indexing, site_id)
    built(indexing, other)
    assert paths(other, "other.test") == ["/", "/p/kettle"]
    assert "/p/kettle" not in paths(site_id)
    assert db.session.scalars(select(Domain.host).where(Domain.site_id == other)).all() == ["other.test"]


def test_the_number_of_statements_does_not_grow_with_the_shop(
    app: Flask, indexing: SearchContext, site_id: int
) -> None:
    build_id = _request(indexing, site_id)
    with statements(app) as few:
        _build(indexing, build_id)
    with transaction():
        site = db.session.get_one(Site, site_id)
        for _ in range(40):
            make_product(site)
    build_id = _request(indexing, site_id)
    with statements(app) as many:
        _build(indexing, build_id)
    assert len(many) == len(few)


def test_a_lease_outlasts_the_time_between_two_notes() -> None:
    assert SITEMAP.lease >= timedelta(seconds=30) and SITEMAP.is_resumed

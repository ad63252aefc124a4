"""Site checks as a worker does them."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from app.domain.search.engine import SearchContext
from app.domain.seo import site_check
from app.domain.seo.crawled_page import Fetched
from app.domain.seo.models import SiteCheck, SiteCheckFinding
from app.domain.seo.site_check import SITE_CHECK, SLICE, CheckSummary, is_superseded
from app.domain.seo.site_crawl import MOST_LISTED, FindingKind
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict
from app.domain.sites.models import AuditEntry, Site
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.extensions import db
from app.transaction import transaction
from tests.domain.seo.site_check.pages import page
from tests.factories import make_page, make_redirect, make_site
from tests.purging import purged

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site_id() -> int:
    with transaction():
        site = make_site("shop.test")
        make_page(site, "about")
        return site.id


def requested(indexing: SearchContext, site_id: int) -> str:
    with transaction():
        return site_check.request_check(Author(site_id, "Mia", indexing.clock)).id


def checked(indexing: SearchContext, site_id: int, pages: dict[str, Fetched]) -> CheckSummary:
    """Check a shop whose other pages are not there."""

    def fetch(address: str) -> Fetched:
        found = pages.get(address, Fetched(404))
        return Fetched(found.status, found.location, found.robots, found.text.replace("{own}", address))

    assert site_check.run_check(indexing, lambda _host: fetch, requested(indexing, site_id))
    return latest(indexing, site_id)


def latest(indexing: SearchContext, site_id: int) -> CheckSummary:
    read_afresh()
    found = site_check.latest_check(indexing.clock, site_id)
    assert found is not None
    return found


def test_a_check_reads_what_the_sitemap_would_list(indexing: SearchContext, site_id: int):
    shown = checked(indexing, site_id, {"/": page("/pages/about"), "/pages/about": page()})

    assert (shown.state, shown.done, shown.findings, shown.groups) == ("done", 2, 0, ())
    assert shown.headline == "No problems found"


def test_what_it_finds_is_kept_in_groups_contradictions_before_advice(indexing: SearchContext, site_id: int):
    links = [f"/gone-{number}" for number in range(MOST_LISTED + 1)]
    shown = checked(indexing, site_id, {"/": page(*links), "/pages/about": page()})

    assert [(group.kind, group.count, len(group.listed)) for group in shown.contradictions] == [
        (FindingKind.LINK_FAILS, MOST_LISTED + 1, MOST_LISTED)
    ]
    assert [(group.kind, group.listed[0].url) for group in shown.advice] == [(FindingKind.NOT_LINKED, "/pages/about")]
    assert shown.headline == f"{MOST_LISTED + 1} problems found"


def test_who_asks_while_a_check_is_under_way_joins_it(indexing: SearchContext, site_id: int):
    assert requested(indexing, site_id) == requested(indexing, site_id)
    assert db.session.scalar(select(func.count()).select_from(AuditEntry)) == 1


def test_a_check_is_done_by_one_worker(indexing: SearchContext, site_id: int):
    check_id = requested(indexing, site_id)
    with transaction():
        assert leases.claim(SITE_CHECK, indexing.clock, SiteCheck.id == check_id)

    assert not site_check.run_check(indexing, lambda _host: lambda _address: page(), check_id)


def test_a_check_that_breaks_says_so(indexing: SearchContext, site_id: int):
    def broken(_address: str) -> Fetched:
        raise RuntimeError("no")

    check_id = requested(indexing, site_id)
    with pytest.raises(RuntimeError):
        site_check.run_check(indexing, lambda _host: broken, check_id)

    shown = latest(indexing, site_id)
    assert (shown.state, shown.headline) == ("failed", "The check failed")
    assert shown.error


def test_a_staging_site_is_not_checked(indexing: SearchContext, site_id: int):
    with transaction():
        db.session.get_one(Site, site_id).staging = True

    with pytest.raises(Conflict, match="staging"):
        requested(indexing, site_id)
    assert site_check.latest_check(indexing.clock, site_id) is None


def test_progress_is_noted_on_the_way(indexing: SearchContext, site_id: int):
    seen: list[tuple[int, int | None]] = []

    def slow(address: str) -> Fetched:
        indexing.clock.move(seconds=3)  # type: ignore[attr-defined]
        row = db.session.scalars(select(SiteCheck)).one()
        seen.append((row.done, row.total))
        read_afresh()
        return Fetched(404)

    site_check.run_check(indexing, lambda _host: slow, requested(indexing, site_id))

    assert seen == [(0, None), (1, 2)]


def test_a_long_check_is_done_in_slices_and_finds_the_same(indexing: SearchContext, site_id: int):
    links = [f"/gone-{number}" for number in range(5)]
    pages = {"/": page(*links, "/pages/about"), "/pages/about": page(title="About")}
    whole = checked(indexing, site_id, pages)
    indexing.clock.move(seconds=1)  # type: ignore[attr-defined]

    def slow(address: str) -> Fetched:
        indexing.clock.move(seconds=SLICE / 2)  # type: ignore[attr-defined]
        found = pages.get(address, Fetched(404))
        return Fetched(found.status, found.location, found.robots, found.text.replace("{own}", address))

    check_id, slices = requested(indexing, site_id), 0
    while site_check.run_check(indexing, lambda _host: slow, check_id):
        slices += 1
        shown = latest(indexing, site_id)
        assert shown.done == min(slices * 2, 7) and not shown.has_failed

    assert slices == 4
    assert (shown.state, shown.groups) == ("done", whole.groups)
    assert db.session.scalars(select(SiteCheck.progress)).all() == [None, None]


def test_old_checks_go_with_what_they_found_but_the_latest_stays(indexing: SearchContext, site_id: int):
    for _ in range(2):
        checked(indexing, site_id, {})
        indexing.clock.move(days=31)  # type: ignore[attr-defined]

    assert purged(indexing.clock, leases.retention(SITE_CHECK, "site checks", is_superseded())) == 1
    assert db.session.scalar(select(func.count()).select_from(SiteCheck)) == 1
    assert set(db.session.scalars(select(SiteCheckFinding.check_id))) == {latest(indexing, site_id).id}


def test_only_redirects_to_what_is_no_page_of_the_shop_are_followed(indexing: SearchContext, site_id: int):
    with transaction():
        site = db.session.get_one(Site, site_id)
        for old, new in (("/a", "/pages/about"), ("/b", "/pages/gone"), ("/c", "https://elsewhere.test/")):
            make_redirect(site, old, new)
    shown = checked(indexing, site_id, {"/": page("/pages/about"), "/pages/about": page()})

    assert shown.done == 3
    assert [(group.kind, [one.url for one in group.listed]) for group in shown.groups] == [("redirect_fails", ["/b"])]

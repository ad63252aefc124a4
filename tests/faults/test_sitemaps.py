"""Who writes a sitemap is killed: crawlers read the old one or the new one, whole, and another worker goes on."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from sqlalchemy import select, update

from app.domain.seo.models import SitemapBuild
from app.domain.seo.sitemap import builds
from app.domain.seo.sitemap.store import SitemapStore
from app.domain.shared.author import Author
from app.domain.work.models import State
from app.extensions import db
from app.transaction import transaction
from tests.domain.seo.sitemap.reading import NAMESPACE
from tests.faults.deeds import Deed
from tests.faults.shops import PRODUCTS, SITE, Shop, need_strace
from tests.searching import add_product

pytestmark = pytest.mark.fault("F45")

MOST_STATEMENTS = 100


def listed(shop: Shop) -> set[str]:
    """Products in the sitemap that crawlers read, which is valid XML."""
    stored = SitemapStore(shop.config.sitemap_folder).file(SITE, "sitemap.xml")
    assert stored is not None
    root = ElementTree.fromstring(stored.path.read_bytes())
    found = {str(loc.text) for loc in root.iter(f"{NAMESPACE}loc")}
    return {address for address in found if "/p/" in address}


def requested(shop: Shop) -> str:
    """The build under way, or another one. The lease of a dead worker has run out."""
    with shop.opened() as indexing, transaction():
        held = SitemapBuild.state == State.RUNNING.value
        db.session.execute(update(SitemapBuild).where(held).values(lease_until=indexing.clock.now()))
        return builds.request_build(Author(SITE, "tests", indexing.clock)).id


def state(shop: Shop, build_id: str) -> str:
    with shop.opened():
        return db.session.scalars(select(SitemapBuild.state).where(SitemapBuild.id == build_id)).one()


@pytest.fixture
def grown(shop: Shop) -> Shop:
    """A shop with a sitemap, and a product more since."""
    assert shop.do("build_sitemap", requested(shop), "none").finish() == 0
    assert len(listed(shop)) == PRODUCTS
    with shop.opened(), transaction():
        add_product(SITE, "sku-new")
    return shop


def check_next(shop: Shop) -> None:
    """The next worker needs nothing but the dead one's row, or a new one where that was given up."""
    for _ in range(2):
        build_id = requested(shop)
        assert shop.do("build_sitemap", build_id, "none").finish() == 0
        if state(shop, build_id) == "done":
            break
    assert len(listed(shop)) == PRODUCTS + 1


def _killed(shop: Shop, start: Callable[[str], Deed]) -> bool:
    """Whether it was killed before it was done. What crawlers read is whole."""
    status = start(requested(shop)).finish()
    assert len(listed(shop)) in (PRODUCTS, PRODUCTS + 1)
    return status != 0


def test_a_worker_that_is_killed_before_a_statement_leaves_the_old_sitemap(grown: Shop) -> None:
    """At each statement; five deaths are as many as a build is tried again after."""
    kills = 0
    for number in range(1, MOST_STATEMENTS, 2):
        point = f"statement:{number}"
        if not _killed(grown, lambda build_id, point=point: grown.do("build_sitemap", build_id, point)):
            break
        kills += 1
    assert kills > 5
    check_next(grown)


@pytest.mark.parametrize("point", ["rename:2", "rename:3", "symlink:1", "fsync:1", "fsync:3"])
def test_a_worker_that_is_killed_at_its_files_leaves_one_of_them_whole(grown: Shop, point: str) -> None:
    """The third sync is after the swap; the commit that says so is missing, so it is done again."""
    need_strace()
    call, _, number = point.partition(":")
    strace = ("-e", f"trace=/^{call}", "-e", f"inject=/^{call}:signal=KILL:when={number}")
    assert _killed(grown, lambda build_id: grown.do("build_sitemap", build_id, "none", strace=strace))
    assert len(listed(grown)) == PRODUCTS + (point == "fsync:3")
    check_next(grown)


def test_a_folder_that_cannot_be_written_fails_the_build_with_the_reason(grown: Shop) -> None:
    need_strace()
    strace = ("-e", "trace=symlink,symlinkat", "-e", "inject=symlink,symlinkat:error=ENOSPC")
    build_id = requested(grown)
    assert grown.do("build_sitemap", build_id, "none", strace=strace).finish() != 0
    assert len(listed(grown)) == PRODUCTS
    with grown.opened():
        assert "No space left" in str(db.session.get_one(SitemapBuild, build_id).error)
    check_next(grown)

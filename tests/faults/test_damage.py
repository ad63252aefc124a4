"""F12 and F13: the live index is damaged or removed while the shop serves. Shoppers see no error, everybody who asks is
told, and the shop heals itself."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from flask import current_app
from sqlalchemy import select

from app.domain.alerts.models import Alert
from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node, Placement, Tree
from app.domain.search.models import RebuildRun
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.operations.supervisor.embedded_redis import EmbeddedRedis
from app.transaction import transaction
from tests.faults.deeds import Deed
from tests.faults.shops import SITE, Shop, check
from tests.injected_faults import injected
from tests.searching import WHEN
from tests.waiting import until

WELL = "search 200 category 200 ready 200"
AWAY = "search 503 category 200 ready 503"
LANDING = {"/c/all/brand/moor": 200, "/c/all?manufacturer=Moor": 301, "/c/all": 200}
UNNOTICED = "search 200 category 200 ready 503"  # By a reader that has the index open.


@pytest.fixture(autouse=True)
def category(shop: Shop) -> None:
    """And a rebuild that is so old that the next need not wait."""
    with shop.opened(), transaction():
        run = db.session.scalars(select(RebuildRun)).one()
        assert run.finished_at
        run.finished_at -= timedelta(minutes=1)
        tree = Tree(site_id=SITE, name="Shop", primary=True, facets=[], updated_at=WHEN)
        db.session.add(tree)
        db.session.flush()
        names = {"name": "All", "slug": "all", "path": "all"}
        node = Node(site_id=SITE, tree_id=tree.id, position=0, updated_at=WHEN, **names)
        db.session.add(node)
        db.session.flush()
        db.session.add(Placement(site_id=SITE, node_id=node.id, product_id=1, position=0))


def segments(shop: Shop) -> list[Path]:
    return list((shop.index / shop.live).glob("*.seg"))


def truncate(shop: Shop) -> None:
    for segment in segments(shop):
        os.truncate(segment, 4096)


def flip_bits(shop: Shop) -> None:
    for segment in segments(shop):
        with segment.open("r+b") as file:
            place = file.seek(random.randrange(segment.stat().st_size))
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 1 << random.randrange(8)]))


def remove_folder(shop: Shop) -> None:
    shutil.rmtree(shop.folder / "index")


def remove_link(shop: Shop) -> None:
    (shop.index / "current").unlink()


def browsing(shop: Shop) -> Deed:
    """A process that has the index open."""
    browser = shop.do("browse")
    sees(browser, WELL)
    return browser


def sees(browser: Deed, what: str) -> None:
    """Soon. Its looks are one after the other, so that it may see half of a change first."""
    until(lambda: browser.said[-1:] == [what], 90)


@pytest.mark.parametrize(
    ("damage", "seen"),
    [
        pytest.param(truncate, AWAY, marks=pytest.mark.fault("F12")),
        pytest.param(flip_bits, AWAY, marks=pytest.mark.fault("F12")),
        pytest.param(remove_folder, UNNOTICED, marks=pytest.mark.fault("F13")),
        pytest.param(remove_link, UNNOTICED, marks=pytest.mark.fault("F13")),
    ],
)
def test_what_happens_to_a_live_index_is_told_and_heals_by_itself(
    shop: Shop, redis: EmbeddedRedis, damage: Callable[[Shop], None], seen: str
) -> None:
    said = shop.save(5)
    browser = browsing(shop)
    damage(shop)
    injected()
    sees(browser, seen)
    newcomer = shop.do("browse")
    sees(newcomer, AWAY)
    shop.do("work", "builds")
    shop.do("eager_scheduler")
    sees(browser, WELL)
    sees(newcomer, WELL)
    assert {status for line in browser.said for status in line.split()[1::2]} == {"200", "503"}
    assert all("category 200" in line for line in (*browser.said, *newcomer.said))
    until(lambda: not open_alerts(shop))
    assert history(shop) == [("done", "the shop itself")]
    check(shop, said)


def open_alerts(shop: Shop) -> list[str]:
    with shop.opened():
        return list(db.session.scalars(select(Alert.cause).where(Alert.ended_at.is_(None))))


def history(shop: Shop) -> list[tuple[str, str]]:
    """How the rebuilds after the first ended, and who the activity log names for them."""
    with shop.opened():
        states = db.session.scalars(select(RebuildRun.state).order_by(RebuildRun.created_at)).all()[1:]
        actors = db.session.scalars(select(AuditEntry.actor).where(AuditEntry.action == "index.rebuild"))
        return list(zip(states, actors, strict=True))


@pytest.mark.fault("F12")
def test_a_builder_that_is_killed_while_it_heals_is_given_up_and_its_successor_heals(
    shop: Shop, redis: EmbeddedRedis
) -> None:
    browser = browsing(shop)
    truncate(shop)
    sees(browser, AWAY)
    shop.do("eager_scheduler")
    until(lambda: shop.run()[0] == "waiting")
    assert shop.do("build", fault="sealed:KILL").finish() == -signal.SIGKILL
    until(lambda: shop.run()[0] == "failed", seconds=5)  # Its lease of 20 seconds runs on.
    request = shop.do("request_rebuild")
    assert request.line().startswith("asked")
    assert shop.do("build").finish() == 0
    sees(browser, WELL)
    until(lambda: not open_alerts(shop))
    check(shop)


@pytest.mark.fault("F12")
def test_bits_that_a_disk_lost_are_found_by_the_nightly_comparison_which_fails(
    shop: Shop, redis: EmbeddedRedis
) -> None:
    """F12: the stamps of the files are what they were."""
    browser = browsing(shop)
    for segment in segments(shop):
        before = segment.stat()
        flip_bits(shop)
        os.utime(segment, ns=(before.st_atime_ns, before.st_mtime_ns))
        injected()
    assert shop.do("job", "reconcile").finish() == 1
    sees(browser, AWAY)
    shop.do("work", "builds")
    shop.do("eager_scheduler")
    sees(browser, WELL)
    check(shop)


@pytest.mark.fault("F46")
def test_while_nothing_is_counted_landing_pages_are_not_found_and_nobody_is_sent_to_them(shop: Shop) -> None:
    """In a process that never counted; once the index is back the page is there again."""
    with shop.opened(), transaction():
        db.session.scalars(select(Tree)).one().default_landing_rules = [{"facetId": "manufacturer", "minProducts": 1}]
        for product in db.session.scalars(select(Product).where(Product.id <= 3)):
            product.manufacturer = "Moor" if product.id <= 2 else "Fell"
            if product.id > 1:
                db.session.add(Placement(site_id=SITE, node_id=1, product_id=product.id, position=product.id))
    assert shop.do("rebuild").finish() == 0
    assert answers(shop) == LANDING
    shutil.rmtree(shop.folder / "index")
    injected()
    assert answers(shop) == {"/c/all/brand/moor": 404, "/c/all?manufacturer=Moor": 503, "/c/all": 200}
    assert shop.do("rebuild").finish() == 0
    assert answers(shop) == LANDING
    check(shop)


def answers(shop: Shop) -> dict[str, int]:
    with shop.opened():
        client = current_app.test_client()
        return {path: client.get(path, base_url="http://shop.test").status_code for path in LANDING}

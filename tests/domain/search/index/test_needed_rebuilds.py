"""What a save of the taxonomy changed reaches the index by itself, once for a series of saves, by the lesser work."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from app.adapters.null_engine import NullEngine
from app.domain.catalogue.models import INDEXED_SEPARATELY, Product
from app.domain.relevance.overview import advice_of
from app.domain.search.engine import SearchContext
from app.domain.search.index.healing import heal
from app.domain.search.index.needed_rebuilds import needed_since
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.runs import REBUILD
from app.domain.search.index.taxonomy_changes import bring_changes, is_worth_a_rebuild, mark_needed
from app.domain.search.models import OutboxEntry, RebuildRun
from app.domain.sites.models import AuditEntry, Site
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.work import leases
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_taxonomy
from tests.fakes.clock import StoppedClock
from tests.searching import WHEN, add_page, add_product, add_site, request

pytestmark = pytest.mark.usefixtures("context")
LEVELS = [
    {
        "levelId": "camping",
        "name": "Camping",
        "attributes": [{"attributeId": "colour", "name": "Colour", "type": "STRING"}],
        "children": [{"levelId": "tents", "name": "Tents", "attributes": []}],
    }
]


@pytest.fixture
def site_id(indexing: SearchContext, clock: StoppedClock) -> int:
    """A shop with a red tent, its index from before."""
    with transaction():
        site_id = add_site().id
        make_taxonomy(db.session.get_one(Site, site_id), LEVELS, active=True, id="kinds")
        classify(add_product(site_id, "tent"), active_tree(site_id), "tents", {"colour": "Red"})
    rebuild(indexing, request(indexing, site_id))
    clock.move(minutes=5)
    return site_id


def save(clock: StoppedClock, site_id: int) -> None:
    """A save that changes what documents hold, as the index hears of it."""
    with transaction():
        mark_needed(site_id, clock.now())


def later_runs() -> list[tuple[str, str, str]]:
    db.session.rollback()
    runs = db.session.scalars(select(RebuildRun).order_by(RebuildRun.created_at)).all()[1:]
    return [(run.scope, run.state, run.requested_by) for run in runs]


def fail_the_rebuild(clock: StoppedClock, **more: object) -> None:
    with transaction():
        claim = leases.claim(REBUILD, clock)
        assert claim is not None
        leases.fail(clock, claim, "No space left on the disk.")
        if more:
            db.session.execute(update(RebuildRun).where(RebuildRun.id == claim.key).values(**more))


def test_without_a_save_nothing_is_rebuilt(indexing: SearchContext, site_id: int) -> None:
    heal(indexing)
    assert (needed_since(site_id), later_runs()) == (None, [])


def test_a_series_of_saves_is_one_rebuild_some_seconds_after_the_last(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    for _ in range(3):
        save(clock, site_id)
        clock.move(seconds=4)
        heal(indexing)
    assert later_runs() == []
    assert "The shop rebuilds the products by itself" in advice_of(indexing.engine, site_id)[0]
    clock.move(seconds=1)
    for _ in range(3):
        heal(indexing)
    assert later_runs() == [("PRODUCTS", "waiting", "the shop itself")]
    entry = db.session.scalars(select(AuditEntry)).one()
    assert entry.summary == "Requested a rebuild of the products, since the taxonomy changed"
    rebuild(indexing, db.session.scalars(select(RebuildRun.id).where(RebuildRun.state == "waiting")).one())
    clock.move(minutes=5)
    heal(indexing)
    assert [state for _, state, _ in later_runs()] == ["done"]
    assert (needed_since(site_id), advice_of(indexing.engine, site_id)) == (None, ())


def test_a_rebuild_that_a_user_requested_after_the_save_is_the_one(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    save(clock, site_id)
    clock.move(seconds=1)
    run_id = request(indexing, site_id, "PRODUCTS")
    clock.move(minutes=1)
    heal(indexing)
    assert later_runs() == [("PRODUCTS", "waiting", "tests")]
    rebuild(indexing, run_id)
    heal(indexing)
    assert later_runs() == [("PRODUCTS", "done", "tests")]


@pytest.mark.parametrize("scope", ["ALL", "CONTENT"])
def test_one_that_began_before_the_save_is_followed_by_another(
    indexing: SearchContext, site_id: int, clock: StoppedClock, scope: str
) -> None:
    run_id = request(indexing, site_id, scope)
    with transaction():
        claim = leases.claim(REBUILD, clock, lease=timedelta(hours=1))
        assert claim is not None
    clock.move(seconds=1)
    save(clock, site_id)
    clock.move(minutes=1)
    for _ in range(3):
        heal(indexing)
    assert [state for _, state, _ in later_runs()] == ["running"]
    assert db.session.get_one(RebuildRun, run_id).queued_scope == "PRODUCTS"
    with transaction():
        leases.finish(clock, claim)
    assert later_runs()[1] == ("PRODUCTS", "waiting", "the shop itself")


def test_one_that_failed_is_tried_once_more_and_then_left_to_users(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    save(clock, site_id)
    clock.move(seconds=5)
    heal(indexing)
    fail_the_rebuild(clock)
    heal(indexing)
    assert len(later_runs()) == 1, "it rests after a failure"
    clock.move(minutes=1)
    heal(indexing)
    assert [state for _, state, _ in later_runs()] == ["failed", "waiting"]
    fail_the_rebuild(clock)
    clock.move(hours=2)
    heal(indexing)
    assert [state for _, state, _ in later_runs()] == ["failed", "failed"]
    assert advice_of(indexing.engine, site_id) == ("The last rebuild failed. When its reason is fixed, rebuild again.",)
    save(clock, site_id)
    clock.move(seconds=5)
    heal(indexing)
    assert len(later_runs()) == 3, "another save is another reason"


def test_one_that_began_before_the_save_was_committed_does_not_count(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    saved_at = clock.now()
    clock.move(seconds=2)
    rebuild(indexing, request(indexing, site_id))
    with transaction():
        mark_needed(site_id, saved_at)
    assert needed_since(site_id) == saved_at
    clock.move(seconds=30)
    heal(indexing)
    assert later_runs()[1:] == [("PRODUCTS", "waiting", "the shop itself")]


def test_a_save_stamped_by_a_clock_ahead_is_one_rebuild(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    with transaction():
        mark_needed(site_id, clock.now() + timedelta(hours=1))
    for _ in range(10):
        heal(indexing)
        clock.move(seconds=5)
        for run_id in db.session.scalars(select(RebuildRun.id).where(RebuildRun.state == "waiting")).all():
            rebuild(indexing, run_id)
    assert later_runs() == [("PRODUCTS", "done", "the shop itself")]
    assert needed_since(site_id) is None


def test_a_lost_index_of_pages_does_not_keep_products_from_being_rebuilt(
    indexing: SearchContext, site_id: int, clock: StoppedClock, tmp_path: Path
) -> None:
    with transaction():
        add_page(site_id, "delivery")
    rebuild(indexing, request(indexing, site_id))
    clock.move(minutes=5)
    shutil.rmtree((tmp_path / "index" / "1" / "content" / "current").resolve())
    save(clock, site_id)
    clock.move(seconds=5)
    heal(indexing)
    assert later_runs()[1:] == [("CONTENT", "waiting", "the shop itself")]
    assert db.session.scalars(select(RebuildRun.queued_scope).where(RebuildRun.state == "waiting")).one() == "PRODUCTS"
    fail_the_rebuild(clock)
    assert later_runs()[2:] == [("PRODUCTS", "waiting", "the shop itself")]


def test_a_save_right_after_a_rebuild_waits_for_its_pause(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    rebuild(indexing, request(indexing, site_id))
    clock.move(seconds=1)
    save(clock, site_id)
    clock.move(seconds=28)
    heal(indexing)
    assert len(later_runs()) == 1
    clock.move(seconds=1)
    heal(indexing)
    assert later_runs()[1:] == [("PRODUCTS", "waiting", "the shop itself")]


def test_one_that_golden_searches_blocked_is_left_to_users_at_once(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    save(clock, site_id)
    clock.move(seconds=5)
    heal(indexing)
    fail_the_rebuild(clock, blocked=True)
    clock.move(hours=2)
    heal(indexing)
    assert [state for _, state, _ in later_runs()] == ["failed"]


def test_a_shop_without_an_engine_rebuilds_nothing(site_id: int, indexing: SearchContext, clock: StoppedClock) -> None:
    save(clock, site_id)
    clock.move(minutes=1)
    heal(replace(indexing, engine=NullEngine()))
    assert later_runs() == []


def test_another_site_is_left_alone(indexing: SearchContext, site_id: int, clock: StoppedClock) -> None:
    with transaction():
        other = add_site("other.test").id
        make_taxonomy(db.session.get_one(Site, other), LEVELS, active=True, id="kinds")
    rebuild(indexing, request(indexing, other))
    clock.move(minutes=5)
    save(clock, site_id)
    clock.move(seconds=5)
    heal(indexing)
    assert needed_since(other) is None
    query = select(RebuildRun.site_id).where(RebuildRun.state == "waiting")
    assert db.session.scalars(query).all() == [site_id]


def test_a_small_shop_is_rebuilt_and_a_large_one_where_much_of_it_changes() -> None:
    assert is_worth_a_rebuild(concerned=0, products=3_000)
    assert is_worth_a_rebuild(concerned=401, products=4_000)
    assert not is_worth_a_rebuild(concerned=400, products=4_000)


@pytest.mark.parametrize(
    ("levels", "attributes"), [(["camping"], []), (["tents"], []), ([], ["colour"]), (["gone"], ["colour"])]
)
def test_in_a_large_shop_the_products_concerned_are_indexed_one_by_one(
    site_id: int, clock: StoppedClock, levels: list[str], attributes: list[str]
) -> None:
    names = {"site_id": site_id, "name": "Peg", "price": 100, "created_at": WHEN, "updated_at": WHEN}
    rows = [names | {"sku": f"P-{number}", "seo_name": f"p-{number}"} for number in range(3_000)]
    with transaction():
        db.session.execute(insert(Product), rows, execution_options=INDEXED_SEPARATELY)
        bring_changes(site_id, clock.now(), levels, attributes)
    tent = db.session.scalars(select(Product.id).where(Product.sku == "tent")).one()
    assert [entry.record_id for entry in db.session.scalars(select(OutboxEntry))] == [tent]
    assert needed_since(site_id) is None


def test_texts_alone_concern_no_product(site_id: int, clock: StoppedClock) -> None:
    with transaction():
        bring_changes(site_id, clock.now(), [], [])
    assert needed_since(site_id) is None

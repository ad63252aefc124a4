"""Imports, exports and transfers as a worker does them."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from app.domain.bundles import runner, runs
from app.domain.bundles.archive import BundleFolder
from app.domain.bundles.models import BundleRun
from app.domain.bundles.parts import OF_AN_ADMIN, TRANSFERRED, Part
from app.domain.bundles.product_importer import BATCH
from app.domain.bundles.runner import UNCLAIMED, BundleSettings
from app.domain.bundles.runs import BUNDLE_RUN, FILE_KEPT, RunSummary
from app.domain.catalogue.models import Product
from app.domain.search.engine import SearchContext
from app.domain.search.models import RebuildRun
from app.domain.shared.author import Author, Origin
from app.domain.shared.problems import Conflict, Invalid, NotFound, Unauthenticated
from app.domain.sites import accounts, personal_tokens, sites, staff
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, RoleGrant, User
from app.domain.sites.settings import change_settings, settings_of
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.extensions import db
from app.ports import images
from app.transaction import transaction
from tests.domain.bundles.conftest import HOST, SITE, count, product, write_bundle
from tests.factories import make_site, make_token, make_user
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue

pytestmark = pytest.mark.usefixtures("context")


class Shop:
    """A site with an admin, and the worker of its bundles."""

    def __init__(self, context: SearchContext, folder: Path) -> None:
        self.context, self.folder = context, BundleFolder(folder / "bundles")
        self.settings = BundleSettings(self.folder, images(), 8)
        with transaction():
            site = make_site(HOST)
            self.site_id, self.user_id = site.id, make_user(site, Role.ADMIN, email="mia@shop.test").id

    @property
    def author(self) -> Author:
        return Author(self.site_id, "Mia", self.context.clock, Origin.ADMIN)

    def upload(self, bundle: Path) -> str:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for file in bundle.iterdir():
                archive.write(file, file.name)
        packed.seek(0)
        return self.folder.receive(packed)

    def request(self, bundle: Path, parts: frozenset[Part] = OF_AN_ADMIN) -> str:
        with transaction():
            return runs.request_import(self.author, self.user_id, "shop.zip", self.upload(bundle), parts).id

    def work(self, run_id: str) -> RunSummary:
        assert runner.perform_run(self.context, self.settings, run_id)
        return self.shown(run_id)

    def tried(self, bundle: Path, parts: frozenset[Part] = OF_AN_ADMIN) -> RunSummary:
        return self.work(self.request(bundle, parts))

    def confirmed(self, tried: RunSummary, removes: bool = False) -> str:
        with transaction():
            return runs.confirm_run(self.author, self.user_id, tried.id, removes).id

    def imported(self, bundle: Path, parts: frozenset[Part] = OF_AN_ADMIN) -> RunSummary:
        return self.work(self.confirmed(self.tried(bundle, parts)))

    def shown(self, run_id: str) -> RunSummary:
        read_afresh()
        return runs.summary_of(self.context.clock, runs.run_of(self.site_id, run_id))

    def files(self) -> list[Path]:
        return sorted((self.folder.path("0" * 32 + ".zip").parent).iterdir())


@pytest.fixture
def shop(indexing: SearchContext, tmp_path: Path) -> Shop:
    return Shop(indexing, tmp_path)


@pytest.fixture
def bundle(tmp_path: Path) -> Callable[..., Path]:
    return lambda **files: write_bundle(tmp_path / f"b-{len(list(tmp_path.iterdir()))}", **files)


def report(run: RunSummary) -> dict:
    found = runs.report_of(run.id)
    assert found is not None
    return found


def test_an_import_is_tried_then_confirmed_then_done(shop: Shop, bundle: Callable[..., Path]):
    tried = shop.tried(bundle(products=[product(), product("T-2", price="cheap")]))
    assert (tried.state, tried.error, tried.may_follow, count(Product)) == ("done", None, True, 0)
    assert report(tried)["counts"]["products"] == dict(added=1, changed=0, removed=0, unchanged=0, refused=1)
    assert report(tried)["examples"] == {"products": {"added": ["T-1: Tent T-1"]}}

    done = shop.work(shop.confirmed(tried))
    assert (done.state, done.error, done.is_dry_run, count(Product)) == ("done", None, False, 1)
    assert shop.files() == []
    log = db.session.execute(select(AuditEntry.action, AuditEntry.actor, AuditEntry.origin).order_by(AuditEntry.id))
    assert [tuple(row) for row in log] == [
        (action, "Mia", "ADMIN") for action in ("bundle.request", "bundle.request", "bundle.import")
    ]


def test_what_was_carried_out_is_not_carried_out_again(shop: Shop, bundle: Callable[..., Path]):
    tried = shop.tried(bundle(products=[product()]))
    shop.work(shop.confirmed(tried))
    with pytest.raises(Conflict, match="run already"):
        shop.confirmed(tried)


def test_a_site_has_one_at_a_time(shop: Shop, bundle: Callable[..., Path]):
    shop.request(bundle(products=[product()]))
    with pytest.raises(Conflict, match="already running"), transaction():
        runs.request_export(shop.author, shop.user_id, "shop.zip", OF_AN_ADMIN)


def test_a_broken_file_is_a_result_with_its_place_and_nothing_is_kept(shop: Shop, bundle: Callable[..., Path]):
    broken = bundle(products=[product()])
    (broken / "pages.jsonl").write_text("{}\nnonsense\n")
    tried = shop.tried(broken)
    assert (tried.state, tried.is_refused, tried.may_follow) == ("done", True, False)
    assert "pages.jsonl:2" in (tried.error or "")
    assert shop.files() == []


class Killed(BaseException):
    """As far as the database sees it, the worker is gone."""


def killed_after(context: SearchContext, commits: int) -> SearchContext:
    """A worker whose process ends within its next commit but so many."""
    left = [commits]

    @contextmanager
    def transaction_until_then() -> Iterator[None]:
        with transaction():
            yield
            left[0] -= 1
            if left[0] < 0:
                raise Killed

    return replace(context, transaction=transaction_until_then)


def test_a_killed_worker_leaves_whole_batches_and_the_next_takes_the_rest(
    shop: Shop, bundle: Callable[..., Path], clock: StoppedClock
):
    rows = [product(f"T-{number}") for number in range(2 * BATCH + 10)]
    run_id = shop.confirmed(shop.tried(bundle(products=rows)))
    products = set()
    for commits in range(4, 30):
        with pytest.raises(Killed):
            runner.perform_run(killed_after(shop.context, commits), shop.settings, run_id)
        read_afresh()
        with transaction():  # Another try to die later, not a third of a dead worker.
            db.session.get_one(BundleRun, run_id).attempts = 0
        products.add(count(Product))
        clock.move(seconds=BUNDLE_RUN.lease.total_seconds() + 1)
        if BATCH in products:
            break
    assert products <= {0, BATCH} and BATCH in products

    done = shop.work(run_id)
    assert (done.state, done.error, count(Product)) == ("done", None, len(rows))
    assert report(done)["counts"]["products"]["unchanged"] == BATCH


def test_a_cancelled_import_keeps_what_it_took_and_may_be_done_again(shop: Shop, bundle: Callable[..., Path]):
    tried = shop.tried(bundle(products=[product()]))
    waiting = shop.confirmed(tried)
    with transaction():
        runs.cancel_run(shop.author, waiting)
    assert shop.shown(waiting).error == "Cancelled."
    again = shop.work(shop.confirmed(tried))
    assert (again.error, count(Product)) == (None, 1)


def test_a_running_import_ends_at_its_next_step(shop: Shop, bundle: Callable[..., Path]):
    run_id = shop.confirmed(shop.tried(bundle(products=[product()])))
    with transaction():
        db.session.get_one(BundleRun, run_id).is_cancelled = True
    ended = shop.work(run_id)
    assert (ended.state, ended.error, count(Product)) == ("done", "Cancelled.", 0)


def exported(shop: Shop, parts: frozenset[Part] = OF_AN_ADMIN) -> RunSummary:
    with transaction():
        run_id = runs.request_export(shop.author, shop.user_id, "shop-test.zip", parts).id
    return shop.work(run_id)


def names_in(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return sorted(archive.namelist())


def test_an_export_is_on_the_machine_that_began_it_and_the_other_says_so(shop: Shop, clock: StoppedClock):
    shop.context = replace(shop.context, machine="left")
    done = exported(shop)
    assert runs.run_of(shop.site_id, done.id).machine == "left"
    assert runs.export_file(clock, shop.site_id, done.id, "left")[1] == "shop-test.zip"
    with pytest.raises(Conflict, match="This file is on the machine that received or wrote it, and another answered"):
        runs.export_file(clock, shop.site_id, done.id, "right")


def test_an_import_is_done_from_preview_to_end_by_the_machine_that_received_it(
    shop: Shop, bundle: Callable[..., Path], queue: RecordingQueue
):
    file = shop.upload(bundle(products=[product()]))
    with transaction():
        run_id = runs.request_import(shop.author, shop.user_id, "shop.zip", file, OF_AN_ADMIN, "left").id
    left, right = (replace(shop.context, machine=name) for name in ("left", "right"))
    assert not runner.perform_run(right, shop.settings, run_id)
    assert runner.perform_run(left, shop.settings, run_id)
    confirmed = shop.confirmed(shop.shown(run_id))
    assert queue.machines[-1] == "left", "wherever it was confirmed"
    assert not runner.perform_run(right, shop.settings, confirmed)
    assert runner.perform_run(left, shop.settings, confirmed) and count(Product) == 1


def test_an_export_is_there_for_a_day(shop: Shop, bundle: Callable[..., Path], clock: StoppedClock):
    shop.imported(bundle(products=[product()]))
    done = exported(shop, frozenset((Part.CATALOGUE,)))
    file, name = runs.export_file(clock, shop.site_id, done.id, shop.context.machine)
    assert (done.has_file, name, report(done)["counts"]["products"]) == (True, "shop-test.zip", 1)
    assert names_in(shop.folder.existing(file)) == ["collections.jsonl", "products.jsonl"]

    clock.move(seconds=FILE_KEPT.total_seconds() + 1)
    assert not shop.shown(done.id).has_file
    with pytest.raises(NotFound):
        runs.export_file(clock, shop.site_id, done.id, shop.context.machine)


def test_files_that_nobody_can_want_are_swept(shop: Shop, clock: StoppedClock):
    done = exported(shop)
    stray = shop.folder.path(shop.folder.new_name())
    stray.write_bytes(b"a broken upload")
    assert runner.sweep_folder(shop.context, shop.folder) == 0
    for path in shop.files():
        moment = clock.now().timestamp() - UNCLAIMED - 1
        os.utime(path, (moment, moment))
    assert runner.sweep_folder(shop.context, shop.folder) == 1
    assert [path.name for path in shop.files()] == [
        runs.export_file(clock, shop.site_id, done.id, shop.context.machine)[0]
    ]


def test_a_new_preview_takes_the_place_of_those_before(shop: Shop, bundle: Callable[..., Path], staging_id: int):
    kept = exported(shop)
    first = shop.tried(bundle(products=[product()]))
    with transaction():
        runs.cancel_run(shop.author, shop.confirmed(first))
    second = shop.tried(bundle(products=[product("T-2")]))
    assert [shop.shown(run.id).may_follow for run in (first, second)] == [False, True]
    assert len(shop.files()) == 2
    third = shop.work(requested_transfer(shop, staging_id))
    assert [shop.shown(run.id).may_follow for run in (second, third)] == [False, True]
    assert len(shop.files()) == 2
    assert shop.shown(kept.id).has_file
    with pytest.raises(Conflict, match="file has expired"):
        shop.confirmed(first)


def test_a_refused_request_leaves_the_preview_before(shop: Shop, bundle: Callable[..., Path]):
    tried = shop.tried(bundle(products=[product()]))
    waiting = shop.confirmed(tried)
    with pytest.raises(Conflict, match="already running"):
        shop.request(bundle(products=[product("T-2")]))
    assert shop.work(waiting).error is None


def test_an_export_of_an_admin_has_no_hosts_and_no_password(shop: Shop):
    file, _ = runs.export_file(shop.context.clock, shop.site_id, exported(shop).id, shop.context.machine)
    with zipfile.ZipFile(shop.folder.existing(file)) as archive:
        assert archive.read("site.json").strip() == b'{\n "settings": {}\n}'
        assert b"mia@shop.test" in archive.read("users.json") and b"assword" not in archive.read("users.json")


def test_a_file_of_an_admin_changes_neither_hosts_nor_plan_of_the_site(shop: Shop, bundle: Callable[..., Path]):
    taken = SITE | {
        "domains": [{"host": "other.test", "primary": True}, {"host": HOST}],
        "staging": True,
        "capabilities": [],
        "currency": "usd",
        "settings": {"listing-page-size": 12},
    }
    assert shop.imported(bundle(site=taken)).error is None
    site = sites.site_at(HOST)
    assert [domain.host for domain in site.domains] == [HOST]
    assert (site.staging, site.currency, bool(site.capabilities)) == (False, "gbp", True)
    assert settings_of(site.id)["listing-page-size"] == 12
    assert sites.site_by_host("other.test") is None


def test_a_file_of_an_admin_gives_nobody_more_than_the_admin_may(shop: Shop, bundle: Callable[..., Path]):
    with transaction():
        make_user(make_site("other.test"), Role.MERCHANDISER, email="oz@other.test")
        root = make_user(sites.site_at(HOST), Role.SUPERADMIN, email="root@shop.test").id
    users = [
        {"email": "eve@shop.test", "roles": ["SUPERADMIN"]},
        {"email": "oz@other.test", "roles": ["ADMIN"]},
        {"email": "mia@shop.test", "roles": ["MERCHANDISER"]},
        {"email": "root@shop.test", "roles": ["MERCHANDISER"]},
        {"email": "nia@shop.test", "roles": ["MERCHANDISER"]},
    ]
    tried = shop.tried(bundle(users=users))
    counts = report(tried)["counts"]["users"]
    assert (counts["added"], counts["refused"]) == (1, 4)
    assert [one["field"] for one in report(tried)["refused"]] == [f"{index}/roles" for index in range(4)]
    assert report(tried)["refused"][0]["reason"].startswith("eve@shop.test: You cannot give the role")
    assert report(shop.work(shop.confirmed(tried)))["counts"]["users"] == counts
    assert accounts.find_user("eve@shop.test") is None
    assert accounts.roles_of(root, shop.site_id) == {Role.SUPERADMIN}
    assert accounts.roles_of(shop.user_id, shop.site_id) == {Role.ADMIN}


def test_roles_that_a_file_gives_and_takes_are_in_the_activity_log(shop: Shop, bundle: Callable[..., Path]):
    with transaction():
        nia = make_user(sites.site_at(HOST), Role.MERCHANDISER, email="nia@shop.test")
        token = make_token(sites.site_at(HOST), nia).text
    users = [{"email": "nia@shop.test", "roles": []}, {"email": "oz@shop.test", "roles": ["ADMIN"]}]
    assert count_of_users(shop.tried(bundle(users=users))) == (1, 1)
    assert personal_tokens.caller_of(shop.context.clock, token)
    shop.imported(bundle(users=users))
    logged = select(AuditEntry).where(AuditEntry.action.in_(("user.add", "user.change"))).order_by(AuditEntry.id)
    changed, added = db.session.scalars(logged).all()
    assert (changed.action, changed.actor, changed.before["roles"], changed.after["roles"]) == (
        "user.change",
        "Mia",
        ["MERCHANDISER"],
        [],
    )
    assert (added.action, added.after) == ("user.add", {"roles": ["ADMIN"]})
    with transaction():
        accounts.grant(db.session.get_one(User, nia.id), shop.site_id, Role.MERCHANDISER)
    with pytest.raises(Unauthenticated):
        personal_tokens.caller_of(shop.context.clock, token)


def test_a_superadmin_of_all_sites_is_not_made_one_again(shop: Shop, bundle: Callable[..., Path]):
    with transaction():
        make_user(make_site("other.test"), Role.SUPERADMIN, email="root@shop.test")
        accounts.grant(accounts.get_user("mia@shop.test"), shop.site_id, Role.SUPERADMIN)
    users = bundle(users=[{"email": "root@shop.test", "roles": ["SUPERADMIN", "MERCHANDISER"]}])
    assert count_of_users(shop.imported(users)) == (0, 1)
    assert count_of_users(shop.imported(users)) == (0, 0)
    root = accounts.get_user("root@shop.test")
    assert staff.holds_just(root, shop.site_id, {Role.SUPERADMIN, Role.MERCHANDISER})
    assert len(root.grants) == 2


def count_of_users(run: RunSummary) -> tuple[int, int]:
    counts = report(run)["counts"]["users"]
    return counts["added"], counts["changed"]


def test_what_one_user_previewed_is_not_carried_out_with_the_rights_of_another(shop: Shop, bundle: Callable[..., Path]):
    with transaction():
        root = make_user(sites.site_at(HOST), Role.SUPERADMIN, email="root@shop.test").id
    eve = {"email": "eve@shop.test", "roles": ["SUPERADMIN"], "password": "correct horse battery"}
    tried = shop.tried(bundle(users=[eve], site={"settings": {"posProcessorAccountId": "acct_1Other"}}))
    with pytest.raises(Conflict, match="Make your own preview"), transaction():
        runs.confirm_run(shop.author, root, tried.id, False)
    assert count(BundleRun) == 1
    assert tried.user_id == shop.user_id


def test_a_file_of_an_admin_takes_no_account_of_another_shop(shop: Shop, bundle: Callable[..., Path]):
    with transaction():
        other = make_site("other.test").id
    with transaction():
        change_settings(other, {"posProcessorAccountId": "acct_1Other"})
    place = {"id": "tml_1", "displayName": "Stall", "address": {"country": "GB", "line1": "1 Road", "city": "York"}}
    pos = {"locations": [place | {"processorAccountId": "acct_1Other"}]}
    tried = shop.tried(bundle(pos=pos, site={"settings": {"posProcessorAccountId": "acct_1Other"}}))
    assert [one["field"] for one in report(tried)["refused"]] == [
        "settings/posProcessorAccountId",
        "locations/0/processorAccountId",
    ]
    shop.work(shop.confirmed(tried))
    assert settings_of(shop.site_id)["posProcessorAccountId"] is None


def trees(*names: str) -> dict:
    return {"trees": [{"name": "Main", "primary": True, "nodes": [{"name": name} for name in names]}]}


@pytest.mark.parametrize(("removes", "removed"), [(False, 0), (True, 1)])
def test_categories_go_only_where_that_was_said(shop: Shop, bundle: Callable[..., Path], removes: bool, removed: int):
    shop.imported(bundle(merchandising=trees("Tents", "Boots")))
    tried = shop.tried(bundle(merchandising=trees("Tents")))
    assert report(tried)["counts"]["categories"]["removed"] == 1
    assert report(tried)["examples"]["categories"] == {"removed": ["boots"]}
    done = shop.work(shop.confirmed(tried, removes))
    assert report(done)["counts"]["categories"]["removed"] == removed


@pytest.fixture
def staging_id(bundle: Callable[..., Path], shop: Shop) -> int:
    with transaction():
        site = make_site("staging.test")
        db.session.add(RoleGrant(user_id=shop.user_id, site_id=site.id, role=Role.ADMIN.value))
        site.staging = True
        db.session.add(
            Product(
                site_id=site.id, sku="S-1", name="Stool", seo_name="stool", price=100,
                created_at=shop.context.clock.now(), updated_at=shop.context.clock.now(),
            )
        )  # fmt: skip
        return site.id


def requested_transfer(shop: Shop, source_id: int, parts: frozenset[Part] = TRANSFERRED) -> str:
    source = source_id, "staging.test"
    with transaction():
        return runs.request_transfer(shop.author, shop.user_id, source, shop.folder.new_name(), parts).id


def test_a_transfer_brings_over_what_was_seen_and_is_logged_on_both_sites(shop: Shop, staging_id: int):
    tried = shop.work(requested_transfer(shop, staging_id))
    assert (tried.error, report(tried)["counts"]["products"]["added"]) == (None, 1)
    with transaction():
        db.session.scalars(select(Product)).one().name = "Changed meanwhile"
    done = shop.work(shop.confirmed(tried))
    assert done.error is None
    names = dict(db.session.execute(select(Product.site_id, Product.name)).all())
    assert names == {staging_id: "Changed meanwhile", shop.site_id: "Stool"}
    actions = select(AuditEntry.site_id).where(AuditEntry.action.startswith("bundle.transfer"))
    assert set(db.session.scalars(actions)) == {staging_id, shop.site_id}
    assert not sites.site_at(HOST).staging


def test_who_lost_the_role_on_the_source_meanwhile_transfers_nothing(shop: Shop, staging_id: int):
    tried = shop.work(requested_transfer(shop, staging_id))
    waiting = shop.confirmed(tried)
    with transaction():
        db.session.query(RoleGrant).filter_by(site_id=staging_id).delete()
    assert "no longer has permission" in (shop.work(waiting).error or "")
    assert count(Product) == 1


def test_a_transfer_that_makes_no_sense_is_refused(shop: Shop, staging_id: int):
    with pytest.raises(Invalid, match="itself"):
        requested_transfer(shop, shop.site_id)
    for parts in (frozenset((Part.SITE,)), frozenset()):
        with pytest.raises(Invalid):
            requested_transfer(shop, staging_id, parts)


def test_many_products_are_followed_by_a_rebuild(shop: Shop, bundle: Callable[..., Path]):
    rows = [product(f"T-{number}") for number in range(2_001)]
    shop.imported(bundle(products=rows))
    assert count(RebuildRun) == 1


def test_progress_is_noted_by_rows(shop: Shop, bundle: Callable[..., Path]):
    run_id = shop.request(bundle(products=[product(f"T-{number}") for number in range(BATCH + 1)]))
    seen: list[tuple[str, int, int | None]] = []
    claim = shop.context.commit(lambda: leases.claim(BUNDLE_RUN, shop.context.clock, BundleRun.id == run_id))
    assert claim is not None
    order = shop.context.commit(lambda: runner._read_order(shop.context, shop.settings, claim))
    runner._carry_out(shop.context, shop.settings, order, lambda *step: seen.append(step))
    assert [step for step in seen if step[0] == "Products"] == [
        ("Products", BATCH, BATCH + 1),
        ("Products", BATCH + 1, BATCH + 1),
    ]

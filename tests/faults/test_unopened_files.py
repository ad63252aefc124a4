"""F11: the files of the index cannot be opened, or its disk is mounted read-only. Pages answer, the card says why, and
once it is over everything is as before."""

from __future__ import annotations

import resource
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from app.operations.supervisor.embedded_redis import EmbeddedRedis
from tests.faults.browser import signed_in
from tests.faults.shops import Shop, check, need_strace
from tests.injected_faults import injected
from tests.surroundings import missing

pytestmark = pytest.mark.fault("F11")

CANNOT_BE_READ = "its index cannot be read"


@pytest.mark.parametrize("error", ["EMFILE", "EACCES"])
def test_an_index_whose_files_do_not_open_is_told_on_the_card(shop: Shop, redis: EmbeddedRedis, error: str) -> None:
    need_strace()
    before, manifest = shop.live, shop.index / shop.live / "manifest.json"
    refused = ("-P", str(manifest), "-e", "trace=openat", "-e", f"inject=openat:error={error}")
    address = shop.do("serve", strace=refused).line()
    admin, _token = signed_in(shop, address)
    assert {path: admin.get(path)[0] for path in ("/", "/search?q=name", "/admin/", "/readyz")} == {
        "/": 200,
        "/search?q=name": 503,
        "/admin/": 200,
        "/readyz": 503,
    }
    status, card = admin.get("/admin/search")
    assert status == 200 and CANNOT_BE_READ in card
    assert shop.live == before and not (shop.index / before / "damaged").exists(), "nothing is wrong with the files"
    check(shop)


def test_a_process_that_has_too_many_files_open_goes_on_with_the_index_that_it_has(
    shop: Shop, redis: EmbeddedRedis
) -> None:
    browser = shop.do("browse")
    assert browser.line() == "search 200 category 404 ready 200"
    _, most = resource.prlimit(browser.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(browser.pid, resource.RLIMIT_NOFILE, (3, most))
    injected()
    said = shop.save(3)
    shop.do("apply").finish()
    assert browser.line() == "search 200 category 404 ready 503"
    resource.prlimit(browser.pid, resource.RLIMIT_NOFILE, (most, most))
    assert browser.line() == "search 200 category 404 ready 200"
    check(shop, said)


def test_a_builder_that_may_open_no_more_files_says_so(shop: Shop) -> None:
    need_strace()
    before = shop.live
    shop.do("request_rebuild").finish()
    shop.do("build", strace=("-e", "trace=mkdir", "-e", "inject=mkdir:error=EMFILE:when=1+")).finish()
    assert shop.run() == ("failed", "The process has too many files open.")
    assert (shop.live, shop.generations) == (before, {before})
    check(shop)


@pytest.fixture
def read_only_index(shop: Shop) -> Iterator[None]:
    folder = str(shop.folder / "index")
    if shutil.which("mount") is None or subprocess.run(["mount", "--bind", folder, folder], check=False).returncode:
        missing("a folder cannot be mounted here")
    subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
    yield
    subprocess.run(["umount", "-l", folder], check=False)


@pytest.mark.usefixtures("read_only_index")
def test_an_index_on_a_read_only_disk_is_read_and_a_rebuild_says_why_it_failed(shop: Shop) -> None:
    injected()
    said = shop.save(3)
    assert shop.do("apply").finish() != 0
    shop.do("rebuild").finish()
    assert shop.run() == ("failed", "The index folder cannot be written to: the disk is mounted read-only.")
    address = shop.do("serve").line()
    admin, _token = signed_in(shop, address)
    assert admin.get("/search?q=name")[0] == 200
    assert "mounted read-only" in admin.get("/admin/search")[1]
    subprocess.run(["umount", "-l", str(shop.folder / "index")], check=True)
    check(shop, said)

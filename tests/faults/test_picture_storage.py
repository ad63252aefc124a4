"""F51: pictures lie in a bucket, whose storage is down, slow, torn, locked or gone; and two machines without a common
disk that share it."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from sqlalchemy import select

from app.adapters.s3 import S3Pictures, TimeLimits
from app.config import S3Settings
from app.domain.catalogue.models import Product, ProductImage
from app.domain.catalogue.picture_storage import PicturesUnavailable
from app.extensions import db
from tests.faults.browser import Browser, form_of_picture, signed_in
from tests.faults.shops import SITE, Shop
from tests.faults.web_process import WebProcess, web_process
from tests.injected_faults import injected
from tests.s3_server import S3Server, s3_server
from tests.surroundings import ROOT
from tests.waiting import until

pytestmark = pytest.mark.fault("F51")

NAME = f"{'a' * 32}.webp"
LIMITS = TimeLimits(connect=0.5, request=0.7, retries=0.5, rest=0.0)
LONGEST_WAIT = 3.0  # For a page, on a busy machine.
MOST_SECONDS = 5.0  # For a call that fails, on a busy machine.


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture
def settings(server: S3Server, tmp_path: Path) -> Iterator[S3Settings]:
    yield server.with_settings(prefix=tmp_path.name)
    server.network.fault = ""


def reason_of_failure(storage: S3Pictures, data: bytes = b"anew") -> str:
    """Every kind of call fails with the same reason, and in time."""
    calls = [
        lambda: storage.read(1, NAME),
        lambda: storage.write(1, NAME, data),
        lambda: list(storage.files(1)),
        storage.sites,
        storage.check,
    ]
    reasons = set()
    for call in calls:
        before = time.monotonic()
        with pytest.raises(PicturesUnavailable) as failed:
            call()
        assert time.monotonic() - before < MOST_SECONDS
        reasons.add(failed.value.reason)
    injected(len(calls))
    assert len(reasons) == 1
    return reasons.pop()


@pytest.mark.parametrize("fault", ["slow", "silent", "reset"])
def test_a_storage_that_does_not_answer_in_time_is_unavailable_and_works_again_afterwards(
    server: S3Server, settings: S3Settings, fault: str
) -> None:
    storage = S3Pictures(settings, LIMITS)
    storage.write(1, NAME, b"a picture")
    server.network.fault = fault
    assert reason_of_failure(storage) == "it does not answer"
    server.network.fault = ""
    storage.write(1, NAME, b"a later picture")
    assert storage.read(1, NAME) == b"a later picture"


def test_a_storage_that_is_down_is_unavailable(settings: S3Settings) -> None:
    assert (
        reason_of_failure(S3Pictures(replace(settings, endpoint="http://127.0.0.1:9"), LIMITS)) == "it does not answer"
    )


@pytest.mark.parametrize("wrong", [{"access_key": "nobody"}, {"secret_key": "a guess"}])
def test_a_wrong_key_is_named_as_the_reason_and_no_secret(settings: S3Settings, wrong: dict[str, str]) -> None:
    storage = S3Pictures(replace(settings, **wrong), LIMITS)  # type: ignore[arg-type]
    reason = reason_of_failure(storage)
    assert reason.startswith("it refuses the access key")
    assert not any(secret in reason for secret in (*wrong.values(), settings.secret_key, settings.access_key))


def test_a_missing_bucket_is_not_taken_for_a_missing_picture(settings: S3Settings) -> None:
    assert reason_of_failure(S3Pictures(replace(settings, bucket="no-such-bucket"), LIMITS)) == (
        "it has no bucket no-such-bucket"
    )


def test_a_write_that_is_cut_in_the_middle_leaves_what_was_there(server: S3Server, settings: S3Settings) -> None:
    storage = S3Pictures(settings, LIMITS)
    storage.write(1, NAME, b"a picture")
    server.network.fault = "cut"
    with pytest.raises(PicturesUnavailable):
        storage.write(1, NAME, bytes(200_000))
    with pytest.raises(PicturesUnavailable):
        storage.write(2, NAME, bytes(200_000))
    injected(2)
    server.network.fault = ""
    assert storage.read(1, NAME) == b"a picture"
    assert storage.read(2, NAME) is None
    assert [one.name for one in storage.files(1)] == [NAME]


def test_after_a_call_without_an_answer_others_fail_at_once_for_a_while(server: S3Server, settings: S3Settings) -> None:
    now = [0.0]
    storage = S3Pictures(settings, replace(LIMITS, rest=3.0), monotonic=lambda: now[0])
    storage.write(1, NAME, b"a picture")
    server.network.fault = "reset"
    with pytest.raises(PicturesUnavailable):
        storage.read(1, NAME)
    injected()
    server.network.fault = ""
    with pytest.raises(PicturesUnavailable, match="does not answer"):
        storage.read(1, NAME)
    now[0] = 3.0
    assert storage.read(1, NAME) == b"a picture"


FORKED = """
import os, signal, sys
from app.adapters.s3 import S3Pictures
from app.config import S3Settings
from app.domain.catalogue.picture_storage import PicturesUnavailable
storage = S3Pictures(S3Settings("shop-pictures", endpoint=sys.argv[1], access_key="shop-key", secret_key=sys.argv[2]))
storage.check()
if os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
signal.alarm(10)
try:
    storage.check()
except PicturesUnavailable as refused:
    os._exit(0 if "forked" in refused.reason else 1)
os._exit(1)
"""


def test_a_child_of_a_process_that_used_the_storage_is_refused_and_does_not_wait(server: S3Server) -> None:
    injected()
    command = [sys.executable, "-c", FORKED, server.settings.endpoint, server.settings.secret_key]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def test_an_upload_at_one_machine_is_drawn_by_the_other_and_shown_by_both(shop: Shop, server: S3Server) -> None:
    """They have one database and one bucket, and no folder of pictures in common; the instance folder stands for what
    else would keep two machines from sharing SQLite."""
    bucket = server.environment | {"S3_PREFIX": "two-machines"}

    def machine(name: str) -> dict[str, str]:
        return bucket | {"MEDIA_DIR": str(shop.folder / name / "media")}

    with web_process(shop, **machine("one")) as one, web_process(shop, **machine("two")) as two:
        admin, token = signed_in(shop, f"http://127.0.0.1:{one.port}")
        with shop.opened():
            product_id = db.session.scalars(select(Product.id)).first()
        assert send_picture(admin, f"/admin/catalogue/product/{product_id}/images", token) == 202
        assert [key for key in server.stored_keys() if key.startswith("two-machines/uploads/")]
        with worker_of(shop, machine("two")):
            until(lambda: image_file(shop), 60)
        path = f"/media/{SITE}/{image_file(shop)}"
        for web in (one, two):
            assert web.seconds_for(path) < MOST_SECONDS
        assert not [key for key in server.stored_keys() if key.startswith("two-machines/uploads/")]
        try:
            server.network.fault = "silent"
            check_that_pages_do_not_wait(one, path)
            server.network.fault = "reset"
            injected()
            assert [status_of(web, path) for web in (one, two)] == [503, 503]
            assert [status_of(web, "/") for web in (one, two)] == [200, 200]
            assert send_picture(admin, f"/admin/catalogue/product/{product_id}/images", token) == 503
        finally:
            server.network.fault = ""
    assert not list(shop.folder.glob("*/media/*/*")), "nothing of it lies on a disk of the machines"


def check_that_pages_do_not_wait(web: WebProcess, picture: str) -> None:
    """While a storage that hangs has all the threads of pictures."""
    before = time.monotonic()
    with ThreadPoolExecutor(6) as browsers:
        requests = [browsers.submit(status_of, web, picture) for _ in range(6)]
        injected(len(requests))
        waits = [web.seconds_for("/healthz")]
        while not all(one.done() for one in requests):
            waits += [web.seconds_for("/healthz"), web.seconds_for("/")]
    assert [one.result() for one in requests] == [503] * len(requests)
    assert max(waits) < LONGEST_WAIT < time.monotonic() - before, "pages were answered while pictures waited"


@contextmanager
def worker_of(shop: Shop, settings: dict[str, str]) -> Iterator[None]:
    """A scheduler, which without a queue does the work itself."""
    command = [sys.executable, "-m", "flask", "--app", "wsgi", "scheduler"]
    process = subprocess.Popen(command, cwd=shop.folder, env=shop.environment(**settings))
    try:
        yield
    finally:
        process.terminate()
        assert process.wait(20) == 0


def image_file(shop: Shop) -> str | None:
    with shop.opened():
        return db.session.scalar(select(ProductImage.file))


def send_picture(admin: Browser, path: str, token: str) -> int:
    picture = io.BytesIO()
    Image.new("RGB", (600, 400), "green").save(picture, "PNG")
    body, boundary = form_of_picture(token, picture.getvalue())
    return admin.send(path, body, f"multipart/form-data; boundary={boundary}")[0]


def status_of(web: WebProcess, path: str) -> int:
    return Browser(f"http://127.0.0.1:{web.port}").get(path)[0]

"""Work that follows from the taxonomy, and smaller forms of pictures, from the command line."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask
from PIL import Image

from app.adapters.erasure_file import ErasureFile
from app.domain.catalogue.pictures import form_of
from app.domain.sites.models import Site
from app.domain.taxonomy import tasks
from app.extensions import db
from app.ports import STORES, images
from app.transaction import transaction
from tests.domain.taxonomy.tasks.conftest import add, change_levels, shop
from tests.factories import make_site, make_task
from tests.fakes.picture_storage import PicturesInMemory
from tests.searching import add_site


def site_with_a_tent(app: Flask) -> int:
    with app.app_context():
        with transaction():
            site_id = shop(make_site())
        add(site_id, "T-1", "tents", sleeps=2)
        change_levels(site_id, [])
        return site_id


def test_completeness_is_worked_out_and_told(app: Flask) -> None:
    site_with_a_tent(app)
    done = app.test_cli_runner().invoke(args=["taxonomy", "recompute", "--wait"])
    assert done.exit_code == 0
    assert "Looked at 1 product: the completeness of 1 is another now." in done.output


def test_without_waiting_it_is_only_asked_for(app: Flask) -> None:
    site_id = site_with_a_tent(app)
    runner = app.test_cli_runner()
    assert runner.invoke(args=["taxonomy", "recompute"]).exit_code == 0
    with app.app_context():
        (waiting,) = tasks.unfinished(site_id)
        assert db.session.get_one(Site, waiting.site_id).primary_host == "localhost"
        result = f"{waiting.id}\twaiting\tWorking out how complete products are\tCounting the products…"
    assert result in runner.invoke(args=["taxonomy", "tasks"]).output


def test_a_task_that_failed_is_listed_with_its_reason_and_can_go_on(app: Flask) -> None:
    site_id = site_with_a_tent(app)
    with app.app_context(), transaction():
        failed = make_task(db.session.get_one(Site, site_id), state="failed", error="The database refused the work.").id
    runner = app.test_cli_runner()
    output = runner.invoke(args=["taxonomy", "tasks"]).output
    assert f"{failed}\tfailed\t" in output and "The database refused the work." in output
    done = runner.invoke(args=["taxonomy", "resume", failed, "--wait"])
    assert (done.exit_code, "Looked at 1 product" in done.output) == (0, True)
    again = runner.invoke(args=["taxonomy", "resume", failed])
    assert (again.exit_code, "Only a task that failed can go on." in again.output) == (1, True)
    assert runner.invoke(args=["taxonomy", "resume", "nobody"]).exit_code == 1
    assert runner.invoke(args=["taxonomy", "tasks"]).output == ""


@pytest.fixture
def site_id(app: Flask) -> int:
    with app.app_context(), transaction():
        return add_site("shop.test").id


def keep(site_id: int) -> str:
    out = io.BytesIO()
    Image.new("RGB", (1_000, 1_000), "red").save(out, "PNG")
    return images().keep(site_id, out.getvalue()).file


def test_missing_forms_are_made_and_counted(app: Flask, site_id: int) -> None:
    with app.app_context():
        file = keep(site_id)
        lost = app.config["SHOP"].media_dir / str(site_id) / form_of(file, "medium")
        lost.unlink()
    done = app.test_cli_runner().invoke(args=["pictures", "resize"])
    assert (done.exit_code, done.output) == (0, "1 picture, 1 smaller form made.\n")
    assert lost.is_file()


def test_a_broken_picture_is_named_and_the_others_are_done(app: Flask, site_id: int) -> None:
    with app.app_context():
        file = keep(site_id)
        folder = app.config["SHOP"].media_dir / str(site_id)
        (folder / form_of(file, "tiny")).unlink()
        broken = f"{'0' * 32}.webp"
        (folder / broken).write_bytes(b"RIFF")
    done = app.test_cli_runner().invoke(args=["pictures", "resize", "--site", "shop.test"])
    assert done.exit_code == 0
    assert broken in done.output and "2 pictures, 1 smaller form made." in done.output


def test_pictures_and_erasures_are_copied_to_another_storage_and_back(app: Flask, site_id: int, tmp_path: Path) -> None:
    with app.app_context():
        file = keep(site_id)
    listed = ErasureFile(tmp_path / "here" / "erasures.list")
    listed.append("of before")
    elsewhere, listed_elsewhere = PicturesInMemory(), ErasureFile(tmp_path / "elsewhere" / "erasures.list")
    runner, stores = app.test_cli_runner(), app.extensions[STORES]
    app.extensions[STORES] = replace(
        stores,
        picture_storages=stores.picture_storages | {"s3": elsewhere},
        erasure_lists={"files": listed, "s3": listed_elsewhere},
    )
    there = runner.invoke(args=["pictures", "copy", "--to", "s3"])
    assert there.exit_code == 0 and "5 files copied" in there.output
    assert f"1 erasure copied to the list in {tmp_path / 'elsewhere'}." in there.output
    listed_elsewhere.append("of meanwhile")
    folder = app.config["SHOP"].media_dir / str(site_id)
    (folder / file).unlink()
    back = runner.invoke(args=["pictures", "copy", "--to", "files"])
    assert back.exit_code == 0 and "1 file copied" in back.output and "4 present already" in back.output
    assert (folder / file).read_bytes() == elsewhere.read(site_id, file)
    assert listed.lines() == ["of before", "of meanwhile"] == listed_elsewhere.lines()
    elsewhere.fault = "it does not answer"
    down = runner.invoke(args=["pictures", "copy", "--to", "s3"])
    assert (down.exit_code, "it does not answer" in down.output) == (1, True)


def test_pictures_are_not_copied_to_a_storage_that_is_not_set_up(app: Flask) -> None:
    refused = app.test_cli_runner().invoke(args=["pictures", "copy", "--to", "s3"])
    assert (refused.exit_code, "set S3_BUCKET" in refused.output) == (1, True)

"""Smaller forms of pictures that were uploaded before the shop made them."""

from __future__ import annotations

import io

import pytest
from flask import Flask
from PIL import Image

from app.domain.catalogue.pictures import form_of
from app.ports import images
from app.transaction import transaction
from tests.searching import add_site


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

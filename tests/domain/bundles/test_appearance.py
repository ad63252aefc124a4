"""The appearance of a shop in bundles, with its pictures."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from PIL import Image

from app.domain.appearance.appearances import read_sent, save_appearance, saved_appearance
from app.domain.bundles.exporter import export_bundle
from app.domain.bundles.parts import Part
from app.domain.shared.author import Author
from app.domain.sites import sites
from app.ports import clock, images
from app.transaction import transaction
from tests.domain.bundles.conftest import HOST, SITE, Take, refusals, write_bundle
from tests.domain.bundles.test_round_trip import assert_comes_back


def with_picture(folder: Path) -> Path:
    (folder / "media").mkdir()
    out = io.BytesIO()
    Image.new("RGB", (600, 200), "teal").save(out, "PNG")
    (folder / "media" / "logo.png").write_bytes(out.getvalue())
    return folder


def test_an_appearance_comes_with_its_pictures_and_goes_with_them(take: Take, tmp_path: Path) -> None:
    sections = [{"kind": "text", "heading": "Repairs", "picture": "media/logo.png"}]
    appearance = {"logo": "media/logo.png", "accent": "#8a1f5c", "sections": sections}
    bundle = with_picture(write_bundle(tmp_path / "in", site=SITE, appearance=appearance))
    assert take(bundle).counts["appearance"].changed == 1
    saved = saved_appearance(sites.site_at(HOST).id).value
    assert saved.logo is not None and (saved.logo.width, saved.logo.height) == (600, 200)
    assert saved.sections[0].picture == saved.logo
    assert take(bundle).counts["appearance"].unchanged == 1
    assert_comes_back(take, tmp_path, HOST, ".zip")


def test_a_dry_run_changes_nothing(take: Take) -> None:
    take(site=SITE)
    assert take(appearance={"accent": "#8a1f5c"}, dry_run=True).counts["appearance"].changed == 1
    assert saved_appearance(sites.site_at(HOST).id).revision == 0


def test_what_the_file_leaves_out_stays(take: Take) -> None:
    take(site=SITE, appearance={"accent": "#8a1f5c"})
    take(site=SITE, appearance={"font": "lora"})
    saved = saved_appearance(sites.site_at(HOST).id).value
    assert (saved.accent, saved.font) == ("#8a1f5c", "lora")


def test_what_is_wrong_is_named_with_its_line_and_nothing_is_taken(take: Take) -> None:
    report = take(site=SITE, appearance={"accent": "green", "logo": "media/none.png", "colour": "#fff"})
    found = {(file, field) for file, _, field in refusals(report)}
    assert found == {("appearance.json", "logo"), ("appearance.json", "colour")}
    assert saved_appearance(sites.site_at(HOST).id).revision == 0


def test_a_picture_whose_file_is_missing_is_left_out_alone(take: Take, tmp_path: Path) -> None:
    take(with_picture(write_bundle(tmp_path / "in", site=SITE, appearance={"logo": "media/logo.png"})))
    logo = saved_appearance(sites.site_at(HOST).id).value.logo
    sections = [{"kind": "text", "heading": "Repairs", "picture": "media/gone.webp"}]
    report = take(site=SITE, appearance={"accent": "#8a1f5c", "logo": "media/none.png", "sections": sections})
    assert {field for _, _, field in refusals(report)} == {"logo", "sections/0/picture"}
    assert report.counts["appearance"].changed == 1
    saved = saved_appearance(sites.site_at(HOST).id).value
    assert (saved.accent, saved.logo) == ("#8a1f5c", logo)
    assert [(section.heading, section.picture) for section in saved.sections] == [("Repairs", None)]


@pytest.mark.parametrize("sent", [{"file": "0" * 32 + ".webp", "width": 600, "height": 200}, 7, False, []])
def test_a_picture_is_the_name_of_a_file_and_nothing_else(take: Take, sent: object) -> None:
    take(site=SITE)
    for appearance, place in (
        ({"logo": sent}, "logo"),
        ({"sections": [{"kind": "text", "heading": "Repairs", "picture": sent}]}, "sections/0/picture"),
    ):
        report = take(appearance=appearance)
        assert [(refusal.field, refusal.code) for refusal in report.refusals] == [(place, "wrong_type")]
    assert saved_appearance(sites.site_at(HOST).id).revision == 0


def test_a_shop_without_an_appearance_of_its_own_writes_none(take: Take, tmp_path: Path) -> None:
    take(site=SITE)
    site = sites.site_at(HOST)
    export_bundle(tmp_path / "out", site, images())
    assert not (tmp_path / "out" / "appearance.json").exists()
    with transaction():
        save_appearance(Author(site.id, "Anna", clock()), None, read_sent({"font": "lora"}))
    export_bundle(tmp_path / "settings", site, images(), frozenset((Part.SETTINGS,)))
    assert json.loads((tmp_path / "settings" / "appearance.json").read_text())["font"] == "lora"
    export_bundle(tmp_path / "pages", site, images(), frozenset((Part.PAGES,)))
    assert not (tmp_path / "pages" / "appearance.json").exists()

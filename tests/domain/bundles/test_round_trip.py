"""An export taken into an empty site gives an equal export."""

from __future__ import annotations

import gzip
import io
import json
import shutil
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from sqlalchemy import delete, func, select

from app.demo.shop import BUNDLE
from app.domain.bundles.archive import Bundle, open_bundle
from app.domain.bundles.exporter import export_bundle
from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node
from app.domain.search.models import OutboxEntry
from app.domain.shared.problems import Conflict
from app.domain.sites import sites
from app.domain.sites.models import Site, User
from app.extensions import db
from app.ports import images
from app.transaction import transaction
from tests.domain.bundles.conftest import HOST, SITE, Take, product, write_bundle
from tests.examples import ALL
from tests.surroundings import real_bundle


def export(path: Path, host: str) -> dict[str, bytes]:
    export_bundle(path, sites.site_at(host), images())
    with open_bundle(path) as bundle:
        return {name: _read(bundle, name) for name in bundle.files}


def _read(bundle: Bundle, name: str) -> bytes:
    with bundle.open(name) as file:
        return file.read()


@pytest.fixture
def long_enough(database_kind: str) -> None:
    """Only the continuous integration brings real shops into PostgreSQL as well."""
    if database_kind == "postgresql" and not ALL:
        pytest.skip("real shops are brought into PostgreSQL by the continuous integration")


def forget_everything() -> None:
    with transaction():
        for model in (Site, User):
            db.session.execute(delete(model))
    db.session.remove()


def assert_comes_back(take: Take, tmp_path: Path, host: str, ending: str) -> None:
    before = export(tmp_path / f"before{ending}", host)
    forget_everything()
    take(tmp_path / f"before{ending}", host=None)
    after = export(tmp_path / f"after{ending}", host)
    assert sorted(after) == sorted(before)
    for name, content in before.items():
        assert after[name] == content, name


@pytest.mark.parametrize("ending", ["", ".zip"])
def test_the_demo_shop_comes_back(take: Take, tmp_path: Path, ending: str):
    report = take(BUNDLE, host=None)
    assert (report.refusals, report.dropped) == ([], {})
    assert_comes_back(take, tmp_path, "localhost", ending)


def test_other_names_of_levels_come_back(take: Take, tmp_path: Path):
    levels = [{"levelId": "drives", "name": "Solid-state drives", "otherNames": ["SSD", "Flash drives"]}]
    take(taxonomy={"taxonomies": [{"id": "shop", "name": "Shop", "active": True, "rootLevels": levels}]})
    assert_comes_back(take, tmp_path, HOST, ".zip")
    exported = json.loads(export(tmp_path / "again.zip", HOST)["taxonomy.json"])
    assert exported["taxonomies"][0]["rootLevels"][0]["otherNames"] == ["SSD", "Flash drives"]


def test_pictures_come_back_byte_for_byte(take: Take, tmp_path: Path):
    variants = [
        {"sku": "T-1-R", "options": {"Colour": "Red"}, "image": "media/red.png"},
        {"sku": "T-1-B", "options": {"Colour": "Blue"}, "image": "media/blue.png"},
        {"sku": "T-1-G", "options": {"Colour": "Green"}},
    ]
    shown = product(images=["media/red.png", "blue.png"], variants=variants)
    folder = write_bundle(tmp_path / "pictures", site=SITE, products=[shown])
    (folder / "media").mkdir()
    for colour in ("red", "blue"):
        drawn = io.BytesIO()
        Image.new("RGB", (40, 30), colour).save(drawn, "PNG")
        (folder / "media" / f"{colour}.png").write_bytes(drawn.getvalue())
    take(folder, host=None)
    made = db.session.scalars(select(Product)).one()
    assert [(image.width, image.height) for image in made.images] == [(40, 30)] * 2
    assert [made.picture_of(variant) for variant in made.variants] == [*made.images, None]
    assert take(folder, host=None).changes == 0
    assert take(folder, host=None, dry_run=True).changes == 0
    assert_comes_back(take, tmp_path, "shop.test", ".zip")


def with_category_picture(folder: Path, data: bytes) -> Path:
    nodes = [{"name": "Tents", "image": "media/red.png"}, {"name": "Stoves"}]
    write_bundle(folder, site=SITE, merchandising={"trees": [{"name": "Shop", "primary": True, "nodes": nodes}]})
    (folder / "media").mkdir()
    (folder / "media" / "red.png").write_bytes(data)
    return folder


def test_the_picture_of_a_category_comes_back(take: Take, tmp_path: Path):
    drawn = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(drawn, "PNG")
    folder = with_category_picture(tmp_path / "pictures", drawn.getvalue())
    take(folder, host=None)
    pictures = {node.name: node.picture for node in db.session.scalars(select(Node))}
    assert pictures["Tents"] and pictures["Stoves"] is None
    assert take(folder, host=None).changes == 0
    assert_comes_back(take, tmp_path, "shop.test", ".zip")
    assert f"media/{pictures['Tents']}" in export(tmp_path / "again.zip", "shop.test")


def test_a_picture_that_was_removed_goes_in_the_other_shop_too(take: Take, tmp_path: Path):
    drawn = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(drawn, "PNG")
    pictured = with_category_picture(tmp_path / "pictures", drawn.getvalue())
    take(pictured, host=None)
    with transaction():
        db.session.scalars(select(Node).where(Node.name == "Tents")).one().picture = None
    export(tmp_path / "removed.zip", "shop.test")
    take(pictured, host=None)
    take(tmp_path / "removed.zip", host=None)
    assert {node.name: node.picture for node in db.session.scalars(select(Node))} == {"Tents": None, "Stoves": None}


def test_a_category_whose_picture_is_none_comes_without_it(take: Take, tmp_path: Path):
    report = take(with_category_picture(tmp_path / "pictures", b"no picture"), host=None)
    assert [found.field for found in report.refusals] == ["trees/0/nodes/0/image"]
    assert {node.name: node.picture for node in db.session.scalars(select(Node))} == {"Tents": None, "Stoves": None}


def test_a_picture_of_a_variant_that_is_none_of_the_products_is_left_out(take: Take, tmp_path: Path):
    red = {"sku": "T-1-R", "options": {"Colour": "Red"}, "image": "media/red.png"}
    report = take(site=SITE, products=[product(variants=[red])], host=None)
    assert [(found.field, found.line) for found in report.refusals] == [("variants/0/image", 1)]
    assert db.session.scalars(select(Product)).one().variants[0].picture is None


def test_a_dry_run_says_which_pictures_are_none_and_keeps_none(take: Take, tmp_path: Path):
    folder = write_bundle(tmp_path / "pictures", site=SITE, products=[product(images=["media/red.png"])])
    (folder / "media").mkdir()
    (folder / "media" / "red.png").write_bytes(b"no picture")
    report = take(folder, host=None, dry_run=True)
    assert [(found.field, found.line) for found in report.refusals] == [("images/0", 1)]
    assert images().files(0) == []


@pytest.fixture
def share(database_kind: str) -> int:
    """Of the products of a real shop one in so many is enough, but all of them come in once where nothing is spared."""
    return 1 if ALL and database_kind == "sqlite" else 8


def one_in(share: int, bundle: Path, folder: Path) -> Path:
    """The bundle with one in so many of its products."""
    folder.mkdir()
    for file in bundle.glob("*.json"):
        shutil.copyfile(file, folder / file.name)
    products = "products.jsonl.gz"
    with gzip.open(bundle / products) as every, gzip.open(folder / products, "wb", 1) as some:
        some.writelines(islice(every, 0, None, share))
    return folder


@pytest.mark.timeout(1200)  # A slow machine, and another test beside it.
@pytest.mark.usefixtures("long_enough")
@pytest.mark.parametrize(
    ("name", "products", "dropped"),
    [("icecat-2", {1: 19_406, 8: 2_426}, {1: 75, 8: 5}), ("fashion", {1: 39_596, 8: 4_950}, {1: 0, 8: 0})],
)
def test_a_real_shop_comes_in_and_a_second_time_changes_nothing_and_comes_back(
    take: Take, tmp_path: Path, share: int, name: str, products: dict[int, int], dropped: dict[int, int]
):
    bundle = one_in(share, real_bundle(name), tmp_path / "real")
    report = take(bundle)
    assert (report.of("products").added, report.of("products").refused) == (products[share], 0)
    assert report.dropped_in_all == dropped[share]
    entries = select(func.count()).select_from(OutboxEntry)
    before = db.session.scalar(entries)
    assert take(bundle).changes == 0
    assert db.session.scalar(entries) == before
    if name == "icecat-2" or share > 1:  # One whole shop that size is enough for the way back.
        assert_comes_back(take, tmp_path, "shop.test", ".zip")


def test_an_export_overwrites_nothing(take: Take, tmp_path: Path):
    take(products=[product()])
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "letter.txt").write_text("dear")
    with pytest.raises(Conflict, match="empty folder"):
        export_bundle(tmp_path / "there", sites.site_at("shop.test"), images())
    assert [file.name for file in (tmp_path / "there").iterdir()] == ["letter.txt"]


def test_passwords_stay_behind(take: Take, tmp_path: Path):
    take(users=[{"email": "mia@shop.test", "roles": ["ADMIN"], "password": "a long secret"}])
    assert export(tmp_path / "out", "shop.test")["users.json"].count(b"assword") == 0


def test_descriptions_of_pictures_come_back_and_stay_where_a_bundle_is_silent(take: Take, tmp_path: Path):
    pictures = {"images": ["media/red.png", "media/blue.png"], "imageTexts": [" A  red tent "]}
    folder = write_bundle(tmp_path / "pictures", site=SITE, products=[product(**pictures)])
    (folder / "media").mkdir()
    for colour in ("red", "blue"):
        Image.new("RGB", (40, 30), colour).save(folder / "media" / f"{colour}.png", "PNG")
    take(folder, host=None)
    assert take(folder, host=None).changes == 0
    assert [image.alt for image in db.session.scalars(select(Product)).one().images] == ["A red tent", ""]

    (folder / "products.jsonl").unlink()
    write_bundle(folder, products=[product(images=["media/blue.png", "media/red.png"])])
    assert take(folder, host=None).of("products").changed == 1
    db.session.expire_all()
    assert [image.alt for image in db.session.scalars(select(Product)).one().images] == ["", "A red tent"]
    assert_comes_back(take, tmp_path, "shop.test", ".zip")


def test_pictures_that_a_bundle_names_and_does_not_carry_stay_in_the_shop(take: Take, tmp_path: Path):
    red = {"sku": "T-1-R", "options": {"Colour": "Red"}, "image": "media/red.png"}
    shown = product(images=["media/red.png", "media/blue.png"], variants=[red])
    folder = write_bundle(tmp_path / "pictures", site=SITE, products=[shown])
    (folder / "media").mkdir()
    for colour in ("red", "blue"):
        Image.new("RGB", (40, 30), colour).save(folder / "media" / f"{colour}.png", "PNG")
    take(folder, host=None)
    export_bundle(tmp_path / "out", sites.site_at(HOST), images())
    shutil.rmtree(tmp_path / "out" / "media")
    for dry_run in (True, False):
        report = take(tmp_path / "out", host=None, dry_run=dry_run)
        assert (report.changes, report.refusals) == (0, [])

    at_addresses = write_bundle(tmp_path / "feed", products=[product(price=1, images=["https://elsewhere.test/a.jpg"])])
    report = take(at_addresses)
    assert [(found.field, found.line) for found in report.refusals] == [("images/0", 1)]
    db.session.expire_all()
    made = db.session.scalars(select(Product)).one()
    assert (made.price, len(made.images)) == (1, 2)
    assert made.picture_of(made.variants[0]) == made.images[0]
    assert take(at_addresses).changes == 0


def test_a_picture_that_is_there_already_is_not_drawn_again_but_counts_as_kept_anew(take: Take, tmp_path: Path):
    take(products=[product()])
    drawn = io.BytesIO()
    Image.effect_noise((600, 400), 80).save(drawn, "PNG")
    site_id = sites.site_at("shop.test").id
    kept = images().keep(site_id, drawn.getvalue())
    before = dict(images().files(site_id))
    assert images().keep(site_id, images().read(site_id, kept.file)) == kept
    assert images().files(site_id)[0][1] > before[kept.file]
    assert not images().discard(site_id, kept.file, before[kept.file])


WORD = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=20)
MINOR_UNITS = st.integers(0, 1_000_000)


@st.composite
def rows(draw: st.DrawFn) -> list[dict[str, object]]:
    """Products with any of their fields, and variants of their own."""
    made = []
    for number in range(draw(st.integers(1, 4))):
        row: dict[str, object] = {"sku": f"P-{number}", "name": draw(WORD), "price": draw(MINOR_UNITS)}
        row |= draw(st.fixed_dictionaries({}, optional=FIELDS))
        if draw(st.booleans()):
            variants = draw(st.lists(st.fixed_dictionaries({"options": OPTIONS}, optional=STOCKED), max_size=3))
            row["variants"] = [variant | {"sku": f"P-{number}-{place}"} for place, variant in enumerate(variants)]
        made.append(row)
    return made


STOCKED = {"stock": st.none() | st.integers(0, 50), "price": st.none() | MINOR_UNITS}
OPTIONS = st.dictionaries(st.sampled_from(("Size", "Colour")), WORD, min_size=1)
FIELDS = {
    "manufacturer": WORD,
    "description": st.just("<p>A <strong>tent</strong> &amp; more</p>") | WORD,
    "stock": st.none() | st.integers(0, 50),
    "enabled": st.booleans(),
    "featured": st.booleans(),
    "rating": st.none() | st.floats(0, 5),
    "searchTerms": st.lists(WORD, max_size=3),
    "createdAt": st.just("2026-01-02T03:04:05Z"),
}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows())
def test_whatever_a_shop_takes_comes_back(take: Take, tmp_path_factory: pytest.TempPathFactory, made: list[dict]):
    forget_everything()
    folder = tmp_path_factory.mktemp("any")
    take(write_bundle(folder / "first", site=SITE, products=made), host=None)
    assert_comes_back(take, folder, "shop.test", ".zip")
    assert take(folder / "after.zip", host=None).changes == 0

"""Pictures that the lines of a table name, from the .zip that came with it."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from app.domain.bundles import picture_fetches
from app.domain.bundles.archive import BundleFolder
from app.domain.bundles.importer import import_bundle
from app.domain.bundles.picture_fetches import MORE_LEFT, MOST_SILENT, WILL_BE_FETCHED
from app.domain.bundles.product_tables import format_of, header_and_samples
from app.domain.bundles.report import BrokenBundle, BundleReport
from app.domain.bundles.table_pictures import read_pictures
from app.domain.bundles.table_rows import guess_columns
from app.domain.catalogue.models import Product
from app.domain.catalogue.picture_source import PictureNotFetched, PictureSource
from app.domain.catalogue.pictures import MOST_IMAGES
from app.domain.sites.models import Site
from app.extensions import db
from app.ports import clock, images
from app.transaction import transaction
from tests.domain.bundles.conftest import SITE, Take, count, one
from tests.domain.bundles.picture_archives import packed, png
from tests.fakes.clock import StoppedClock

HEAD = "sku,name,price,images,image text\n"
Taken = Callable[..., BundleReport]


@pytest.fixture
def take_table(take: Take, tmp_path: Path) -> Taken:
    take(site=SITE)
    site_id = db.session.query(Site.id).scalar()

    def taken(
        text: str, archive: bytes | None = None, dry_run: bool = False, web: PictureSource | None = None
    ) -> BundleReport:
        path = tmp_path / "table.csv"
        path.write_text(text)
        path.with_suffix(".zip").unlink(missing_ok=True)
        if archive is not None:
            path.with_suffix(".zip").write_bytes(archive)
        header, _ = header_and_samples(path, "table.csv", 1)
        table = format_of(site_id, guess_columns(header, {}))
        return import_bundle(
            path, "shop.test", clock(), images(), transaction, "a test", 8, dry_run, table=table, pictures=web
        )

    return taken


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("tent.jpg", ["tent.jpg"]),
        (" red tent.jpg,inside, open.PNG;tent.webp ", ["red tent.jpg", "inside", "open.PNG", "tent.webp"]),
        ("a.jpg|b.jpg\nc.jpg", ["a.jpg", "b.jpg", "c.jpg"]),
        (
            "https://x.test/w_20,h_30/a.jpg?v=1;2,https://x.test/b, c.jpg",
            ["https://x.test/w_20,h_30/a.jpg?v=1;2", "https://x.test/b", "c.jpg"],
        ),
        ("a.jpg, a.jpg", ["a.jpg"]),
    ],
)
def test_a_cell_names_one_picture_or_several(cell: str, names: list[str]) -> None:
    assert read_pictures([(cell, "")]) == {"images": names}


def test_descriptions_stand_beside_their_pictures_and_empty_cells_say_nothing() -> None:
    cells = [("a.jpg, b.jpg", "Tent, closed | Tent, open"), ("", "Lost"), ("c.jpg", "Pole | grey"), ("d.jpg", "")]
    assert read_pictures(cells) == {
        "images": ["a.jpg", "b.jpg", "c.jpg", "d.jpg"],
        "imageTexts": ["Tent, closed", "Tent, open", "Pole | grey", ""],
    }
    assert read_pictures([("", ""), (" ", "x")]) == {}


def test_a_cell_of_very_many_blanks_is_read() -> None:
    blanks = " " * 2**20
    assert read_pictures([(f"a{blanks}b|c{blanks}", f"First{blanks}one{blanks}|{blanks}Second")]) == {
        "images": [f"a{blanks}b", "c"],
        "imageTexts": [f"First{blanks}one", "Second"],
    }


def test_pictures_are_found_by_name_in_the_zip_and_the_same_again_changes_nothing(take_table: Taken) -> None:
    archive = packed({"shop/tents/Red.png": png(1), "shop/tents/in.png": png(2), "shop/mug.png": png(3)})
    text = f'{HEAD}T-1,Tent,10,"red.PNG, tents/in.png",Red tent|Its inside\nM-1,Mug,5,mug.png,\n'
    assert take_table(text, archive, dry_run=True).of("products").added == 2 and count(Product) == 0
    report = take_table(text, archive)
    assert report.refusals == [] and report.notes == []
    assert [image.alt for image in one("T-1").images] == ["Red tent", "Its inside"]
    assert [image.width for image in one("M-1").images] == [40]
    assert take_table(text, archive).of("products").unchanged == 2


def test_new_pictures_follow_those_that_a_product_has(take_table: Taken) -> None:
    take_table(f"{HEAD}T-1,Tent,10,a.png,First\n", packed({"a.png": png(1)}))
    (first,) = (image.file for image in one("T-1").images)
    take_table(f'{HEAD}T-1,Tent,11,"b.png, a.png",\n', packed({"a.png": png(1), "b.png": png(2)}))
    assert [image.alt for image in one("T-1").images] == ["First", ""]
    assert one("T-1").images[0].file == first
    take_table(f"{HEAD}T-1,Tent,12,,\n")
    assert len(one("T-1").images) == 2 and one("T-1").price == 1200


def test_each_picture_that_cannot_be_taken_is_named_with_its_line_and_the_product_is_imported(
    take_table: Taken,
) -> None:
    archive = packed({"a.png": png(1), "x/b.png": png(2), "y/b.png": png(3), "no.png": b"no picture", "left.png": b""})
    text = f'{HEAD}T-1,Tent,10,"a.png, gone.png",\nT-2,Tarp,10,b.png,\nT-3,Pole,10,no.png,\n'
    report = take_table(text, archive)
    assert [(refused.line, refused.reason) for refused in report.refusals] == [
        (2, "The .zip has no picture “gone.png”."),
        (3, "The .zip has 2 files of the name “b.png”: x/b.png, y/b.png. Give the folder."),
        (4, "no.png: This is not a whole JPEG, PNG, WebP or GIF picture."),
    ]
    assert report.notes == ["No line names these files of the .zip: left.png, x/b.png, y/b.png."]
    assert [len(one(sku).images) for sku in ("T-1", "T-2", "T-3")] == [1, 0, 0]
    report = take_table(f"{HEAD}T-1,Tent,10,a.png,\n")
    assert [refused.reason for refused in report.refusals] == [
        "There is no picture “a.png”. Send the table together with a .zip of its pictures."
    ]


def test_a_product_has_no_more_pictures_than_there_is_room_for(take_table: Taken) -> None:
    names = [f"{number}.png" for number in range(MOST_IMAGES + 1)]
    archive = packed({name: png(number) for number, name in enumerate(names)})
    take_table(f"{HEAD}T-1,Tent,10,{'|'.join(names[: MOST_IMAGES - 1])},\n", archive)
    report = take_table(f"{HEAD}T-1,Tent,10,{'|'.join(names[-2:])},\n", archive)
    assert [refused.reason for refused in report.refusals] == [
        "A product has at most 30 pictures, and this one has 29; the rest is left out."
    ]
    assert len(one("T-1").images) == MOST_IMAGES


def test_an_archive_that_leads_out_stops_the_import_before_anything_is_written(take_table: Taken) -> None:
    with pytest.raises(BrokenBundle, match="leads out of the archive"):
        take_table(f"{HEAD}T-1,Tent,10,a.png,\n", packed({"../a.png": png(1)}))
    assert count(Product) == 0


def test_the_pictures_of_a_table_stay_and_go_with_it(tmp_path: Path) -> None:
    folder = BundleFolder(tmp_path)
    kept, gone, dropped = (folder.receive(io.BytesIO(b"sku,name"), "csv") for _ in range(3))
    for table in (kept, gone, dropped):
        folder.receive(io.BytesIO(packed({"a.png": b"x"})), beside=table)
    folder.drop(dropped)
    assert folder.sweep([kept], [gone], 0.0) == 2
    assert {path.name for path in tmp_path.iterdir()} == {kept, folder.pictures_of(kept)}


class Web:
    """A web of pictures by their addresses; other addresses of its hosts lack one, other hosts are silent. Each answer
    takes `minutes` on the clock."""

    def __init__(self, clock: StoppedClock | None = None, minutes: float = 0, **pictures: bytes) -> None:
        self.clock, self.minutes = clock or StoppedClock(), minutes
        self.pictures = {f"https://x.test/{name}.png": data for name, data in pictures.items()}
        self.fetched: list[str] = []

    def fetch(self, address: str) -> bytes:
        self.fetched.append(address)
        self.clock.move(minutes=self.minutes)
        if address in self.pictures:
            return self.pictures[address]
        if address.startswith("https://x.test/"):
            raise PictureNotFetched("The host answered with status 404.")
        raise PictureNotFetched("The host does not answer (ConnectError).", is_silent=True)


def test_pictures_at_addresses_are_fetched_once_by_the_import_and_not_by_its_preview(take_table: Taken) -> None:
    web = Web(a=png(1), b=png(2))
    text = f'{HEAD}T-1,Tent,10,"https://x.test/a.png, https://x.test/b.png",Front\nT-2,Tarp,10,https://x.test/a.png,\n'
    preview = take_table(text, dry_run=True, web=web)
    assert (preview.of("products").added, web.fetched, preview.notes) == (2, [], [WILL_BE_FETCHED])
    assert take_table(text, web=web).notes == []
    assert web.fetched == ["https://x.test/a.png", "https://x.test/b.png"]
    assert [(image.alt, image.source) for image in one("T-1").images] == [
        ("Front", "https://x.test/a.png"),
        ("", "https://x.test/b.png"),
    ]
    for dry_run in (True, False):
        again = take_table(text, dry_run=dry_run, web=web)
        assert again.of("products").unchanged == 2 and again.notes == [] and len(web.fetched) == 2


def test_an_address_that_cannot_be_fetched_is_named_with_its_line_and_leaves_its_product_whole(
    take_table: Taken,
) -> None:
    web = Web(a=png(1), page=b"<html>")
    named = ("https://x.test/gone.png", "https://x.test/page.png", "ftp://x.test/a.png", "https://x.test/a.png")
    lines = "".join(f"T-{number},Tent,10,{address},\n" for number, address in enumerate(named))
    report = take_table(HEAD + lines, web=web)
    assert [(refused.line, refused.reason) for refused in report.refusals] == [
        (2, "https://x.test/gone.png: The host answered with status 404."),
        (3, "https://x.test/page.png: This is not a whole JPEG, PNG, WebP or GIF picture."),
        (4, "ftp://x.test/a.png: An address begins with https:// or http:// and names a host."),
    ]
    assert [len(one(f"T-{number}").images) for number in range(4)] == [0, 0, 0, 1]
    report = take_table(f"{HEAD}T-3,Tent,10,ftp://x.test/a.png,\n", dry_run=True, web=web)
    assert [refused.line for refused in report.refusals] == [2]


def test_a_host_that_does_not_answer_holds_an_import_up_only_a_few_times(take_table: Taken) -> None:
    web = Web(a=png(1))
    names = [f"https://silent.test/{number}.png" for number in range(10)]
    report = take_table(f"{HEAD}T-1,Tent,10,{'|'.join([*names, 'https://x.test/a.png'])},\n", web=web)
    assert len(web.fetched) == MOST_SILENT + 1 and len(one("T-1").images) == 1
    assert len(report.refusals) == 10 and "Not tried, since silent.test did not answer" in report.refusals[-1].reason


def test_one_import_fetches_only_so_many_and_the_same_again_the_others(
    take_table: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture_fetches, "MOST_FETCHED", 2)
    web = Web(a=png(1), b=png(2), c=png(3))
    text = f"{HEAD}T-1,Tent,10,https://x.test/a.png|https://x.test/b.png|https://x.test/c.png,\n"
    report = take_table(text, web=web)
    assert (report.notes, report.refusals, len(one("T-1").images)) == ([MORE_LEFT], [], 2)
    assert take_table(text, web=web).notes == [] and len(one("T-1").images) == 3
    assert len(web.fetched) == 3


def test_one_import_fetches_only_so_long_and_the_same_again_the_others(take_table: Taken, clock: StoppedClock) -> None:
    web = Web(clock, 4, a=png(1), b=png(2), c=png(3), d=png(4))
    text = f"{HEAD}T-1,Tent,10,{'|'.join(web.pictures)},\n"
    report = take_table(text, web=web)
    assert (report.notes, report.refusals, len(one("T-1").images)) == ([MORE_LEFT], [], 3)
    assert take_table(text, web=web).notes == [] and len(one("T-1").images) == 4
    assert len(web.fetched) == 4


def test_pictures_that_cannot_be_had_do_not_count_among_those_of_one_import(
    take_table: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture_fetches, "MOST_FETCHED", 1)
    web = Web(page=b"<html>", a=png(1))
    named = ("https://x.test/gone.png", "https://x.test/page.png", "https://x.test/a.png")
    report = take_table(f"{HEAD}T-1,Tent,10,{'|'.join(named)},\n", web=web)
    assert (report.notes, len(report.refusals), len(one("T-1").images)) == ([], 2, 1)


def test_pictures_for_which_a_product_has_no_room_are_not_fetched(take_table: Taken) -> None:
    web = Web(**{f"p{number}": png(number) for number in range(MOST_IMAGES + 2)})
    names = list(web.pictures)
    take_table(f"{HEAD}T-1,Tent,10,{'|'.join(names[: MOST_IMAGES - 1])},\n", web=web)
    text = f"{HEAD}T-1,Tent,10,{'|'.join([names[0], *names[-3:]])},\n"
    for dry_run in (True, False):
        report = take_table(text, dry_run=dry_run, web=web)
        assert [refused.reason for refused in report.refusals] == [
            "A product has at most 30 pictures, and this one has 29; the rest is left out."
        ]
    assert web.fetched == names[:MOST_IMAGES]
    assert [image.source for image in one("T-1").images] == names[:MOST_IMAGES]


SHOPIFY = """\
Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,Option1 Name,Option1 Value,Option1 Linked To,\
Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,\
Variant Fulfillment Service,Variant Price,Variant Compare At Price,Variant Requires Shipping,Variant Taxable,\
Variant Barcode,Image Src,Image Position,Image Alt Text,Gift Card,SEO Title,SEO Description,Variant Image,\
Variant Weight Unit,Variant Tax Code,Cost per item,Status
mug,Mug,<p>Holds tea.</p>,Fern,,Mugs,tea,true,Colour,Red,,MUG-R,300,shopify,4,deny,manual,9.00,,true,true,\
'5012345678900,https://x.test/side.png,1,From the side,false,,,https://x.test/red.png,g,,4.00,active
mug,,,,,,,,,Blue,,MUG-B,300,shopify,2,deny,manual,9.00,,true,true,,https://x.test/red.png,2,Red mug,,,,\
https://x.test/blue.png,g,,4.00,
mug,,,,,,,,,Grey,,MUG-G,300,shopify,1,deny,manual,9.00,,true,true,,,,,,,,,g,,4.00,
mug,,,,,,,,,,,,,,,,,,,,,,https://x.test/inside.png,3,,,,,,,,,
lid,Lid,,Fern,,,,true,Title,Default Title,,LID,50,shopify,9,deny,manual,3.00,,true,true,,,,,false,,,\
https://x.test/lid.png,g,,,active
"""


def shown(sku: str) -> dict[str, str | None]:
    """The addresses from which the variants of a product have their pictures."""
    product = one(sku)
    pictures = {variant.sku: product.picture_of(variant) for variant in product.variants}
    return {of: picture.source if picture else None for of, picture in pictures.items()}


def test_variants_of_shopify_have_the_pictures_that_their_lines_name(take_table: Taken) -> None:
    web = Web(side=png(1), red=png(2), blue=png(3), inside=png(4), lid=png(5), green=png(6))
    preview = take_table(SHOPIFY, dry_run=True, web=web)
    assert (preview.of("products").added, preview.refusals, web.fetched) == (2, [], [])
    assert take_table(SHOPIFY, web=web).refusals == []
    assert [image.source and image.source[15:-4] for image in one("mug").images] == ["side", "red", "inside", "blue"]
    assert [image.alt for image in one("mug").images] == ["From the side", "Red mug", "", ""]
    assert shown("mug") == {"MUG-R": "https://x.test/red.png", "MUG-B": "https://x.test/blue.png", "MUG-G": None}
    assert [image.source for image in one("LID").images] == ["https://x.test/lid.png"]
    assert take_table(SHOPIFY, web=web).of("products").unchanged == 2 and len(web.fetched) == 5
    take_table(SHOPIFY.replace("x.test/blue.png", "x.test/green.png"), web=web)
    assert shown("mug")["MUG-B"] == "https://x.test/green.png"


def test_a_picture_of_a_variant_that_cannot_be_had_is_named_once_and_takes_none_away(take_table: Taken) -> None:
    web = Web(side=png(1), red=png(2), blue=png(3), inside=png(4), lid=png(5))
    take_table(SHOPIFY, web=web)
    report = take_table(SHOPIFY.replace("x.test/blue.png", "x.test/gone.png"), web=web)
    assert [one.reason for one in report.refusals] == ["https://x.test/gone.png: The host answered with status 404."]
    assert shown("mug")["MUG-B"] == "https://x.test/blue.png"
    assert take_table("Handle,Variant SKU,Variant Inventory Qty\nmug,MUG-B,7").refusals == []
    assert shown("mug")["MUG-B"] == "https://x.test/blue.png"


def test_a_table_of_other_programs_names_pictures_of_variants_by_file(take_table: Taken) -> None:
    archive = packed({"red.png": png(1), "blue.png": png(2)})
    head = "sku,name,price,variantSku,option1Name,option1Value,Variant: picture"
    report = take_table(f"{head}\nT,Tent,10,T-R,Colour,Red,red.png\nT,,,T-B,,Blue,blue.png\n", archive)
    assert report.refusals == [] and report.notes == []
    own = {variant.sku: variant.picture for variant in one("T").variants}
    assert [own["T-R"], own["T-B"]] == [image.file for image in one("T").images]


def test_variants_get_no_picture_for_which_their_product_has_no_room(take_table: Taken) -> None:
    names = [f"{number}.png" for number in range(MOST_IMAGES + 1)]
    archive = packed({name: png(number) for number, name in enumerate(names)})
    take_table(f"{HEAD}T,Tent,10,{'|'.join(names[:MOST_IMAGES])},\n", archive)
    head = "sku,name,price,variantSku,option1Name,option1Value,Variant: picture"
    take_table(f"{head}\nT,Tent,10,T-R,Colour,Red,0.png\n", archive)
    earlier = one("T").variants[0].picture
    report = take_table(f"{head}\nT,Tent,10,T-R,Colour,Red,{names[-1]}\nT,,,T-B,,Blue,{names[-1]}\n", archive)
    assert [refused.reason for refused in report.refusals] == [
        "A product has at most 30 pictures, and this one has 30; the rest is left out."
    ]
    assert [variant.picture for variant in one("T").variants] == [earlier, None]


def test_a_product_with_more_pictures_of_variants_than_it_may_have_is_complained_of_once(take_table: Taken) -> None:
    names = [f"{number}.png" for number in range(MOST_IMAGES + 2)]
    archive = packed({name: png(number) for number, name in enumerate(names)})
    head = "sku,name,price,variantSku,option1Name,option1Value,Variant: picture"
    lines = "".join(f"T,Tent,10,T-{name},Print,{name},{name}\n" for name in names)
    report = take_table(f"{head}\n{lines}", archive)
    assert [refused.reason for refused in report.refusals] == [
        "A product has at most 30 pictures; the rest is left out."
    ]
    variants = one("T").variants
    assert [variant.picture is None for variant in variants] == [False] * MOST_IMAGES + [True] * 2

"""Tables of products: our own columns and Shopify's, as records of a bundle."""

from __future__ import annotations

import csv
import io
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from app.domain.bundles.importer import import_bundle
from app.domain.bundles.product_tables import (
    LONGEST_LINE,
    Lines,
    correction_lines,
    export_table,
    format_of,
    header_and_samples,
)
from app.domain.bundles.reading import FileRow
from app.domain.bundles.report import BrokenBundle, BundleReport
from app.domain.bundles.table_rows import TableFormat, check_columns, guess_columns, read_products
from app.domain.catalogue.models import Product
from app.domain.catalogue.pictures import MOST_IMAGES
from app.domain.catalogue.product_rules import MOST_VARIANTS
from app.domain.shared.problems import Invalid
from app.domain.sites.models import Site
from app.extensions import db
from app.ports import clock, images
from app.transaction import transaction
from tests.domain.bundles.conftest import HOST, LEVELS, SITE, TAXONOMY, Take, count, one, product, refusals

ATTRIBUTES = {"sleeps": "Sleeps", "colour": "Colour"}
SHOPIFY = "\n".join(
    (
        "Handle,Title,Body (HTML),Vendor,Published,Option1 Name,Option1 Value,Variant SKU,Variant Inventory Qty,"
        "Variant Price,Variant Compare At Price,Variant Barcode,Image Src,Status",
        "ridge,Ridge tent,<p>Dry</p>,Fell,true,Size,Small,R-S,3,100.00,120.00,'0123456789012,https://x.test/a.jpg,active",
        "ridge,,,,,,Large,R-L,-2,150.00,,,https://x.test/b.jpg,",
        "mug,Mug,,Fell,TRUE,Title,Default Title,MUG-1,,9.50,,,,draft",
    )
)


def rows(text: str, columns: list[str] | None = None) -> list[FileRow]:
    lines = iter(Lines(io.BytesIO(text.encode()), "table.csv"))
    header = next(lines).cells
    chosen = columns or [target or f"#{place}" for place, target in enumerate(guess_columns(header, ATTRIBUTES))]
    return list(read_products(TableFormat(chosen, "gbp", header), lines))


def test_columns_are_known_by_our_names_by_labels_and_by_shopifys() -> None:
    header = ["SKU", "seoName", "Compare-at price", "attribute:sleeps", "colour", "weight", "sku"]
    assert guess_columns(header, ATTRIBUTES) == [
        "sku", "seoName", "compareAtPrice", "attribute:sleeps", "attribute:colour", "", "",
    ]  # fmt: skip
    assert guess_columns(["Handle", "Title", "SKU", "Price", "Tags"], {}) == [
        "handle",
        "name",
        "variantSku",
        "variantPrice",
        "",
    ]
    assert guess_columns(["URL handle", "Option1 value"], {}) == ["handle", "option1Value"]


def test_names_of_other_programs_are_known_where_no_column_has_our_own() -> None:
    header = ["Product_Code", "Title", "Vendor", "Body (HTML)", "Variant Price", "RRP", "Qty", "EAN"]
    assert guess_columns(header, {}) == [
        "sku", "name", "manufacturer", "description", "price", "compareAtPrice", "stock", "upc",
    ]  # fmt: skip
    assert guess_columns(["Title", "Name", "Variant SKU"], {}) == ["", "name", "sku"]
    assert guess_columns(["SKU", "Variant SKU", "Title"], {}) == ["sku", "", "name"]
    assert guess_columns(["sku", "Brand"], {"brand": "Brand"}) == ["sku", "attribute:brand"]


def test_what_columns_cannot_be_is_said_all_at_once() -> None:
    with pytest.raises(Invalid) as refused:
        check_columns(["name", "name", "weight", "attribute:sleeps"], ATTRIBUTES)
    assert [problem.code for problem in refused.value.problems] == [
        "twice", "unknown_target", "missing_column", "missing_column",
    ]  # fmt: skip
    with pytest.raises(Invalid, match="at least one more column"):
        check_columns(["sku", ""], {})
    check_columns(["handle", "variantPrice"], {})
    check_columns(["sku", "stock"], {})


def test_lines_of_one_handle_are_a_product_with_its_variants() -> None:
    ridge, mug = rows(SHOPIFY)
    assert (ridge.line, mug.line) == (2, 4)
    assert ridge.fields == {
        "sku": "ridge", "name": "Ridge tent", "seoName": "ridge", "description": "<p>Dry</p>", "manufacturer": "Fell",
        "price": 10_000, "compareAtPrice": 12_000, "enabled": True,
        "variants": [
            {"sku": "R-S", "upc": "0123456789012", "price": None, "stock": 3, "options": {"Size": "Small"}},
            {"sku": "R-L", "upc": None, "price": 15_000, "stock": 0, "options": {"Size": "Large"}},
        ],
        "images": ["https://x.test/a.jpg", "https://x.test/b.jpg"],
    }  # fmt: skip
    assert mug.fields["sku"] == "MUG-1" and "variants" not in mug.fields
    assert (mug.fields["price"], mug.fields["stock"], mug.fields["enabled"]) == (950, None, False)


def test_our_own_lines_have_levels_attributes_and_variants() -> None:
    text = "sku;name;price;stock;enabled;searchTerms;level;attribute:colour;variantSku;option1Name;option1Value\n"
    (tent,) = rows(text + "T-1;Tent;12.50;4;no;'=a, b;Outdoor > Tents;Moss;T-1-S;Size;S\nT-1;;;;;;;;T-1-L;;L")
    assert tent.fields["taxonomy"] == {"levelId": "Outdoor > Tents", "attributes": {"colour": "Moss"}}
    assert tent.fields["searchTerms"] == ["=a", "b"]
    assert (tent.fields["price"], tent.fields["stock"], tent.fields["enabled"]) == (1250, 4, False)
    assert [variant["options"] for variant in tent.fields["variants"]] == [{"Size": "S"}, {"Size": "L"}]


def test_a_line_break_separates_no_search_terms() -> None:
    (mug,) = rows('sku,name,price,searchTerms\nMUG-1,Mug,9.50,"beaker,\ntea\ncup"')
    assert mug.fields["searchTerms"] == ["beaker", "tea\ncup"]


def test_what_cannot_be_read_is_named_by_its_column() -> None:
    (bad,) = rows("sku,name,price,stock,enabled\nT-1,,dear,some,perhaps,more")
    assert [problem.message for problem in bad.problems] == [
        "Line 2 has 6 cells; the first line names 5.",
        "price: “dear” is not an amount; type it like 12.50.",
        "stock: “some” is not a whole number.",
        "enabled: “perhaps” is neither yes nor no.",
        "name: The name is missing.",
    ]


def test_a_product_that_stands_twice_is_two_rows_and_a_note_may_have_lines() -> None:
    found = rows('sku,name,price,description\nT-1,Tent,1,"a\nb"\nT-1,Tent,2,c')
    assert [row.line for row in found] == [2, 4]


@pytest.mark.parametrize("raw", [b"", b"sku\nA", b"sku,name\n", b"sku,name\n\xff\xfe,x", b'sku,name\n"a'])
def test_what_is_no_table_is_refused(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(raw)
    with pytest.raises(BrokenBundle):
        header_and_samples(tmp_path / "t.csv", "t.csv", 3)


@pytest.mark.parametrize("raw", [b"\n", b"\r\n", b"sku,name\n" + b"\n" * 100, b'sku,name\n"' + b"\n" * 100, b",,,\n"])
def test_of_a_long_file_only_the_first_lines_are_read_for_its_columns(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(raw + raw[-1:] * (30 * 1024**2))
    began = process_time()
    with pytest.raises(BrokenBundle):
        header_and_samples(tmp_path / "t.csv", "t.csv", 3)
    assert process_time() - began < 0.5


def test_rows_far_below_the_first_ones_are_no_samples(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"sku,name\nA,Ape\n" + b"\n" * 30_000 + b"B,Bee\n")
    assert header_and_samples(tmp_path / "t.csv", "t.csv", 3) == (["sku", "name"], [["A", "Ape"]])


Taken = Callable[..., BundleReport]


@pytest.fixture
def take_table(take: Take, tmp_path: Path) -> Taken:
    take(site=SITE, taxonomy=TAXONOMY)
    site_id = db.session.query(Site.id).scalar()

    def taken(text: str, dry_run: bool = False) -> BundleReport:
        path = tmp_path / "table.csv"
        path.write_text(text)
        header, _ = header_and_samples(path, "table.csv", 1)
        table = format_of(site_id, guess_columns(header, ATTRIBUTES))
        return import_bundle(
            path, HOST, clock(), images(), transaction, "a test", 8, dry_run, name="table.csv", table=table
        )

    return taken


def test_a_table_goes_in_and_again_changes_nothing(take_table: Taken) -> None:
    assert take_table(SHOPIFY, dry_run=True).of("products").added == 2 and count(Product) == 0
    assert take_table(SHOPIFY).of("products").added == 2
    assert [variant.sku for variant in one("ridge").variants] == ["R-S", "R-L"]
    assert take_table(SHOPIFY).of("products").unchanged == 2


def test_what_a_table_has_no_column_for_stays(take_table: Taken) -> None:
    head = "sku,name,price,level"
    take_table(f"{head},stock,attribute:sleeps,attribute:colour\nT-1,Tent,10,tents,5,2,Moss")
    take_table(f"{head},attribute:colour\nT-1,Tent,11,tents,Clay")
    tent = one()
    assert (tent.price, tent.stock, tent.taxonomy_attributes) == (1100, 5, {"sleeps": 2, "colour": ["Clay"]})
    take_table(SHOPIFY)
    less = SHOPIFY.replace("Variant Inventory Qty", "Warehouse").replace("150.00", "160.00")
    assert take_table(less).of("products").changed == 1
    assert [(variant.stock, variant.price) for variant in one("ridge").variants] == [(3, None), (0, 16_000)]


def test_a_level_is_named_by_its_path_and_one_that_several_have_is_left_out_by_name(
    take: Take, take_table: Taken
) -> None:
    tents = {"levelId": "dolls-tents", "name": "Tents", "attributes": [], "children": []}
    toys = {"levelId": "toys", "name": "Toys", "attributes": [], "children": [tents]}
    camping = {"levelId": "camping", "name": "Camping", "attributes": [], "children": LEVELS}
    take(taxonomy={"taxonomies": [TAXONOMY["taxonomies"][0] | {"rootLevels": [toys, camping]}]})
    report = take_table(
        "sku,name,price,level\nT-1,Tent,10,Camping > Tents\nT-2,Tent,10, toys›tents \nT-3,Tent,10,camping\n"
        "T-4,Tent,10,Tents\nT-5,Tent,10,Camping > Yurts"
    )
    levels = [one(f"T-{number}").taxonomy_level_id for number in range(1, 6)]
    assert levels == ["tents", "dolls-tents", "camping", None, None]
    assert [(refused.line, refused.reason) for refused in report.refusals] == [
        (5, "“Tents” names 2 levels: Toys › Tents, Camping › Tents. Give the whole path."),
        (6, "The active taxonomy has no level “Camping > Yurts”."),
    ]


def test_the_table_of_a_shop_comes_back_with_every_number(take: Take, take_table: Taken) -> None:
    values = {"sleeps": 0.00005, "colour": ["Moss", "Clay"]}
    take(products=[product(rating=4.266666666666667, taxonomy={"levelId": "tents", "attributes": values})])
    text = io.StringIO()
    csv.writer(text).writerows(export_table(one().site_id))
    report = take_table(text.getvalue())
    assert (refusals(report), report.dropped_in_all, report.of("products").unchanged) == ([], 0, 1)


def test_a_table_of_stock_changes_stock_alone_and_adds_nothing(take_table: Taken) -> None:
    take_table("sku,name,price,stock,variantSku,option1Name,option1Value\nT-1,Tent,10,5,,,\nT-2,Tarp,12,,T-2-S,Size,S")
    report = take_table("sku,stock\nT-1,7\nT-2,1\nT-3,9")
    assert (report.of("products").changed, report.of("products").refused, count(Product)) == (2, 1, 2)
    assert (one().name, one().price, one().stock) == ("Tent", 1000, 7)
    assert [variant.sku for variant in one("T-2").variants] == ["T-2-S"]
    assert {refusal.line for refusal in report.refusals} == {4}
    assert {refusal.field for refusal in report.refusals} == {"name", "price"}


SIZES = "sku,name,price,variantSku,variantPrice,variantStock,option1Name,option1Value\n"
SIZES += "T,Tent,10,T-S,,1,Size,S\nT,,,T-M,,2,Size,M\nT,,,T-L,12,3,Size,L"


def sizes(sku: str = "T") -> dict[str, tuple[int | None, int | None, str]]:
    """The price, stock and size of each variant, in the order of the shop."""
    db.session.expire_all()
    return {variant.sku: (variant.price, variant.stock, variant.options["Size"]) for variant in one(sku).variants}


@pytest.mark.parametrize(
    ("table", "now"),
    [
        ("sku,variantSku,variantStock\nT,T-M,9", (None, 9, "M")),
        ("sku,variantSku,variantStock,option1Name,option1Value\nT,T-M,9,Size,M", (None, 9, "M")),
        ("sku,name,price,variantSku,variantStock\nT,Tent,11,,", (None, 2, "M")),
        ("sku,variantSku,option1Name,option1Value\nT,T-M,Size,Middle", (None, 2, "Middle")),
    ],
)
def test_a_table_of_some_variants_leaves_the_others_and_what_it_does_not_say(
    take_table: Taken, table: str, now: tuple[int | None, int | None, str]
) -> None:
    take_table(SIZES)
    report = take_table(table)
    assert (report.of("products").changed, report.of("products").refused) == (1, 0)
    assert list(sizes().items()) == [("T-S", (None, 1, "S")), ("T-M", now), ("T-L", (1200, 3, "L"))]
    assert take_table(table).of("products").unchanged == 1


def test_lines_of_new_variants_add_them_behind_the_others(take_table: Taken) -> None:
    take_table(SIZES)
    take_table("sku,variantSku,option1Name,option1Value\nT,T-XL,Size,XL\nT,T-S,Size,S")
    assert list(sizes()) == ["T-S", "T-M", "T-L", "T-XL"]


def test_variants_that_clash_with_those_of_the_shop_or_say_nothing_of_themselves_are_refused(take_table: Taken) -> None:
    take_table(SIZES)
    clash = take_table("sku,variantSku,option1Name,option1Value\nT,T-0,Size,S")
    assert [refusal.reason for refusal in clash.refusals] == ["Two variants are both “Size S”."]
    unknown = take_table("sku,variantSku,variantStock\nT,T-0,1")
    assert [refusal.code for refusal in unknown.refusals] == ["required"]
    many = "".join(f"\nT,T-{number},Size,{number}" for number in range(198))
    too_many = take_table(f"sku,variantSku,option1Name,option1Value{many}")
    assert [refusal.code for refusal in too_many.refusals] == ["too_many"]
    assert list(sizes()) == ["T-S", "T-M", "T-L"]


def test_shopifys_stock_and_price_lists_change_the_variants_that_they_name(take_table: Taken) -> None:
    head = "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Variant Inventory Qty"
    take_table(f"{head}\nt,Tent,Size,S,T-S,10,1\nt,,,M,T-M,10,2\nmug,Mug,Title,Default Title,MUG-1,5,3")
    report = take_table("Handle,Variant SKU,Variant Inventory Qty\nt,T-S,7\nmug,MUG-1,4")
    assert (report.of("products").changed, report.refusals) == (2, [])
    assert sizes("t") == {"T-S": (None, 7, "S"), "T-M": (None, 2, "M")} and one("MUG-1").stock == 4
    prices = "Handle,Variant SKU,Variant Price\nt,T-S,8\nmug,MUG-1,6"
    assert take_table(prices).refusals == []
    assert sizes("t") == {"T-S": (800, 7, "S"), "T-M": (None, 2, "M")}
    assert (one("t").price, one("MUG-1").price) == (1000, 600)
    assert take_table(prices).of("products").unchanged == 2


def test_what_is_left_out_comes_as_a_table_to_correct(take_table: Taken, tmp_path: Path) -> None:
    lines = ("T-1,Tent,10,,", "T-2,=Bad,dear,T-2-S,S", "T-2,,,T-2-L,L", "T-1,Twice,1,,")
    report = take_table("\n,".join(("Problem,sku,name,price,variantSku,option1Value", *lines)))
    assert (report.of("products").added, report.of("products").refused) == (1, 2)
    assert [refusal.line for refusal in report.refusals] == [3, 5]
    table = TableFormat(["", "sku", "name", "price", "variantSku", "option1Value"], "gbp")
    refused = [one.as_json() for one in report.refusals]
    found = list(correction_lines(tmp_path / "table.csv", "table.csv", table, refused))
    assert found == [
        ["sku", "name", "price", "variantSku", "option1Value", "Problem"],
        ["T-2", "=Bad", "dear", "T-2-S", "S", "price: “dear” is not an amount; type it like 12.50."],
        ["T-2", "", "", "T-2-L", "L", ""],
        ["T-1", "Twice", "1", "", "", "The SKU “T-1” is already on line 2."],
    ]


def test_a_table_of_any_length_takes_the_memory_of_a_short_one() -> None:
    def peak(lines: int) -> int:
        text = b"sku,name,price\n" + b"".join(b"T-%d,Tent,10\n" % number for number in range(lines))
        found = iter(Lines(io.BytesIO(text), "t.csv"))
        header = next(found).cells
        tracemalloc.start()
        assert sum(1 for _ in read_products(TableFormat(["sku", "name", "price"], "gbp", header), found)) == lines
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    assert peak(10_000) < peak(500) + 64 * 1024


def test_a_product_of_any_number_of_lines_takes_the_memory_of_a_few_and_is_refused() -> None:
    head = "sku,name,price,variantSku,variantStock\n"

    def peak(lines: int) -> int:
        found = iter(Lines(io.BytesIO((head + "T-1,Tent,10,V-1,12345\n" * lines).encode()), "t.csv"))
        table = TableFormat(next(found).cells, "gbp")
        tracemalloc.start()
        (row,) = read_products(table, found)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(row.fields["variants"]) > MOST_VARIANTS
        return used

    assert peak(10_000) < peak(300) + 64 * 1024
    (long,) = rows(head + f"T-1,Tent,10,{'x' * 100_000},1\n" * 50)
    assert [problem.code for problem in long.problems] == ["too_long"] and len(long.fields["variants"]) < 20


def test_lines_of_pictures_are_pictures_up_to_one_too_many_and_no_variants() -> None:
    pictures = "".join(f"\nridge,,,,,,,,,,,,https://x.test/{number}.jpg," for number in range(300))
    (ridge,) = (row for row in rows(SHOPIFY.replace("\nmug", f"{pictures}\nmug")) if row.fields["sku"] == "ridge")
    assert len(ridge.fields["variants"]) == 2 and len(ridge.fields["images"]) == MOST_IMAGES + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sku,name\nA," + '"\n",' * 300_000, "is a quotation mark missing"),
        ("sku,name\nA," + "b," * 500, "at most 500 columns; this line has 502 cells"),
        ("a," * 501, "at most 500 columns; this line has 502 cells"),
    ],
)
def test_a_line_that_goes_on_and_on_is_refused_where_its_bound_is(text: str, message: str) -> None:
    stream = io.BytesIO(text.encode())
    with pytest.raises(BrokenBundle, match=message):
        list(Lines(stream, "t.csv"))
    assert stream.tell() <= LONGEST_LINE + 16


def test_lines_of_text_that_are_long_together_are_taken() -> None:
    text = "sku,description\n" + 'A,"{}\n{}"\n'.format("x" * 60_000, "y" * 60_000) * 20
    assert len(text) > LONGEST_LINE and len(list(Lines(io.BytesIO(text.encode()), "t.csv"))) == 21

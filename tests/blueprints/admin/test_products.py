from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event, select

from app.domain.catalogue.models import Product, ProductImage
from app.domain.catalogue.products import product_of
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.factories import make_product
from tests.page_client import Reading

XSS = '"><script>alert(1)</script><img src=x onerror=alert(1)> {{ 7*7 }}'


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    return merchandiser(app)


def stored(app: Flask, **more: Any) -> int:
    with app.app_context(), transaction():
        site = db.session.scalars(select(Site).order_by(Site.id)).first()
        assert site is not None
        return make_product(site, **({"sku": "T-1", "name": "Ridge tent"} | more)).id


def product(app: Flask, product_id: int) -> dict[str, Any]:
    with app.app_context():
        found = db.session.get(Product, product_id)
        assert found is not None
        return {column.name: getattr(found, column.name) for column in Product.__table__.columns}


def typed(**more: Any) -> dict[str, Any]:
    return {"name": "Ridge tent", "sku": "T-1", "price": "120.00", "enabled": "on", "revision": "1"} | more


def test_an_empty_catalogue_says_what_to_do_first(mia: Merchandiser) -> None:
    page = mia.get("/admin/catalogue/products")
    assert page.texts["h1"] == "Products"
    assert {"/admin/catalogue/product/new"} <= {link.get("href") for link in page.all("a")}


def test_the_list_narrows_by_words_and_says_when_nothing_matches(app: Flask, mia: Merchandiser) -> None:
    stored(app)
    stored(app, sku="B-1", name="Boots")
    found = mia.fragment("/admin/catalogue/products?q=tent&shown=enabled").text
    assert "Ridge tent" in found
    assert "Boots" not in found
    assert "No product matches" in mia.fragment("/admin/catalogue/products?q=%25").text


def test_the_list_shows_the_photograph_of_a_product_or_else_its_drawing_or_sign(app: Flask, mia: Merchandiser) -> None:
    product_id = stored(app)
    sign = mia.fragment("/admin/catalogue/products?q=tent").text
    with app.app_context(), transaction():
        image = ProductImage(site_id=db.session.get_one(Product, product_id).site_id, product_id=product_id, position=0)
        image.file, image.alt, image.width, image.height = "a.webp", "", 800, 600
        db.session.add(image)
    photograph = mia.fragment("/admin/catalogue/products?q=tent").text
    assert '<img class="thumb" src="/picture/sign/parcel.svg?' in sign
    assert "/a-small.webp" in photograph and "/picture/" not in photograph


def test_the_chosen_order_of_the_list_is_sent_with_its_filters(app: Flask, mia: Merchandiser) -> None:
    """The links that choose it bring the list alone, so that its field comes with the list."""
    stored(app)
    page = mia.get("/admin/catalogue/products")
    assert [form["hx-get"] for form in page.all("form") if form.get("id") == "product-filters"] == [
        "/admin/catalogue/products"
    ]
    for query in ("sort=price", "sort=price&q=nothing"):
        fields = Reading(mia.fragment(f"/admin/catalogue/products?{query}").text).all("input")
        assert [one["value"] for one in fields if one.get("form") == "product-filters"] == ["price"]
    assert "product-filters" not in mia.fragment("/admin/catalogue/products").text


def test_a_narrowed_list_has_a_short_address(mia: Merchandiser) -> None:
    answer = mia.fragment("/admin/catalogue/products?q=tent&shown=&stock=&manufacturer=&level=&p=1")
    assert answer.headers["HX-Push-Url"] == "/admin/catalogue/products?q=tent"


@pytest.mark.parametrize(
    "query", ["p=99", "p=-1", "p=x", "sort=drop+table", "level=nothing", "shown=%00x"[:6], "q=" + "x" * 500]
)
def test_strange_addresses_of_the_list_are_answered(app: Flask, mia: Merchandiser, query: str) -> None:
    stored(app)
    mia.get(f"/admin/catalogue/products?{query}")


def test_the_list_costs_the_same_for_one_product_and_for_fifty(app: Flask, mia: Merchandiser) -> None:
    def cost() -> int:
        seen: list[object] = []
        with app.app_context():
            engine = db.engine

        def note(*_details: object) -> None:
            seen.append(1)

        event.listen(engine, "before_cursor_execute", note)
        mia.get("/admin/catalogue/products")
        event.remove(engine, "before_cursor_execute", note)
        return len(seen)

    stored(app)
    mia.get("/admin/catalogue/products")
    one = cost()
    for number in range(49):
        stored(app, sku=f"N-{number}")
    assert cost() == one


def test_ticked_products_are_hidden_and_shown_together(app: Flask, mia: Merchandiser) -> None:
    ids = [stored(app, sku=sku) for sku in ("A", "B", "C")]
    mia.get("/admin/catalogue/products")
    answer = mia.swap("/admin/catalogue/products/shown", {"product": ids[:2], "action": "disable"})
    assert "2 products hidden from the shop" in answer.text
    assert [product(app, id)["enabled"] for id in ids] == [False, False, True]
    mia.post("/admin/catalogue/products/shown?q=tent", {"product": ids, "action": "enable"})
    assert product(app, ids[0])["enabled"]


def test_a_product_is_added_with_an_address_from_its_name(app: Flask, mia: Merchandiser) -> None:
    mia.get("/admin/catalogue/product/new")
    answer = mia.post("/admin/catalogue/product/new", typed(searchTerms="wigwam, tipi", description="<p onclick=x>Hi"))
    made = product(app, int(answer.location.rsplit("/", 1)[1]))
    assert (made["seo_name"], made["price"], made["search_terms"]) == ("ridge-tent", 12_000, ["wigwam", "tipi"])
    assert made["description"] == "<p>Hi</p>"


def test_a_refused_product_names_every_problem_and_keeps_what_was_typed(app: Flask, mia: Merchandiser) -> None:
    mia.get("/admin/catalogue/product/new")
    page = mia.post("/admin/catalogue/product/new", typed(name="", sku=XSS, price="12,5", stock="-1", rating="9"), 400)
    assert page.value("sku") == XSS
    assert page.value("price") == "12,5"
    marked = {field["name"] for field in page.all("input") if field.get("aria-invalid") == "true"}
    assert marked == {"name", "sku", "price", "stock", "rating"}
    with app.app_context():
        assert db.session.scalars(select(Product)).all() == []


def test_a_save_says_so_and_links_to_the_shop(app: Flask, mia: Merchandiser) -> None:
    product_id = stored(app)
    path = f"/admin/catalogue/product/{product_id}"
    mia.get(path)
    answer = mia.swap(path, typed(price="99.5"))
    assert "Saved. Search shows it in a few seconds." in answer.text
    assert "/p/t-1" in answer.text
    assert product(app, product_id)["price"] == 9_950
    assert "No changes to save." in mia.swap(path, typed(price="99.50", revision="2")).text


def test_without_javascript_a_save_leads_back_to_the_editor(app: Flask, mia: Merchandiser) -> None:
    path = f"/admin/catalogue/product/{stored(app)}"
    mia.get(path)
    assert mia.post(path, typed(price="1")).location == path


def test_a_bad_list_of_terms_is_refused_while_the_rest_saves(app: Flask, mia: Merchandiser) -> None:
    product_id = stored(app, search_terms=["wigwam"])
    path = f"/admin/catalogue/product/{product_id}"
    mia.get(path)
    answer = mia.swap(path, typed(price="7", searchTerms="fine, " + "x" * 51))
    assert answer.status_code == 200
    assert "51 characters" in answer.text
    assert "x" * 51 in answer.text
    after = product(app, product_id)
    assert (after["price"], after["search_terms"]) == (700, ["wigwam"])


def test_without_javascript_refused_terms_stay_in_the_form(app: Flask, mia: Merchandiser) -> None:
    product_id = stored(app, search_terms=["wigwam"])
    path = f"/admin/catalogue/product/{product_id}"
    mia.get(path)
    page = mia.post(path, typed(price="7", searchTerms="fine, " + "x" * 51), 200)
    assert page.texts["textarea"].count("fine, " + "x" * 51) == 1
    assert "51 characters" in page.texts["p"] and "Terms it has: wigwam." in page.texts["p"]
    assert product(app, product_id)["price"] == 700


def test_refused_terms_of_a_new_product_stay_in_the_form_while_the_rest_is_added(app: Flask, mia: Merchandiser) -> None:
    new = "/admin/catalogue/product/new"
    mia.get(new)
    answer = mia.swap(new, typed(searchTerms="wigwam, " + "x" * 51))
    with app.app_context():
        made = db.session.scalars(select(Product)).one()
        assert (made.name, made.search_terms) == ("Ridge tent", [])
        address = f"/admin/catalogue/product/{made.id}"
    assert answer.status_code == 200 and answer.headers["HX-Push-Url"] == address
    assert f'action="{address}"' in answer.text and "wigwam, " + "x" * 51 in answer.text
    plain = mia.post(new, typed(sku="T-2", searchTerms="tea, " + "y" * 51), 200)
    assert "tea, " + "y" * 51 in plain.texts["textarea"] and "51 characters" in plain.texts["p"]


def test_a_stale_save_shows_both_versions_and_saves_over_on_purpose(app: Flask, mia: Merchandiser) -> None:
    product_id = stored(app)
    path = f"/admin/catalogue/product/{product_id}"
    mia.get(path)
    mia.swap(path, typed(price="1", manufacturer="Fellside"))
    stale = mia.post(path, typed(price="2", manufacturer="Other"), 409)
    assert stale.value("price") == "2"
    assert stale.value("revision") == "2"
    answer = mia.swap(path, typed(price="2", manufacturer="Other"))
    assert answer.status_code == 409
    assert "1.00" in answer.text and "Fellside" in answer.text
    assert product(app, product_id)["price"] == 100
    assert mia.swap(path, typed(price="2", manufacturer="Other", revision="2")).status_code == 200
    assert product(app, product_id)["price"] == 200


def test_variants_are_typed_as_rows(app: Flask, mia: Merchandiser) -> None:
    product_id = stored(app)
    path = f"/admin/catalogue/product/{product_id}"
    mia.get(path)
    rows = {
        "optionName": ["Size", "Colour"],
        "variantOption": ["S", "Red", "M", "Red", "", ""],
        "variantSku": ["T-1-S", "T-1-M", ""],
        "variantPrice": ["", "13", ""],
        "variantStock": ["4", "", ""],
        "variantUpc": ["", "", ""],
    }
    assert mia.swap(path, typed(**rows)).status_code == 200
    with app.app_context():
        made = db.session.get(Product, product_id)
        assert made is not None
        kept = [(v.sku, v.price, v.stock, v.options) for v in made.variants]
    assert kept == [
        ("T-1-S", None, 4, {"Size": "S", "Colour": "Red"}),
        ("T-1-M", 1_300, None, {"Size": "M", "Colour": "Red"}),
    ]
    page = mia.get(path)
    assert [field["value"] for field in page.all("input") if field.get("name") == "variantSku"] == ["T-1-S", "T-1-M"]


@pytest.mark.parametrize(("intent", "rows"), [("add-variant", 2), ("remove-variant:0", 0), ("remove-variant:x", 1)])
def test_buttons_of_the_variants_change_only_the_form(app: Flask, mia: Merchandiser, intent: str, rows: int) -> None:
    product_id = stored(app)
    path = f"/admin/catalogue/product/{product_id}"
    mia.get(path)
    sent = typed(name="Typed", intent=intent, optionName="Size", variantOption="S", variantSku="V")
    sent |= {"variantPrice": "", "variantStock": "", "variantUpc": ""}
    assert mia.swap(path, sent).text.count('name="variantSku"') == rows
    page = mia.post(path, sent, 200)
    assert page.value("name") == "Typed"
    assert product(app, product_id)["name"] == "Ridge tent"


@pytest.mark.parametrize("field", ["name", "manufacturer", "description", "searchTerms", "upc"])
def test_nothing_that_is_typed_becomes_markup_of_the_admin(app: Flask, mia: Merchandiser, field: str) -> None:
    product_id = stored(app)
    path = f"/admin/catalogue/product/{product_id}"
    mia.get(path)
    mia.swap(path, typed(**{field: XSS}))
    for seen in (path, "/admin/catalogue/products"):
        page = mia.get(seen)
        assert not [tag for tag in page.all("script") if "src" not in tag]
        assert not [tag for tag in page.all("img") if "onerror" in tag]


def test_hostile_numbers_are_problems_not_faults(app: Flask, mia: Merchandiser) -> None:
    path = f"/admin/catalogue/product/{stored(app)}"
    mia.get(path)
    for number in ("9" * 400, "1e9", "NaN", "٣", "0x10", "-0", "1_0"):
        answer = mia.swap(path, typed(price=number, stock=number, rating=number, compareAtPrice=number))
        assert answer.status_code == 400, number
    assert mia.swap(path, typed(revision="9" * 30)).status_code == 409


def test_another_shops_product_is_not_found(app: Flask, mia: Merchandiser) -> None:
    theirs = merchandiser(app, "other.localhost")
    product_id = stored(app)
    mia.get(f"/admin/catalogue/product/{product_id}")
    theirs.get(f"/admin/catalogue/product/{product_id}", 404)
    theirs.get("/admin/catalogue/products")
    assert theirs.swap(f"/admin/catalogue/product/{product_id}", typed(price="1")).status_code == 404
    assert product(app, product_id)["price"] == 1_250


def test_what_goes_with_a_product_is_counted_before_it_is_deleted(app: Flask, mia: Merchandiser) -> None:
    product_id = stored(app)
    with app.app_context(), transaction():
        made = product_of(1, product_id)
        made.images = [ProductImage(site_id=made.site_id, file="red.webp", width=4, height=3)]
    page = mia.pages.client.get(f"/admin/catalogue/product/{product_id}", base_url=mia.pages.base).text
    assert "With it go 0 variants and 1 picture." in " ".join(page.split())


def test_a_deleted_product_is_gone(app: Flask, mia: Merchandiser) -> None:
    product_id = stored(app)
    mia.get(f"/admin/catalogue/product/{product_id}")
    assert mia.post(f"/admin/catalogue/product/{product_id}/delete", {}).location == "/admin/catalogue/products"
    mia.get(f"/admin/catalogue/product/{product_id}", 404)


def test_manufacturers_are_offered_while_typing(app: Flask, mia: Merchandiser) -> None:
    stored(app, manufacturer="Fellside & Sons")
    assert (
        'value="Fellside &amp; Sons"' in mia.fragment("/admin/catalogue/products/manufacturers?manufacturer=fell").text
    )


def test_a_variant_is_given_one_of_the_products_pictures(app: Flask, mia: Merchandiser) -> None:
    product_id = stored(app)
    path = f"/admin/catalogue/product/{product_id}"
    rows = {"optionName": "Colour", "variantOption": "Red", "variantSku": "T-1-R"}
    rows |= {"variantPrice": "", "variantStock": "", "variantUpc": ""}
    assert not [field for field in mia.get(path).all("select") if field.get("name") == "variantPicture"]
    with app.app_context(), transaction():
        made = product_of(1, product_id)
        made.images = [ProductImage(site_id=made.site_id, file="red.webp", alt="Red one", width=4, height=3)]
    assert "Picture 1: Red one" in mia.swap(path, typed(**rows, variantPicture="red.webp")).text
    refused = mia.swap(path, typed(**rows, variantPicture="gone.webp", revision="2"))
    assert refused.status_code == 400 and "not among the product’s pictures" in refused.text
    chosen = mia.swap(path, typed(**rows, variantPicture="red.webp", intent="choose-picture"))
    assert 'value="red.webp" selected' in chosen.text and "Not saved yet." in chosen.text
    with app.app_context():
        assert [variant.picture for variant in product_of(1, product_id).variants] == ["red.webp"]

"""The editor of a category: texts, rule, products in their order, filters, search engines."""

from __future__ import annotations

import io
import re

import pytest
from flask import Flask
from PIL import Image
from sqlalchemy import select

from app.domain.merchandising import trees
from app.domain.merchandising.membership import ORDERED_BY_HAND, hand_made_order
from app.domain.merchandising.models import Node, Placement
from app.domain.shared.author import Author
from app.domain.sites.models import AuditEntry, Site
from app.domain.taxonomy.models import Taxonomy
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.blueprints.admin.test_products import stored
from tests.factories import make_category, make_product, make_site, make_taxonomy
from tests.page_client import Reading
from tests.statements import statements

LEVELS = [
    {
        "levelId": "tents",
        "name": "Tents",
        "attributes": [{"attributeId": "colour", "name": "Colour", "type": "STRING"}],
    }
]


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    return merchandiser(app)


@pytest.fixture
def ids(app: Flask, mia: Merchandiser) -> dict[str, int]:
    """Camping with Tents below it, and Gifts; a taxonomy with the level Tents."""
    with app.app_context(), transaction():
        author = Author(mia.site_id, "Mia", app.extensions[EXTENSION].clock)
        make_taxonomy(db.session.get_one(Site, mia.site_id), LEVELS, active=True)
        tree = trees.create(author, "Shop")
        tree.facets = [{"facetId": "manufacturer", "display": "list"}]
        camping = make_category(author, tree.id, "Camping").id
        found = {"camping": camping, "tents": make_category(author, tree.id, "Tents", camping).id}
        found |= {"gifts": make_category(author, tree.id, "Gifts").id, "tree": tree.id}
    mia.get(page(camping))
    return found


def page(category_id: int, act: str = "") -> str:
    return f"/admin/merchandising/category/{category_id}{act}"


def form(**more: object) -> dict[str, object]:
    return {"name": "Camping", "seoName": "camping", "enabled": "on", "revision": "1"} | more


def node(app: Flask, category_id: int) -> Node:
    with app.app_context():
        return db.session.get_one(Node, category_id)


def order(app: Flask, site_id: int, category_id: int) -> list[int]:
    with app.app_context():
        return hand_made_order(site_id, category_id)


def test_texts_are_saved_cleaned_and_logged(app: Flask, mia: Merchandiser, ids: dict[str, int]) -> None:
    app.extensions[EXTENSION].clock.move(seconds=60)
    sent = form(name="Camp", description="<p>All for <b>camp</b><script>x</script>", metaTitle=" Camp  gear ")
    sent |= {"canonicalUrl": "/c/camp", "metaDescription": "", "excludeFromSitemap": "on"}
    assert "Saved." in mia.swap(page(ids["camping"]), sent).text
    saved = node(app, ids["camping"])
    assert (saved.name, saved.description) == ("Camp", "<p>All for <b>camp</b></p>")
    assert (saved.meta_title, saved.meta_description, saved.canonical_override) == ("Camp gear", None, "/c/camp")
    assert (saved.exclude_from_sitemap, saved.revision) == (True, 2)
    assert saved.updated_at == app.extensions[EXTENSION].clock.now()
    with app.app_context():
        entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "category.save")).one()
    assert (entry.summary, entry.after["exclude_from_sitemap"]) == ("Changed the category Camp", True)
    assert "No changes to save" in mia.swap(page(ids["camping"]), sent | {"revision": "2"}).text


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"name": " "}, "The name is missing"),
        ({"name": "x" * 201}, "201 characters"),
        ({"seoName": "Camp Gear"}, "may hold a–z"),
        ({"seoName": "gifts"}, "“Gifts”, which stands beside it"),
        ({"canonicalUrl": "https://user:pw@elsewhere.test/"}, "canonical"),
        ({"canonicalUrl": "//user@elsewhere.test/"}, "canonical"),
        ({"canonicalUrl": "javascript:alert(1)"}, "canonical"),
        ({"metaTitle": "x" * 301}, "301 characters"),
        ({"metaDescription": "x" * 501}, "501 characters"),
        ({"level": "nowhere"}, "no level “nowhere”"),
        ({"product": "99"}, "no longer on this site"),
        ({"ownFacets": "1", "facet": "category"}, "neither a built-in filter nor an attribute id"),
        ({"ownFacets": "1", "facet": "colour", "display-colour": "cloud"}, "A filter is displayed as"),
        ({"ownFacets": "1", "facet": "colour", "swatches-colour": "Navy blue"}, "must be written like #1b2a4e"),
        ({"ownFacets": "1", "facet": "colour", "label-colour": "x" * 81}, "81 characters"),
    ],
)
def test_what_cannot_be_is_refused_and_what_was_typed_stays(
    app: Flask, mia: Merchandiser, ids: dict[str, int], wrong: dict[str, str], says: str
) -> None:
    refused = mia.swap(page(ids["camping"]), form(description="Typed words") | wrong)
    assert refused.status_code == 400 and says in refused.text and "Typed words" in refused.text
    assert node(app, ids["camping"]).revision == 1
    mia.post(page(ids["camping"]), form() | wrong, 400)


def test_another_save_meanwhile_is_shown_beside_what_was_typed(
    app: Flask, mia: Merchandiser, ids: dict[str, int]
) -> None:
    mia.swap(page(ids["camping"]), form(name="Theirs", level="tents"))
    late = mia.swap(page(ids["camping"]), form(name="Mine", ownFacets="1", facet="price"))
    assert late.status_code == 409
    assert all(text in late.text for text in ("Theirs", "Mine", "Levels", "Inherited", 'name="revision" value="2"'))
    assert node(app, ids["camping"]).name == "Theirs"


def test_another_slug_moves_the_addresses_below(app: Flask, mia: Merchandiser, ids: dict[str, int]) -> None:
    preview = mia.swap(page(ids["camping"], "/preview"), form(seoName="outdoor")).text
    assert "Its address changes from /c/camping, and with it those of 1 below it." in preview
    saved = mia.swap(page(ids["camping"]), form(seoName="outdoor")).text
    assert "from /c/camping to /c/outdoor, and with it those of 1 category below. The old ones lead there" in saved
    assert (node(app, ids["camping"]).path, node(app, ids["tents"]).path) == ("outdoor", "outdoor/tents")
    assert node(app, ids["tents"]).updated_at == node(app, ids["camping"]).updated_at


def test_another_slug_without_a_redirect_names_the_one_address_that_is_lost(
    mia: Merchandiser, ids: dict[str, int]
) -> None:
    assert "changes the addresses of this category and of all below it" in mia.fragment(page(ids["gifts"])).text
    mia.post(page(ids["gifts"]), form(name="Gifts", seoName="presents", redirectOffered="1"))
    text = mia.get(page(ids["gifts"])).texts["p"]
    assert "from /c/gifts to /c/presents. The old one answers 404 from now on." in text
    again = mia.swap(page(ids["gifts"]), form(name="Presents", seoName="presents", revision="2")).text
    assert "from now on" not in again, "its address stays"


def test_another_slug_in_a_tree_that_nobody_browses_loses_no_address(
    app: Flask, mia: Merchandiser, ids: dict[str, int]
) -> None:
    with app.app_context(), transaction():
        author = Author(mia.site_id, "Mia", app.extensions[EXTENSION].clock)
        hidden = make_category(author, trees.create(author, "Summer").id, "Camping").id
    assert "from now on" not in mia.swap(page(hidden), form(seoName="outdoor")).text
    assert node(app, hidden).path == "outdoor"


def test_the_preview_is_the_result_as_the_shop_would_make_it(mia: Merchandiser, ids: dict[str, int]) -> None:
    plain = mia.swap(page(ids["camping"], "/preview"), form(description="<p>All for the hills</p>")).text
    assert "Camping | Fern &amp; Fell" in plain and "All for the hills" in plain
    assert "https://localhost/c/camping" in plain
    written = mia.swap(page(ids["camping"], "/preview"), form(metaTitle="Tents & more", metaDescription="Dry.")).text
    assert "Tents &amp; more" in written and "Dry." in written
    elsewhere = mia.swap(page(ids["camping"], "/preview"), form(canonicalUrl="https://other.test/x")).text
    assert "https://other.test/x" in elsewhere and "left out of the sitemap" in elsewhere


def test_products_are_added_pinned_to_the_top_moved_and_taken_out(
    app: Flask, mia: Merchandiser, ids: dict[str, int]
) -> None:
    a, b, c = (stored(app, sku=sku, name=sku) for sku in ("A-1", "B-1", "C-1"))
    here = page(ids["camping"])

    def rows(intent: str, *products: int) -> list[int]:
        answer = mia.swap(here, form(product=list(products), intent=intent))
        return [int(field["value"]) for field in Reading(answer.text).all("input") if field.get("name") == "product"]

    assert rows(f"add:{c}", a, b) == [a, b, c]
    assert rows(f"top:{c}", a, b, c) == [c, a, b]
    assert rows(f"place:1:{a}", a, b, c) == [b, a, c]
    assert rows(f"remove:{b}", a, b, c) == [a, c]
    mia.swap(here, form(product=[b, a]))
    assert order(app, mia.site_id, ids["camping"]) == [b, a]
    mia.swap(here, form(product=[a, c], revision="2"))
    assert order(app, mia.site_id, ids["camping"]) == [a, c]
    assert node(app, ids["camping"]).revision == 3


def test_placements_behind_the_order_stay_when_it_changes(app: Flask, mia: Merchandiser, ids: dict[str, int]) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, mia.site_id)
        products = [make_product(site).id for _ in range(ORDERED_BY_HAND + 2)]
        for position, product_id in enumerate(products):
            placement = Placement(site_id=site.id, node_id=ids["gifts"], product_id=product_id, position=position)
            db.session.add(placement)
    assert "2 further products are" in mia.pages.client.get(page(ids["gifts"])).text
    shown = [products[1], products[0], *products[2:ORDERED_BY_HAND]]
    mia.swap(page(ids["gifts"]), form(name="Gifts", seoName="gifts", product=shown))
    assert order(app, mia.site_id, ids["gifts"]) == shown
    with app.app_context():
        assert len(db.session.scalars(select(Placement)).all()) == ORDERED_BY_HAND + 2


def test_a_category_inherits_its_filters_until_it_has_its_own(
    app: Flask, mia: Merchandiser, ids: dict[str, int]
) -> None:
    here = page(ids["tents"], "/parts")
    assert "Inherited from above: Brand." in " ".join(mia.pages.client.get(page(ids["tents"])).text.split())
    own = mia.swap(here, form(intent="facet-own", facet="manufacturer"))
    assert 'name="ownFacets" value="1"' in own.text
    added = mia.swap(here, form(intent="facet-add", ownFacets="1", facet="manufacturer", newFacet="colour")).text
    assert [f["value"] for f in Reading(added).all("input") if f.get("name") == "facet"] == ["manufacturer", "colour"]
    moved = mia.swap(here, form(intent="facet-up:colour", ownFacets="1", facet=["manufacturer", "colour"])).text
    assert [f["value"] for f in Reading(moved).all("input") if f.get("name") == "facet"] == ["colour", "manufacturer"]
    sent = {"name": "Tents", "seoName": "tents", "ownFacets": "1", "facet": ["colour", "manufacturer"]}
    sent |= {"display-colour": "swatch", "label-colour": "Shade", "swatches-colour": "Navy blue #1B2A4E\n"}
    assert "Saved." in mia.swap(page(ids["tents"]), form(**sent)).text
    assert node(app, ids["tents"]).facets == [
        {"facetId": "colour", "display": "swatch", "label": "Shade", "swatches": {"Navy blue": "#1b2a4e"}},
        {"facetId": "manufacturer", "display": "list"},
    ]
    mia.get(page(ids["tents"]))
    mia.swap(page(ids["tents"]), form(name="Tents", seoName="tents", revision="2"))
    assert node(app, ids["tents"]).facets is None


def test_a_rule_takes_levels_and_manufacturers(app: Flask, mia: Merchandiser, ids: dict[str, int]) -> None:
    added = mia.swap(page(ids["gifts"], "/parts"), form(intent="level-add", newLevel="tents"))
    assert 'name="level" value="tents"' in added.text
    gone = mia.swap(page(ids["gifts"], "/parts"), form(intent="level-remove:tents", level="tents"))
    assert 'name="level"' not in gone.text
    mia.swap(page(ids["gifts"]), form(name="Gifts", seoName="gifts", level="tents", manufacturers=" HP \n\nDell\nHP"))
    saved = node(app, ids["gifts"])
    assert (saved.source_levels, saved.source_manufacturers) == (["tents"], ["HP", "Dell"])
    parts, chosen = page(ids["gifts"], "/parts"), form(manufacturers=["HP", "Dell", "hp"])
    added = mia.swap(parts, chosen | {"intent": "manufacturer-add"}).text
    assert re.findall(r'value="manufacturer-remove:([^"]*)"', added) == ["HP", "Dell"]
    fewer = mia.swap(parts, chosen | {"intent": "manufacturer-remove:HP"}).text
    assert re.findall(r'value="manufacturer-remove:([^"]*)"', fewer) == ["Dell"]


def test_levels_are_offered_and_named_by_their_paths(app: Flask, mia: Merchandiser, ids: dict[str, int]) -> None:
    below = {"levelId": "dome", "name": "Dome", "attributes": []}
    with app.app_context(), transaction():
        taxonomy = db.session.scalars(select(Taxonomy)).one()
        taxonomy.root_levels = [LEVELS[0] | {"children": [below]}]
    offered = Reading(mia.fragment(page(ids["gifts"])).text)
    assert [one["value"] for one in offered.all("option") if "›" in one["value"]] == ["Tents › Dome"]
    here = page(ids["gifts"], "/parts")
    for typed in ("Tents › Dome", "tents › dome", "Dome", "dome"):
        added = mia.swap(here, form(intent="level-add", newLevel=typed)).text
        assert 'name="level" value="dome">Tents › Dome' in added, typed
    wrong = mia.swap(here, form(intent="level-add", newLevel="Domes", level="tents")).text
    assert "“Domes” is no level of the taxonomy, or the name of several." in wrong
    assert 'value="Domes"' in wrong and 'name="level" value="tents"' in wrong


def test_filters_of_the_same_name_are_named_with_their_levels(
    app: Flask, mia: Merchandiser, ids: dict[str, int]
) -> None:
    paint = {"levelId": "paint", "name": "Paint", "attributes": [LEVELS[0]["attributes"][0] | {"attributeId": "shade"}]}
    with app.app_context(), transaction():
        db.session.scalars(select(Taxonomy)).one().root_levels = [*LEVELS, paint]
    sent = form(ownFacets="1", facet="shade", intent="facet-display")
    text = mia.swap(page(ids["camping"], "/parts"), sent).text
    assert "<strong>Colour, of Paint</strong>" in text and ">Colour, of Tents</option>" in text
    assert 'placeholder="Colour"' in text, "shoppers see the plain name"


def test_a_level_that_the_taxonomy_lost_may_stay(app: Flask, mia: Merchandiser, ids: dict[str, int]) -> None:
    with app.app_context(), transaction():
        db.session.get_one(Node, ids["gifts"]).source_levels = ["lost"]
    assert "not in the active taxonomy" in mia.pages.client.get(page(ids["gifts"])).text
    answer = mia.swap(page(ids["gifts"]), form(name="Presents", seoName="gifts", level="lost"))
    assert answer.status_code == 200 and node(app, ids["gifts"]).name == "Presents"


def test_without_scripts_every_button_keeps_the_form(app: Flask, mia: Merchandiser, ids: dict[str, int]) -> None:
    a = stored(app, sku="A-1", name="Axe")
    sent = form(name="Typed", intent=f"add:{a}", facet="manufacturer")
    kept = mia.post(page(ids["camping"]), sent, 200)
    assert (kept.value("name"), kept.value("product")) == ("Typed", str(a))
    own = mia.post(page(ids["camping"]), sent | {"intent": "facet-own"}, 200)
    assert (own.value("ownFacets"), own.value("facet")) == ("1", "manufacturer")


@pytest.mark.parametrize("show", ["list", "grid"])
def test_many_products_take_no_more_statements(app: Flask, mia: Merchandiser, ids: dict[str, int], show: str) -> None:
    place_products(app, mia.site_id, ids["camping"], 1)
    with statements(app) as few:
        mia.get(page(ids["camping"], f"?show={show}"))
    place_products(app, mia.site_id, ids["camping"], 40)
    with statements(app) as many:
        mia.get(page(ids["camping"], f"?show={show}"))
    assert len(many) <= len(few)


def place_products(app: Flask, site_id: int, category_id: int, how_many: int) -> list[int]:
    """Further products behind those of a category's own order."""
    with app.app_context(), transaction():
        site, first = db.session.get_one(Site, site_id), len(hand_made_order(site_id, category_id))
        placed = [make_product(site).id for _ in range(how_many)]
        for position, product_id in enumerate(placed, first):
            place = {"product_id": product_id, "position": position}
            db.session.add(Placement(site_id=site_id, node_id=category_id, **place))
    return placed


def drawn() -> io.BytesIO:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), "green").save(out, "PNG")
    return io.BytesIO(out.getvalue())


def test_a_picture_is_given_and_removed_beside_the_form(app: Flask, mia: Merchandiser, ids: dict[str, int]) -> None:
    camping = ids["camping"]
    editor = mia.pages.client.get(page(camping), base_url=mia.pages.base).text
    assert "None of its own." in editor
    answer = mia.swap(page(camping, "/picture"), {"picture": (drawn(), "camp.png")})
    given = node(app, camping)
    assert given.picture and f"/media/{mia.site_id}/{given.picture}" in answer.text
    assert given.revision == 1, "the form beside it can still be saved"
    assert "None of its own." in mia.swap(page(camping, "/picture/remove"), {}).text
    assert node(app, camping).picture is None
    with app.app_context():
        query = select(AuditEntry).where(AuditEntry.action == "category.picture").order_by(AuditEntry.id)
        assert [(entry.before, entry.after) for entry in db.session.scalars(query)] == [
            ({"picture": None}, {"picture": given.picture}),
            ({"picture": given.picture}, {"picture": None}),
        ]


@pytest.mark.parametrize("sent", [{}, {"picture": (io.BytesIO(b"no picture"), "camp.png")}], ids=["none", "no picture"])
def test_what_is_no_picture_is_refused_with_the_reason(
    app: Flask, mia: Merchandiser, ids: dict[str, int], sent: dict[str, object]
) -> None:
    answer = mia.swap(page(ids["camping"], "/picture"), sent)
    assert answer.status_code == 400 and 'role="alert"' in answer.text
    assert node(app, ids["camping"]).picture is None


def test_a_category_of_another_site_gets_no_picture(app: Flask, mia: Merchandiser, ids: dict[str, int]) -> None:
    with app.app_context(), transaction():
        site_id = make_site("other.test").id
        other = Author(site_id, "Olga", app.extensions[EXTENSION].clock)
        category_id = make_category(other, trees.create(other, "Other").id, "Theirs").id
    for act in ("/picture", "/picture/remove"):
        assert mia.swap(page(category_id, act), {"picture": (drawn(), "camp.png")}).status_code == 404
    assert node(app, category_id).picture is None

"""Undo of saves outside of the Search section: in the message of each, by the activity log, and by whom."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest
from flask import Flask
from sqlalchemy import select

from app.blueprints.admin.undo import PERMISSIONS
from app.domain.catalogue.models import Product
from app.domain.changes.all_kinds import BY_NAME
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.ports import clock
from app.transaction import transaction
from tests.blueprints.admin.test_products import typed
from tests.domain.changes.changed_shop import make_everything, save_product
from tests.factories import make_user
from tests.page_client import PageClient
from tests.snapshots import built
from tests.statements import statements

UNDO = re.compile(
    r'<form class="undo" method="post" action="(/admin/activity/\d+/undo)".*?name="back" value="([^"]*)"', re.DOTALL
)
PRODUCT, TREE = "/admin/catalogue/product/1", "/admin/merchandising/category/1"


def shop_with_staff() -> None:
    with transaction():
        site = make_everything(Author(1, "Mia Moss", clock()))
        for role in (Role.MERCHANDISER, Role.ADMIN, Role.POS_AGENT):
            make_user(site, role, email=f"{role.value.lower()}@shop.test")


@pytest.fixture
def shop(app: Flask) -> Flask:
    built(app, shop_with_staff)
    return app


def browser(shop: Flask, role: Role = Role.MERCHANDISER) -> PageClient:
    return PageClient(shop).signed_in(f"{role.value.lower()}@shop.test")


def text(client: PageClient, path: str) -> str:
    return client.client.get(path, base_url=client.base).text


def swap(client: PageClient, path: str, form: dict[str, object]) -> str:
    headers = {"HX-Request": "true", "X-CSRFToken": client.token}
    return client.client.post(path, data=form, base_url=client.base, headers=headers).text


def state(shop: Flask, kind: str, subject: str) -> object:
    with shop.app_context():
        return BY_NAME[kind].states(1, [subject]).get(subject)


@dataclass(frozen=True)
class Save:
    """A form that is sent to a page, and the record that it changes."""

    path: str
    kind: str
    subject: str
    form: dict[str, object] = field(default_factory=dict)
    role: Role = Role.MERCHANDISER
    shown_at: str = ""


LOCATION = {"displayName": "Fair", "country": "GB"}
TEXTS = {"enabled": "1", "seoName": "", "canonicalUrl": ""}
SAVES = [
    Save(PRODUCT, "whole_product", "1", typed(price="99.5")),
    Save("/admin/content/page/1", "page", "1", TEXTS | {"title": "Us", "body": ""}),
    Save("/admin/content/page/1/delete", "page", "1", shown_at="/admin/content/page/1"),
    Save("/admin/content/page/new", "page", "2", TEXTS | {"title": "Delivery", "body": ""}),
    Save("/admin/catalogue/collection/1", "collection", "1", TEXTS | {"name": "Gifts", "product": ["2", "1"]}),
    Save("/admin/catalogue/collection/1/delete", "collection", "1", shown_at="/admin/catalogue/collection/1"),
    Save(TREE, "category", "1", TEXTS | {"name": "Outdoors", "seoName": "outdoors", "product": ["2"]}),
    Save(f"{TREE}/name", "category", "1", {"name": "Outdoors"}, shown_at=TREE),
    Save(f"{TREE}/visibility", "category", "1", {"visible": "0"}, shown_at=TREE),
    Save(f"{TREE}/move", "category_place", "1", {"direction": "down"}, shown_at=TREE),
    Save(f"{TREE}/landing", "category_landing_rules", "1", {"mode": "off"}),
    Save("/admin/merchandising/1/landing", "tree_landing_rules", "1", {"rules/0/facetId": "manufacturer"}),
    Save("/admin/merchandising/1/name", "tree_name", "1", {"name": "Store"}),
    Save("/admin/seo/redirects/new", "redirect", "2", {"from": "/p/gone", "to": "/p/here"}),
    Save("/admin/seo/redirects/1", "redirect", "1", {"from": "/p/old", "to": "/p/there"}),
    Save("/admin/seo/redirects/1/delete", "redirect", "1", shown_at="/admin/seo/redirects/1"),
    Save("/admin/seo/settings", "settings_seo", "seo", {"leastProducts": "9"}, Role.ADMIN),
    Save("/admin/settings", "settings_shop", "shop", {"name": "Moss", "pageSize": "12"}, Role.ADMIN),
    Save("/admin/settings/emails", "settings_order_mails", "order-mails", {}, Role.ADMIN),
    Save("/admin/pos/settings", "settings_pos", "pos", {"posMaxTransactionAmount": "50"}, Role.ADMIN),
    Save("/admin/pos/locations/tml_shop", "pos_location", "tml_shop", LOCATION, Role.ADMIN),
    Save("/admin/pos/agents/1", "pos_agent", "1", {"displayName": "Tilly", "canRefund": "1"}, Role.ADMIN),
]


@pytest.mark.parametrize("save", SAVES, ids=lambda save: save.path)
def test_the_message_of_a_save_undoes_it_and_that_in_turn(shop: Flask, save: Save) -> None:
    before = state(shop, save.kind, save.subject)
    client = browser(shop, save.role)
    page = client.get(save.shown_at or save.path)
    fields = ("revision", "shown", "seen")
    hidden = {one["name"]: one.get("value", "") for one in page.all("input") if one.get("name") in fields}
    answer = client.post(save.path, hidden | save.form)
    changed = state(shop, save.kind, save.subject)
    assert changed != before
    found = UNDO.search(text(client, answer.headers["Location"]))
    assert found
    undone = client.post(found[1], {"back": found[2]})
    assert undone.headers["Location"] == found[2].replace("&amp;", "&")
    assert state(shop, save.kind, save.subject) == before
    page_after = text(client, undone.headers["Location"])
    assert "Undone: " in page_after
    again = UNDO.search(page_after)
    assert again
    client.post(again[1], {"back": again[2]})
    assert state(shop, save.kind, save.subject) == changed


def test_a_product_saved_in_place_has_undo_in_its_form(shop: Flask) -> None:
    client = browser(shop)
    client.get(PRODUCT)
    answer = swap(client, PRODUCT, typed(price="99.5"))
    found = re.search(r'hx-post="(/admin/activity/\d+/undo\?back=[^"]*)"', answer)
    assert found
    assert 'id="details-news"' in answer.partition(found[0])[0]
    swap(client, found[1].replace("&amp;", "&"), {})
    assert state(shop, "whole_product", "1")["price"] == 1_250
    unchanged = swap(client, PRODUCT, typed(price="12.50", revision="3"))
    assert "/undo?back=" in unchanged or "No changes to save." in unchanged


def test_products_that_were_hidden_at_once_are_shown_again_but_not_others(shop: Flask) -> None:
    client = browser(shop)
    client.get("/admin/catalogue/products")
    with shop.app_context(), transaction():
        db.session.get_one(Product, 2).enabled = False
    page = swap(client, "/admin/catalogue/products/shown?q=e", {"product": ["1", "2"], "action": "disable"})
    form = page.partition('id="flashes"')[2]
    assert 'action="/admin/catalogue/products/shown?q=e"' in form
    assert 'name="product" value="1"' in form and 'name="product" value="2"' not in form
    client.post("/admin/catalogue/products/shown?q=e", {"product": ["1"], "action": "enable"})
    with shop.app_context():
        assert list(db.session.scalars(select(Product.enabled).order_by(Product.id))) == [True, False]


def newest(shop: Flask) -> int:
    with shop.app_context():
        return max(db.session.scalars(select(AuditEntry.id)))


def change_product(shop: Flask, who: str = "Mia Moss", **fields: object) -> int:
    with shop.app_context(), transaction():
        save_product(Author(1, who, clock()), **(fields or {"name": "Dome"}))
    return newest(shop)


def test_the_activity_log_leads_to_what_undoing_would_change_and_the_button(shop: Flask) -> None:
    entry_id = change_product(shop)
    admin = browser(shop, Role.ADMIN)
    address = f"/admin/activity/{entry_id}"
    assert f'href="{address}#undo"' in text(admin, "/admin/activity")
    page = admin.get(address)
    assert "Undo this?" in page.texts["h2"] and "Dome" in page.texts["del"]
    answer = admin.post(f"{address}/undo", {})
    assert answer.headers["Location"] == "/admin/activity"
    assert f'href="{address}#undo"' not in text(admin, "/admin/activity")


def test_the_entry_says_what_stands_in_the_way(shop: Flask) -> None:
    entry_id, later = change_product(shop), change_product(shop, "Ben Birch", name="Igloo")
    admin = browser(shop, Role.ADMIN)
    page = text(admin, f"/admin/activity/{entry_id}")
    assert f'href="/admin/activity/{later}"' in page and "Ben Birch changed it on" in page
    admin.get(f"/admin/activity/{entry_id}")
    admin.post(f"/admin/activity/{entry_id}/undo", {})
    assert "later Ben Birch did “Changed the product Igloo”. Undo that first." in text(admin, "/admin/activity")


def test_a_change_is_undone_by_those_who_may_make_it(shop: Flask) -> None:
    entry_id = change_product(shop)
    with shop.app_context(), transaction():
        entry = db.session.get_one(AuditEntry, entry_id)
        entry.action, entry.subject_type, entry.subject_id = "settings.shop", "settings", "shop"
        entry.before, entry.after = {"name": "Moss"}, {"name": "Fern & Fell"}
    merchandiser = browser(shop)
    merchandiser.get("/admin/catalogue/products")
    merchandiser.post(f"/admin/activity/{entry_id}/undo", {}, 403)
    assert merchandiser.client.get(f"/admin/activity/{entry_id}", base_url=merchandiser.base).status_code == 403
    browser_of_admin = browser(shop, Role.ADMIN)
    browser_of_admin.get("/admin/activity")
    browser_of_admin.post(f"/admin/activity/{entry_id}/undo", {"back": "/admin/settings"})
    assert state(shop, "settings_shop", "shop")["name"] == "Moss"


def test_undo_leads_to_no_other_site_and_not_where_the_user_may_not_go(shop: Flask) -> None:
    merchandiser = browser(shop)
    merchandiser.get("/admin/catalogue/products")
    answer = merchandiser.post(f"/admin/activity/{change_product(shop)}/undo", {"back": "//evil.test/"})
    assert answer.headers["Location"] == "/admin/"
    merchandiser.post("/admin/activity/4711/undo", {}, 404)


def test_every_kind_has_its_permission() -> None:
    assert PERMISSIONS.keys() == BY_NAME.keys()


def test_the_page_asks_the_same_however_many_changes_there_are(shop: Flask) -> None:
    admin = browser(shop, Role.ADMIN)

    def count() -> int:
        with statements(shop) as seen:
            admin.get("/admin/activity")
        return len(seen)

    change_product(shop, price=1)
    few = count()
    for price in range(2, 12):
        change_product(shop, price=price)
    assert count() == few

"""A shop with a record of each kind, and a change of each that can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import select

from app.domain.catalogue import content, products
from app.domain.catalogue.content import COLLECTION, PAGE
from app.domain.catalogue.models import Product
from app.domain.catalogue.product_rules import VariantDraft
from app.domain.changes.all_kinds import BY_NAME
from app.domain.changes.kinds import State, Undo
from app.domain.merchandising import nodes, trees
from app.domain.merchandising.arrangement import Target
from app.domain.merchandising.categories import CATEGORY
from app.domain.merchandising.category_rules import SourceRule
from app.domain.merchandising.models import Node, Tree
from app.domain.merchandising.shop import read_shop
from app.domain.orders import mails
from app.domain.pos import agents, locations, printing
from app.domain.pos import settings as pos_settings
from app.domain.pos.models import PosAgent, PosLocation
from app.domain.seo import settings as seo_settings
from app.domain.seo.landing import stored_rules
from app.domain.seo.landing.pages import LandingPages
from app.domain.seo.models import Redirect
from app.domain.seo.redirects import stored_redirects
from app.domain.seo.redirects.rules import Source
from app.domain.seo.redirects.stored_redirects import RedirectDraft
from app.domain.shared.author import Author
from app.domain.sites import settings as shop_settings
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.setting_keys import SETTINGS
from app.domain.taxonomy.products.classification import ClassificationChange, set_classification
from app.extensions import db
from tests.domain.taxonomy.classified_shop import add_taxonomy, make_classified
from tests.factories import (
    draft_of,
    make_agent,
    make_category,
    make_collection,
    make_location,
    make_page,
    make_product,
    make_redirect,
    make_site,
    make_user,
)

THEMES = (SETTINGS[shop_settings.THEME].default, "fern")


def undo_by(author: Author) -> Undo:
    return Undo(author, THEMES, lambda _shop: lambda _node: LandingPages(()))


def newest() -> AuditEntry:
    return db.session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(1)).one()


def the(model: type) -> object:
    """The first record of a table."""
    return db.session.scalars(select(model).order_by(model.id).limit(1).execution_options(populate_existing=True)).one()


def make_everything(author: Author) -> Site:
    """A shop with one record of each kind, two products and four categories."""
    site = make_site()
    add_taxonomy(site)
    first = make_classified(site, "tents", {"sleeps": 2, "colour": ["Moss"]})
    make_product(site, "STOVE")
    make_page(site, "about")
    made = make_collection(site, "gifts")
    collection_draft = replace(COLLECTION.draft_of(made), product_ids=(first.id,))
    content.save(author, COLLECTION, made.id, 1, collection_draft)
    tree_id = trees.create(author, "Shop").id
    camping = make_category(author, tree_id, "Camping")
    make_category(author, tree_id, "Tents", camping.id)
    make_category(author, tree_id, "Garden")
    make_category(author, tree_id, "Sale")
    make_redirect(site, "/p/old", "/p/new")
    place = make_location(site, "tml_shop")
    make_location(site, "tml_fair")
    make_agent(site, make_user(site, Role.POS_AGENT), place)
    return site


def save_product(author: Author, **fields: object) -> None:
    product = the(Product)
    terms = fields.pop("terms", None)
    products.save(author, product.id, product.revision, replace(draft_of(product), **fields), terms)


def save_content(kind: content.ContentKind, author: Author, **fields: object) -> None:
    record = the(kind.model)
    content.save(author, kind, record.id, record.revision, replace(kind.draft_of(record), **fields))


def delete_content(kind: content.ContentKind, author: Author) -> None:
    content.delete(author, kind, the(kind.model).id)


def classify(author: Author, level_id: str | None, **values: object) -> None:
    set_classification(author, the(Product).id, ClassificationChange(level_id, values))


def redirect_shop(author: Author) -> tuple:
    shop = read_shop(author.site_id)
    return shop, undo_by(author).landing_pages(shop)


def save_redirect(author: Author, old: str, new: str) -> None:
    row = the(Redirect)
    stored_redirects.save(author, *redirect_shop(author), row.id, row.revision, RedirectDraft(old, new))


def add_redirect(author: Author) -> None:
    stored_redirects.add(author, *redirect_shop(author), RedirectDraft("/p/gone", "/p/here"), Source.PERSON)


def save_location(author: Author, name: str) -> None:
    place = the(PosLocation)
    fields = replace(place.fields, display_name=name)
    locations.edit(author, place.location_id, place.revision, fields, not place.enabled)


def save_printer(author: Author, address: str) -> None:
    place = the(PosLocation)
    printing.change_printer(author, place.location_id, place.revision, address)


def save_agent(author: Author, **fields: object) -> None:
    agent = the(PosAgent)
    agents.save(author, agent.id, agent.revision, replace(agents.fields_of(agent), **fields))


def switch_refund_mails(author: Author) -> None:
    stored = mails.mail_settings(author.site_id)
    mails.change_mail_settings(author, replace(stored, refunded=not stored.refunded))


@dataclass(frozen=True)
class Case:
    """A change of a kind; `again` changes the same again."""

    name: str
    kind: str
    change: Callable[[Author], object]
    again: Callable[[Author], object] | None = None

    def states(self, subject_ids: Iterable[str]) -> Mapping[str, State]:
        db.session.expire_all()
        return BY_NAME[self.kind].states(1, subject_ids)


RED = VariantDraft("TENT-RED", None, 1_500, 3, {"Colour": "Red"})
BLUE = VariantDraft("TENT-BLUE", "123", None, None, {"Colour": "Blue"})
PRODUCT, PAGES, COLLECTIONS, CATEGORIES = "whole_product", "page", "collection", "category"
LEAST = seo_settings.LEAST_PRODUCTS
CASES = [
    Case("texts of a product", PRODUCT, lambda a: save_product(a, name="Dome", price=9_900, seo_name="dome"),
         lambda a: save_product(a, name="Igloo")),
    Case("variants", PRODUCT, lambda a: save_product(a, variants=(RED, BLUE)),
         lambda a: save_product(a, variants=(BLUE, RED))),
    Case("terms with a text", PRODUCT, lambda a: save_product(a, featured=True, terms=["dome"]),
         lambda a: save_product(a, terms=["igloo"])),
    Case("values", PRODUCT, lambda a: classify(a, None, sleeps=4, free=True), lambda a: classify(a, None, sleeps=5)),
    Case("a level", PRODUCT, lambda a: classify(a, "stoves", fuel="Gas"), lambda a: classify(a, "tents")),
    Case("no level any more", PRODUCT, lambda a: classify(a, ""), lambda a: classify(a, "stoves")),
    Case("shown or hidden", PRODUCT, lambda a: products.set_enabled(a, [the(Product).id], False),
         lambda a: products.set_enabled(a, [the(Product).id], True)),
    Case("a page", PAGES, lambda a: save_content(PAGE, a, title="Us", body="<p>Hi</p>"),
         lambda a: save_content(PAGE, a, title="We")),
    Case("a new page", PAGES, lambda a: content.create(a, PAGE, PAGE.draft("Delivery", body="<p>Fast</p>"))),
    Case("a deleted page", PAGES, partial(delete_content, PAGE)),
    Case("products of a collection", COLLECTIONS, lambda a: save_content(COLLECTION, a, product_ids=(2, 1)),
         lambda a: save_content(COLLECTION, a, product_ids=())),
    Case("a new collection", COLLECTIONS, lambda a: content.create(a, COLLECTION, COLLECTION.draft("Sale"))),
    Case("a deleted collection", COLLECTIONS, partial(delete_content, COLLECTION)),
    Case("texts of a category", CATEGORIES, lambda a: save_content(CATEGORY, a, name="Outdoors", meta_title="Out"),
         lambda a: save_content(CATEGORY, a, name="Outside")),
    Case("the address of a category", CATEGORIES, lambda a: save_content(CATEGORY, a, seo_name="outdoors"),
         lambda a: save_content(CATEGORY, a, seo_name="outside")),
    Case("products and rule of a category", CATEGORIES,
         lambda a: save_content(CATEGORY, a, product_ids=(2, 1), source=SourceRule(("tents",), ("Fern",))),
         lambda a: save_content(CATEGORY, a, product_ids=(1,))),
    Case("filters of a category", CATEGORIES, lambda a: save_content(CATEGORY, a, facets=({"facetId": "price"},)),
         lambda a: save_content(CATEGORY, a, facets=())),
    Case("a renamed category", CATEGORIES, lambda a: nodes.rename(a, 1, the(Node).revision, "Outdoors"),
         lambda a: nodes.rename(a, 1, the(Node).revision, "Outside")),
    Case("a hidden category", CATEGORIES, lambda a: nodes.show(a, 1, False), lambda a: nodes.show(a, 1, True)),
    Case("a category among its siblings", "category_place", lambda a: nodes.move(a, 1, Target(None, after_id=3)),
         lambda a: nodes.move(a, 1, Target(None))),
    Case("a category elsewhere", "category_place", lambda a: nodes.move(a, 3, Target(1, before_id=2)),
         lambda a: nodes.move(a, 3, Target(4))),
    Case("a renamed tree", "tree_name", lambda a: trees.rename(a, 1, "Store"), lambda a: trees.rename(a, 1, "Stall")),
    Case("filters of a tree", "tree_filters",
         lambda a: trees.change_facets(a, 1, [{"facetId": "price"}], trees.facets_version(the(Tree))),
         lambda a: trees.change_facets(a, 1, [], trees.facets_version(the(Tree)))),
    Case("landing rules of a tree", "tree_landing_rules",
         lambda a: stored_rules.set_tree_rules(a, 1, [{"facetId": "manufacturer"}]),
         lambda a: stored_rules.set_tree_rules(a, 1, [])),
    Case("landing rules of a category", "category_landing_rules",
         lambda a: stored_rules.set_node_rules(a, 1, []),
         lambda a: stored_rules.set_node_rules(a, 1, [{"facetId": "manufacturer"}])),
    Case("a redirect", "redirect", lambda a: save_redirect(a, "/p/old", "/p/other"),
         lambda a: save_redirect(a, "/p/older", "/p/third")),
    Case("a new redirect", "redirect", add_redirect),
    Case("a deleted redirect", "redirect", lambda a: stored_redirects.remove(a, the(Redirect).id)),
    Case("settings of SEO", "settings_seo", lambda a: seo_settings.change_seo_settings(a, {LEAST: 7}, ()),
         lambda a: seo_settings.change_seo_settings(a, {LEAST: 8}, ())),
    Case("settings of the shop", "settings_shop",
         lambda a: shop_settings.change_shop_settings(a, {"name": "Moss", shop_settings.THEME: "fern"}, THEMES),
         lambda a: shop_settings.change_shop_settings(a, {"name": "Fell"}, THEMES)),
    Case("settings of the till", "settings_pos", lambda a: pos_settings.change(a, {"posTipsEnabled": True}),
         lambda a: pos_settings.change(a, {"posTipsEnabled": False})),
    Case("emails", "settings_order_mails", switch_refund_mails, switch_refund_mails),
    Case("a location", "pos_location", lambda a: save_location(a, "Fair"), lambda a: save_location(a, "Market")),
    Case("a printer", "pos_location", lambda a: save_printer(a, "192.168.1.9"),
         lambda a: save_printer(a, "192.168.1.8")),
    Case("an agent", "pos_agent",
         lambda a: save_agent(a, can_refund=True, max_transaction_amount=500, location_ids=("tml_fair",)),
         lambda a: save_agent(a, can_refund=False)),
]  # fmt: skip
CHANGED_AGAIN = [case for case in CASES if case.again]

"""Find: a page of the admin, a record of the kinds that the user may open, such as a product or an order, or a task of
Help. And the keys of the admin. Both are pages, which Ctrl+K and ? show in a dialog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flask import render_template, request, url_for
from flask_login import current_user

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.find_pages import find_pages
from app.blueprints.admin.help import find_tasks
from app.blueprints.admin.product_pictures import picture_of_row
from app.domain.catalogue.listing import LONGEST_WORDS
from app.domain.pos.locations import list_locations
from app.domain.relevance.finder import MOST_OF_A_KIND, Found, FoundKind, find
from app.domain.shared.text import fold
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, allowed, requires

PERMISSIONS = {
    FoundKind.PRODUCT: Permission.MANAGE_CATALOGUE,
    FoundKind.COLLECTION: Permission.MANAGE_CATALOGUE,
    FoundKind.PAGE: Permission.MANAGE_CONTENT,
    FoundKind.USER: Permission.MANAGE_USERS,
    FoundKind.ORDER: Permission.MANAGE_ORDERS,
    FoundKind.LEVEL: Permission.MANAGE_TAXONOMY,
    FoundKind.SYNONYM: Permission.MANAGE_SEARCH,
    FoundKind.TERM: Permission.MANAGE_SEARCH,
    FoundKind.RULE: Permission.MANAGE_SEARCH,
    FoundKind.FAILED_SEARCH: Permission.MANAGE_SEARCH,
}
HEADINGS = {
    FoundKind.PRODUCT: ("Products", "box"),
    FoundKind.COLLECTION: ("Collections", "stack"),
    FoundKind.PAGE: ("Pages of the shop", "page"),
    FoundKind.ORDER: ("Orders", "bag"),
    FoundKind.USER: ("Users", "people"),
    FoundKind.LEVEL: ("Levels", "tree"),
    FoundKind.SYNONYM: ("Synonyms", "search"),
    FoundKind.TERM: ("Search terms", "search"),
    FoundKind.RULE: ("Rules", "search"),
    FoundKind.FAILED_SEARCH: ("Searches that found nothing", "search"),
}
# The endpoint of each kind, and the parameter that takes the record's id.
PLACES = {
    FoundKind.PRODUCT: ("admin.product_edit", "product_id"),
    FoundKind.COLLECTION: ("admin.collection_edit", "collection_id"),
    FoundKind.PAGE: ("admin.page_edit", "page_id"),
    FoundKind.USER: ("admin.user_edit", "user_id"),
    FoundKind.ORDER: ("admin.order_page", "order_id"),
    FoundKind.SYNONYM: ("admin.search_synonym", "synonym_id"),
    FoundKind.RULE: ("admin.search_rule", "rule_id"),
    FoundKind.TERM: ("admin.search_terms", "q"),
    FoundKind.FAILED_SEARCH: ("admin.search_test", "q"),
}
MOST_PAGES = 8
MOST_TASKS = 3


@dataclass(frozen=True, slots=True)
class Link:
    label: str
    href: str
    detail: str = ""
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Results:
    heading: str
    icon: str
    links: Sequence[Link]


@bp.get("/find")
@requires(Permission.USE_ADMIN)
def find_anything() -> str:
    """Show what has the words `q`, pages of the admin first; `dialog` asks for the form as a fragment."""
    words = request.args.get("q", "")[:LONGEST_WORDS].replace("\0", "").strip()
    template = "admin/find/page.html"
    if wants_fragment():
        template = "admin/find/_dialog.html" if "dialog" in request.args else "admin/find/_found.html"
    return render_template(
        template,
        words=words,
        results=list(_results(words)),
        finds_orders=allowed(current_user.roles, Permission.MANAGE_ORDERS),
    )


@bp.get("/keys")
@requires(Permission.USE_ADMIN)
def keys() -> str:
    return render_template("admin/find/_keys_dialog.html" if wants_fragment() else "admin/find/keys.html")


def _results(words: str) -> Iterator[Results]:
    pages = [Link(page.label, url_for(page.endpoint), page.section) for page in find_pages(words)]
    if pages:
        yield Results("Go to", "right", pages[:MOST_PAGES])
    kinds = [kind for kind, permission in PERMISSIONS.items() if allowed(current_user.roles, permission)]
    found = find(ports.clock(), current_user.site_id, words, kinds)
    for kind, (heading, icon) in HEADINGS.items():
        if links := [_link(one) for one in found if one.kind is kind]:
            yield Results(heading, icon, links)
    if locations := list(_locations(words))[:MOST_OF_A_KIND]:
        yield Results("Locations", "card", locations)
    if tasks := find_tasks(words)[:MOST_TASKS]:
        yield Results("Help", "help", [Link(task.title, url_for("admin.help_task", name=task.name)) for task in tasks])


def _link(found: Found) -> Link:
    picture = picture_of_row(found.product) if found.product else ""
    return Link(found.name, _address(found), found.detail, picture)


def _locations(words: str) -> Iterator[Link]:
    """Yield the locations of tills whose name or id has the words; none for no words."""
    wanted = fold(" ".join(words.split()))
    if not wanted or not allowed(current_user.roles, Permission.MANAGE_POS):
        return
    for location in list_locations(current_user.site_id):
        if wanted in fold(f"{location.display_name} {location.location_id}"):
            yield Link(
                location.display_name,
                url_for("admin.pos_location", location_id=location.location_id),
                location.location_id,
            )


def _address(found: Found) -> str:
    if found.kind is FoundKind.LEVEL:
        return url_for("admin.taxonomy_editor", taxonomy_id=found.taxonomy_id, level=found.id)
    endpoint, parameter = PLACES[found.kind]
    values: dict[str, Any] = {parameter: found.id}
    return url_for(endpoint, **values)

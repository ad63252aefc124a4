"""Find: a page of the admin, a product, an order, a level, a synonym, a search term, a rule, a search that found
nothing, or a task of Help. And the keys of the admin. Both are pages, which Ctrl+K and ? show in a dialog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flask import render_template, request, url_for
from flask_login import current_user

from app import ports
from app.blueprints.admin import settings
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.help import find_tasks
from app.blueprints.admin.pos import tabs as pos_tabs
from app.blueprints.admin.search import tabs as search_tabs
from app.blueprints.admin.seo import tabs as seo_tabs
from app.blueprints.admin.shell import GROUPS, is_open_to_user
from app.domain.catalogue.listing import LONGEST_WORDS
from app.domain.relevance.finder import Found, FoundKind, find
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, allowed, requires

PERMISSIONS = {
    FoundKind.PRODUCT: Permission.MANAGE_CATALOGUE,
    FoundKind.ORDER: Permission.MANAGE_ORDERS,
    FoundKind.LEVEL: Permission.MANAGE_TAXONOMY,
    FoundKind.SYNONYM: Permission.MANAGE_SEARCH,
    FoundKind.TERM: Permission.MANAGE_SEARCH,
    FoundKind.RULE: Permission.MANAGE_SEARCH,
    FoundKind.FAILED_SEARCH: Permission.MANAGE_SEARCH,
}
HEADINGS = {
    FoundKind.PRODUCT: ("Products", "box"),
    FoundKind.ORDER: ("Orders", "bag"),
    FoundKind.LEVEL: ("Levels", "tree"),
    FoundKind.SYNONYM: ("Synonyms", "search"),
    FoundKind.TERM: ("Search terms", "search"),
    FoundKind.RULE: ("Rules", "search"),
    FoundKind.FAILED_SEARCH: ("Searches that found nothing", "search"),
}
TABS = (
    ("Search", (*search_tabs.PAGES, *(page for within in search_tabs.WITHIN.values() for page in within[1:]))),
    ("SEO", seo_tabs.PAGES),
    ("Mobile POS", pos_tabs.PAGES),
    ("Settings", settings.PAGES),
    ("Your account", (("Change your password", "admin.password"), ("Access tokens", "admin.access_tokens"))),
)
MOST_PAGES = 8
MOST_TASKS = 3


@dataclass(frozen=True, slots=True)
class Link:
    label: str
    href: str
    detail: str = ""


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
    return render_template(template, words=words, results=list(_results(words)))


@bp.get("/keys")
@requires(Permission.USE_ADMIN)
def keys() -> str:
    return render_template("admin/find/_keys_dialog.html" if wants_fragment() else "admin/find/keys.html")


def _results(words: str) -> Iterator[Results]:
    if pages := list(_pages(words))[:MOST_PAGES]:
        yield Results("Go to", "right", pages)
    kinds = [kind for kind, permission in PERMISSIONS.items() if allowed(current_user.roles, permission)]
    found = find(ports.clock(), current_user.site_id, words, kinds)
    for kind, (heading, icon) in HEADINGS.items():
        if links := [Link(one.name, _address(one), one.detail) for one in found if one.kind is kind]:
            yield Results(heading, icon, links)
    if tasks := find_tasks(words)[:MOST_TASKS]:
        yield Results("Help", "help", [Link(task.title, url_for("admin.help_task", name=task.name)) for task in tasks])


def _pages(words: str) -> Iterator[Link]:
    """Yield the pages of the menu, then those of its sections, that have each word in their label or section; without
    words those of the menu alone."""
    wanted = words.casefold().split()
    sections = [(group.label, section.label, section.endpoint) for group in GROUPS for section in group.sections]
    tabs = [(section, label, endpoint) for section, pages in TABS for label, endpoint in pages]
    for where, label, endpoint in (*sections, *(tabs if wanted else ())):
        if is_open_to_user(endpoint) and all(word in f"{where} {label}".casefold() for word in wanted):
            yield Link(label, url_for(endpoint), where)


def _address(found: Found) -> str:
    match found.kind:
        case FoundKind.PRODUCT:
            return url_for("admin.product_edit", product_id=int(found.id))
        case FoundKind.ORDER:
            return url_for("admin.order_page", order_id=found.id)
        case FoundKind.LEVEL:
            return url_for("admin.taxonomy_editor", taxonomy_id=found.taxonomy_id, level=found.id)
        case FoundKind.SYNONYM:
            return url_for("admin.search_synonym", synonym_id=int(found.id))
        case FoundKind.RULE:
            return url_for("admin.search_rule", rule_id=int(found.id))
        case FoundKind.TERM:
            return url_for("admin.search_terms", q=found.id)
        case FoundKind.FAILED_SEARCH:
            return url_for("admin.search_test", q=found.id)

"""The frame of every page of the admin: the sections that the user may open, the tabs of a section, the shop, signing
out, and the Undo button in messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from flask import current_app, flash, g, request, url_for
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.blueprints.callers import current_author
from app.domain.changes import history
from app.domain.changes.search_kinds import SEARCH_NAMES
from app.domain.orders.queries import waiting_orders
from app.domain.sites import accounts
from app.domain.sites.accounts import ReachableSite
from app.web.permissions import DECLARED, Permission, allowed

ROLE_NAMES = {
    "MERCHANDISER": "Merchandiser",
    "ADMIN": "Admin",
    "SUPERADMIN": "Superadmin",
    "POS_AGENT": "Till agent",
}


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the admin's menu. `under` are the prefixes of the addresses that belong to it, where they differ
    from its own. `waiting` counts what waits there on a site, in one cheap statement, since every page shows it;
    `waiting_for` says what for."""

    label: str
    endpoint: str
    icon: str
    permission: Permission
    under: tuple[str, ...] = ()
    waiting: Callable[[int], int] | None = None
    waiting_for: str = ""


@dataclass(frozen=True, slots=True)
class MenuGroup:
    label: str
    sections: tuple[Section, ...]


_CATALOGUE, _TAXONOMY = Permission.MANAGE_CATALOGUE, Permission.MANAGE_TAXONOMY
_TREES = Permission.MANAGE_MERCHANDISING
_ORDERS = Section(
    "Orders",
    "admin.orders_list",
    "bag",
    Permission.MANAGE_ORDERS,
    ("/admin/orders",),
    waiting_orders,
    "not handed over yet",
)
_SEARCH = ("/admin/search", "/admin/settings/search")
GROUPS = (
    MenuGroup("", (Section("Dashboard", "admin.dashboard", "home", Permission.USE_ADMIN),)),
    MenuGroup(
        "Catalogue",
        (
            Section("Products", "admin.products_list", "box", _CATALOGUE, ("/admin/catalogue/product",)),
            Section("Collections", "admin.collections_list", "stack", _CATALOGUE, ("/admin/catalogue/collection",)),
            Section("Taxonomy", "admin.taxonomies_list", "tree", _TAXONOMY, ("/admin/catalogue/taxonomy",)),
            Section("Merchandising trees", "admin.trees_list", "shelves", _TREES, ("/admin/merchandising",)),
            Section("Pages", "admin.pages_list", "page", Permission.MANAGE_CONTENT, ("/admin/content/page",)),
        ),
    ),
    MenuGroup("Sales", (_ORDERS,)),
    MenuGroup(
        "Discovery",
        (
            Section("Search", "admin.search_overview", "search", Permission.MANAGE_SEARCH, _SEARCH),
            Section("SEO", "admin.seo_sitemap", "globe", Permission.MANAGE_MERCHANDISING, ("/admin/seo",)),
        ),
    ),
    MenuGroup(
        "Shop",
        (
            Section("Users", "admin.users_list", "people", Permission.MANAGE_USERS, ("/admin/user",)),
            Section(
                "Personal data",
                "admin.personal_data",
                "eye",
                Permission.MANAGE_PERSONAL_DATA,
                ("/admin/personal-data",),
            ),
            Section("Subscriptions", "admin.subscriptions", "plan", Permission.MANAGE_SETTINGS),
            Section("Mobile POS", "admin.pos_overview", "card", Permission.MANAGE_POS, ("/admin/pos",)),
            Section(
                "Settings",
                "admin.settings",
                "gear",
                Permission.MANAGE_SETTINGS,
                (
                    "/admin/settings/system",
                    "/admin/settings/sites",
                    "/admin/settings/backups",
                    "/admin/settings/import-export",
                    "/admin/settings/appearance",
                    "/admin/settings/delivery",
                ),
            ),
            Section("Activity", "admin.activity", "list", Permission.MANAGE_SETTINGS),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class ShownSection:
    """A section as the menu shows it. `waiting` counts what waits there; 0 where nothing does, or nothing is
    counted."""

    label: str
    icon: str
    href: str
    current: bool
    waiting: int
    waiting_for: str


@dataclass(frozen=True, slots=True)
class ShownGroup:
    label: str
    sections: tuple[ShownSection, ...]


@dataclass(frozen=True, slots=True)
class Shell:
    site_name: str
    host: str
    shop_url: str
    role_names: str
    groups: tuple[ShownGroup, ...]
    sites: tuple[ReachableSite, ...]


@bp.app_template_global("shell")
def shell() -> Shell:
    """Return the frame, made once a request with two queries: the sites, and the orders that wait."""
    if "shell" not in g:
        g.shell = _make_shell()
    made: Shell = g.shell
    return made


@bp.app_template_global("keeps_menu")
def keeps_menu(status: int) -> bool:
    """Whether the page of an error stands beside the menu: for users of the admin, unless the shop is in trouble."""
    return status < 500 and current_user.is_authenticated and allowed(current_user.roles, Permission.USE_ADMIN)


def _make_shell() -> Shell:
    sites = accounts.reachable_sites(current_user.user_id)
    own = next((site for site in sites if site.id == current_user.site_id), None)
    host = own.host if own else current_user.host
    _, colon, port = request.host.partition(":")
    return Shell(
        site_name=current_user.site_name,
        host=host,
        # The shop's own host at the port of this admin.
        shop_url="/" if host == current_user.host else f"{request.scheme}://{host}{colon}{port}/",
        role_names=", ".join(ROLE_NAMES[role] for role in sorted(current_user.roles)),
        groups=tuple(_shown_groups()),
        sites=sites,
    )


def _shown_groups() -> Iterator[ShownGroup]:
    for group in GROUPS:
        sections = tuple(
            _shown_section(section)
            for section in group.sections
            if section.endpoint in current_app.view_functions and allowed(current_user.roles, section.permission)
        )
        if sections:
            yield ShownGroup(group.label, sections)


def _shown_section(section: Section) -> ShownSection:
    href = url_for(section.endpoint)
    under = any(request.path.startswith(start) for start in section.under)
    waiting = section.waiting(current_user.site_id) if section.waiting else 0
    current = under or request.path == href
    return ShownSection(section.label, section.icon, href, current, waiting, section.waiting_for)


@dataclass(frozen=True, slots=True)
class Tab:
    label: str
    href: str
    is_current: bool


def section_tabs(pages: Sequence[tuple[str, str]], tab_of: str | None = None) -> list[Tab]:
    """Return the tabs of pages, given as labels and endpoints; current is the one whose page, or a page below its
    address, is shown. A page that lies below no tab names its tab's endpoint in `tab_of`."""
    known = [(label, url_for(endpoint)) for label, endpoint in pages if is_open_to_user(endpoint)]
    addresses = [href for _, href in known]
    here = url_for(tab_of) if tab_of else request.path
    own = [href for href in addresses if here == href or (here.startswith(f"{href}/") and _is_leaf(href, addresses))]
    return [Tab(label, href, href in own) for label, href in known]


@bp.app_template_global("is_open_to_user")
def is_open_to_user(endpoint: str) -> bool:
    """Whether the endpoint exists and the user's roles may open its page."""
    view = current_app.view_functions.get(endpoint)
    return view is not None and allowed(current_user.roles, Permission(getattr(view, DECLARED)))


def _is_leaf(href: str, addresses: Sequence[str]) -> bool:
    """Whether no other tab lies below this one, as others do below an Overview, which has no further pages."""
    return not any(other.startswith(f"{href}/") for other in addresses)


def undoable_entry(kind: str, subject_id: str | int) -> int | None:
    """Return the id of the current user's latest change of a record, None where it cannot be undone."""
    return history.undoable_change(current_user.site_id, kind, str(subject_id), current_author().name)


def undo_address_of(kind: str, subject_id: str | int) -> str | None:
    """Return the address that undoes the current user's latest change of a record, None where it cannot be undone."""
    entry_id = undoable_entry(kind, subject_id)
    return None if entry_id is None else undo_address(entry_id, kind)


def flash_saved(changed: object, message: str, kind: str, subject_id: str | int, back: str) -> None:
    """Flash a save with an Undo button, or that there was nothing to save."""
    if changed:
        flash_undoable(message, kind, subject_id, back)
    else:
        flash("No changes to save.", "good")


def flash_undoable(message: str, kind: str, subject_id: str | int, back: str) -> None:
    """Flash a success with an Undo button, where the user's latest change of the record can be undone. It leads back to
    `back`, a path of the admin."""
    address = undo_address_of(kind, subject_id)
    if address is None:
        flash(message, "good")
    else:
        flash_with_undo(message, address, back=back)


@bp.app_template_global("undo_address")
def undo_address(entry_id: int, kind: str) -> str:
    """Return the address that undoes an entry about a record of `kind`."""
    view = "search_history_undo" if kind in SEARCH_NAMES else "activity_undo"
    return url_for(f"admin.{view}", entry_id=entry_id)


def flash_with_undo(message: str, address: str, **fields: object) -> None:
    """Flash a success with an Undo button, which posts the fields to an address. They are kept in place of the
    category, so that a web server of the release before, which may show it, shows the text."""
    flash(message, {"undo": address, "fields": fields})  # type: ignore[arg-type]

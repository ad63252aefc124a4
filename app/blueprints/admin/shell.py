"""The frame of every page of the admin: the sections that the user may open, the shop, signing out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flask import current_app, g, request, url_for
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.domain.orders.queries import waiting_orders
from app.domain.sites import accounts
from app.domain.sites.accounts import ReachableSite
from app.permissions import Permission, allowed

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
    "awaiting collection",
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
                ("/admin/settings/system", "/admin/settings/import-export"),
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
        g.shell = _shell()
    made: Shell = g.shell
    return made


@bp.app_template_global("keeps_menu")
def keeps_menu(status: int) -> bool:
    """Whether the page of an error stands beside the menu: for users of the admin, unless the shop is in trouble."""
    return status < 500 and current_user.is_authenticated and allowed(current_user.roles, Permission.USE_ADMIN)


def _shell() -> Shell:
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
            _shown(section)
            for section in group.sections
            if section.endpoint in current_app.view_functions and allowed(current_user.roles, section.permission)
        )
        if sections:
            yield ShownGroup(group.label, sections)


def _shown(section: Section) -> ShownSection:
    href = url_for(section.endpoint)
    under = any(request.path.startswith(start) for start in section.under)
    waiting = section.waiting(current_user.site_id) if section.waiting else 0
    current = under or request.path == href
    return ShownSection(section.label, section.icon, href, current, waiting, section.waiting_for)

"""The pages of the admin that Find offers: those of the menu, their tabs, pages that stand within others, and those of
the user's account, each with further names under which people look for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.blueprints.admin import settings
from app.blueprints.admin.pos import tabs as pos_tabs
from app.blueprints.admin.search import tabs as search_tabs
from app.blueprints.admin.seo import tabs as seo_tabs
from app.blueprints.admin.shell import GROUPS, is_open_to_user


@dataclass(frozen=True, slots=True)
class FoundPage:
    section: str
    label: str
    endpoint: str


TABS = (
    ("Search", (*search_tabs.PAGES, *(page for within in search_tabs.WITHIN.values() for page in within[1:]))),
    ("SEO", seo_tabs.PAGES),
    ("Mobile POS", pos_tabs.PAGES),
    ("Settings", settings.PAGES),
    ("Products", (("Import products", "admin.products_import"), ("Classify products", "admin.products_classify"))),
    ("Taxonomy", (("Worklist", "admin.taxonomy_worklist"),)),
    (
        "Your account",
        (
            ("Change your password", "admin.password"),
            ("Two-step sign-in", "admin.second_factor"),
            ("Passkeys", "admin.passkeys"),
            ("Access tokens", "admin.access_tokens"),
        ),
    ),
)
FURTHER_NAMES = {
    "admin.orders_list": "sales purchases packing slips",
    "admin.pages_list": "content texts",
    "admin.users_list": "staff people roles colleagues",
    "admin.trees_list": "categories navigation",
    "admin.taxonomies_list": "levels attributes",
    "admin.subscriptions": "plan limits",
    "admin.activity": "audit log history changes",
    "admin.personal_data": "privacy gdpr customers erase",
    "admin.settings": "name theme",
    "admin.appearance": "colours logo fonts home page design",
    "admin.delivery": "shipping postage collection",
    "admin.emails": "mails messages",
    "admin.bundles_page": "bundles transfer",
    "admin.backups_page": "restore copies",
    "admin.system": "server jobs queue machines indexes",
    "admin.sites_page": "shops hosts domains",
    "admin.search_analytics": "statistics top searches",
    "admin.search_ranking": "pin boost bury rules",
    "admin.search_ranking_settings": "weights",
    "admin.search_history": "undo history",
    "admin.search_test": "explain",
    "admin.search_golden": "golden lists tests",
    "admin.seo_crawlers": "robots bots",
    "admin.seo_redirects": "moved addresses",
    "admin.pos_reports": "z reports x reports takings",
    "admin.pos_settings": "locations tenders receipts",
    "admin.pos_transactions": "payments refunds",
    "admin.pos_agents": "cashiers till",
    "admin.products_import": "csv table spreadsheet shopify",
    "admin.taxonomy_worklist": "incomplete unclassified values",
    "admin.second_factor": "2fa two-factor authenticator codes",
    "admin.access_tokens": "api keys programs agents",
}


def find_pages(words: str) -> Iterator[FoundPage]:
    """Yield the pages open to the user, of the menu first, that have each word in their label or their section, or as
    the beginning of a further name, those that have it in their label before the others; without words those of the
    menu alone."""
    wanted = words.casefold().split()
    menu = [FoundPage(group.label, one.label, one.endpoint) for group in GROUPS for one in group.sections]
    tabs = [FoundPage(section, label, endpoint) for section, pages in TABS for label, endpoint in pages]
    found = [page for page in (*menu, *(tabs if wanted else ())) if is_open_to_user(page.endpoint)]
    matching = [page for page in found if all(_has_word(page, word) for word in wanted)]
    yield from sorted(matching, key=lambda page: not all(word in page.label.casefold() for word in wanted))


def _has_word(page: FoundPage, word: str) -> bool:
    further = FURTHER_NAMES.get(page.endpoint, "").split()
    return word in f"{page.section} {page.label}".casefold() or any(name.startswith(word) for name in further)

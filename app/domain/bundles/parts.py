"""The parts of a shop that a bundle may carry, and the importer of a bundle. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.domain.shared.author import Origin
from app.domain.sites.accounts import Role

TILL_SETTING = "pos"  # What the names of the till's settings begin with.


class Part(StrEnum):
    CATALOGUE = "catalogue"
    TAXONOMY = "taxonomy"
    MERCHANDISING = "merchandising"
    SEARCH = "search"
    PAGES = "pages"
    REDIRECTS = "redirects"
    SETTINGS = "settings"
    TILL = "till"
    USERS = "users"
    SITE = "site"


LABELS: Mapping[Part, tuple[str, str]] = {
    Part.CATALOGUE: ("Catalogue", "Products with variants, pictures, search terms and classification; collections"),
    Part.TAXONOMY: ("Taxonomies", "Levels and attributes"),
    Part.MERCHANDISING: ("Merchandising", "Category trees with filters, placed products and landing rules"),
    Part.SEARCH: ("Search", "Synonyms, rules, golden searches and judgement lists"),
    Part.PAGES: ("Pages", "Pages of the shop"),
    Part.REDIRECTS: ("Redirects", "Old addresses and where they lead"),
    Part.SETTINGS: ("Settings", "Search, listing, SEO and theme settings, the shop’s appearance and delivery"),
    Part.TILL: ("Mobile POS", "Locations, agents and settings of Mobile POS"),
    Part.USERS: ("Users", "Users and their roles, without passwords"),
    Part.SITE: ("Site", "Name, hosts, currency, time zone, staging and capabilities"),
}
FILES: Mapping[str, frozenset[Part]] = {
    "site.json": frozenset((Part.SITE, Part.SETTINGS, Part.TILL)),
    "appearance.json": frozenset((Part.SETTINGS,)),
    "delivery.json": frozenset((Part.SETTINGS,)),
    "users.json": frozenset((Part.USERS,)),
    "taxonomy.json": frozenset((Part.TAXONOMY,)),
    "merchandising.json": frozenset((Part.MERCHANDISING,)),
    "synonyms.json": frozenset((Part.SEARCH,)),
    "rules.json": frozenset((Part.SEARCH,)),
    "goldens.json": frozenset((Part.SEARCH,)),
    "judgements.json": frozenset((Part.SEARCH,)),
    "pos.json": frozenset((Part.TILL,)),
    "products.jsonl": frozenset((Part.CATALOGUE,)),
    "collections.jsonl": frozenset((Part.CATALOGUE,)),
    "pages.jsonl": frozenset((Part.PAGES,)),
    "redirects.jsonl": frozenset((Part.REDIRECTS,)),
}
EVERYTHING = frozenset(Part)
# The parts that admins may choose: what belongs to a site itself is left to the operator of the server.
OF_AN_ADMIN = EVERYTHING - {Part.SITE}
TRANSFERRED = OF_AN_ADMIN - {Part.TILL, Part.USERS}


def is_chosen(file: str, parts: Collection[Part]) -> bool:
    """Whether a file of a bundle, by its plain name, belongs to one of the parts."""
    return not FILES[file].isdisjoint(parts)


def part_of_setting(key: str) -> Part:
    return Part.TILL if key.startswith(TILL_SETTING) else Part.SETTINGS


def in_order(parts: Collection[Part]) -> list[Part]:
    return [part for part in Part if part in parts]


@dataclass(frozen=True, slots=True)
class Importer:
    """The importer of a bundle into a site: an admin of it, or without `user_id` the operator of the server."""

    name: str
    user_id: int | None = None
    origin: Origin | None = Origin.COMMAND_LINE
    roles: frozenset[Role] = frozenset((Role.SUPERADMIN,))

    @property
    def may_share_accounts(self) -> bool:
        """Whether several sites may be given the same account at the payment processor."""
        return Role.SUPERADMIN in self.roles

"""Check of the pages that rules lead to: a missing one would answer every shopper with “not found”."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from sqlalchemy import select

from app.domain.catalogue.models import Collection, Page, Product
from app.domain.merchandising.shop import load_tree
from app.domain.merchandising.tree import ShopTree
from app.domain.search.serving.rules import Rule, safe_redirect
from app.domain.shared.problems import Problem
from app.extensions import db

CATEGORY = "c"
NAMED: Mapping[str, tuple[Any, str]] = {
    "p": (Product, "no such product, or it is hidden"),
    "collections": (Collection, "no such collection, or it is hidden"),
    "pages": (Page, "no such page, or it is hidden"),
}
ALWAYS = {"/", "/search", "/basket"}
NO_CATEGORY = "no such category, or it or one above it is hidden"
UNKNOWN = (
    "shoppers have no such address. Give a category (/c/…), a product (/p/…), a collection (/collections/…), "
    "a page (/pages/…), a search (/search?q=…), / or /basket"
)


class _Place(NamedTuple):
    """The first part of a path and what comes after it."""

    kind: str
    name: str


def leading_nowhere(site_id: int, paths: Iterable[str | None]) -> dict[str, str]:
    """Return those of the paths at which shoppers of this site find nothing, each with the reason, by one query for
    each kind of page. What is no path of a site is left out (app/domain/search/serving/rules.py)."""
    places = {path: _place(path) for path in set(paths) if path and safe_redirect(path) and not _is_always(path)}
    there = {kind: _there(site_id, kind, places.values()) for kind in {place.kind for place in places.values()}}
    return {path: _why(place.kind) for path, place in places.items() if place.name not in there[place.kind]}


def target_problems(site_id: int, rule: Rule) -> list[Problem]:
    """Return the problems of the pages that a rule, already tidy, leads to."""
    return problems_of_targets(rule, leading_nowhere(site_id, rule.paths))


def problems_of_targets(rule: Rule, gone: Mapping[str, str]) -> list[Problem]:
    """Return the problems of the pages that a rule leads to; `gone` has the paths that lead nowhere, with the
    reasons."""
    banner_link = rule.banner.link_url if rule.banner else None
    named = (
        ("The redirect", rule.redirect_url, "#/redirectUrl"),
        ("The banner’s link", banner_link, "#/banner/linkUrl"),
    )
    return [
        Problem("unknown_page", f"{label} “{path[:60]}” leads nowhere: {gone[path]}.", pointer)
        for label, path, pointer in named
        if path is not None and path in gone
    ]


def _is_always(path: str) -> bool:
    return unquote(urlsplit(path).path) in ALWAYS


def _place(path: str) -> _Place:
    kind, _, name = unquote(urlsplit(path).path).removeprefix("/").partition("/")
    return _Place(kind, name)


def _there(site_id: int, kind: str, places: Iterable[_Place]) -> set[str]:
    names = {place.name for place in places if place.kind == kind}
    if kind == CATEGORY:
        tree = load_tree(site_id)
        return {name for name in names if tree.at(name) is not None or _may_be_landing_page(tree, name)}
    if kind not in NAMED:
        return set()
    model = NAMED[kind][0]
    shown = select(model.seo_name).where(model.site_id == site_id, model.seo_name.in_(names), model.enabled)
    return set(db.session.scalars(shown))


def _may_be_landing_page(tree: ShopTree, path: str) -> bool:
    """Whether a path has the form of a landing page of a category that has such pages. Whether enough products carry
    its value is not asked, since that changes from hour to hour."""
    category, segment, slug = path.rsplit("/", 2) if path.count("/") > 1 else ("", "", "")
    node = tree.at(category) if slug else None
    return node is not None and segment in tree.landing_segments(node)


def _why(kind: str) -> str:
    if kind == CATEGORY:
        return NO_CATEGORY
    return NAMED[kind][1] if kind in NAMED else UNKNOWN

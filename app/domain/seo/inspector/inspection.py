"""Inspection of one page: requested as search engines do, and explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from app.domain.merchandising.shop import Shop
from app.domain.seo.fetching import Fetch, Fetched
from app.domain.seo.inspector.address import InspectedAddress
from app.domain.seo.inspector.link_sources import LinkSource, PagesOf, link_sources
from app.domain.seo.inspector.membership import ListedPage, Membership, membership
from app.domain.seo.inspector.words import failure_in_words, redirect_in_words, rule_in_words
from app.domain.seo.landing.addresses import landing_at
from app.domain.seo.settings import filter_parameters
from app.domain.seo.site_check.findings import MEANINGS, Finding
from app.domain.seo.site_check.page_reading import ReadPage, read_page
from app.domain.seo.site_check.page_rules import is_indexable, page_findings
from app.domain.seo.sitemap.entries import CountOf, LeftOut, why_category_left_out
from app.domain.seo.structured_data_check import data_problems, pretty, types_of


@dataclass(frozen=True, slots=True)
class ShownData:
    """A JSON-LD script: its type, its text with a line for each part, and what is wrong with it."""

    kind: str
    text: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Inspection:
    """The inspection of one address. `rule` says in words what decided, `reason` is its code, empty where no page
    decided. `answer_note` says what a redirect or failure means. `findings` are the page's own contradictions."""

    address: InspectedAddress
    answer: Fetched
    page: ReadPage
    is_indexable: bool
    reason: str
    rule: str
    answer_note: str
    sitemap: Membership
    data: tuple[ShownData, ...]
    findings: tuple[Finding, ...]
    linked_from: tuple[LinkSource, ...]

    @property
    def faults(self) -> Sequence[tuple[str, str]]:
        """The label and detail of each finding that is not about structured data, which is shown beside that."""
        return [(MEANINGS[found.kind].label, found.detail) for found in self.findings if found.kind != "invalid_data"]


@dataclass(frozen=True, slots=True)
class InspectedShop:
    """The sources of an inspection: pages, landing pages, and numbers of products in categories."""

    shop: Shop
    fetch: Fetch
    pages_of: PagesOf
    count_of: CountOf


def inspect(of: InspectedShop, address: InspectedAddress) -> Inspection:
    answer = of.fetch(address.address)
    page = read_page(answer.text)
    reason = answer.decision.reason if answer.decision and answer.status == 200 else ""
    may_list = answer.status == 200 and is_indexable(",".join((answer.robots, *page.robots)))
    path = unquote(address.path)
    listed = ListedPage(
        url=address.url,
        host=of.shop.primary_host,
        status=answer.status,
        is_indexable=may_list,
        canonical=page.canonical,
        left_out=_why_left_out(of, path),
    )
    return Inspection(
        address=address,
        answer=answer,
        page=page,
        is_indexable=may_list,
        reason=reason,
        rule=rule_in_words(reason, filter_parameters(of.shop), is_own=page.canonical == address.url),
        answer_note=redirect_in_words(address.path, address.query, answer) or failure_in_words(answer.status),
        sitemap=membership(listed),
        data=tuple(ShownData(types_of(text), pretty(text), tuple(data_problems(text))) for text in page.data),
        findings=tuple(page_findings(address.address, answer, page)) if answer.status == 200 else (),
        linked_from=tuple(link_sources(of.shop, of.pages_of, path, address.query)),
    )


def _why_left_out(of: InspectedShop, path: str) -> LeftOut | None:
    """Return why the sitemap leaves out the category at a path, or the category of the landing page there; None where
    there is neither or the category is listed."""
    if not path.startswith("/c/"):
        return None
    tree, rest = of.shop.tree, path.removeprefix("/c/")
    node = tree.at(rest)
    if node is None and (found := landing_at(tree, rest, of.pages_of)):
        node = found.node
    return why_category_left_out(node, tree.is_shown(node), of.count_of) if node else None

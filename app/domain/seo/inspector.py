"""The inspector: one page of the shop, requested as search engines do, and explained. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from app.domain.merchandising.shop import Shop
from app.domain.seo.crawled_page import Fetch, Fetched, ReadPage, address_on, read_page
from app.domain.seo.indexing_decision import is_cross_domain
from app.domain.seo.landing.pages import LandingPagesOf, landing_at
from app.domain.seo.link_sources import LinkSource, link_sources
from app.domain.seo.redirects.rules import SOURCE_LABELS
from app.domain.seo.redirects.stored_redirects import Follower
from app.domain.seo.settings import filter_parameters
from app.domain.seo.site_crawl import MEANINGS, Finding, is_indexable, page_findings
from app.domain.seo.sitemap.entries import WHY_LEFT_OUT, CountOf, LeftOut, why_category_left_out
from app.domain.seo.structured_data import data_problems, indent_json, type_of_script
from app.domain.shared.problems import Invalid, Problem

LONGEST_ADDRESS = 2_000
RULE_TEXTS: Mapping[str, str] = {
    "staging_site": "This is a staging site, which is hidden from search engines.",
    "indexable": "The page is at its own address, and no rule excludes it.",
    "page_number": "Later pages of a list are indexable and have their own canonical.",
    "canonical_override": "A canonical override points to another address of the shop.",
    "cross_domain_canonical": "The canonical set for this page is on another host.",
    "search_words": "Lists with search words (q) are not indexed.",
    "sort_parameter": "Sorted lists (sort) show the same products as the plain list and are not indexed.",
    "page_size_parameter": "Lists with another page size (pageSizeOverride) are not indexed.",
    "past_last_page_shown": "The page number is beyond the last page of the list.",
    "search_results": "Search result pages are never indexed.",
    "not_for_search_engines": "Pages such as basket and checkout are not for search engines.",
}
FILTER = "The parameter “{}” filters the list. Filtered lists are not indexed; their canonical is the plain list."
VARIANT = "The page with these parameters is indexed under its canonical address."
UNKNOWN = (
    "Unknown parameter “{}”, so it counts as a filter. If it only tracks visitors, an admin can mark it as tracking "
    "under Crawlers."
)


@dataclass(frozen=True, slots=True)
class InspectedAddress:
    """An address to inspect. `address` is path and parameters on one of the shop's hosts."""

    host: str
    address: str

    @property
    def path(self) -> str:
        return self.address.partition("?")[0]

    @property
    def query(self) -> str:
        return self.address.partition("?")[2]

    @property
    def url(self) -> str:
        return f"https://{self.host}{self.address}"


def read_address(text: str, hosts: Sequence[str]) -> InspectedAddress:
    """Read a path, or an address with or without https:// in front, on one of the shop's hosts, the first of which is
    the primary one. Raises Invalid, which names the problem."""
    text = text.strip()
    if len(text) > LONGEST_ADDRESS:
        raise _invalid("address_too_long", f"The address is longer than {LONGEST_ADDRESS:,} characters.")
    if any(character.isspace() or not character.isprintable() for character in text):
        raise _invalid("not_an_address", "This is not an address: it contains spaces or unprintable characters.")
    host, address = _split_host(text, hosts)
    if host not in hosts:
        known = ", ".join(hosts)
        raise _invalid("foreign_host", f"{host} is not an address of this shop. Its pages are at {known}.")
    found = address_on(host, address)
    if found is None:
        raise _invalid("not_an_address", "This is not the address of a page.")
    return InspectedAddress(host, found)


def _split_host(text: str, hosts: Sequence[str]) -> tuple[str, str]:
    """Return the host and the path with its parameters. Raises Invalid."""
    if text.startswith("/") and not text.startswith("//"):
        return hosts[0], text
    bare = text.partition("/")[0].partition("?")[0].partition(":")[0].lower()
    try:
        parts = urlsplit(f"https://{text}" if bare in hosts else text)
        host = parts.hostname or ""
    except ValueError:
        host = ""
    if not host or parts.scheme not in ("http", "https", ""):
        raise _invalid("not_an_address", "Enter the address of a page, or its path, starting with a slash.")
    return host.removesuffix("."), f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"


def _invalid(code: str, message: str) -> Invalid:
    return Invalid([Problem(code, message, "#/url")])


def describe_rule(reason: str, filters: Collection[str], *, is_own: bool = True) -> str:
    """Return the sentence for a reason code. `filters` are the parameters that lists know; `is_own`: the page is its
    own canonical."""
    code, _, parameter = reason.partition(":")
    if code in ("indexable", "page_number") and not is_own:
        return VARIANT
    if code == "facet_parameter":
        return (FILTER if parameter in filters else UNKNOWN).format(parameter)
    return RULE_TEXTS.get(code, reason)


def describe_redirect(path: str, query: str, answer: Fetched, follower: Follower | None = None) -> str:
    """Return why an address sends its visitors on, empty where it does not. `follower` is what a stored redirect makes
    of it."""
    if not answer.is_redirect:
        return ""
    if follower is not None:
        made_by = SOURCE_LABELS[follower.source]
        day = f"{follower.since.day} {follower.since:%B %Y}"
        return f"Redirects to {follower.to.address} since {day}, by the redirect of {follower.old_path} ({made_by})."
    if path != "/" and path.endswith("/"):
        return "Addresses have no slash at the end."
    if path.startswith("/c/"):
        return "The category is filtered by a single value that has a landing page, so it redirects there."
    if path == "/search" and query:
        return "A search rule redirects this search."
    if path.startswith("/admin"):
        return "The admin requires signing in."
    return "The shop redirects this address."


def describe_failure(status: int) -> str:
    """Return what a page that does not answer means for search engines, empty for one that does."""
    if status == 404:
        return "Page not found. Search engines drop the address."
    if status >= 500:
        return "Server error. Search engines try again later, and drop the address if it persists."
    return "The shop refuses this address." if status >= 400 else ""


@dataclass(frozen=True, slots=True)
class Membership:
    is_listed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ListedPage:
    """The facts of a page that decide whether a sitemap lists it. `url` is absolute, `canonical` what the page names;
    `left_out` says why its category is left out, where it is one or a landing page of one."""

    url: str
    host: str
    status: int
    is_indexable: bool
    canonical: str
    left_out: LeftOut | None = None


def sitemap_membership(page: ListedPage) -> Membership:
    """Return whether the sitemap lists a page, as it would be written now."""
    reason = ""
    if page.status != 200:
        reason = "Only pages that answer are listed."
    elif not page.is_indexable:
        reason = "Only indexable pages are listed."
    elif page.left_out is not None:
        reason = WHY_LEFT_OUT.get(page.left_out, "The page is excluded from the sitemap.")
    elif is_cross_domain(page.canonical, page.host):
        reason = "Its canonical is on another host."
    elif page.canonical == page.url and "?p=" in page.url:
        reason = "Only the first page of a list is listed."
    elif page.canonical != page.url:
        reason = f"Its canonical is another address: {page.canonical or 'none'}."
    return Membership(not reason, reason or "The page answers, is indexable and is its own canonical.")


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
    pages_of: LandingPagesOf
    count_of: CountOf
    follower_of: Callable[[str], Follower | None] = lambda _path: None


def inspect_page(of: InspectedShop, address: InspectedAddress) -> Inspection:
    answer = of.fetch(address.address)
    page = read_page(answer.text)
    reason = answer.decision.reason if answer.decision and answer.status == 200 else ""
    may_list = answer.status == 200 and is_indexable(",".join((answer.robots, *page.robots)))
    path = unquote(address.path)
    follower = of.follower_of(path) if answer.is_redirect else None
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
        rule=describe_rule(reason, filter_parameters(of.shop), is_own=page.canonical == address.url),
        answer_note=describe_redirect(address.path, address.query, answer, follower) or describe_failure(answer.status),
        sitemap=sitemap_membership(listed),
        data=tuple(
            ShownData(type_of_script(text), indent_json(text), tuple(data_problems(text))) for text in page.data
        ),
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

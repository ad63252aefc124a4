"""A crawl of all pages of a shop that looks for contradictions, and what it finds. Pure: pages come from a function."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qsl
from zlib import crc32

from app.domain.seo.crawled_page import Fetch, Fetched, ReadPage, address_on, read_page
from app.domain.seo.indexing_decision import INDEX
from app.domain.seo.structured_data import data_problems

MOST_LISTED = 100  # Findings of each kind; all are counted.
MOST_ADDRESSES = 50_000
MOST_SAMPLES = 500  # Addresses with parameters: filters make more of them than anybody can read.
SAMPLES_OF_PAGE = 2
NOINDEX_DIRECTIVES = frozenset(("noindex", "none"))
OTHER_SURFACES = ("/admin", "/v1/", "/static/", "/media/", "/picture/")


class FindingKind(StrEnum):
    SITEMAP_FAILS = "sitemap_fails"
    SITEMAP_REDIRECTS = "sitemap_redirects"
    SITEMAP_NOT_INDEXABLE = "sitemap_not_indexable"
    SITEMAP_NOT_CANONICAL = "sitemap_not_canonical"
    MISSING_FROM_SITEMAP = "missing_from_sitemap"
    LINK_FAILS = "link_fails"
    LINK_REDIRECTS = "link_redirects"
    REDIRECT_FAILS = "redirect_fails"
    REDIRECT_LEADS_ON = "redirect_leads_on"
    CANONICAL_FAILS = "canonical_fails"
    CANONICAL_NOT_INDEXABLE = "canonical_not_indexable"
    SEVERAL_CANONICALS = "several_canonicals"
    ROBOTS_DISAGREE = "robots_disagree"
    INVALID_DATA = "invalid_data"
    BROKEN_HTML = "broken_html"
    NOT_LINKED = "not_linked"
    HEADING_COUNT = "heading_count"
    MISSING_TITLE = "missing_title"
    SAME_TITLE = "same_title"


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a kind of finding. `is_contradiction`: search engines get two answers, or are sent where nothing
    is; the others are advice."""

    label: str
    advice: str
    is_contradiction: bool = True


_FIX_LINK = "Change the link on that page, or restore the page it leads to."
MEANINGS: Mapping[FindingKind, Meaning] = {
    FindingKind.SITEMAP_FAILS: Meaning(
        "In the sitemap, but does not answer", "Rebuild the sitemap. If the page should exist, find out why it fails."
    ),
    FindingKind.SITEMAP_REDIRECTS: Meaning(
        "In the sitemap, but redirects", "Rebuild the sitemap: it lists an old address of the page."
    ),
    FindingKind.SITEMAP_NOT_INDEXABLE: Meaning(
        "In the sitemap, but not indexable", "Leave the page out of the sitemap, or let search engines list it."
    ),
    FindingKind.SITEMAP_NOT_CANONICAL: Meaning(
        "In the sitemap, but another address is canonical", "Remove the page’s canonical address, or list that instead."
    ),
    FindingKind.MISSING_FROM_SITEMAP: Meaning(
        "Indexable, but not in the sitemap", "Rebuild the sitemap. Its warnings say what was left out and why."
    ),
    FindingKind.LINK_FAILS: Meaning("A link leads to a page that does not answer", _FIX_LINK),
    FindingKind.LINK_REDIRECTS: Meaning(
        "A link leads to a redirect", "Link straight to the address where the redirect ends."
    ),
    FindingKind.REDIRECT_FAILS: Meaning(
        "A redirect leads to a page that does not answer", "Change the redirect under Redirects, or delete it."
    ),
    FindingKind.REDIRECT_LEADS_ON: Meaning(
        "A redirect leads to another redirect", "Change the redirect so that it leads straight to the last address."
    ),
    FindingKind.CANONICAL_FAILS: Meaning(
        "The canonical address does not answer", "Correct the canonical address in the editor of the page."
    ),
    FindingKind.CANONICAL_NOT_INDEXABLE: Meaning(
        "The canonical address is not indexable", "Enter an indexable address, or leave it empty."
    ),
    FindingKind.SEVERAL_CANONICALS: Meaning(
        "More than one canonical address", "A page has at most one: check the theme’s templates."
    ),
    FindingKind.ROBOTS_DISAGREE: Meaning(
        "Page and X-Robots-Tag disagree", "Both must agree: check the theme and the proxy in front of the shop."
    ),
    FindingKind.INVALID_DATA: Meaning(
        "Structured data is not valid", "Inspect the page to see what is missing. Fill it in, or correct the theme."
    ),
    FindingKind.BROKEN_HTML: Meaning(
        "The page’s HTML is broken", "Look for “<![” in its texts or in the theme: nothing after it was read."
    ),
    FindingKind.NOT_LINKED: Meaning(
        "In the sitemap, but no page links to it",
        "Add it to a category or collection that shoppers can reach, or link to it from a page.",
        is_contradiction=False,
    ),
    FindingKind.HEADING_COUNT: Meaning(
        "Not exactly one main heading", "Use one H1 per page, and H2 for its sections.", is_contradiction=False
    ),
    FindingKind.MISSING_TITLE: Meaning(
        "No title", "Give the page a title: it is the first line of a search result.", is_contradiction=False
    ),
    FindingKind.SAME_TITLE: Meaning("The same title as another page", "Give each page its own title.", False),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a check. `url` is an address on the shop without its host, `linked_from` one that leads there."""

    kind: FindingKind
    url: str
    linked_from: str = ""
    detail: str = ""


@dataclass(slots=True)
class Findings:
    """The findings of a check: all are counted, the first of each kind kept."""

    counts: Counter[FindingKind] = field(default_factory=Counter)
    kept: list[Finding] = field(default_factory=list)

    def add(self, finding: Finding) -> None:
        self.counts[finding.kind] += 1
        if self.counts[finding.kind] <= MOST_LISTED:
            self.kept.append(finding)


def is_indexable(robots: str) -> bool:
    """Whether directives let search engines list a page; without any they may."""
    return not _directives(robots) & NOINDEX_DIRECTIVES


def page_findings(address: str, answer: Fetched, page: ReadPage) -> Iterator[Finding]:
    """Yield the findings about a single page that answered."""
    if page.is_cut_off:
        yield Finding(FindingKind.BROKEN_HTML, address)
    if problem := robots_problem(answer.robots, page.robots):
        yield Finding(FindingKind.ROBOTS_DISAGREE, address, detail=problem)
    if len(page.canonicals) > 1:
        yield Finding(FindingKind.SEVERAL_CANONICALS, address, detail=", ".join(page.canonicals[:5]))
    if not page.title:
        yield Finding(FindingKind.MISSING_TITLE, address)
    if page.headings != 1:
        yield Finding(FindingKind.HEADING_COUNT, address, detail=f"{page.headings} H1 elements.")
    for text in page.data:
        for problem in data_problems(text):
            yield Finding(FindingKind.INVALID_DATA, address, detail=problem)


def robots_problem(header: str, written: list[str]) -> str:
    """Return how the robots directives of an answer's header and its page disagree, empty where they do not."""
    if len(written) > 1:
        return f"The page has {len(written)} robots directives."
    page = written[0] if written else INDEX
    if (_directives(header) or _directives(INDEX)) == _directives(page):
        return ""
    return f"The page says “{page}”, X-Robots-Tag says “{header or 'nothing'}”."


def _directives(robots: str) -> frozenset[str]:
    return frozenset(part.strip().lower() for part in robots.split(",") if part.strip())


@dataclass(frozen=True, slots=True)
class SeenPage:
    """The facts of a page that are compared with others. `canonical` is an address of the shop, None where the page
    names none or one elsewhere."""

    status: int
    is_indexable: bool = False
    canonical: str | None = None
    title: str = ""
    location: str = ""


@dataclass(frozen=True, slots=True)
class CrawledShop:
    """The input of a crawl. `sitemap` lists addresses on the shop, `left_out` are the indexable ones that it leaves out
    on purpose, `redirects` the addresses to which stored redirects lead, by their old paths."""

    host: str
    fetch: Fetch
    sitemap: Collection[str]
    left_out: Collection[str] = frozenset()
    redirects: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Crawl:
    """A crawl that reads each address once, those of the sitemap and the front page first, then what they lead to."""

    shop: CrawledShop
    most: int = MOST_ADDRESSES
    most_samples: int = MOST_SAMPLES
    findings: Findings = field(default_factory=Findings)
    seen: dict[str, SeenPage] = field(default_factory=dict)
    unvisited: int = 0
    _linked_from: dict[str, str] = field(default_factory=dict)
    _waiting: deque[str] = field(default_factory=deque)
    _samples: int = 0

    def steps(self) -> Iterator[tuple[int, int]]:
        """Read page after page, then compare them all; yield after each page how many addresses are read and known."""
        if not self._linked_from:
            for address in ("/", *self.shop.sitemap, *self.shop.redirects.values()):
                self._meet(address, "")
        while self._waiting:
            address = self._waiting.popleft()
            self._visit(address)
            yield len(self.seen), len(self._linked_from)
        self._compare()

    def state(self) -> dict[str, Any]:
        """Return the state of the crawl as JSON, for `resumed`."""
        return {
            "sitemap": list(self.shop.sitemap),
            "leftOut": sorted(self.shop.left_out),
            "redirects": dict(self.shop.redirects),
            "seen": {address: astuple(page) for address, page in self.seen.items()},
            "linkedFrom": self._linked_from,
            "waiting": list(self._waiting),
            "samples": self._samples,
            "unvisited": self.unvisited,
            "counts": self.findings.counts,
            "found": [astuple(finding) for finding in self.findings.kept],
        }

    @classmethod
    def resumed(cls, state: Mapping[str, Any], host: str, fetch: Fetch) -> Crawl:
        """Return the crawl that goes on from a `state`."""
        left_out = frozenset(state["leftOut"])
        crawl = cls(CrawledShop(host, fetch, state["sitemap"], left_out, state.get("redirects", {})))
        crawl.seen = {address: SeenPage(*page) for address, page in state["seen"].items()}
        crawl._linked_from, crawl._waiting = dict(state["linkedFrom"]), deque(state["waiting"])
        crawl._samples, crawl.unvisited = state["samples"], state["unvisited"]
        crawl.findings.counts = Counter({FindingKind(kind): count for kind, count in state["counts"].items()})
        crawl.findings.kept = [Finding(FindingKind(kind), *more) for kind, *more in state["found"]]
        return crawl

    def _meet(self, address: str, linked_from: str) -> None:
        """Queue an address that is new, and note a page that links to it. `linked_from` is empty where the sitemap or a
        canonical names it."""
        if address in self._linked_from:
            if linked_from != address:
                self._linked_from[address] = self._linked_from[address] or linked_from
            return
        if len(self._linked_from) >= self.most:
            self.unvisited += 1
            return
        self._linked_from[address] = linked_from
        self._waiting.append(address)

    def _visit(self, address: str) -> None:
        answer = self.shop.fetch(address)
        if answer.status != 200 or not answer.text:
            self.seen[address] = SeenPage(answer.status, location=answer.location)
            target = address_on(self.shop.host, answer.location, address) if answer.is_redirect else None
            if target is not None:
                self._meet(target, address)
            return
        page = read_page(answer.text)
        for finding in page_findings(address, answer, page):
            self._add(finding)
        may_list = is_indexable(",".join((answer.robots, *page.robots)))
        canonical = address_on(self.shop.host, page.canonical, address) if page.canonical else None
        self.seen[address] = SeenPage(answer.status, may_list, canonical, page.title)
        if canonical is not None:
            self._meet(canonical, "")
        self._follow_links(address, page)

    def _follow_links(self, address: str, page: ReadPage) -> None:
        """Follow the links of a page. Nofollow links, and addresses with parameters, are tried in a sample that is the
        same every time."""
        sampled: set[str] = set()
        for link in page.links:
            target = address_on(self.shop.host, link.href, address)
            if target is None or target.startswith(OTHER_SURFACES):
                continue
            if link.is_followed and not _has_parameters(target):
                self._meet(target, address)
            elif target not in self._linked_from:
                sampled.add(target)
        for target in sorted(sampled, key=lambda one: crc32(one.encode()))[:SAMPLES_OF_PAGE]:
            if self._samples < self.most_samples:
                self._samples += 1
                self._meet(target, address)

    def _compare(self) -> None:
        """Add the findings that only all pages together show."""
        sitemap = frozenset(self.shop.sitemap)
        titles: dict[str, str] = {}
        for address, page in self.seen.items():
            for finding in (
                *(self._sitemap_findings(address, page) if address in sitemap else self._link_findings(address, page)),
                *self._canonical_findings(address, page),
                *self._title_findings(address, page, titles),
            ):
                self._add(finding)
            if address not in sitemap and self._belongs_in_sitemap(address, page):
                self._add(Finding(FindingKind.MISSING_FROM_SITEMAP, address))
        for finding in self._redirect_findings():
            self._add(finding)

    def _redirect_findings(self) -> Iterator[Finding]:
        for old, address in self.shop.redirects.items():
            page = self.seen.get(address, SeenPage(200))
            if 300 <= page.status < 400:
                yield Finding(FindingKind.REDIRECT_LEADS_ON, old, detail=f"{address} leads to {page.location}.")
            elif page.status != 200:
                yield Finding(FindingKind.REDIRECT_FAILS, old, detail=f"{address} answers {page.status}.")

    def _sitemap_findings(self, address: str, page: SeenPage) -> Iterator[Finding]:
        if 300 <= page.status < 400:
            yield Finding(FindingKind.SITEMAP_REDIRECTS, address, detail=_leads_to(page))
        elif page.status != 200:
            yield Finding(FindingKind.SITEMAP_FAILS, address, detail=f"Answers {page.status}.")
        elif not page.is_indexable:
            yield Finding(FindingKind.SITEMAP_NOT_INDEXABLE, address)
        elif page.canonical != address:
            yield Finding(FindingKind.SITEMAP_NOT_CANONICAL, address, detail=page.canonical or "It names none here.")
        elif address != "/" and not self._linked_from[address] and not self.unvisited:
            yield Finding(FindingKind.NOT_LINKED, address)

    def _link_findings(self, address: str, page: SeenPage) -> Iterator[Finding]:
        """Yield the findings about links to an address. One to which only a canonical leads has findings about that
        instead."""
        if address != "/" and not self._linked_from[address]:
            return
        if 300 <= page.status < 400:
            yield Finding(FindingKind.LINK_REDIRECTS, address, detail=_leads_to(page))
        elif page.status != 200:
            yield Finding(FindingKind.LINK_FAILS, address, detail=f"Answers {page.status}.")

    def _canonical_findings(self, address: str, page: SeenPage) -> Iterator[Finding]:
        if page.canonical is None or page.canonical == address:
            return
        target = self.seen.get(page.canonical)
        if target is not None and target.status != 200:
            detail = f"{page.canonical} answers {target.status}."
            yield Finding(FindingKind.CANONICAL_FAILS, address, detail=detail)
        elif target is not None and not target.is_indexable:
            yield Finding(FindingKind.CANONICAL_NOT_INDEXABLE, address, detail=page.canonical)

    def _title_findings(self, address: str, page: SeenPage, titles: dict[str, str]) -> Iterator[Finding]:
        if page.title and page.is_indexable and page.canonical == address:
            first = titles.setdefault(page.title, address)
            if first != address:
                yield Finding(FindingKind.SAME_TITLE, address, detail=f"“{page.title}”, as {first}")

    def _belongs_in_sitemap(self, address: str, page: SeenPage) -> bool:
        """Whether a page belongs in the sitemap: of a listing only the first page, and the front page needs no
        listing."""
        is_own = page.is_indexable and page.canonical == address
        return is_own and address != "/" and "?" not in address and address not in self.shop.left_out

    def _add(self, finding: Finding) -> None:
        linked_from = finding.linked_from or self._linked_from.get(finding.url, "")
        self.findings.add(Finding(finding.kind, finding.url, linked_from, finding.detail))


def _has_parameters(address: str) -> bool:
    """Whether an address has parameters besides the page number."""
    query = address.partition("?")[2]
    return any(name != "p" for name, _ in parse_qsl(query, keep_blank_values=True))


def _leads_to(page: SeenPage) -> str:
    return f"Answers {page.status} and leads to {page.location}."

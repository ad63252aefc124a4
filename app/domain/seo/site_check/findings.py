"""Findings of a site check, in words, each with what to do about it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

MOST_LISTED = 100  # Of each kind; all are counted.


class FindingKind(StrEnum):
    SITEMAP_FAILS = "sitemap_fails"
    SITEMAP_REDIRECTS = "sitemap_redirects"
    SITEMAP_NOT_INDEXABLE = "sitemap_not_indexable"
    SITEMAP_NOT_CANONICAL = "sitemap_not_canonical"
    MISSING_FROM_SITEMAP = "missing_from_sitemap"
    LINK_FAILS = "link_fails"
    LINK_REDIRECTS = "link_redirects"
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

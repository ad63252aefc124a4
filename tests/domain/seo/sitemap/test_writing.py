"""Sitemaps as files: valid XML, in so many parts as the limits ask for."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import BinaryIO
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.seo.indexing_decision import PageKind, PageRequest, SearchEngineSettings
from app.domain.seo.sitemap.entries import Candidate, RejectedEntry, SitemapEntry, entry_of
from app.domain.seo.sitemap.files import LIMITS, EmptySitemap, Limits, write_sitemap, xml_text
from tests.domain.seo.sitemap.reading import NAMESPACE

WHEN = datetime(2026, 11, 1, 12, tzinfo=UTC)
SETTINGS = SearchEngineSettings("shop.test")
HOSTILE = st.text(st.sampled_from("<&]>\"'\x00\x0b\x1b\x7f￿\ud800\u202eé日😀 %?#/\\az\n"), max_size=12) | st.text(
    max_size=60
)


class _Kept(io.BytesIO):
    """Keeps what was written to it when it is closed."""

    def __init__(self, files: dict[str, bytes], name: str) -> None:
        super().__init__()
        self._files, self._name = files, name

    def close(self) -> None:
        if not self.closed:
            self._files[self._name] = self.getvalue()
        super().close()


class InMemory:
    """A generation of a sitemap without a disk."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def create(self, name: str) -> BinaryIO:
        return _Kept(self.files, name)

    def rename(self, name: str, to: str) -> None:
        self.files[to] = self.files.pop(name)

    def publish(self) -> None: ...

    def discard(self) -> None: ...

    def locs(self, name: str) -> list[str]:
        return [loc.text or "" for loc in ElementTree.fromstring(self.files[name]).iter(f"{NAMESPACE}loc")]


def _written(addresses: list[str], limits: Limits = LIMITS) -> InMemory:
    generation = InMemory()
    entries = (SitemapEntry(address, WHEN) for address in addresses)
    written = write_sitemap(generation, entries, "shop.test", lambda _done: None, limits)
    assert (written.addresses, written.files) == (len(addresses), len(generation.files))
    return generation


def _addresses(count: int) -> list[str]:
    return [f"https://shop.test/p/tent-{number}" for number in range(count)]


def test_few_addresses_are_one_file() -> None:
    generation = _written(_addresses(3))
    assert list(generation.files) == ["sitemap.xml"]
    root = ElementTree.fromstring(generation.files["sitemap.xml"])
    assert root.tag == f"{NAMESPACE}urlset"
    assert [child.tag.removeprefix(NAMESPACE) for url in root for child in url] == ["loc", "lastmod"] * 3
    assert {date.text for date in root.iter(f"{NAMESPACE}lastmod")} == {"2026-11-01T12:00:00Z"}


def test_a_sitemap_without_an_address_is_none() -> None:
    generation = InMemory()
    with pytest.raises(EmptySitemap, match="not one address"):
        write_sitemap(generation, [], "shop.test", lambda _done: None)
    assert generation.files == {}


def test_as_many_as_a_file_holds_are_one_file() -> None:
    assert list(_written(_addresses(4), Limits(4)).files) == ["sitemap.xml"]


def test_more_are_parts_in_the_same_order_named_by_an_index() -> None:
    generation = _written(_addresses(9), Limits(4))
    assert ElementTree.fromstring(generation.files["sitemap.xml"]).tag == f"{NAMESPACE}sitemapindex"
    parts = [f"sitemap-{number}.xml" for number in (1, 2, 3)]
    assert generation.locs("sitemap.xml") == [f"https://shop.test/{name}" for name in parts]
    assert [address for name in parts for address in generation.locs(name)] == _addresses(9)
    assert [len(generation.locs(name)) for name in parts] == [4, 4, 1]


@given(st.integers(1, 60), st.integers(1, 70), st.integers(300, 2_000))
def test_no_file_exceeds_a_limit_and_nothing_is_lost(count: int, addresses: int, size: int) -> None:
    generation = _written(_addresses(count), Limits(addresses, size))
    parts = [name for name in generation.files if name != "sitemap.xml"] or ["sitemap.xml"]
    assert all(len(generation.files[name]) <= size and len(generation.locs(name)) <= addresses for name in parts)
    assert [address for name in parts for address in generation.locs(name)] == _addresses(count)


def test_the_limits_are_those_of_the_protocol() -> None:
    assert Limits(50_000, 50_000_000) == LIMITS


@given(HOSTILE)
def test_any_text_is_the_content_of_an_element(text: str) -> None:
    read = ElementTree.fromstring(f"<a>{xml_text(text)}</a>".encode()).text or ""
    assert read == "".join(filter(_fits_xml, text)).replace("\r\n", "\n").replace("\r", "\n")


def _fits_xml(sign: str) -> bool:
    return sign in "\t\n\r" or " " <= sign <= "\ud7ff" or "\ue000" <= sign <= "\ufffd" or sign >= "\U00010000"


@given(HOSTILE, HOSTILE, st.sampled_from([PageKind.PRODUCT, PageKind.CONTENT, PageKind.CATEGORY]))
def test_a_page_with_any_name_is_listed_on_the_primary_domain_or_rejected(
    name: str, override: str, kind: PageKind
) -> None:
    """T40."""
    for canonical in (None, override, f"http://shop.test/{override}", f"//shop.test{override}"):
        try:
            entry = entry_of(Candidate(PageRequest(kind, f"/p/{name}", override=canonical)), SETTINGS)
        except RejectedEntry:
            continue
        if isinstance(entry, SitemapEntry):
            (loc,) = _written([entry.address]).locs("sitemap.xml")
            assert loc == entry.address
            parts = urlsplit(loc)
            assert (parts.scheme, parts.netloc, parts.fragment) == ("https", "shop.test", "")

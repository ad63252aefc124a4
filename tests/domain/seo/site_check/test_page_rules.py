"""What a page shows by itself."""

from __future__ import annotations

import json

import pytest

from app.domain.seo import structured_data
from app.domain.seo.crawled_page import Fetched, read_page
from app.domain.seo.indexing_decision import INDEX, NOINDEX
from app.domain.seo.site_crawl import (
    MEANINGS,
    MOST_LISTED,
    Finding,
    FindingKind,
    Findings,
    is_indexable,
    page_findings,
    robots_problem,
)


def kinds(html: str, header: str = INDEX) -> list[FindingKind]:
    return [finding.kind for finding in page_findings("/x", Fetched(200, robots=header, text=html), read_page(html))]


GOOD = '<title>Tea</title><meta name="robots" content="index, follow"><link rel="canonical" href="/x"><h1>Tea</h1>'
DATA = '<script type="application/ld+json">{}</script>'


def test_a_good_page_has_no_findings():
    assert kinds(GOOD) == []


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        (GOOD.replace("<h1>Tea</h1>", ""), FindingKind.HEADING_COUNT),
        (GOOD + "<h1>Coffee</h1>", FindingKind.HEADING_COUNT),
        (GOOD.replace("Tea</title>", " </title>"), FindingKind.MISSING_TITLE),
        (GOOD.replace("<title>Tea</title>", ""), FindingKind.MISSING_TITLE),
        (GOOD + '<link rel="canonical" href="/y">', FindingKind.SEVERAL_CANONICALS),
        (GOOD.replace("index, follow", "noindex, follow"), FindingKind.ROBOTS_DISAGREE),
        (GOOD + '<meta name="ROBOTS" content="index, follow">', FindingKind.ROBOTS_DISAGREE),
        (GOOD + '<script type="application/ld+json">{"@type"</script>', FindingKind.INVALID_DATA),
        (
            GOOD + '<script type="application/ld+json">{"@context":"https://schema.org"}</script>',
            FindingKind.INVALID_DATA,
        ),
    ],
)
def test_each_fault_of_a_page_is_one_finding(html: str, kind: FindingKind):
    assert kinds(html) == [kind]


def test_a_page_may_leave_the_robots_directive_to_the_header_but_only_where_it_says_the_same():
    assert robots_problem(INDEX, []) == ""
    assert robots_problem("", []) == ""
    assert robots_problem("", [INDEX]) == ""
    assert robots_problem(NOINDEX, ["nofollow,NOINDEX"]) != ""
    assert robots_problem(NOINDEX, ["follow,  NOINDEX"]) == ""
    assert "X-Robots-Tag" in robots_problem(NOINDEX, [])


def test_html_that_breaks_off_is_a_finding_and_no_failure():
    assert kinds(GOOD + "<![foo[bar]]><h1>Never read</h1>") == [FindingKind.BROKEN_HTML]


def test_what_is_indexable():
    assert is_indexable("") and is_indexable(INDEX)
    assert not is_indexable(NOINDEX) and not is_indexable("none") and not is_indexable("index,NoIndex")


def test_titles_of_pictures_other_scripts_and_broken_html_are_read_as_browsers_do():
    page = read_page(
        "<svg><title>Icon</title></svg><title>Tea &amp; pots</title><script>var h = '<h1>';</script><h1>A<a href>"
    )

    assert page.titles == ["Tea & pots"]
    assert (page.headings, page.data) == (1, [])
    assert page.links[0].href == ""


def test_each_kind_of_finding_has_a_label_and_advice():
    assert set(MEANINGS) == set(FindingKind)
    assert all(meaning.advice.endswith(".") and meaning.label for meaning in MEANINGS.values())


def test_all_findings_are_counted_and_the_first_of_each_kind_kept():
    findings = Findings()
    for number in range(MOST_LISTED + 5):
        findings.add(Finding(FindingKind.LINK_FAILS, f"/{number}"))
    findings.add(Finding(FindingKind.SAME_TITLE, "/x"))

    assert findings.counts == {FindingKind.LINK_FAILS: MOST_LISTED + 5, FindingKind.SAME_TITLE: 1}
    assert len(findings.kept) == MOST_LISTED + 1


def test_what_the_shop_itself_writes_is_valid_data():
    step = structured_data.Step("Home", "https://shop.test/")
    data = structured_data.breadcrumbs([step])

    assert kinds(GOOD + DATA.format(json.dumps(data))) == []

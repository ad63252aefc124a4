"""What a search comes to before an engine is asked."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import Banner, Rule, safe_redirect

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


def serving(*rules: Rule) -> Served:
    return Served(rules=RuleSet.of(rules))


def test_a_rule_brings_its_redirect_and_its_banner():
    rule = Rule("delivery", redirect_url="/pages/delivery", banner=Banner("Free", "/c/gifts"))
    planned = plan("Delivery", serving(rule), NOW)
    assert (planned.rule, planned.redirect, planned.banner) == (rule, "/pages/delivery", rule.banner)


def test_a_redirect_can_be_left_out_to_see_the_results():
    rule = Rule("delivery", redirect_url="/pages/delivery")
    assert plan("delivery", serving(rule), NOW, redirects=False).redirect is None


def test_searches_that_would_be_sent_on_and_on_are_not_sent_at_all():
    rules = (
        Rule("itself", redirect_url="/search?q=ITSELF"),
        Rule("a", redirect_url="/search?q=b"),
        Rule("b", redirect_url="/search?q=a&sort=name"),
        Rule("fine", redirect_url="/search?q=tent"),
        Rule("loopa", redirect_url="/%73earch?q=loopa"),
        Rule("blank", redirect_url="/search?q=+&q=blank"),
        Rule("é" * 100, redirect_url="/search?q=" + "e\u0301" * 100 + "and+more"),
        Rule("long", redirect_url="/search/?" + "x=1&" * 90 + "q=tent"),
        Rule("crowd", redirect_url="/search?" + "x&" * 200),
    )
    sent = {rule.term: plan(rule.term, serving(*rules), NOW).redirect for rule in rules}
    assert (sent["itself"], sent["a"], sent["b"], sent["fine"]) == (None, None, None, "/search?q=tent")
    assert (sent["loopa"], sent["blank"], sent["é" * 100]) == (None, None, None)


@pytest.mark.parametrize(
    "path",
    [
        "//evil.test",
        "/\\evil.test",
        "https://evil.test/",
        "javascript:alert(1)",
        "/\t/evil.test",
        "c/tents",
        "",
        "/%2f%2fevil.test",
        "/%5cevil.test",
        "/%252f%252fevil.test",
        "/%2e%2e",
    ],
)
def test_a_stored_address_that_leaves_the_site_is_not_used(path: str):
    rule = Rule("sale", redirect_url=path, banner=Banner("Sale", path))
    planned = plan("sale", serving(rule), NOW)
    assert (planned.redirect, planned.banner) == (None, Banner("Sale", None))


@given(st.text(alphabet="/\\.:@?#%\t\n a\u2028é", max_size=12))
def test_every_address_that_is_used_stays_on_its_host(text: str):
    path = safe_redirect("/" + text)
    if path is not None:
        assert urlsplit(urljoin("https://shop.test/search?q=x", path)).netloc == "shop.test"

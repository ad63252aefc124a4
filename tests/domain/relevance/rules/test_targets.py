"""The pages that rules lead to are there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select

from app.domain.merchandising.models import Node, Tree
from app.domain.relevance import rules
from app.domain.relevance.rules import missing_pages
from app.domain.search.serving.rules import Banner, Rule
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import WHEN, make_collection, make_page, make_product, make_site
from tests.fakes.clock import StoppedClock

THERE = (
    *("/", "/basket", "/search", "/search?q=tent", "/c/all", "/c/all/caf%C3%A9?price=1#top"),
    *("/p/kettle", "/p/kettle?variant=K-1", "/collections/gifts", "/pages/returns"),
)
NOWHERE = (
    *("/c/nope", "/c/all/hidden", "/c/all/hidden/below", "/c", "/c/", "/c/other", "/p/nope", "/p/hidden", "/p/theirs"),
    *("/collections/nope", "/pages/nope", "/pages/hidden", "/pages/returns/", "/admin", "/order/1", "/Basket"),
)


@pytest.fixture
def site(context: None) -> Site:
    with transaction():
        site, other = make_site(), make_site("other.test")
        for sku, more in (("kettle", {}), ("hidden", {"enabled": False})):
            make_product(site, sku, **more)
        make_product(other, "theirs")
        make_page(site, "returns")
        make_page(site, "hidden", enabled=False)
        make_collection(site, "gifts")
        above = _node(site, _tree(site, True), "all")
        for path, visible in (("all/café", True), ("all/hidden", False)):
            made = _node(site, above.tree_id, path, above.id, visible)
        _node(site, above.tree_id, "all/hidden/below", made.id)
        _node(site, _tree(site, False), "other")
    return site


def _tree(site: Site, primary: bool) -> int:
    tree = Tree(site_id=site.id, name=f"Tree {primary}", primary=primary, facets=[], updated_at=WHEN)
    db.session.add(tree)
    db.session.flush()
    return tree.id


def _node(site: Site, tree_id: int, path: str, parent_id: int | None = None, visible: bool = True) -> Node:
    slug = path.rpartition("/")[2]
    fields = {"name": slug, "slug": slug, "path": path, "visible": visible, "updated_at": WHEN}
    node = Node(site_id=site.id, tree_id=tree_id, parent_id=parent_id, **fields)
    db.session.add(node)
    db.session.flush()
    return node


def test_what_shoppers_find_is_told_from_what_they_do_not(site: Site):
    assert set(missing_pages(site.id, (*THERE, *NOWHERE, None, "//evil.example"))) == set(NOWHERE)


def test_a_rule_may_lead_to_a_landing_page_of_a_category_that_has_such_pages(site: Site):
    with transaction():
        nodes = {node.path: node for node in db.session.scalars(select(Node).where(Node.site_id == site.id))}
        nodes["all"].landing_rules = [{"facetId": "manufacturer"}, {"facetId": "Colour", "pathSegment": "shade"}]
        tree = db.session.get_one(Tree, nodes["all"].tree_id)
        tree.default_landing_rules = [{"facetId": "Size"}]
    there = ("/c/all/brand/hp", "/c/all/shade/moss?p=2", "/c/all/caf%C3%A9/size/m")
    nowhere = (
        *("/c/all/brand", "/c/all/brand/", "/c/all/colour/moss", "/c/all/size/m", "/c/all/brand/hp/x"),
        *("/c/all/café/brand/hp", "/c/all/hidden/size/m", "/c/other/size/m", "/c/brand/hp"),
    )
    assert set(missing_pages(site.id, (*there, *nowhere))) == set(nowhere)
    with transaction():
        nodes["all"].canonical_override = "/c/all/café"
    assert set(missing_pages(site.id, there)) == set(there[:2])


def test_a_rule_that_leads_nowhere_is_refused_with_the_reason(site: Site, clock: StoppedClock):
    draft = Rule(term="tent", redirect_url="/c/nope", banner=Banner("Sale", "/somewhere"))
    with pytest.raises(Invalid) as refused, transaction():
        rules.add(Author(site.id, "Mia", clock), draft)
    assert [problem.pointer for problem in refused.value.problems] == ["#/redirectUrl", "#/banner/linkUrl"]
    first, second = (problem.message for problem in refused.value.problems)
    assert first == "The redirect “/c/nope” leads nowhere: no such category, or it or one above it is hidden."
    assert "shoppers have no such address" in second
    with transaction():
        rule = rules.add(
            Author(site.id, "Mia", clock), replace(draft, redirect_url="/c/all", banner=Banner("Sale", "/"))
        )
    with pytest.raises(Invalid), transaction():
        rules.change(Author(site.id, "Mia", clock), rule.id, rule.revision, draft)


def test_a_bundle_may_bring_rules_before_their_pages(site: Site, clock: StoppedClock):
    with transaction():
        draft = Rule(term="tent", redirect_url="/c/later")
        assert rules.add(Author(site.id, "Mia", clock), draft, may_lead_nowhere=True).redirect_url == "/c/later"

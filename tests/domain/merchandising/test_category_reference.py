"""A category is found by whatever somebody has of it, and several of one name are told apart."""

from __future__ import annotations

import pytest

from app.domain.merchandising.categories import AmbiguousCategory, category_referred_to
from app.domain.merchandising.models import Node, Tree
from app.domain.shared.problems import NotFound
from app.domain.sites.models import Site
from app.extensions import db
from tests.factories import WHEN, make_site

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site() -> Site:
    return make_site()


def tree(site: Site, name: str = "Shop", primary: bool = True) -> Tree:
    made = Tree(site_id=site.id, name=name, primary=primary, updated_at=WHEN)
    db.session.add(made)
    db.session.flush()
    return made


def node(of: Tree, path: str, name: str) -> int:
    slug = path.rpartition("/")[2]
    made = Node(site_id=of.site_id, tree_id=of.id, name=name, slug=slug, path=path, updated_at=WHEN)
    db.session.add(made)
    db.session.flush()
    return made.id


def test_by_id_path_address_or_name(site: Site) -> None:
    tents = node(tree(site), "camping/tents", "Tents & Tarps")
    references = (
        str(tents),
        "camping/tents",
        "/c/camping/tents",
        "c/Camping/Tents/",
        "Tents & Tarps",
        " tents &  TARPS",
    )
    for reference in (*references, "https://shop.test/c/camping/tents?sort=name"):
        assert category_referred_to(site.id, reference) == tents


def test_another_sites_category_is_not_found(site: Site) -> None:
    other = node(tree(make_site("other.test", "Other")), "tents", "Tents")
    for reference in (str(other), "tents", "Tents", "", " ", "x" * 2_000, "\0", "http://["):
        with pytest.raises(NotFound):
            category_referred_to(site.id, reference)


def test_several_of_one_name_are_answered_with_the_candidates(site: Site) -> None:
    shop = tree(site)
    ids = [node(shop, "camping/tents", "Tents"), node(shop, "tents", "TENTS")]
    assert category_referred_to(site.id, "Tents") == ids[0], "the very name counts before another case"
    assert category_referred_to(site.id, "tents") == ids[1], "a path counts before a name"
    with pytest.raises(AmbiguousCategory) as refused:
        category_referred_to(site.id, "tEnts")
    candidates = refused.value.details["candidates"]
    assert candidates == [
        {"id": str(ids[0]), "name": "Tents", "path": "camping/tents", "tree": "Shop"},
        {"id": str(ids[1]), "name": "TENTS", "path": "tents", "tree": "Shop"},
    ]
    assert refused.value.problems[0].pointer == "#/category"
    assert f"id {ids[1]}, path tents" in refused.value.message


def test_a_path_is_first_looked_for_in_the_tree_that_shoppers_browse(site: Site) -> None:
    node(tree(site, "Draft", primary=False), "tents", "Tents")
    browsed = node(tree(site), "tents", "Tents")
    assert category_referred_to(site.id, "tents") == browsed


def test_an_id_counts_before_a_name_of_digits(site: Site) -> None:
    shop = tree(site)
    first = node(shop, "first", "First")
    node(shop, "second", str(first))
    assert category_referred_to(site.id, str(first)) == first

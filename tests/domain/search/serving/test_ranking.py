"""Ranking settings on their way from a site to what shoppers find."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node, Tree
from app.domain.merchandising.shop import read_shop
from app.domain.search import ranking_settings, settings
from app.domain.search.engine import SearchContext, SearchRequest
from app.domain.search.index.rebuild import rebuild
from app.domain.search.listings.browsing import category_listing, plain_category_listing, products_by_words
from app.domain.search.listings.links import ListingLinks
from app.domain.search.listings.listing import ListingRequest
from app.domain.search.ranking_settings import RankingSettings, SoldOut, Weight
from app.domain.search.serving.configuration import served
from app.domain.search.serving.plan import LearningMode, Served, plan
from app.domain.search.serving.query import expand_request, first_ten, search_products
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import PinnedSku, Rule
from app.domain.sites.models import Setting
from app.domain.sites.setting_keys import SETTINGS
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.searching import WHEN, add_product, add_site, request

pytestmark = pytest.mark.usefixtures("context")
HIDDEN, LAST = RankingSettings(SoldOut.HIDDEN), RankingSettings(SoldOut.LAST)
STOCK = {"GONE": 0, "LEFT": 3, "ANY": None, "SIZES-GONE": 5, "SIZES": 0}


@pytest.fixture
def site_id(indexing: SearchContext) -> int:
    """Five mugs; stock of those with sizes is that of the sizes. The sold-out ones are featured."""
    with transaction():
        site_id = add_site().id
        for sku, stock in STOCK.items():
            sizes = {"SIZES-GONE": 0, "SIZES": 2}.get(sku)
            product = add_product(site_id, sku, "Blue mug", variants=() if sizes is None else (f"{sku}-L",))
            product.stock, product.featured, product.manufacturer = stock, "GONE" in sku, "Acme"
            for variant in product.variants:
                variant.stock = sizes
        tree = Tree(site_id=site_id, name="Shop", primary=True, facets=[], updated_at=WHEN)
        db.session.add(tree)
        db.session.flush()
        node = {"slug": "mugs", "path": "mugs", "name": "Mugs", "source_manufacturers": ["Acme"], "position": 0}
        db.session.add(Node(site_id=site_id, tree_id=tree.id, updated_at=WHEN, **node))
    rebuild(indexing, request(indexing, site_id, "PRODUCTS"))
    return site_id


def skus(indexing: SearchContext, site_id: int, served: Served, words: str = "mug") -> list[str]:
    ten = first_ten(indexing.engine, site_id, words, served, indexing.clock.now())
    return [str(hit.card["sku"]) for hit in ten.hits]


def test_defaults_ask_the_engine_for_nothing_new(indexing: SearchContext, site_id: int) -> None:
    plain = SearchRequest(words="mug")
    assert expand_request(site_id, plain, plan("mug", Served(), indexing.clock.now())) == plain


def test_settings_are_served(site_id: int) -> None:
    wanted = RankingSettings(SoldOut.LAST, Weight.HIGH, Weight.LOW, Weight.MEDIUM)
    with transaction():
        change_settings(site_id, ranking_settings.stored_form(wanted))
    assert served(site_id).ranking == wanted


def test_choices_are_the_members_of_their_enum() -> None:
    chosen = {ranking_settings.SOLD_OUT: SoldOut, settings.LEARNING: LearningMode}
    weights = {key: Weight for key in ranking_settings.TITLES if key != ranking_settings.SOLD_OUT}
    for key, members in (chosen | weights).items():
        assert SETTINGS[key].choices == tuple(members)


def test_the_settings_of_a_site_take_no_other_values() -> None:
    for key in ranking_settings.TITLES:
        assert SETTINGS[key].accepts(SETTINGS[key].default)
        assert not any(SETTINGS[key].accepts(value) for value in ("", "most", None, 3, ["none"]))


def test_hidden_products_are_neither_found_nor_counted(indexing: SearchContext, site_id: int) -> None:
    assert sorted(skus(indexing, site_id, Served(ranking=HIDDEN))) == ["ANY", "LEFT", "SIZES"]
    query = SearchRequest(words="mug", facets=("manufacturer",))
    planned = plan("mug", Served(ranking=HIDDEN), indexing.clock.now())
    result = search_products(indexing.engine, site_id, query, planned).result
    assert (result.total, result.facets["manufacturer"]) == (3, (("Acme", 3),))


def test_a_pinned_product_that_is_sold_out_keeps_its_place_unless_it_is_hidden(
    indexing: SearchContext, site_id: int
) -> None:
    rules = RuleSet.of([Rule("mug", pins=(PinnedSku("GONE", 1),), boosts=("SIZES-GONE",))])
    assert skus(indexing, site_id, Served(rules=rules, ranking=LAST))[:2] == ["GONE", "SIZES-GONE"]
    assert sorted(skus(indexing, site_id, Served(rules=rules, ranking=HIDDEN))) == ["ANY", "LEFT", "SIZES"]


def test_a_corrected_spelling_is_ranked_too(indexing: SearchContext, site_id: int) -> None:
    assert sorted(skus(indexing, site_id, Served(ranking=HIDDEN), "bleu mug")) == ["ANY", "LEFT", "SIZES"]
    assert set(skus(indexing, site_id, Served(ranking=LAST), "bleu mug")[-2:]) == {"GONE", "SIZES-GONE"}


def test_tills_and_programs_find_what_shoppers_do_not_see(indexing: SearchContext, site_id: int) -> None:
    now = indexing.clock.now()
    found = products_by_words(indexing.engine, site_id, "mug", Served(ranking=HIDDEN), now, 1, 10)
    assert found.total_items == 5 and {product.sku for product in found.items[-2:]} == {"GONE", "SIZES-GONE"}


@pytest.mark.parametrize("sold_out", list(SoldOut))
def test_categories_list_them_last_and_count_them_with_search_and_without(
    indexing: SearchContext, site_id: int, sold_out: SoldOut
) -> None:
    with transaction():
        db.session.merge(Setting(site_id=site_id, key=ranking_settings.SOLD_OUT, value=sold_out.value))
    shop = read_shop(site_id)
    node = shop.tree.at("mugs")
    assert node is not None
    query, links = ListingRequest("/c/mugs", page_size=100), ListingLinks("/c/mugs")
    listing = category_listing(indexing.engine, shop, node, query, links)
    plain = plain_category_listing(shop, node, query, links)
    names = [str(hit.card["sku"]) for hit in listing.result.hits]
    assert names == [str(hit.card["sku"]) for hit in plain.result.hits]
    assert listing.total == plain.total == len(STOCK)
    gone = slice(0, 2) if sold_out is SoldOut.AS_IS else slice(3, 5)
    assert set(names[gone]) == {"GONE", "SIZES-GONE"}


def test_a_product_that_is_in_stock_again_is_found_again(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        db.session.query(Product).filter_by(site_id=site_id, sku="GONE").one().stock = 1
    rebuild(indexing, request(indexing, site_id, "PRODUCTS"))
    assert "GONE" in skus(indexing, site_id, replace(Served(), ranking=HIDDEN))

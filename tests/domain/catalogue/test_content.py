from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.catalogue import content, products, queries
from app.domain.catalogue.content import COLLECTION, PAGE, CollectionDraft, PageDraft, move_product, product_ids_of
from app.domain.catalogue.product_rules import ProductDraft
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound, StaleRevision
from app.transaction import transaction
from tests.fakes.clock import StoppedClock


def three_products(clock: StoppedClock, site_id: int) -> list[int]:
    with transaction():
        drafts = [ProductDraft(sku=sku, name=f"Product {sku}", price=100) for sku in "ABC"]
        return [products.create(Author(site_id, "Mia", clock), draft, ()).product.id for draft in drafts]


def test_a_page_is_cleaned_on_the_way_in(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        page = content.create(
            Author(site_id, "Mia", clock), PAGE, PageDraft(" About  us ", body="<p onclick=x>Hi<script>x</script>")
        )
    assert (page.title, page.seo_name, page.body) == ("About us", "about-us", "<p>Hi</p>")


def test_a_page_saves_once_for_each_revision(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        page_id = content.create(Author(site_id, "Mia", clock), PAGE, PageDraft("About us")).id
    with transaction():
        page, changed = content.save(Author(site_id, "Mia", clock), PAGE, page_id, 1, PageDraft("About"))
    assert (page.revision, page.seo_name, changed) == (2, "about-us", ("title",))
    with pytest.raises(StaleRevision), transaction():
        content.save(Author(site_id, "Ben", clock), PAGE, page_id, 1, PageDraft("Us"))


def test_every_problem_of_a_page_is_named(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        content.create(Author(site_id, "Mia", clock), PAGE, PageDraft("About us", seo_name="about"))
    with pytest.raises(Invalid) as refused, transaction():
        content.create(
            Author(site_id, "Mia", clock),
            PAGE,
            PageDraft("", "\0", "x" * 501, seo_name="about", canonical_url="javascript:x"),
        )
    assert {problem.pointer for problem in refused.value.problems} == {
        "#/title",
        "#/seoName",
        "#/body",
        "#/metaDescription",
        "#/canonicalUrl",
    }


def test_pages_and_collections_of_another_site_are_not_found(
    clock: StoppedClock, site_id: int, other_site_id: int
) -> None:
    with transaction():
        page_id = content.create(Author(site_id, "Mia", clock), PAGE, PageDraft("About us")).id
        collection_id = content.create(Author(site_id, "Mia", clock), COLLECTION, CollectionDraft("Summer")).id
    with pytest.raises(NotFound), transaction():
        content.delete(Author(other_site_id, "Eve", clock), PAGE, page_id)
    with pytest.raises(NotFound), transaction():
        content.delete(Author(other_site_id, "Eve", clock), COLLECTION, collection_id)


def test_a_collection_keeps_the_order_it_is_given(clock: StoppedClock, site_id: int) -> None:
    a, b, c = three_products(clock, site_id)
    draft = CollectionDraft("Summer", product_ids=(c, a))
    with transaction():
        collection_id = content.create(Author(site_id, "Mia", clock), COLLECTION, draft).id
    with transaction():
        _, changed = content.save(
            Author(site_id, "Mia", clock), COLLECTION, collection_id, 1, replace(draft, product_ids=(b, c, a, b))
        )
    assert changed == ("products",)
    stored = content.record_of(COLLECTION, site_id, collection_id)
    assert product_ids_of(stored) == (b, c, a)
    assert [row.sku for row in queries.products_by_id(site_id, (b, c, a))] == ["B", "C", "A"]


def test_a_collection_takes_no_product_of_another_site(clock: StoppedClock, site_id: int, other_site_id: int) -> None:
    theirs = three_products(clock, other_site_id)
    with pytest.raises(Invalid) as refused, transaction():
        content.create(Author(site_id, "Eve", clock), COLLECTION, CollectionDraft("Summer", product_ids=tuple(theirs)))
    assert [problem.code for problem in refused.value.problems] == ["unknown_product"]
    assert queries.products_by_id(site_id, theirs) == []


def test_saving_a_collection_unchanged_leaves_no_trace(clock: StoppedClock, site_id: int) -> None:
    draft = CollectionDraft("Summer", product_ids=tuple(three_products(clock, site_id)))
    with transaction():
        collection_id = content.create(Author(site_id, "Mia", clock), COLLECTION, draft).id
    with transaction():
        collection, changed = content.save(Author(site_id, "Mia", clock), COLLECTION, collection_id, 1, draft)
    assert (changed, collection.revision) == ((), 1)


@given(st.lists(st.integers(1, 9), unique=True), st.integers(1, 9), st.integers(-12, 12))
def test_moving_keeps_every_product_once_and_the_others_in_order(ids: list[int], moving: int, steps: int) -> None:
    after = move_product(ids, moving, steps)
    assert sorted(after) == sorted(ids)
    assert [id for id in after if id != moving] == [id for id in ids if id != moving]


def test_moving_past_an_end_stops_there() -> None:
    assert move_product([1, 2, 3], 2, -5) == (2, 1, 3)
    assert move_product([1, 2, 3], 2, 1) == (1, 3, 2)

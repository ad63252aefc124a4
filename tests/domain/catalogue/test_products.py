from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select

from app.domain.catalogue import products, terms
from app.domain.catalogue.models import Product, Variant
from app.domain.catalogue.product_rules import ProductDraft, VariantDraft
from app.domain.catalogue.revisions import TAKEN_MEANWHILE
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, NotFound, StaleRevision
from app.domain.shared.records import flush_or_conflict
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.transaction import transaction
from tests.factories import draft_of
from tests.fakes.clock import StoppedClock

TENT = ProductDraft(sku="T-1", name="Ridge tent", price=12_000, stock=3)
SIZES = (VariantDraft("T-1-S", stock=1, options={"Size": "S"}), VariantDraft("T-1-L", stock=0, options={"Size": "L"}))


def created(clock: StoppedClock, site_id: int, draft: ProductDraft = TENT, search_terms: tuple[str, ...] = ()) -> int:
    with transaction():
        return products.create(Author(site_id, "Mia", clock), draft, search_terms).product.id


def saved(
    clock: StoppedClock, site_id: int, product_id: int, draft: ProductDraft, words: list[str] | None = None
) -> products.Saved:
    with transaction():
        return products.save(Author(site_id, "Ben", clock), product_id, 1, draft, words)


def actions() -> list[str]:
    return list(db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))


def test_a_new_product_gets_an_address_from_its_name(clock: StoppedClock, site_id: int) -> None:
    first = products.product_of(site_id, created(clock, site_id))
    second = products.product_of(site_id, created(clock, site_id, replace(TENT, sku="T-2")))
    third = products.product_of(site_id, created(clock, site_id, replace(TENT, sku="T-3")))
    assert [p.seo_name for p in (first, second, third)] == ["ridge-tent", "ridge-tent-2", "ridge-tent-3"]


def test_names_of_other_sites_are_free(clock: StoppedClock, site_id: int, other_site_id: int) -> None:
    created(clock, site_id)
    assert products.product_of(other_site_id, created(clock, other_site_id)).seo_name == "ridge-tent"


def test_a_name_with_signs_that_mean_something_to_the_database_stays_itself(clock: StoppedClock, site_id: int) -> None:
    created(clock, site_id, replace(TENT, seo_name="a-b"))
    under = products.product_of(site_id, created(clock, site_id, replace(TENT, sku="T-2", seo_name="a_b")))
    assert under.seo_name == "a_b"


def test_taken_names_are_refused_all_at_once(clock: StoppedClock, site_id: int) -> None:
    created(clock, site_id, replace(TENT, seo_name="tent", variants=SIZES))
    with pytest.raises(Invalid) as refused, transaction():
        again = replace(TENT, seo_name="tent", price=-1, variants=SIZES[:1])
        products.create(Author(site_id, "Mia", clock), again, ())
    assert {problem.pointer for problem in refused.value.problems} == {
        "#/price",
        "#/seoName",
        "#/sku",
        "#/variants/0/sku",
    }
    assert db.session.scalars(select(Product)).all() == [products.product_of(site_id, 1)]


def test_a_save_changes_only_what_differs_and_says_so(clock: StoppedClock, site_id: int) -> None:
    product_id = created(clock, site_id)
    clock.move(hours=1)
    done = saved(clock, site_id, product_id, replace(TENT, price=9_900))
    assert done.changed == ("price",)
    assert (done.product.revision, done.product.updated_at, done.product.seo_name) == (2, clock.now(), "ridge-tent")
    entry = db.session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert entry is not None
    assert (entry.actor, entry.before, entry.after) == ("Ben", {"price": 12_000}, {"price": 9_900})


def test_saving_the_same_again_leaves_no_trace(clock: StoppedClock, site_id: int) -> None:
    product_id = created(clock, site_id, replace(TENT, variants=SIZES, description="<p>Light</p>"), ("wigwam",))
    clock.move(hours=1)
    product = products.product_of(site_id, product_id)
    done = saved(clock, site_id, product_id, draft_of(product), ["wigwam"])
    assert (done.changed, done.product.revision, actions()) == ((), 1, ["product.create"])


def test_who_read_an_older_revision_overwrites_nothing(clock: StoppedClock, site_id: int) -> None:
    product_id = created(clock, site_id)
    saved(clock, site_id, product_id, replace(TENT, price=1))
    with pytest.raises(StaleRevision) as stale:
        saved(clock, site_id, product_id, replace(TENT, price=2))
    assert stale.value.current_revision == 2
    assert products.product_of(site_id, product_id).price == 1


def test_a_bad_list_of_terms_is_refused_while_the_rest_saves(clock: StoppedClock, site_id: int) -> None:
    product_id = created(clock, site_id, TENT, ("wigwam",))
    done = saved(clock, site_id, product_id, replace(TENT, price=5), ["fine", "x" * 51])
    assert done.refused_terms is not None
    product = products.product_of(site_id, product_id)
    assert (product.price, product.search_terms) == (5, ["wigwam"])


def test_a_variant_is_known_by_its_sku(clock: StoppedClock, site_id: int) -> None:
    product_id = created(clock, site_id, replace(TENT, variants=SIZES))
    before = {v.sku: v.id for v in products.product_of(site_id, product_id).variants}
    medium = VariantDraft("T-1-M", price=11_000, options={"Size": "M"})
    saved(clock, site_id, product_id, replace(TENT, variants=(SIZES[1], medium)))
    after = products.product_of(site_id, product_id).variants
    assert [(v.sku, v.position, v.price) for v in after] == [("T-1-L", 0, None), ("T-1-M", 1, 11_000)]
    assert after[0].id == before["T-1-L"]
    assert db.session.scalars(select(Variant.sku).order_by(Variant.sku)).all() == ["T-1-L", "T-1-M"]


def test_another_sites_product_is_not_found(clock: StoppedClock, site_id: int, other_site_id: int) -> None:
    product_id = created(clock, site_id)
    with pytest.raises(NotFound):
        products.product_of(other_site_id, product_id)
    with pytest.raises(NotFound):
        saved(clock, other_site_id, product_id, TENT)
    with pytest.raises(NotFound), transaction():
        products.set_enabled(Author(other_site_id, "Eve", clock), [product_id], False)
    with pytest.raises(NotFound), transaction():
        products.delete(Author(other_site_id, "Eve", clock), product_id)
    with pytest.raises(NotFound), transaction():
        terms.add_terms(Author(other_site_id, "Eve", clock), product_id, ["x"])
    assert products.product_of(site_id, product_id).enabled


def test_many_are_hidden_at_once_or_none(clock: StoppedClock, site_id: int, other_site_id: int) -> None:
    ours = [created(clock, site_id, replace(TENT, sku=sku)) for sku in ("A", "B", "C")]
    theirs = created(clock, other_site_id)
    with pytest.raises(NotFound), transaction():
        products.set_enabled(Author(site_id, "Mia", clock), [*ours, theirs], False)
    with transaction():
        assert products.set_enabled(Author(site_id, "Mia", clock), ours[:2], False) == ours[:2]
    with transaction():
        assert products.set_enabled(Author(site_id, "Mia", clock), ours, False) == ours[2:]
    assert [products.product_of(site_id, id).enabled for id in ours] == [False] * 3


def test_too_many_at_once_are_refused(clock: StoppedClock, site_id: int) -> None:
    with pytest.raises(Invalid, match="At most 500"), transaction():
        products.set_enabled(Author(site_id, "Mia", clock), range(1, 600), False)


def test_a_deleted_product_is_gone_with_its_variants_and_noted(clock: StoppedClock, site_id: int) -> None:
    product_id = created(clock, site_id, replace(TENT, variants=SIZES))
    with transaction():
        assert products.delete(Author(site_id, "Mia", clock), product_id) == "Ridge tent"
    assert db.session.scalars(select(Variant)).all() == []
    assert actions() == ["product.create", "product.delete"]


def test_terms_are_replaced_added_and_cleared(clock: StoppedClock, site_id: int) -> None:
    product_id = created(clock, site_id)
    with transaction():
        assert terms.replace_terms(Author(site_id, "Mia", clock), product_id, [" wigwam ", "Tipi"]) == [
            "wigwam",
            "Tipi",
        ]
    with transaction():
        assert terms.add_terms(Author(site_id, "Mia", clock), product_id, ["TIPI", "yurt"]) == [
            "wigwam",
            "Tipi",
            "yurt",
        ]
    assert products.product_of(site_id, product_id).revision == 3
    with transaction():
        assert terms.replace_terms(Author(site_id, "Mia", clock), product_id, []) == []


def test_adding_terms_that_exist_is_no_change(clock: StoppedClock, site_id: int) -> None:
    product_id = created(clock, site_id, TENT, ("wigwam",))
    with transaction():
        terms.add_terms(Author(site_id, "Mia", clock), product_id, ["Wigwam"])
    assert products.product_of(site_id, product_id).revision == 1


@pytest.mark.concurrent
def test_a_name_taken_in_the_same_moment_is_a_conflict_not_a_fault(clock: StoppedClock, site_id: int) -> None:
    created(clock, site_id)
    with pytest.raises(Conflict), transaction():
        now = clock.now()
        rival = Product(site_id=site_id, sku="T-1", name="x", seo_name="x", price=1, created_at=now, updated_at=now)
        db.session.add(rival)
        flush_or_conflict(TAKEN_MEANWHILE)

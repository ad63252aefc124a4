"""Taxonomies are listed, made, copied and deleted."""

from __future__ import annotations

import pytest
from sqlalchemy import event, select

from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.sites.models import AuditEntry, Site
from app.domain.taxonomy.lifecycle import (
    RESERVED_IDS,
    create_taxonomy,
    delete_taxonomy,
    duplicate_taxonomy,
    list_taxonomies,
)
from app.domain.taxonomy.models import Taxonomy, TaxonomyRevision
from app.domain.taxonomy.sample import SAMPLE_LEVELS
from app.domain.taxonomy.tree import AttributeType, TaxonomyTree
from app.domain.taxonomy.validation.structure import check_structure
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.lifecycle_shop import add_classified, level, make_active, make_taxonomy
from tests.factories import make_site
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site(context: None) -> Site:
    with transaction():
        return make_site()


def make(clock: StoppedClock, site: Site, name: str = "Camping", sample: bool = False) -> Taxonomy:
    with transaction():
        return create_taxonomy(Author(site.id, "Mia", clock), name, " For the shop ", sample)


def test_a_blank_taxonomy_begins_at_revision_1_with_its_first_entry_in_the_log(site: Site, clock: StoppedClock) -> None:
    made = make(clock, site, "  Camping   gear ")
    assert (made.id, made.name, made.description) == ("camping-gear", "Camping gear", "For the shop")
    assert (made.root_levels, made.revision, made.catalogue_id) == ([], 1, str(site.id))
    first = db.session.scalars(select(TaxonomyRevision)).one()
    assert (first.revision, first.saved_by, first.changes) == (1, "Mia", ["Made without levels."])
    assert db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all() == ["taxonomy.create"]


def test_the_sample_is_a_valid_tree_with_every_type_of_attribute(site: Site, clock: StoppedClock) -> None:
    made = make(clock, site, sample=True)
    again = check_structure(made.root_levels)
    assert not again.problems
    assert again.levels == made.root_levels
    assert not check_structure(SAMPLE_LEVELS).problems
    definitions = TaxonomyTree.parse(made.root_levels).attributes_by_id().values()
    assert {attribute.type for found in definitions for attribute in found} == set(AttributeType)


def test_ids_are_slugs_of_the_names_that_no_other_taxonomy_and_no_page_has(site: Site, clock: StoppedClock) -> None:
    assert [make(clock, site, name).id for name in ("Camping", "camping", "Ünïcode ☂", "☂", "x" * 200)] == [
        "camping",
        "camping-2",
        "unicode",
        "taxonomy",
        "x" * 80,
    ]
    for reserved in sorted(RESERVED_IDS):
        assert make(clock, site, reserved).id == f"{reserved}-2"


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\x00b"])
def test_a_name_that_cannot_be_one_is_refused(site: Site, clock: StoppedClock, name: str) -> None:
    with pytest.raises(Invalid) as refused:
        make(clock, site, name)
    assert refused.value.problems[0].pointer == "#/name"
    assert db.session.scalars(select(Taxonomy)).all() == []


def test_a_copy_is_a_taxonomy_of_its_own(site: Site, clock: StoppedClock) -> None:
    source = make(clock, site, sample=True)
    levels = source.root_levels
    with transaction():
        copied = duplicate_taxonomy(Author(site.id, "Mia", clock), source.id, "Camping 2027")
    assert (copied.id, copied.revision, copied.description) == ("camping-2027", 1, "For the shop")
    assert copied.root_levels == levels
    changes = select(TaxonomyRevision.changes).where(TaxonomyRevision.taxonomy_id == copied.id)
    assert db.session.scalars(changes).one() == ["Copied from “Camping”, revision 1."]


def test_a_copy_is_not_active(site: Site, clock: StoppedClock) -> None:
    source = make(clock, site)
    with transaction():
        make_active(site, source.id)
        duplicate_taxonomy(Author(site.id, "Mia", clock), source.id, "Other")
    assert [(row.id, row.is_active) for row in list_taxonomies(site.id)] == [("camping", True), ("other", False)]


def test_a_taxonomy_is_deleted_with_its_revisions(site: Site, clock: StoppedClock) -> None:
    made = make(clock, site)
    with transaction():
        assert delete_taxonomy(Author(site.id, "Mia", clock), made.id) == "Camping"
    assert db.session.scalars(select(TaxonomyRevision)).all() == []
    assert list_taxonomies(site.id) == []


def test_the_active_taxonomy_is_not_deleted_even_when_the_plan_lacks_the_engine(
    site: Site, clock: StoppedClock
) -> None:
    made = make(clock, site)
    with transaction():
        make_active(site, made.id)
        db.session.get_one(Site, site.id).capabilities = []
    with pytest.raises(Conflict), transaction():
        delete_taxonomy(Author(site.id, "Mia", clock), made.id)
    assert [row.is_active for row in list_taxonomies(site.id)] == [True]


def test_taxonomies_of_another_shop_are_not_found(site: Site, clock: StoppedClock) -> None:
    with transaction():
        other = make_site("other.localhost")
        make_taxonomy(other, "theirs")
    assert list_taxonomies(site.id) == []
    with pytest.raises(NotFound), transaction():
        delete_taxonomy(Author(site.id, "Mia", clock), "theirs")
    with pytest.raises(NotFound), transaction():
        duplicate_taxonomy(Author(site.id, "Mia", clock), "theirs", "Mine")


def test_the_list_tells_levels_products_and_revision_and_names_the_active_one_first(site: Site) -> None:
    with transaction():
        make_taxonomy(site, "a", name="A")
        make_taxonomy(site, "b", level("tents", children=(level("domes"),)), level("beds"), name="B")
        make_active(site, "b")
        add_classified(site, 4)
    rows = [(row.id, row.is_active, row.levels, row.products, row.revision) for row in list_taxonomies(site.id)]
    assert rows == [("b", True, 3, 4, 1), ("a", False, 1, 0, 1)]


def test_a_long_list_takes_no_more_queries_than_a_short_one(site: Site) -> None:
    with transaction():
        for number in range(12):
            make_taxonomy(site, f"t{number}")
        make_active(site, "t3")
    site_id = site.id
    statements = []

    def note(*arguments: object) -> None:
        statements.append(arguments[2])

    event.listen(db.engine, "before_cursor_execute", note)
    try:
        assert len(list_taxonomies(site_id)) == 12
    finally:
        event.remove(db.engine, "before_cursor_execute", note)
    assert len([statement for statement in statements if str(statement).startswith("SELECT")]) == 3

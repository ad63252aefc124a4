"""Trees that are decoded once for all who read them."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.sites.models import Site
from app.domain.taxonomy import stored_tree
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.stored_tree import StoredLevels, made_once, read_stored, write_stored
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.taxonomy.validation.structure import ids_of
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.any_tree import OUTDOOR, stored
from tests.domain.taxonomy.trees import level
from tests.factories import make_site, make_taxonomy


@pytest.fixture
def site_id(context: None) -> int:
    with transaction():
        site = make_site()
        make_taxonomy(site, OUTDOOR, id="kinds")
        return site.id


def read(site_id: int) -> list[dict[str, Any]]:
    db.session.expire_all()
    return db.session.get_one(Taxonomy, (site_id, "kinds")).root_levels


def test_a_tree_that_did_not_change_is_decoded_and_parsed_once(site_id: int):
    assert read(site_id) == OUTDOOR
    assert read(site_id) is read(site_id)
    assert TaxonomyTree.parse(read(site_id)) is TaxonomyTree.parse(read(site_id))
    assert ids_of(TaxonomyTree.parse(read(site_id))) is ids_of(TaxonomyTree.parse(read(site_id)))


def test_a_column_alone_is_read_like_a_whole_record(site_id: int):
    assert db.session.scalar(select(Taxonomy.root_levels)) == OUTDOOR


def test_a_save_shows_at_once_and_one_that_was_undone_never(site_id: int):
    changed = stored(level("garden"))
    with pytest.raises(ZeroDivisionError), transaction():
        db.session.get_one(Taxonomy, (site_id, "kinds")).root_levels = changed
        db.session.flush()
        assert read(site_id) == changed
        raise ZeroDivisionError
    assert read(site_id) == OUTDOOR
    with transaction():
        db.session.get_one(Taxonomy, (site_id, "kinds")).root_levels = changed
    assert list(TaxonomyTree.parse(read(site_id)).levels) == ["garden"]


def test_a_tree_that_was_written_is_read_back_as_it_is(context: None):
    with transaction():
        site_id = make_site().id
        tree = StoredLevels(OUTDOOR)
        make_taxonomy(db.session.get_one(Site, site_id), [], id="kinds").root_levels = tree
    assert read(site_id) == OUTDOOR
    assert (read(site_id) is tree) == (db.engine.dialect.name == "sqlite")
    too_large = StoredLevels([{"name": "x" * stored_tree.MOST_CHARACTERS}])
    assert read_stored(write_stored(too_large)) == too_large
    assert write_stored(OUTDOOR) == write_stored(tree)


def test_a_copy_is_a_plain_list_of_its_own():
    tree = read_stored(json.dumps(OUTDOOR))
    mine = copy.deepcopy(tree)
    mine[0]["name"] = "Mine"
    assert type(mine) is list
    assert tree[0]["name"] == "Outdoor"


def test_what_was_made_of_a_tree_goes_with_it():
    made: list[int] = []

    @made_once
    def size(root_levels: stored_tree.Levels) -> int:
        made.append(len(root_levels))
        return len(root_levels)

    tree = StoredLevels(OUTDOOR)
    assert (size(tree), size(tree), size(OUTDOOR), size(OUTDOOR)) == (2, 2, 2, 2)
    assert made == [2, 2, 2]


def test_only_so_many_characters_are_kept():
    texts = [json.dumps([{"levelId": str(n), "name": "x" * 2**20}]) for n in range(5)]
    first = read_stored(texts[0])
    assert read_stored(texts[0]) is first
    for text in texts[1:]:
        read_stored(text)
    assert read_stored(texts[0]) is not first
    assert read_stored(texts[0]) == first


def test_two_shops_with_the_same_ids_do_not_share_what_differs(app: Flask, site_id: int):
    with transaction():
        other = make_site("other.localhost")
        make_taxonomy(other, [level("garden")], id="kinds")
        other_id = other.id
    assert read(other_id) != read(site_id)

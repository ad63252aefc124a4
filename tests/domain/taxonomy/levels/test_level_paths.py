"""Levels named by the names on the way to them."""

from __future__ import annotations

import pytest

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.level_paths import LevelPaths
from app.domain.taxonomy.tree import Level, TaxonomyTree

PATHS = LevelPaths.of(
    TaxonomyTree.of(
        (
            Level("outdoor", "Outdoor"),
            Level("camping", "Camping", "outdoor"),
            Level("tents", "Tents", "camping"),
            Level("toys", "Toys"),
            Level("toy-tents", "Tents", "toys"),
            Level("bags", "Bags"),
            Level("toy-bags", "Bags", "toys"),
            Level("wide", "Width > 2 m", "outdoor"),
            Level("twin-1", "Twins", "toys"),
            Level("twin-2", "Twins", "toys"),
        )
    )
)


@pytest.mark.parametrize(
    ("text", "level_id"),
    [
        ("tents", "tents"),
        ("Outdoor › Camping › Tents", "tents"),
        ("Camping › Tents", "tents"),
        (" camping>TENTS ", "tents"),
        ("Camping", "camping"),
        ("Toys > Tents", "toy-tents"),
        ("Width > 2 m", "wide"),
        ("Outdoor > Width > 2 m", "wide"),
    ],
)
def test_a_level_is_found_by_its_id_its_path_or_an_end_of_it_that_is_its_own(text: str, level_id: str) -> None:
    assert PATHS.find(text) == level_id


def test_a_whole_path_comes_before_the_end_of_another() -> None:
    assert PATHS.find("Bags") == "bags"


@pytest.mark.parametrize("text", ["Yurts", "Outdoor › Tents", "", " › "])
def test_a_text_that_names_no_level_stays_as_it_is(text: str) -> None:
    assert PATHS.find(text) == text


def test_a_name_that_several_levels_have_is_refused_with_their_paths() -> None:
    with pytest.raises(Invalid, match=r"2 levels: Outdoor › Camping › Tents, Toys › Tents\. Give the whole path\."):
        PATHS.find("Tents")
    with pytest.raises(Invalid, match=r"names 2 levels: twin-1, twin-2\. Give the id\."):
        PATHS.find("Toys > Twins")

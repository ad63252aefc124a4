"""The table of a segment from which a search finds the other forms of its words."""

from __future__ import annotations

from pathlib import Path

from app.adapters.whoosh import WhooshEngine
from app.adapters.whoosh.word_forms import find_forms, write_forms
from app.domain.search.engine import IndexName, Upsert
from tests.contracts.search_engine_contract import apply, found, rebuild, shoe


def test_each_root_has_the_words_that_differ_from_it() -> None:
    table = write_forms([b"hiking", b"hike", b"hiked", b"baking", b"mug", b"rx45", b"using", b"hiking"])
    assert find_forms(table, "hike") == ["hiked", "hiking"]
    assert find_forms(table, "bake") == ["baking"]
    assert find_forms(table, "use") == ["using"]
    assert find_forms(table, "mug") == find_forms(table, "hik") == find_forms(table, "hiking") == []
    assert find_forms(write_forms([]), "hike") == find_forms(b"", "hike") == []


def test_a_merged_segment_knows_the_forms_of_those_that_it_was_made_of(tmp_path: Path) -> None:
    engine = WhooshEngine(tmp_path)
    rebuild(engine, [shoe(1, "Hiked mug")])
    for number in range(2, 30):
        apply(engine, Upsert(shoe(number, "Hiking boot" if number % 2 else "Baking tin")))
    assert len(engine._reader(1, IndexName.PRODUCTS).fresh_view().segments) < 28
    exactly = {"prefix_last": False, "correct": False, "per_page": 50, "fresh": True}
    assert set(found(engine, "hike", **exactly)) == {"P1", *(f"P{n}" for n in range(3, 30, 2))}
    assert set(found(engine, "bakes", **exactly)) == {f"P{n}" for n in range(2, 30, 2)}

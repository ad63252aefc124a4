"""The editor's tree, and that an answer which holds only what changed brings a window to the new tree."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.editor.level_edits import AddLevel, DeleteLevel, Direction, Edit, MoveLevel, ShiftLevel
from app.domain.taxonomy.editor.outline import Outline, OutlineChange, UnsavedChange, differences
from app.domain.taxonomy.editor.steps import apply_edit, redo_step
from app.domain.taxonomy.tree import TaxonomyTree
from tests.domain.taxonomy.any_tree import OUTDOOR, edits_of, trees
from tests.examples import examples

LEVELS = TaxonomyTree.parse(OUTDOOR)


class Window:
    """A browser's tree: elements that an answer's parts find before the first of them is put in."""

    def __init__(self, shown: Outline) -> None:
        self.top: list[Element] = [Element(shown, level_id) for level_id in shown.children.get(None, ())]

    def take(self, change: OutlineChange, shown: Outline) -> None:
        found = {element.level_id: element for element in self.every()}
        for level_id in change.removed:
            self.siblings(found[level_id]).remove(found[level_id])
        for new in change.inserted:
            beside = self.top if new.parent_id is None else found[new.parent_id].children
            place = beside.index(found[new.after_id]) + 1 if new.after_id else 0
            beside[place:place] = [Element(shown, level_id) for level_id in new.level_ids]
        for level_id in change.replaced:
            beside = self.siblings(found[level_id])
            beside[beside.index(found[level_id])] = Element(shown, level_id)
        for level_id in change.changed:
            found[level_id].row = shown.row(level_id)

    def every(self) -> list[Element]:
        return [element for root in self.top for element in root.every()]

    def siblings(self, wanted: Element) -> list[Element]:
        lists = [self.top, *(element.children for element in self.every())]
        return next(elements for elements in lists if any(element is wanted for element in elements))

    def shows(self) -> list[object]:
        return [element.shows() for element in self.top]


class Element:
    """Without levels below it has no list for them: the first one that comes needs the element anew."""

    def __init__(self, shown: Outline, level_id: str) -> None:
        self.level_id, self.row = level_id, shown.row(level_id)
        self.children = [Element(shown, child) for child in shown.children.get(level_id, ())]
        self.has_list = bool(self.children)

    def every(self) -> list[Element]:
        return [self, *(element for child in self.children for element in child.every())]

    def shows(self) -> object:
        assert self.has_list == bool(self.children), "a list for levels below stands where there are some"
        return self.row, [child.shows() for child in self.children]


def seen(levels: TaxonomyTree, base: TaxonomyTree = LEVELS, products: dict[str, int] | None = None) -> Outline:
    return Outline(levels, base, products, {})


def after(*edits: Edit) -> TaxonomyTree:
    levels = LEVELS
    for edit in edits:
        levels = redo_step(levels, apply_edit(levels, edit))
    return levels


def change(*edits: Edit) -> OutlineChange:
    return differences(seen(LEVELS), seen(after(*edits)))


@settings(max_examples=examples(200))
@given(st.data())
def test_a_window_that_takes_the_changes_shows_the_new_tree(data: st.DataObject):
    base = TaxonomyTree.parse(data.draw(trees))
    products = data.draw(st.none() | st.just(dict.fromkeys(base.levels, 2)))
    before = seen(base, base, products)
    levels = base
    for _ in range(data.draw(st.integers(1, 3))):
        try:
            levels = redo_step(levels, apply_edit(levels, data.draw(edits_of(levels))))
        except Invalid:
            continue
    shown = seen(levels, base, products)
    window = Window(before)
    window.take(differences(before, shown), shown)
    assert window.shows() == Window(shown).shows()


def test_one_level_that_moves_is_all_that_moves():
    moved = change(MoveLevel("home", None, 0))
    assert (moved.removed, [new.level_ids for new in moved.inserted]) == (["home"], [["home"]])
    assert not moved.replaced and not moved.changed


def test_what_stands_below_a_moved_level_comes_with_it():
    moved = change(MoveLevel("tents", None, 0))
    assert (moved.removed, [new.level_ids for new in moved.inserted]) == (["tents"], [["tents"]])


def test_the_first_level_below_another_brings_that_one_anew():
    added = change(AddLevel("home", "Lamps"))
    assert (added.replaced, added.inserted) == (["home"], [])
    assert change(DeleteLevel("tarps")).replaced == ["tents"]


def test_levels_side_by_side_come_together_behind_one_that_stays():
    added = change(AddLevel("outdoor", "Maps", "tents"), AddLevel("outdoor", "Axes", "tents"))
    assert [(new.after_id, new.level_ids) for new in added.inserted] == [("tents", ["new-2", "new-1"])]


def test_rows_say_what_is_not_saved_yet():
    shown = seen(after(AddLevel(None, "Toys"), ShiftLevel("lamps", Direction.UP)))
    assert [shown.row(level_id).mark for level_id in ("new-1", "lamps", "tents")] == [
        UnsavedChange.NEW,
        UnsavedChange.MOVED,
        UnsavedChange.NONE,
    ]


def test_products_are_counted_at_the_level_and_with_those_below():
    shown = seen(LEVELS, products={"outdoor": 1, "tarps": 3, "gone": 7})
    assert [(shown.row(found).direct, shown.row(found).rolled_up) for found in ("outdoor", "tents", "home")] == [
        (1, 4),
        (0, 3),
        (0, 0),
    ]


def test_products_that_move_with_their_level_change_the_counts_above():
    products = {"tarps": 3}
    shown = seen(after(MoveLevel("tents", "home", 0)), products=products)
    assert {"outdoor"} <= set(differences(seen(LEVELS, products=products), shown).changed)

"""From a tree that somebody sent to one that can be stored."""

from __future__ import annotations

import string
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.taxonomy.editor.attribute_edits import AddAttribute
from app.domain.taxonomy.editor.steps import apply_edit, redo_step
from app.domain.taxonomy.tree import Attribute, AttributeType, Level, TaxonomyTree
from app.domain.taxonomy.validation.sent_tree import with_places
from app.domain.taxonomy.validation.structure import check_structure, check_tree, draft_problems
from tests.surroundings import google_taxonomy


def level(
    name: str = "Tents", level_id: str | None = "tents", *children: dict[str, Any], **more: Any
) -> dict[str, Any]:
    return {"levelId": level_id, "name": name, "attributes": [], "children": list(children), **more}


def attribute(attribute_id: str | None = "size", kind: str = "STRING", **more: Any) -> dict[str, Any]:
    return {"attributeId": attribute_id, "name": "Size", "type": kind} | more


def codes(*levels: dict[str, Any]) -> list[str]:
    return [problem.code for problem in check_structure(levels).problems]


def test_blank_and_new_ids_become_slugs_of_the_names():
    checked = check_structure([level("Tents & tarps", None), level("Tents, tarps", "new-7"), level("!!!", "")])
    assert [stored["levelId"] for stored in checked.levels] == ["tents-tarps", "tents-tarps-2", "level"]
    assert checked.ids == {"new-7": "tents-tarps-2"}


def test_a_generated_attribute_id_avoids_the_levels_above_its_neighbours_and_reserved_names():
    price = attribute(None, name="Price") | {"name": "Price"}
    child = level("Child", "child", attributes=[attribute(None), price])
    parent = level("Parent", "parent", child, attributes=[attribute("size")])
    stored = check_structure([parent]).levels[0]["children"][0]["attributes"]
    assert [found["attributeId"] for found in stored] == ["size-2", "price-2"]


def test_a_new_level_gets_no_id_by_which_products_go():
    checked = check_structure(
        [level("Tents", "new-1"), level("Lamps", "")], ["tents"], in_use={"tents": (), "lamps": ()}
    )
    assert [stored["levelId"] for stored in checked.levels] == ["tents-2", "lamps-2"]


def test_a_new_attribute_gets_no_id_of_which_products_there_or_below_hold_values_of_another():
    """One that is still defined on the way down to them is theirs; one of another branch is the same facet."""
    held = {"gear": ["fabric"], "tents": ["fabric", "size", "colour"], "boots": ["fabric", "sole"]}
    below = level("Tents", "tents", attributes=[attribute("colour")])
    names = ("Size", "Colour", "Fabric", "Sole", "Peg")
    added = [attribute(f"new-{place}") | {"name": name} for place, name in enumerate(names)]
    above = level("Gear", "gear", below, attributes=[*added, attribute("fabric")])
    checked = check_structure(
        [above, level("Boots", "boots", attributes=[attribute("sole")])], held.keys(), in_use=held
    )
    ids = [found["attributeId"] for found in checked.levels[0]["attributes"]]
    assert ids == ["size-2", "colour", "fabric-2", "sole", "peg", "fabric"]
    on_boots = level("Boots", "boots", attributes=[attribute("new-1") | {"name": name} for name in ("Size",)])
    checked = check_structure([level("Gear", "gear", below, attributes=[attribute("fabric")]), on_boots], in_use=held)
    assert checked.levels[1]["attributes"][0]["attributeId"] == "size"


def test_other_names_are_trimmed_and_kept_once_and_left_out_where_there_are_none():
    checked = check_structure(
        [level(otherNames=[" Shelters", "Shelters ", "Pods"]), level("Lamps", "l", otherNames=[])]
    )
    assert checked.problems == ()
    assert checked.levels[0]["otherNames"] == ["Shelters", "Pods"]
    assert "otherNames" not in checked.levels[1]
    tree = TaxonomyTree.parse(checked.levels)
    assert tree.levels["tents"].names == ("Tents", "Shelters", "Pods")
    assert tree.levels["l"].names == ("Lamps",)


@pytest.mark.parametrize(
    ("names", "code", "place"),
    [
        (["TENTS"], "duplicate_name", 0),
        (["Pods", "pöds"], "duplicate_name", 1),
        (["Pods", " "], "blank_name", 1),
        (["Pods", "\u200b"], "blank_name", 1),
        (["Pods, cabins"], "comma_in_name", 0),
        (["x" * 61], "too_long", 0),
        (["a\x00b"], "unprintable", 0),
        (["Pods", 7], "wrong_type", 1),
        ([f"n{number}" for number in range(21)], "too_many", 20),
    ],
)
def test_a_wrong_other_name_is_reported_at_its_place_and_an_import_leaves_out_it_alone(
    names: list[object], code: str, place: int
):
    checked = check_structure([level(otherNames=names)])
    [problem] = checked.problems
    assert (problem.code, problem.pointer, problem.level_id) == (code, f"#/rootLevels/0/otherNames/{place}", "tents")
    assert checked.levels[0].get("otherNames", []) == [name for at, name in enumerate(names) if at != place]


def test_other_names_that_are_no_list_are_reported():
    assert codes(level(otherNames="Pods")) == ["wrong_type"]


def test_allowed_values_are_trimmed_and_told_once():
    colour = attribute("colour", "SINGLE_SELECT", allowedValues=[" Red", "Red", "Blue "])
    checked = check_structure([level(attributes=[colour])])
    assert checked.levels[0]["attributes"][0]["allowedValues"] == ["Red", "Blue"]
    assert checked.problems == ()


def test_a_number_may_have_a_unit_and_nothing_else_may():
    checked = check_structure(
        [level(attributes=[attribute(kind="NUMBER", unit=" kg "), attribute("sleeps", "NUMBER")])]
    )
    assert not checked.problems
    assert [stored.get("unit") for stored in checked.levels[0]["attributes"]] == ["kg", None]
    assert codes(level(attributes=[attribute(kind="STRING", unit="kg")])) == ["unit_not_allowed"]
    assert codes(level(attributes=[attribute(kind="NUMBER", unit="k" * 21)])) == ["too_long"]


def test_an_empty_validation_is_dropped_and_places_are_recomputed():
    checked = check_structure([level("A", "a"), level("B", "b", displayOrder=7, attributes=[attribute(validation={})])])
    assert [stored["displayOrder"] for stored in checked.levels] == [0, 1]
    assert "validation" not in checked.levels[1]["attributes"][0]


@pytest.mark.parametrize(
    ("levels", "code"),
    [
        ([level(""), level("B", "b")], "name_missing"),
        ([level("A", "a"), level("a ", "b")], "duplicate_name"),
        ([level("A", "a"), level("B", "a")], "duplicate_id"),
        ([level("A", "not an id")], "invalid_id"),
        ([level("A", "a", level("B", "b", parentLevelId="c"))], "wrong_parent"),
        ([level("A", "a", level("B", "a"))], "duplicate_id"),
        ([level(surprise=1)], "unknown_field"),
        ([level(attributes=[attribute(), attribute()])], "duplicate_attribute_id"),
        ([level(attributes=[attribute("-x")])], "invalid_id"),
        ([level(attributes=[attribute("manufacturer")])], "reserved_id"),
        ([level(attributes=[attribute("utm_campaign")])], "reserved_id"),
        ([level(attributes=[attribute(kind="COLOUR")])], "unknown_type"),
        ([level(attributes=[attribute(kind="MULTI_SELECT")])], "values_missing"),
        ([level(attributes=[attribute(allowedValues=["a"])])], "values_not_allowed"),
        ([level(attributes=[attribute(kind="SINGLE_SELECT", allowedValues=["a", " "])])], "blank_value"),
        ([level(attributes=[attribute(kind="SINGLE_SELECT", allowedValues=["a", "b,c"])])], "comma_in_value"),
        ([level(attributes=[attribute(kind="SINGLE_SELECT", allowedValues=["Red", "red"])])], "duplicate_value"),
        ([level(attributes=[attribute(validation={"minValue": 2, "maxValue": 1})])], "min_greater_than_max"),
        ([level(attributes=[attribute(validation={"minLength": 2, "maxLength": 1})])], "min_greater_than_max"),
        ([level(attributes=[attribute(validation={"pattern": "(a"})])], "invalid_pattern"),
        ([level(attributes=[attribute(validation={"pattern": "(?=a)"})])], "invalid_pattern"),
        ([level(attributes=[attribute(validation={"pattern": "a" * 201})])], "invalid_pattern"),
        ([level(attributes=[attribute(validation={"minLength": -1})])], "negative_length"),
        ([level(attributes=[attribute(validation={"minLength": 10_001})])], "out_of_range"),
        ([level(attributes=[attribute(validation={"maxValue": 1e16})])], "out_of_range"),
        ([level(attributes=[attribute(validation={"minValue": float("nan")})])], "out_of_range"),
        ([level(attributes=[attribute(validation={"minValue": "1"})])], "wrong_type"),
        ([level(attributes=[attribute(kind="SINGLE_SELECT", allowedValues=["a", 1])])], "wrong_type"),
        ([level(attributes=[attribute(kind="SINGLE_SELECT", allowedValues=["a\x00"])])], "invalid_value"),
        ([level(attributes=[attribute(name="")])], "name_missing"),
        ([level("A" * 201)], "too_long"),
        ([level("A\x00")], "unprintable"),
        ([level(description="x" * 2_001)], "too_long"),
        ([level(attributes=[attribute(helpText="x" * 2_001)])], "too_long"),
        ([level("A", "a" * 121)], "invalid_id"),
        ([level(attributes=["size"])], "wrong_type"),
    ],
)
def test_what_breaks_a_rule_is_named(levels: list[dict[str, Any]], code: str):
    assert code in codes(*levels)


def test_every_problem_is_told_at_once_at_its_place():
    checked = check_structure([level("", "a", attributes=[attribute("price"), attribute(kind="X")]), level("B", "a")])
    assert [(problem.code, problem.pointer) for problem in checked.problems] == [
        ("name_missing", "#/rootLevels/0/name"),
        ("reserved_id", "#/rootLevels/0/attributes/0/attributeId"),
        ("unknown_type", "#/rootLevels/0/attributes/1/type"),
        ("duplicate_id", "#/rootLevels/1/levelId"),
    ]
    assert [(problem.level_id, problem.attribute_id) for problem in checked.problems][1] == ("a", "price")


def test_levels_nest_eight_deep_and_no_deeper():
    nested = level("9", "l9")
    for depth in range(8, 0, -1):
        nested = level(str(depth), f"l{depth}", nested)
    checked = check_structure([nested])
    assert [problem.code for problem in checked.problems] == ["too_deep"]
    assert "l8" in TaxonomyTree.parse(checked.levels).levels
    assert "l9" not in TaxonomyTree.parse(checked.levels).levels


def test_more_than_two_thousand_levels_are_refused_as_a_whole():
    problems = check_structure([level(str(n), f"l{n}") for n in range(2_001)]).problems
    assert [(problem.code, problem.record) for problem in problems] == [("too_many_levels", "#")]


@pytest.mark.parametrize("sent", ["a\n", " a", "a ", "a\u2028", "\ta"])
def test_white_space_around_an_id_is_not_in_its_form(sent: str):
    checked = check_structure([level("A", sent, attributes=[attribute("b"), attribute(sent)])])
    assert [(problem.code, problem.pointer) for problem in checked.problems] == [
        ("invalid_id", "#/rootLevels/0/levelId"),
        ("invalid_id", "#/rootLevels/0/attributes/1/attributeId"),
    ]
    assert codes(level("A", "\n")) == []


def test_existing_ids_keep_their_form():
    assert check_structure([level("A", "old id!")], existing_ids={"old id!"}).problems == ()


def test_an_existing_id_stays_even_if_it_begins_like_that_of_a_new_record():
    sent = level("Fresh", "new-arrivals", attributes=[attribute("new-look")])
    checked = check_structure([sent], existing_ids={"new-arrivals", "new-look"})
    assert (checked.levels[0]["levelId"], checked.ids) == ("new-arrivals", {})
    assert checked.levels[0]["attributes"][0]["attributeId"] == "new-look"


def test_a_generated_id_never_begins_like_that_of_a_new_record():
    checked = check_structure([level("New arrivals", None, attributes=[attribute(None) | {"name": "New look"}])])
    again = check_structure([checked.levels[0] | {"name": "Fresh"}])
    assert again.levels[0]["levelId"] == checked.levels[0]["levelId"] == "new_arrivals"
    assert again.levels[0]["attributes"][0]["attributeId"] == "new_look"


def test_a_level_may_call_its_new_parent_by_the_id_that_was_sent():
    child = level("Tarps", "new-2", parentLevelId="new-1")
    checked = check_structure([level("Tents", "new-1", child)])
    assert checked.problems == ()
    assert checked.levels[0]["children"][0]["parentLevelId"] == "tents"


def test_bounds_of_zero_are_kept_and_only_empty_rules_are_dropped():
    rules = {"minValue": 0, "minLength": 0, "pattern": "", "mandatory": False, "maxValue": None}
    stored = check_structure([level(attributes=[attribute(validation=rules)])]).levels[0]["attributes"][0]
    assert stored["validation"] == {"minValue": 0, "minLength": 0}


def test_problems_name_records_by_the_ids_that_were_sent():
    (problem,) = check_structure([level("Tents", "new-1", attributes=[attribute("new-a1", "COLOUR")])]).problems
    assert (problem.level_id, problem.attribute_id) == ("new-1", "new-a1")


def test_a_level_has_at_most_two_hundred_attributes():
    checked = check_structure([level(attributes=[attribute(f"a{n}", name=f"A{n}") for n in range(201)])])
    assert [(problem.code, problem.attribute_id) for problem in checked.problems] == [("too_many", "a200")]
    assert len(checked.levels[0]["attributes"]) == 200


def test_an_attribute_has_at_most_a_thousand_values():
    def offers(count: int) -> list[str]:
        values = [f"v{n}" for n in range(count)]
        return codes(level(attributes=[attribute(kind="MULTI_SELECT", allowedValues=values)]))

    assert (offers(1_000), offers(1_001)) == ([], ["too_many"])


def test_trees_of_any_depth_and_size_are_refused_and_not_read_to_the_end():
    deep = level("bottom", None)
    for _ in range(5_000):
        deep = {"name": "A", "children": [deep]}
    assert [problem.code for problem in check_structure([deep]).problems] == ["too_deep"]
    assert [problem.code for problem in check_structure([{}] * 100_000).problems] == ["too_large"]
    wrong = check_structure([0] * 20_000).problems
    assert (wrong[-1].code, wrong[-1].record, len(wrong)) == ("too_large", "#", 1_001)


def test_many_records_of_one_name_get_ids_in_no_time():
    child = level("A", None, attributes=[attribute(None) for _ in range(200)])
    started = time.process_time()
    check_structure([level("A", None, child) for _ in range(100)])
    assert time.process_time() - started < 5


def test_a_draft_is_checked_where_it_differs_from_what_is_stored():
    stored = check_structure([level("A", "a", attributes=[attribute("size")]), level("B", "b")]).levels
    base = TaxonomyTree.parse(stored)
    broken = {"attributeId": "x", "name": "", "type": "STRING"}
    levels = apply_edit(base, AddAttribute("b", broken))
    draft = redo_step(base, levels)
    found = [(problem.code, problem.level_id, problem.pointer) for problem in draft_problems(draft, base)]
    assert found == [("name_missing", "b", "#/rootLevels/1/attributes/0/name")]


def test_only_the_smallest_record_with_a_problem_is_left_out():
    colour = attribute("colour", "SINGLE_SELECT", allowedValues=["Red", "red", "Blue"])
    checked = check_structure([level("A", "a", level("", "b"), attributes=[colour, attribute("price")])])
    stored = checked.levels[0]
    assert stored["children"] == []
    assert [found["attributeId"] for found in stored["attributes"]] == ["colour"]
    assert stored["attributes"][0]["allowedValues"] == ["Red", "Blue"]


def test_a_choice_that_loses_all_its_values_goes_too():
    checked = check_structure([level(attributes=[attribute(kind="SINGLE_SELECT", allowedValues=[","])])])
    assert checked.levels[0]["attributes"] == []


texts = st.text(string.ascii_letters + " -!,é", max_size=6)
attributes = st.fixed_dictionaries(
    {"type": st.sampled_from(["STRING", "NUMBER", "SINGLE_SELECT", "odd"])},
    optional={"attributeId": texts, "name": texts, "allowedValues": st.lists(texts | st.integers(), max_size=4)},
)
levels = st.recursive(
    st.fixed_dictionaries({"name": texts}, optional={"levelId": texts, "attributes": st.lists(attributes, max_size=3)}),
    lambda inner: st.fixed_dictionaries({"name": texts, "children": st.lists(inner, max_size=3)}),
    max_leaves=10,
)


@given(st.lists(levels, max_size=4))
def test_what_is_left_is_sound_and_checking_it_again_changes_nothing(raw: list[dict[str, Any]]):
    checked = check_structure(raw)
    again = check_structure(checked.levels)
    assert again.problems == ()
    assert again.levels == checked.levels


@given(st.lists(levels, max_size=4))
def test_a_save_never_changes_ids_and_saving_again_changes_nothing(raw: list[dict[str, Any]]):
    stored = check_structure(raw).levels
    ids = list(_ids(stored))
    renamed = [_renamed(found) for found in stored]
    assert list(_ids(check_structure(renamed, existing_ids=ids).levels)) == ids


def _ids(found: list[dict[str, Any]]) -> Iterator[str]:
    for one in found:
        yield one["levelId"]
        yield from (attribute["attributeId"] for attribute in one["attributes"])
        yield from _ids(one["children"])


def _renamed(found: dict[str, Any]) -> dict[str, Any]:
    return found | {
        "name": found["levelId"].encode().hex(),
        "attributes": [attribute | {"name": "Same"} for attribute in found["attributes"]],
        "children": [_renamed(child) for child in found["children"]],
    }


def google_levels(count: int) -> list[dict[str, Any]]:
    """The first levels of Google's tree of products, which is a real one with more levels than a shop may have."""
    lines = google_taxonomy().read_text().splitlines()
    above: list[tuple[int, list[dict[str, Any]]]] = [(-1, roots := [])]
    for line in [line for line in lines if "|" in line][:count]:
        indent = len(line) - len(line.lstrip())
        while above[-1][0] >= indent:
            above.pop()
        found = {"name": line.rsplit("| ", 1)[1], "children": []}
        above[-1][1].append(found)
        above.append((indent, found["children"]))
    return roots


def test_the_first_two_thousand_levels_of_googles_tree_can_be_stored():
    checked = check_structure(google_levels(2_000))
    assert checked.problems == ()
    assert len(TaxonomyTree.parse(checked.levels).levels) == 2_000
    assert check_structure(checked.levels).levels == checked.levels


def test_all_of_googles_tree_is_refused_with_the_reason():
    (problem,) = check_structure(google_levels(10_000)).problems
    assert problem.message == "A taxonomy has at most 2,000 levels; these are 5,595."


def test_a_second_level_that_is_called_new_gets_no_id_that_stands_for_a_new_one():
    checked = check_structure([{"name": "New", "children": [{"name": "New"}]}])
    again = check_structure(checked.levels)
    assert (checked.levels[0]["levelId"], checked.levels[0]["children"][0]["levelId"]) == ("new", "new_2")
    assert again.levels == checked.levels


def with_patterns(number: int, pattern: str, on_each: int = 24) -> list[dict[str, Any]]:
    """Levels whose attributes have so many patterns, no two alike."""
    patterns = (pattern.format(place) for place in range(number))
    attributes = [attribute("", validation={"pattern": one}) for one in patterns]
    rows = range(0, number, on_each)
    return [level(f"Level {row}", "", attributes=attributes[row : row + on_each]) for row in rows]


SLOW = r"((a{{1,30}}){{1,30}}|{}x)"


def test_more_patterns_than_anybody_needs_are_refused_before_any_is_compiled():
    started = time.process_time()
    checked = check_structure(with_patterns(45_600, SLOW))
    assert time.process_time() - started < 3
    (problem,) = checked.problems
    assert (problem.code, problem.record) == ("too_many_patterns", "#")
    assert problem.message.endswith("at most 500 different patterns; these are 45,600.")


def test_many_attributes_share_a_pattern_which_is_compiled_once():
    started = time.process_time()
    assert not check_structure([row for copy in range(40) for row in renamed(with_patterns(500, SLOW), copy)]).problems
    assert time.process_time() - started < 6


def renamed(levels: list[dict[str, Any]], copy: int) -> list[dict[str, Any]]:
    return [found | {"name": f"{found['name']} of {copy}"} for found in levels]


def test_a_pattern_that_is_stored_already_is_not_looked_at_again():
    refused = [level(attributes=[attribute(validation={"pattern": "(a"})])]
    assert codes(*refused) == ["invalid_pattern"]
    assert not check_structure(refused, known_patterns={"(a"}).problems


def test_no_length_is_beyond_all_measure():
    assert codes(level(attributes=[attribute(validation={"maxLength": 10**300})])) == ["out_of_range"]
    assert codes(level(attributes=[attribute(validation={"maxLength": 1_000_000})])) == []


@pytest.mark.parametrize(
    ("attributes", "values", "refused"),
    [(151, 1_000, "allowed values"), (25_000, 1, "levels and attributes"), (1, 1_000, "")],
)
def test_a_draft_is_bounded_as_a_sent_tree_is(attributes: int, values: int, refused: str) -> None:
    """What the editor saved and programs could not send back would be lost to them."""
    choice = Attribute("size", "Size", AttributeType.SINGLE_SELECT, tuple(map(str, range(values))))
    levels = [Level(name, name, attributes=(choice,) * attributes) for name in ("tents", "boots")]
    problems = check_tree(with_places(TaxonomyTree.of(levels))).problems
    too_large = [problem.message for problem in problems if problem.code == "too_large"]
    assert len(too_large) == bool(refused) and all(refused in message for message in too_large)

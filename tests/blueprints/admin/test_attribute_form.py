"""What a form of an attribute means for the draft."""

import time

import pytest
from werkzeug.datastructures import MultiDict

from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.taxonomy.attribute_form import MOST_ROWS, AttributeForm, attribute_edit
from app.domain.shared.problems import Invalid, Problem
from app.domain.taxonomy.editor.attribute_edits import (
    AddAttribute,
    ChangeAttribute,
    DeleteAttribute,
    MoveAttribute,
    OverrideAttribute,
)
from app.domain.taxonomy.tree import Attribute

COLOUR = {"attributeId": "colour", "name": "Colour", "type": "SINGLE_SELECT", "allowedValues": ["Red", "Blue"]}

STORED = {"Red", "Blue"}


def sent(*pairs: tuple[str, str], **fields: str) -> MultiDict[str, str]:
    return MultiDict([*fields.items(), *pairs])


def rows(*values: tuple[str, str]) -> list[tuple[str, str]]:
    return [pair for text, was in values for pair in (("value", text), ("valueWas", was))]


def problems(form: MultiDict[str, str]) -> dict[str, str]:
    with pytest.raises(Invalid) as refused:
        attribute_edit(form)
    return {problem.pointer: problem.message for problem in refused.value.problems}


def test_a_new_attribute_says_only_what_matters_for_its_type() -> None:
    form = sent(edit="attribute.add", level="tents", name=" Weight ", type="NUMBER", minValue="0.5", pattern="x")
    edit = attribute_edit(form)
    assert isinstance(edit, AddAttribute)
    assert edit.attribute == {
        "attributeId": "",
        "name": "Weight",
        "type": "NUMBER",
        "displayOnProductPage": False,
        "validation": {"minValue": 0.5},
    }


def test_a_unit_is_the_number_s_alone() -> None:
    number = attribute_edit(sent(edit="attribute.add", level="t", name="Weight", type="NUMBER", unit=" kg "))
    assert isinstance(number, AddAttribute) and number.attribute["unit"] == "kg"
    text = attribute_edit(sent(edit="attribute.add", level="t", name="Weight", type="STRING", unit="kg"))
    assert isinstance(text, AddAttribute) and "unit" not in text.attribute
    endless = sent(edit="attribute.add", level="t", name="Weight", type="NUMBER", unit="k" * 21)
    assert problems(endless) == {"#/unit": "The unit is 21 characters long; at most 20 fit."}


def test_values_keep_their_order_and_say_which_were_renamed() -> None:
    form = sent(
        *rows(("Navy", "Blue"), ("Red", "Red"), ("Green", "")),
        edit="attribute.change",
        level="tents",
        attribute="colour",
        name="Colour",
        type="SINGLE_SELECT",
    )
    edit = attribute_edit(form)
    assert isinstance(edit, ChangeAttribute)
    assert edit.attribute["allowedValues"] == ["Navy", "Red", "Green"]
    assert edit.attribute["renamedValues"] == {"Navy": "Blue"}


def test_values_written_into_the_box_and_not_yet_added_belong_to_it_too() -> None:
    edit = attribute_edit(
        sent(edit="attribute.add", level="t", name="Colour", type="MULTI_SELECT", newValues="Red\nBlue")
    )
    assert isinstance(edit, AddAttribute)
    assert edit.attribute["allowedValues"] == ["Red", "Blue"]


def test_every_problem_is_told_at_its_field() -> None:
    number = sent(edit="attribute.add", level="t", name="", type="NUMBER", minValue="heavy", maxValue="3")
    assert set(problems(number)) == {"#/name", "#/minValue"}
    text = sent(edit="attribute.add", level="t", name="Code", type="STRING", minLength="9", maxLength="3", pattern="(")
    assert set(problems(text)) == {"#/minLength", "#/pattern"}
    choice = sent(edit="attribute.add", level="t", name="Colour", type="SINGLE_SELECT")
    assert problems(choice) == {"#/newValues": "A choice needs at least one value. Write them here, one a line."}


def test_a_value_that_is_there_already_or_has_a_comma_is_told_at_its_row() -> None:
    form = sent(
        *rows(("Red", "Red"), ("Blue", "Blue"), ("Red", "Rouge"), ("a,b", ""), ("blue", "")),
        edit="attribute.change",
        attribute="colour",
        name="Colour",
        type="SINGLE_SELECT",
    )
    assert {"#/value/2", "#/value/3", "#/value/4"} <= set(problems(form))


def test_an_id_that_the_shop_uses_for_something_else_is_refused() -> None:
    form = sent(edit="attribute.add", level="t", name="Price", type="NUMBER", attributeId="price")
    assert set(problems(form)) == {"#/attributeId"}


def test_moving_removing_and_overriding_name_the_attribute() -> None:
    named = {"level": "tents", "attribute": "colour"}
    assert attribute_edit(sent(edit="attribute.move", position="2", **named)) == MoveAttribute("tents", "colour", 2)
    assert attribute_edit(sent(edit="attribute.delete", **named)) == DeleteAttribute("tents", "colour")
    assert attribute_edit(sent(edit="attribute.override", **named)) == OverrideAttribute("tents", "colour")
    for unknown in ("attribute.explode", "value.rename"):
        assert set(problems(sent(edit=unknown, value="Red", renamed="Crimson", **named))) == {"#/edit"}


def test_a_value_that_was_taken_out_can_be_put_back_and_keeps_its_products() -> None:
    form = AttributeForm.of(Attribute.read(COLOUR), STORED).after("remove:0")
    assert [row.text for row in form.rows] == ["Blue"]
    assert form.removed == ("Red",)
    back = form.after("restore:0")
    assert [(row.text, row.was) for row in back.rows] == [("Blue", "Blue"), ("Red", "Red")]
    assert back.removed == ()


def test_values_are_moved_sorted_and_added() -> None:
    form = AttributeForm.of(Attribute.read(COLOUR), STORED)
    assert [row.text for row in form.after("down:0").rows] == ["Blue", "Red"]
    assert [row.text for row in form.after("sort").rows] == ["Blue", "Red"]
    assert form.after("up:0") == form.after("down:7") == form.after("jump:1") == form
    added = AttributeForm.typed(sent(*rows(("Red", "Red")), newValues="red\nGreen\na,b")).after("paste")
    assert [row.text for row in added.rows] == ["Red", "Green"]
    assert added.new_values == "a,b"


def test_a_draft_that_renamed_a_value_already_still_knows_what_products_hold() -> None:
    renamed = COLOUR | {"allowedValues": ["Crimson", "Blue"], "renamedValues": {"Crimson": "Red"}}
    form = AttributeForm.of(Attribute.read(renamed), STORED)
    assert [(row.text, row.was) for row in form.rows] == [("Crimson", "Red"), ("Blue", "Blue")]
    assert form.rows[0].is_renamed


def test_a_value_that_was_never_saved_is_no_rename_whatever_it_is_called_next() -> None:
    form = AttributeForm.of(Attribute.read(COLOUR | {"allowedValues": ["Red", "Gold"]}), STORED)
    assert [(row.text, row.was) for row in form.rows] == [("Red", "Red"), ("Gold", "")]


def test_the_form_of_an_attribute_means_that_attribute() -> None:
    stored = COLOUR | {"displayOnProductPage": True, "helpText": "Look", "validation": {"mandatory": True}}
    assert AttributeForm.of(Attribute.read(stored)).attribute() == stored | {"renamedValues": {}, "mergedValues": {}}


def test_more_rows_than_the_form_could_have_had_are_refused_before_anything_is_made_of_them() -> None:
    for name in ("value", "valueWas", "valueGone"):
        form = sent(*[(name, "a")] * (MOST_ROWS + 1), edit="attribute.change", level="t", attribute="colour")
        assert problems(form) == {"#/newValues": "An attribute has at most 1,000 values; these would be 1,201."}


def test_more_pasted_values_than_the_form_can_show_wait_in_the_box() -> None:
    lines = "\n".join(f"Colour {number}" for number in range(MOST_ROWS + 1))
    with pytest.raises(Invalid):
        AttributeForm.typed(sent(newValues=lines)).after("paste")
    with pytest.raises(Invalid):
        AttributeForm.typed(sent(newValues=lines.replace("\n", ","))).after("split")
    form = sent(edit="attribute.add", level="t", name="Colour", type="SINGLE_SELECT", newValues=lines)
    assert set(problems(form)) == {"#/newValues"}


def test_many_problems_are_found_by_their_field_without_a_search() -> None:
    many = 20_000
    errors = FieldErrors(Invalid([Problem("bad", f"Wrong {n}.", f"#/value/{n}") for n in range(many)]))
    assert errors.at("value/7") == "Wrong 7." and errors.at("value") is None
    begun = time.process_time()
    assert all(errors.at(f"value/{number}") for number in range(many))
    assert time.process_time() - begun < 1

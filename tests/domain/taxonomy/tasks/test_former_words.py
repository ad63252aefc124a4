"""A word that was renamed a short while ago is understood by whoever classifies, before the task reaches the product
and by forms that are older than it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from sqlalchemy import event

from app.domain.shared.author import Author
from app.domain.taxonomy import tasks
from app.domain.taxonomy.products.classification import PanelForm, create_product, fill_gaps, save_product
from app.domain.taxonomy.products.panel import product_panel, stored_texts
from app.domain.taxonomy.renames import words_of_saves
from app.domain.taxonomy.tasks import Kind
from app.domain.taxonomy.tasks.assignments import Way, assign_value, level_preview, value_preview
from app.domain.taxonomy.tasks.queue import TASK
from app.domain.taxonomy.taxonomies import active_with_tree, former_words
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.work import leases
from app.domain.work.models import State
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.tasks.conftest import LEVELS, Worker, add, change_levels, counted, product
from tests.factories import draft_of
from tests.fakes.clock import StoppedClock

AddTask = Callable[..., str]
Rename = Callable[..., None]


@pytest.fixture
def rename(site_id: int, add_task: AddTask) -> Rename:
    """As a structure save does it: the tree has the new word, products follow later."""
    levels = deepcopy(LEVELS)

    def saved(level_id: str, value: str, renamed: str) -> None:
        level = next(level for level in (levels[0], *levels[0]["children"]) if level["levelId"] == level_id)
        colour = next(one for one in level["attributes"] if one["attributeId"] == "colour")
        colour["allowedValues"] = [renamed if word == value else word for word in colour["allowedValues"]]
        change_levels(site_id, deepcopy(levels))
        renames = [{"levelId": level_id, "attributeId": "colour", "value": value, "renamed": renamed}]
        add_task(Kind.RENAME_VALUES, taxonomyId="kit", renames=renames)

    return saved


def tree(clock: StoppedClock, site_id: int) -> TaxonomyTree:
    taxonomy = active_with_tree(clock, site_id)
    assert taxonomy is not None
    return taxonomy.tree


def save(clock: StoppedClock, sku: str, *colours: str, level_id: str = "tents") -> list[str]:
    """What was not kept."""
    saved = product(sku)
    panel = PanelForm("kit", level_id, {"colour": colours})
    with transaction():
        done = save_product(Author(saved.site_id, "Mia", clock), saved.id, saved.revision, draft_of(saved), None, panel)
    return [dropped.text for dropped in done.dropped]


def test_a_form_with_the_old_word_is_saved_with_the_new_one(
    clock: StoppedClock, site_id: int, rename: Rename, work: Worker
) -> None:
    add(site_id, "T-1", "tents", colour=["Moss", "Sky"])
    rename("gear", "Moss", "Fern")
    assert save(clock, "T-1", "Moss", "moss ", "Clay") == []
    assert product("T-1").taxonomy_attributes == {"colour": ["Fern", "Clay"]}
    assert counted("T-1") == {("colour", "Fern"), ("colour", "Clay")}
    work()
    assert product("T-1").taxonomy_attributes == {"colour": ["Fern", "Clay"]}


def test_so_is_a_new_product(clock: StoppedClock, site_id: int, rename: Rename) -> None:
    add(site_id, "T-1")
    draft = draft_of(product("T-1"))
    draft = type(draft)(
        **{name: getattr(draft, name) for name in draft.__dataclass_fields__} | {"sku": "T-2", "seo_name": "t-2"}
    )
    rename("gear", "Moss", "Fern")
    with transaction():
        create_product(Author(site_id, "Mia", clock), draft, [], PanelForm("kit", "tents", {"colour": ("Moss",)}))
    assert product("T-2").taxonomy_attributes == {"colour": ["Fern"]}


def test_the_worklist_takes_the_old_word_and_leaves_the_others_to_the_task(
    clock: StoppedClock, site_id: int, rename: Rename, work: Worker
) -> None:
    product_id = add(site_id, "B-1", "boots", size=43)
    rename("boots", "Tan", "Sand")
    with transaction():
        found, dropped = fill_gaps(Author(site_id, "Mia", clock), product_id, 1, {"colour": ("Tan",)})
    assert (found.values, dropped) == ({"size": 43, "colour": "Sand"}, ())
    work()
    assert product("B-1").taxonomy_attributes == {"size": 43, "colour": "Sand"}


def test_words_that_were_renamed_again_and_again_end_with_the_last(
    clock: StoppedClock, site_id: int, rename: Rename, work: Worker
) -> None:
    for sku in ("T-1", "T-2"):
        add(site_id, sku, "tents", colour=["Moss"])
    rename("gear", "Moss", "Fern")
    rename("gear", "Fern", "Leaf")
    assert (save(clock, "T-1", "Moss"), save(clock, "T-2", "Fern", "Sky")) == ([], [])
    assert product("T-1").taxonomy_attributes == {"colour": ["Leaf"]}
    assert product("T-2").taxonomy_attributes == {"colour": ["Leaf", "Sky"]}
    work()
    assert product("T-1").taxonomy_attributes == {"colour": ["Leaf"]}


def test_a_word_renamed_there_and_back_stays(clock: StoppedClock, site_id: int, rename: Rename, work: Worker) -> None:
    add(site_id, "T-1", "tents", colour=["Moss"])
    rename("gear", "Moss", "Fern")
    rename("gear", "Fern", "Moss")
    assert save(clock, "T-1", "Fern", "Clay") == []
    assert product("T-1").taxonomy_attributes == {"colour": ["Moss", "Clay"]}
    work()
    assert product("T-1").taxonomy_attributes == {"colour": ["Moss", "Clay"]}


def test_a_definition_that_was_not_renamed_does_not_know_the_word(
    clock: StoppedClock, site_id: int, rename: Rename
) -> None:
    add(site_id, "B-1", "boots")
    rename("gear", "Clay", "Earth")
    assert save(clock, "B-1", "Clay", level_id="boots") == ["Clay"]


def test_a_form_that_is_older_than_the_task_is_understood_for_a_day(
    clock: StoppedClock, site_id: int, rename: Rename, work: Worker
) -> None:
    add(site_id, "T-1", "tents", colour=["Sky"])
    rename("gear", "Moss", "Fern")
    work()
    clock.move(hours=23)
    assert save(clock, "T-1", "Moss") == []
    assert product("T-1").taxonomy_attributes == {"colour": ["Fern"]}
    clock.move(hours=2)
    assert save(clock, "T-1", "Moss") == ["Moss"]


def test_a_word_whose_rename_failed_is_understood_until_it_goes_on(
    clock: StoppedClock, site_id: int, add_task: AddTask, rename: Rename, work: Worker
) -> None:
    product_id = add(site_id, "T-1", "tents", colour=["Moss"])
    rename("gear", "Moss", "Fern")
    with transaction():
        leases.end(TASK, clock, tasks.unfinished(site_id)[0], State.FAILED, "The database refused the work.")
    clock.move(days=3)
    add_task(Kind.ASSIGN_LEVEL, taxonomyId="kit", levelId="gear", products=[product_id])
    work()
    assert product("T-1").taxonomy_attributes == {"colour": ["Fern"]}


def test_an_old_word_that_is_allowed_again_means_itself(
    clock: StoppedClock, site_id: int, rename: Rename, work: Worker
) -> None:
    add(site_id, "T-1", "tents", colour=["Sky"])
    rename("gear", "Moss", "Fern")
    work()
    levels = deepcopy(LEVELS)
    levels[0]["attributes"][0]["allowedValues"] = ["Fern", "Moss"]
    change_levels(site_id, levels)
    assert save(clock, "T-1", "Moss") == []
    assert product("T-1").taxonomy_attributes == {"colour": ["Moss"]}


def test_products_that_move_before_the_task_reaches_them_keep_the_value(
    clock: StoppedClock, site_id: int, add_task: AddTask, rename: Rename, work: Worker
) -> None:
    """The move was asked for first, so it is done first. The word is that of the level that the product leaves."""
    ids = [add(site_id, "T-1", "tents", colour=["Moss"]), add(site_id, "T-2", "boots", colour="Tan")]
    parameters: dict[str, Any] = {"taxonomyId": "kit", "levelId": "gear", "products": ids}
    add_task(Kind.ASSIGN_LEVEL, **parameters)
    rename("gear", "Moss", "Fern")
    rename("boots", "Tan", "Sky")
    preview = level_preview(site_id, tree(clock, site_id), {"products": ids}, "gear")
    assert preview.lost == ()
    work()
    assert product("T-1").taxonomy_attributes == {"colour": ["Fern"]}
    assert product("T-2").taxonomy_attributes == {"colour": ["Sky"]}


def test_a_value_for_many_products_is_given_by_its_new_word(
    clock: StoppedClock, site_id: int, rename: Rename, work: Worker
) -> None:
    ids = [add(site_id, "T-1", "tents"), add(site_id, "T-2", "tents", colour=["Sky"])]
    rename("gear", "Moss", "Fern")
    assert value_preview(site_id, tree(clock, site_id), {"products": ids}, "colour", Way.ADD, ["Moss"]).changing == 2
    with transaction():
        assign_value(Author(site_id, "Mia", clock), {"products": ids}, "colour", Way.ADD, ["Moss"])
    work()
    assert product("T-1").taxonomy_attributes == {"colour": ["Fern"]}
    assert product("T-2").taxonomy_attributes == {"colour": ["Sky", "Fern"]}


def test_the_form_shows_the_new_word_before_the_task_reaches_the_product(
    clock: StoppedClock, site_id: int, rename: Rename
) -> None:
    add(site_id, "T-1", "tents", colour=["Moss"])
    rename("gear", "Moss", "Fern")
    panel = product_panel(tree(clock, site_id), "tents", stored_texts(product("T-1").taxonomy_attributes))
    colour = panel.inputs[0]
    assert (colour.texts, colour.problems, colour.choices) == (("Fern",), (), ("Fern", "Clay", "Sky"))


def test_another_taxonomys_renames_do_not_count_and_all_are_read_at_once(
    clock: StoppedClock, site_id: int, add_task: AddTask, rename: Rename
) -> None:
    rename("gear", "Moss", "Fern")
    rename("gear", "Sky", "Air")
    add_task(
        Kind.RENAME_VALUES,
        taxonomyId="other",
        renames=[dict.fromkeys(("levelId", "attributeId", "value", "renamed"), "x")],
    )
    requests: list[str] = []
    listener = (db.engine, "before_cursor_execute", lambda *given: requests.append(given[2]))
    event.listen(*listener)
    assert former_words(clock, site_id, "kit") == {
        (level_id, "colour"): {"Moss": "Fern", "Sky": "Air"} for level_id in ("gear", "tents")
    }
    event.remove(*listener)
    assert len([statement for statement in requests if statement.startswith("SELECT")]) == 1


def test_two_words_of_one_save_can_change_places() -> None:
    def one(*renames: tuple[str, str]) -> dict[str, Any]:
        value_renames = [
            {"levelId": "gear", "attributeId": "colour", "value": was, "renamed": now} for was, now in renames
        ]
        return {
            "renames": value_renames,
            "governed": [{"levelId": "gear", "attributeId": "colour", "levelIds": ["tents"]}],
        }

    swapped = one(("A", "B"), ("B", "A"))
    assert words_of_saves([swapped]) == {("tents", "colour"): {"A": "B", "B": "A"}}
    assert words_of_saves([one(("X", "A")), swapped])["tents", "colour"]["X"] == "B"


def test_a_new_value_with_the_old_word_is_kept_where_it_was_chosen_and_renamed_where_it_was_not(
    clock: StoppedClock, site_id: int, add_task: AddTask, work: Worker
) -> None:
    """In one save Moss becomes Fern, and another value is called Moss from now on."""
    for sku, colours in (("T-1", ["Moss"]), ("T-2", ["Clay"]), ("T-3", ["Moss"]), ("T-4", ["Clay", "Moss"])):
        add(site_id, sku, "tents", colour=colours, sleeps=2)
    levels = deepcopy(LEVELS)
    levels[0]["attributes"][0]["allowedValues"] = ["Fern", "Clay", "Sky", "Moss"]
    change_levels(site_id, levels)
    renames = [{"levelId": "gear", "attributeId": "colour", "value": "Moss", "renamed": "Fern"}]
    add_task(Kind.RENAME_VALUES, taxonomyId="kit", renames=renames)
    clock.move(seconds=1)
    save(clock, "T-2", "Moss")
    with transaction():
        fill_gaps(Author(site_id, "Mia", clock), product("T-3").id, 1, {"sleeps": ("3",)})
    save(clock, "T-4", "Moss", "Sky")
    work()
    found = [product(f"T-{number}").taxonomy_attributes["colour"] for number in (1, 2, 3, 4)]
    assert found == [["Fern"], ["Moss"], ["Fern"], ["Fern", "Sky"]]


def test_of_two_words_that_change_places_the_one_that_is_chosen_afterwards_stays(
    clock: StoppedClock, site_id: int, add_task: AddTask, work: Worker
) -> None:
    for sku in ("T-1", "T-2"):
        add(site_id, sku, "tents", colour=["Moss"])
    swap = [("Moss", "Clay"), ("Clay", "Moss")]
    renames = [{"levelId": "gear", "attributeId": "colour", "value": was, "renamed": now} for was, now in swap]
    add_task(Kind.RENAME_VALUES, taxonomyId="kit", renames=renames)
    clock.move(seconds=1)
    save(clock, "T-2", "Clay")
    work()
    assert [product(sku).taxonomy_attributes for sku in ("T-1", "T-2")] == [{"colour": ["Clay"]}] * 2


def test_a_structure_that_is_saved_later_does_not_change_which_products_follow(
    clock: StoppedClock, site_id: int, rename: Rename, work: Worker
) -> None:
    """Tents get a definition of their own, which has the new word, before the products have it."""
    for sku in ("T-1", "T-2"):
        add(site_id, sku, "tents", colour=["Moss"])
    rename("gear", "Moss", "Fern")
    levels = deepcopy(LEVELS)
    own = {**levels[0]["attributes"][0], "allowedValues": ["Fern", "Sky"]}
    levels[0]["children"][0]["attributes"].append(own)
    change_levels(site_id, levels)
    assert save(clock, "T-1", "Moss", "Sky") == []
    work()
    assert product("T-1").taxonomy_attributes == {"colour": ["Fern", "Sky"]}
    assert product("T-2").taxonomy_attributes == {"colour": ["Fern"]}


def test_a_structure_that_is_saved_before_the_product_is_locked_counts(
    clock: StoppedClock, site_id: int, rename: Rename
) -> None:
    """Whoever waits for a product that another holds must not go by the tree of before the wait."""
    add(site_id, "T-1", "tents", colour=["Sky"])
    assert active_with_tree(clock, site_id) is not None
    rename("gear", "Moss", "Fern")
    assert save(clock, "T-1", "Moss") == []
    assert product("T-1").taxonomy_attributes == {"colour": ["Fern"]}

"""The tasks of Help as they lie in the release: each is whole, has its pictures, and nothing else lies there."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest
from PIL import Image

from app.web import help_tasks
from app.web.documentation import DOCUMENTS, document
from app.web.help_tasks import PICTURES, SECTIONS, TASKS, Task, task_sections, tasks_by_name
from tests.surroundings import ROOT

ALL = [task for section in task_sections() for task in section.tasks]
# Bytes of all pictures: some 15 kB each, light and dark. More would make every release and image larger for pictures
# that can be cut smaller by their recipe.
LARGEST = 1_800_000
# Labels that pages put together.
PUT_TOGETHER = {"Add a collection", "Add the collection", "Add a page", "Add the page"}
PUT_TOGETHER |= {"Ready to collect…", "Sent…", "Collected and paid"}


@cache
def labels_of_the_program() -> str:
    app = ROOT / "app"
    files = [file for folder in ("blueprints", "domain") for file in (app / folder).rglob("*.py")]
    files += [file for file in (app / "templates" / "admin").rglob("*.html") if file.parent.name != "help"]
    files += (app / "static" / "till").rglob("*.js")
    texts = [file.read_text(encoding="utf-8") for file in files] + [document(name).title for name in DOCUMENTS]
    return " ".join(" ".join(texts).split())


def test_every_file_of_tasks_is_a_section() -> None:
    assert {file.stem for file in TASKS.iterdir()} == set(SECTIONS)


def test_names_and_titles_are_unique() -> None:
    for texts in ([task.name for task in ALL], [task.title for task in ALL]):
        assert [text for text, times in Counter(texts).items() if times > 1] == []


@pytest.mark.parametrize("task", ALL, ids=lambda task: task.name)
def test_a_task_has_short_steps_and_related_tasks_that_exist(task: Task) -> None:
    assert 3 <= len(task.steps) <= 6
    assert all(len(step) <= 250 and step.endswith(".") for step in task.steps)
    assert task.related and set(task.related) <= set(tasks_by_name()) - {task.name}
    assert task.lead.endswith(".") and task.picture.alt.endswith(".")


@pytest.mark.parametrize("task", ALL, ids=lambda task: task.name)
def test_what_a_step_names_in_bold_is_written_in_the_program(task: Task) -> None:
    """A label that changes is changed in the tasks that name it, too."""
    named = {label for step in task.steps for label in re.findall(r"\*\*(.+?)\*\*", step)}
    assert {label for label in named - PUT_TOGETHER if label not in labels_of_the_program()} == set()


@pytest.mark.parametrize("task", ALL, ids=lambda task: task.name)
def test_a_task_has_its_picture_light_and_dark(task: Task) -> None:
    for name in (f"{task.name}.png", f"{task.name}-dark.png"):
        with Image.open(PICTURES / name) as picture:
            assert 200 < picture.width < 1000 and 100 < picture.height < 900


def test_no_picture_lies_there_without_a_task_and_all_of_them_are_small() -> None:
    pictures = list(PICTURES.iterdir())
    assert {file.name.removesuffix(".png").removesuffix("-dark") for file in pictures} == set(tasks_by_name())
    assert sum(file.stat().st_size for file in pictures) < LARGEST


def test_steps_are_markdown_whose_markup_is_text() -> None:
    bold = Task("x", "X", "", ("Press **Save** <b>",), "", "", help_tasks.Picture("")).steps_html
    assert bold == ("Press <strong>Save</strong> &lt;b&gt;",)

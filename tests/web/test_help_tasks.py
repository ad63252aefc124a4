"""The tasks of Help as they lie in the release: each is whole, has its pictures, and nothing else lies there."""

from __future__ import annotations

from collections import Counter

import pytest
from PIL import Image

from app.web import help_tasks
from app.web.help_tasks import PICTURES, SECTIONS, TASKS, Task, task_sections, tasks_by_name

ALL = [task for section in task_sections() for task in section.tasks]
LARGEST = 1_500_000  # Bytes of all pictures.


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

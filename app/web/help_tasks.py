"""What people want to do in the admin, one step after the other: the tasks of the admin's Help, a file for each section
in docs/tasks.

They come with the release, as the documents do. A picture of each lies in app/static/admin/help, light and dark; `make
screenshots` takes them anew from the demo shop.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from markupsafe import Markup
from PIL import Image

from app.web.documentation import FOLDER, inline_html

SECTIONS = ("search", "products", "categories", "seo", "shop", "orders", "till", "people")
TASKS = FOLDER / "tasks"
PICTURES = FOLDER.parent / "app" / "static" / "admin" / "help"


@dataclass(frozen=True, slots=True)
class Picture:
    """What a picture shows, in words, and how it is taken: the page `at` an address of the demo shop (or at the end of
    a journey, or a screen of its till, both by name), after pressing and filling in what the selectors find and waiting
    for one, cut to the element `of` and to a height, on a screen of a width, both in pixels. `superadmin` is for pages
    that no other role may open."""

    alt: str
    at: str = ""
    of: str = "main"
    press: tuple[str, ...] = ()
    fill: tuple[tuple[str, str], ...] = ()
    wait: str = ""
    screen: int = 1040
    height: int = 500
    till: str = ""
    journey: str = ""
    superadmin: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A task. `page` is the endpoint where it is done, `opens` what that page is called; `related` are the names of
    others, `words` further words by which it is found."""

    name: str
    title: str
    lead: str
    steps: tuple[str, ...]
    page: str
    opens: str
    picture: Picture
    related: tuple[str, ...] = ()
    words: str = ""

    @property
    def steps_html(self) -> tuple[Markup, ...]:
        return tuple(map(inline_html, self.steps))


@dataclass(frozen=True, slots=True)
class TaskSection:
    label: str
    icon: str
    tasks: tuple[Task, ...]


@cache
def task_sections() -> tuple[TaskSection, ...]:
    """Return the tasks by section. Raises ValueError naming the file and the task where one is not as declared."""
    return tuple(_read_section(name) for name in SECTIONS)


@cache
def tasks_by_name() -> Mapping[str, Task]:
    return {task.name: task for section in task_sections() for task in section.tasks}


@cache
def picture_size(name: str) -> tuple[int, int]:
    """Return width and height of a picture in pixels. Raises FileNotFoundError."""
    with Image.open(PICTURES / name) as picture:
        return picture.size


def _read_section(name: str) -> TaskSection:
    stored = tomllib.loads((TASKS / f"{name}.toml").read_text(encoding="utf-8"))
    return TaskSection(stored["label"], stored["icon"], tuple(_read_task(name, one) for one in stored["task"]))


def _read_task(section: str, stored: dict[str, Any]) -> Task:
    try:
        recipe = stored["picture"]
        lists = {field: tuple(recipe[field]) for field in ("press",) if field in recipe}
        picture = Picture(**recipe | lists | {"fill": tuple(recipe.get("fill", {}).items())})
        lists = {"steps": tuple(stored["steps"]), "related": tuple(stored.get("related", ()))}
        return Task(**stored | lists | {"picture": picture})
    except (KeyError, TypeError) as error:
        raise ValueError(f"docs/tasks/{section}.toml, task {stored.get('name', 'without a name')}: {error}") from error

"""A theme is a folder; one that cannot be shown is named with its reason and harms no other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.web.themes.folders import BUILT_IN, DEFAULT, find_themes


def add_theme(parent: Path, name: str, label: object = "Own", style: str | None = "", **templates: str) -> Path:
    folder = parent / name
    (folder / "templates" / "storefront").mkdir(parents=True)
    (folder / "theme.json").write_text(json.dumps({"label": label}))
    if style is not None:
        (folder / "theme.css").write_text(style)
    for template, text in templates.items():
        (folder / "templates" / "storefront" / f"{template}.html").write_text(text)
    return folder


def test_the_shop_brings_two_themes_and_no_problem() -> None:
    found = find_themes()
    assert set(found.by_name) == {"market", "gallery"}
    assert not found.problems
    assert found.default.name == DEFAULT


def test_a_folder_beside_them_adds_a_theme_and_wins_where_both_have_a_name(tmp_path: Path) -> None:
    add_theme(tmp_path, "spring-2027", "Spring")
    add_theme(tmp_path, "market", "Our market")
    found = find_themes(tmp_path)
    assert found.by_name["spring-2027"].label == "Spring"
    assert found.default.label == "Our market"


def test_a_name_that_leads_to_no_theme_means_the_default(tmp_path: Path) -> None:
    assert find_themes(tmp_path).named("gone").folder == BUILT_IN / DEFAULT


def test_a_folder_without_theme_json_is_nobodys_business(tmp_path: Path) -> None:
    (tmp_path / "drafts").mkdir()
    assert "drafts" not in find_themes(tmp_path).problems


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"name": "Spring 2027"}, "lower-case letters"),
        ({"name": "a" * 41}, "lower-case letters"),
        ({"label": ""}, "label"),
        ({"label": 7}, "“label” must be a text"),
        ({"style": None}, "no theme.css"),
        ({"_card": "{% if %}"}, "Line 1 of its template storefront/_card.html"),
    ],
)
def test_a_theme_that_cannot_be_shown_says_why(tmp_path: Path, broken: dict[str, str], reason: str) -> None:
    folder = add_theme(tmp_path, broken.pop("name", "spring"), **broken)
    found = find_themes(tmp_path)
    assert reason in found.problems[folder.name]
    assert folder.name not in found.by_name


@pytest.mark.parametrize("text", ["", "[]", "{", "\udcff"])
def test_what_is_no_json_object_is_a_problem(tmp_path: Path, text: str) -> None:
    folder = add_theme(tmp_path, "spring")
    (folder / "theme.json").write_bytes(text.encode(errors="surrogateescape"))
    assert "theme.json" in find_themes(tmp_path).problems["spring"]


def test_a_style_sheet_that_is_no_text_is_a_problem(tmp_path: Path) -> None:
    (add_theme(tmp_path, "spring") / "theme.css").write_bytes(b"\xff\xfe")
    assert "UTF-8" in find_themes(tmp_path).problems["spring"]


def test_a_problem_of_a_folder_of_the_shops_own_leaves_the_theme_that_came_with_it(tmp_path: Path) -> None:
    add_theme(tmp_path, "market", style=None)
    found = find_themes(tmp_path)
    assert found.default.folder == BUILT_IN / DEFAULT
    assert "market" in found.problems

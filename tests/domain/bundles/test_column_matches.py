"""How tables of products were matched, remembered by the names of their columns."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.domain.bundles.column_matches import MOST_MATCHES, remember_match, remembered_match
from app.domain.bundles.models import ColumnMatch
from app.domain.shared.author import Author
from app.domain.sites.models import Site
from app.extensions import db
from app.ports import EXTENSION, clock
from app.transaction import transaction
from tests.factories import make_site

HEADER = ["Code", "Label", "Weight"]
TARGETS = {"sku", "name", "attribute:weight"}


@pytest.fixture
def site(context: None) -> Site:
    with transaction():
        return make_site("shop.test")


def remember(site: Site, header: list[str], columns: list[str]) -> None:
    with transaction():
        remember_match(Author(site.id, "Mia", clock()), header, columns)


def columns_of(site_id: int, header: list[str]) -> list[str] | None:
    match = remembered_match(site_id, header, TARGETS)
    return [*match.columns] if match else None


def test_the_latest_choice_holds_for_tables_with_the_same_names_in_the_same_order(site: Site) -> None:
    remember(site, HEADER, ["sku", "", ""])
    remember(site, HEADER, ["sku", "name", "attribute:weight"])
    assert columns_of(site.id, ["code", " LABEL ", "Weight"]) == ["sku", "name", "attribute:weight"]
    assert columns_of(site.id, ["Label", "Code", "Weight"]) is None
    assert columns_of(site.id, [*HEADER, ""]) is None


def test_another_site_remembers_nothing_of_it(site: Site) -> None:
    remember(site, HEADER, ["sku", "name", ""])
    with transaction():
        other = make_site("other.test").id
    assert columns_of(other, HEADER) is None


def test_a_column_about_what_is_gone_is_not_imported(site: Site) -> None:
    remember(site, HEADER, ["sku", "name", "attribute:colour"])
    assert columns_of(site.id, HEADER) == ["sku", "name", ""]


def test_of_too_many_the_one_that_was_used_longest_ago_is_forgotten(app: Flask, site: Site) -> None:
    for number in range(MOST_MATCHES):
        remember(site, ["Code", f"Label {number}"], ["sku", "name"])
        app.extensions[EXTENSION].clock.move(seconds=1)
    remember(site, ["Code", "Label 0"], ["sku", "name"])
    app.extensions[EXTENSION].clock.move(seconds=1)
    remember(site, HEADER, ["sku", "name", ""])
    assert db.session.scalar(select(func.count()).select_from(ColumnMatch)) == MOST_MATCHES
    assert columns_of(site.id, ["Code", "Label 1"]) is None
    assert columns_of(site.id, ["Code", "Label 0"]) == columns_of(site.id, ["Code", "Label 2"]) == ["sku", "name"]

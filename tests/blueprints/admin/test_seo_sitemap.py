"""The sitemap's page in the admin."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import select

from app import ports
from app.adapters.null_engine import NullEngine
from app.domain.merchandising.models import Node
from app.domain.search.engine import SearchContext
from app.domain.seo.models import SitemapBuild
from app.domain.seo.sitemap import builds
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.blueprints.storefront import small_shop
from tests.factories import make_product, make_user
from tests.page_client import PageClient
from tests.snapshots import built

PATH = "/admin/seo/sitemap"


def _shop_with_merchandiser() -> int:
    site_id = small_shop.build("localhost")
    with transaction():
        make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
    return site_id


@pytest.fixture
def someone(app: Flask) -> Merchandiser:
    site_id = built(app, _shop_with_merchandiser)
    return Merchandiser(PageClient(app).signed_in("mia@shop.test"), site_id)


def _build(app: Flask, indexing: SearchContext) -> SitemapBuild:
    """As the worker does it."""
    with app.app_context():
        row = db.session.scalars(select(SitemapBuild).order_by(SitemapBuild.created_at.desc())).first()
        builds.run_build(indexing, ports.sitemaps(), row.id)
        db.session.refresh(row)
        return row


def test_the_section_stands_in_the_menu(someone: Merchandiser) -> None:
    page = someone.get("/admin/")
    assert PATH in [link["href"] for link in page.all("a")]
    tabs = [link for link in someone.get(PATH).all("a") if link.get("aria-current") == "page"]
    assert [link["href"] for link in tabs] == [PATH, PATH], "of the menu, and of the section"


def test_a_site_without_a_sitemap_says_so(someone: Merchandiser) -> None:
    assert "No sitemap yet" in someone.get(PATH).texts["p"]


def test_one_is_requested_followed_and_shown(app: Flask, indexing: SearchContext, someone: Merchandiser) -> None:
    someone.post(f"{PATH}/build", {})
    assert "The sitemap is being written" in someone.get(PATH).texts["h2"]
    assert 'hx-trigger="every' in someone.fragment(f"{PATH}/build?was=waiting").text
    build = _build(app, indexing)
    changed = someone.fragment(f"{PATH}/build?was=waiting").text
    assert f"The sitemap is written: {build.done} addresses." in changed and "hx-trigger" not in changed
    page = someone.get(PATH)
    assert "/sitemap.xml" in [link["href"] for link in page.all("a")]
    assert str(build.done) in page.texts["dd"]


def test_the_request_stands_in_the_activity_log(app: Flask, someone: Merchandiser) -> None:
    someone.post(f"{PATH}/build", {})
    with app.app_context():
        entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "sitemap.build")).one()
        assert entry.actor == "Mia Moss"


def test_asking_twice_joins_the_build_under_way(app: Flask, someone: Merchandiser) -> None:
    someone.post(f"{PATH}/build", {})
    assert someone.swap(f"{PATH}/build", {}).status_code == 200
    with app.app_context():
        assert len(db.session.scalars(select(SitemapBuild)).all()) == 1


def test_categories_that_are_not_listed_are_named_with_the_reason(app: Flask, someone: Merchandiser) -> None:
    with app.app_context(), transaction():
        node = db.session.scalars(select(Node).where(Node.path == "gifts")).one()
        node.exclude_from_sitemap = True
    page = someone.get(PATH)
    assert "Camping › Hidden" in page.texts["th"] and "Gifts" in page.texts["th"]
    assert "The category is excluded from the sitemap; those below it are listed." in page.texts["td"]


def test_categories_that_are_not_listed_are_counted(app: Flask, indexing: SearchContext, someone: Merchandiser) -> None:
    someone.post(f"{PATH}/build", {})
    _build(app, indexing)
    page = someone.pages.client.get(PATH, base_url=someone.pages.base).text
    named = page.count('<td data-label="Why">')
    count = re.search(r"<dt>Not listed</dt>\s*<dd[^>]*>\s*([0-9,]+)", page)
    assert named and count and count[1] == str(named)


def test_without_search_it_says_that_empty_categories_are_not_known(app: Flask, someone: Merchandiser) -> None:
    unknown = "Some categories could not be counted, so empty ones may be missing here."
    assert unknown not in someone.get(PATH).texts["p"]
    app.extensions[ports.EXTENSION] = replace(app.extensions[ports.EXTENSION], search_engine=NullEngine())
    assert unknown in someone.get(PATH).texts["p"]


def test_of_many_categories_that_are_not_listed_the_first_are_named(app: Flask, someone: Merchandiser) -> None:
    with app.app_context(), transaction():
        tree = db.session.scalars(select(Node.tree_id)).first()
        for number in range(120):
            path = f"hidden-{number}"
            more = {"slug": path, "path": path, "visible": False, "updated_at": small_shop.BEGAN}
            db.session.add(Node(site_id=someone.site_id, tree_id=tree, position=9, name=f"Hidden {number}", **more))
    assert "And 21 more." in someone.get(PATH).texts["p"]


def test_entries_that_were_rejected_are_named(app: Flask, indexing: SearchContext, someone: Merchandiser) -> None:
    with app.app_context(), transaction():
        make_product(db.session.get_one(Site, someone.site_id), "X-1", seo_name="tent\x0b1")
    someone.post(f"{PATH}/build", {})
    _build(app, indexing)
    assert someone.get(PATH).texts["li"].count("cannot be shown") == 1


def test_a_build_that_failed_says_why(app: Flask, someone: Merchandiser) -> None:
    someone.post(f"{PATH}/build", {})
    with app.app_context(), transaction():
        row = db.session.scalars(select(SitemapBuild)).one()
        row.state, row.error, row.finished_at = "failed", "The disk is full.", row.created_at
    page = someone.get(PATH)
    assert "The last build failed" in page.texts["h2"]
    assert "The disk is full." in page.texts["p"]


def test_a_staging_site_has_none(app: Flask, someone: Merchandiser) -> None:
    with app.app_context(), transaction():
        db.session.get_one(Site, someone.site_id).staging = True
    page = someone.get(PATH)
    assert "This is a staging site" in page.texts["p"]
    assert f"{PATH}/build" not in [form.get("action") for form in page.all("form")]
    answer = someone.swap(f"{PATH}/build", {})
    assert answer.status_code == 200 and "A staging site has no sitemap" in answer.text

"""`sitemap build`."""

from __future__ import annotations

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import select

from app import ports
from app.domain.seo.models import SitemapBuild
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_product, make_site


@pytest.fixture
def site_ids(app: Flask) -> list[int]:
    with app.app_context(), transaction():
        sites = [make_site(host) for host in ("one.test", "two.test")]
        make_product(sites[0], "A-1")
        return [site.id for site in sites]


def _with_sitemap(app: Flask, site_ids: list[int]) -> list[int]:
    with app.app_context():
        return [site_id for site_id in site_ids if ports.sitemaps().files(site_id)]


def _said(result: Result) -> list[str]:
    """Without lines of the log, which stand beside them where nothing has set it up."""
    return [line for line in result.stdout.splitlines() if " in 1 file" in line]


def _build(app: Flask, *arguments: str):
    return app.test_cli_runner().invoke(args=["sitemap", "build", *arguments])


def test_all_sites_are_built_without_a_worker(app: Flask, site_ids: list[int]) -> None:
    result = _build(app)
    assert result.exit_code == 0, result.output
    assert _said(result) == ["one.test: 2 addresses in 1 file", "two.test: 1 address in 1 file"]
    assert _with_sitemap(app, site_ids) == site_ids


def test_one_site_is_built_alone_and_noted(app: Flask, site_ids: list[int]) -> None:
    assert _build(app, "--site", "two.test").exit_code == 0
    assert _with_sitemap(app, site_ids) == site_ids[1:]
    with app.app_context():
        assert db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all() == ["sitemap.build"]


def test_staging_sites_are_left_out_and_refused_by_name(app: Flask, site_ids: list[int]) -> None:
    with app.app_context(), transaction():
        db.session.get_one(Site, site_ids[0]).staging = True
    assert _said(_build(app)) == ["two.test: 1 address in 1 file"]
    refused = _build(app, "--site", "one.test")
    assert refused.exit_code == 1 and "A staging site has no sitemap" in refused.output


def test_an_unknown_host_is_refused(app: Flask, site_ids: list[int]) -> None:
    refused = _build(app, "--site", "nowhere.test")
    assert refused.exit_code == 1 and "There is no site at nowhere.test." in refused.output


def test_what_was_left_out_is_named(app: Flask, site_ids: list[int]) -> None:
    with app.app_context(), transaction():
        make_product(db.session.get_one(Site, site_ids[1]), "B-1", seo_name="b\x0b1")
    assert "  /p/b\ufffd1: its address holds characters that cannot be shown" in _build(app).output


def test_a_site_that_fails_is_named_and_the_others_are_done(app: Flask, site_ids: list[int]) -> None:
    folder = app.config["SHOP"].sitemap_folder
    folder.mkdir()
    (folder / str(site_ids[0])).write_text("In the way.")
    result = _build(app)
    assert result.exit_code == 1 and "one.test: Something unexpected went wrong" in result.output
    assert _with_sitemap(app, site_ids[1:]) == site_ids[1:]
    with app.app_context():
        states = db.session.scalars(select(SitemapBuild.state).order_by(SitemapBuild.site_id)).all()
    assert states == ["failed", "done"]

"""Redirects in bundles, and those that an import of products leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

from app.domain.bundles.exporter import export_bundle
from app.domain.seo.redirects.stored_redirects import every_redirect
from app.domain.sites import sites
from app.ports import images
from tests.domain.bundles.conftest import HOST, SITE, Take, product

ROWS = [
    {"from": "/shop/tents.html", "to": "/c/tents?sort=name"},
    {"from": "/c/old", "to": "/c/new", "reach": "below"},
    {"from": "/about.php", "to": "https://about.test/us"},
]


def stored() -> dict[str, str]:
    return {old: place.address for old, place in every_redirect(sites.site_at(HOST).id)}


def test_redirects_come_back_as_they_went_out(take: Take, tmp_path: Path):
    report = take(site=SITE, redirects=ROWS)
    assert report.of("redirects").added == 3
    export_bundle(tmp_path / "out", sites.site_at(HOST), images())
    lines = (tmp_path / "out" / "redirects.jsonl").read_text().splitlines()
    assert sorted(map(json.loads, lines), key=str) == sorted(ROWS, key=str)
    again = take(tmp_path / "out", host=None)
    assert (again.of("redirects").unchanged, again.of("redirects").added) == (3, 0)


def test_lines_that_cannot_be_are_left_out_and_the_others_lead_to_their_ends(take: Take):
    rows = [
        {"from": "/a", "to": "/b"},
        {"from": "/b", "to": "/c"},
        {"from": "/p/kettle", "to": "/c"},
        {"from": "/x", "to": "/x"},
        {"from": "no path", "to": "/c"},
        {"from": "/y"},
    ]
    report = take(site=SITE, products=[product(seoName="kettle")], redirects=rows)
    assert stored() == {"/a": "/c", "/b": "/c"}
    assert [refusal.line for refusal in report.refusals] == [6, 3, 4, 5]


def test_a_dry_run_stores_nothing(take: Take):
    take(site=SITE)
    assert take(site=SITE, redirects=ROWS, dry_run=True).of("redirects").added == 3
    assert stored() == {}


def test_products_that_get_another_seo_name_leave_their_old_addresses_behind(take: Take):
    take(site=SITE, products=[product(seoName="kettle")])
    take(site=SITE, products=[product(seoName="tea-kettle")])
    take(site=SITE, products=[product(seoName="copper-kettle")])
    assert stored() == {"/p/kettle": "/p/copper-kettle", "/p/tea-kettle": "/p/copper-kettle"}
    take(site=SITE, products=[product(seoName="kettle")])
    assert stored() == {"/p/tea-kettle": "/p/kettle", "/p/copper-kettle": "/p/kettle"}

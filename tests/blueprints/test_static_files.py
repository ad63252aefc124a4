"""Static files are kept by browsers for good, under an address that an upgrade changes."""

import gzip
import re
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.blueprints import static_files
from app.transaction import transaction
from tests.factories import make_site

SCRIPT = re.compile(r'<script type="module" src="(/static/v-\w{12}/)admin/page\.js">')


@pytest.fixture(autouse=True)
def shop(app: Flask) -> None:
    with app.app_context(), transaction():
        make_site()


@pytest.fixture
def production(app: Flask) -> FlaskClient:
    app.config["SHOP"] = replace(app.config["SHOP"], environment="production")
    return app.test_client()


def released_at(client: FlaskClient) -> str:
    """The folder of this release's static files, as a page names it."""
    page = client.get("/admin/login").text
    found = SCRIPT.search(page)
    assert found, page
    return found[1]


def test_what_a_page_names_is_kept_for_good_whatever_cookies_come_along(production: FlaskClient) -> None:
    answer = production.get(released_at(production) + "admin/page.js", headers={"Cookie": "shop=x"}, buffered=True)
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "Cookie" not in answer.headers.get("Vary", "")
    assert answer.mimetype == "text/javascript"


def test_what_a_script_imports_has_the_version_of_the_script(production: FlaskClient) -> None:
    folder = released_at(production)
    imported = re.findall(
        r'^import "\./(\w+\.js)";', production.get(folder + "admin/page.js", buffered=True).text, re.MULTILINE
    )
    assert imported
    for name in imported:
        answer = production.get(f"{folder}admin/{name}", buffered=True)
        assert "immutable" in answer.headers["Cache-Control"]


def test_texts_are_packed_for_clients_that_take_them_so(production: FlaskClient) -> None:
    address = released_at(production) + "admin/base.css"
    plain = production.get(address, buffered=True)
    packed = production.get(address, headers={"Accept-Encoding": "br, gzip;q=0.8"}, buffered=True)
    assert gzip.decompress(packed.data) == plain.data and len(packed.data) < len(plain.data) / 2
    assert (packed.headers["Content-Encoding"], packed.headers["Content-Length"]) == ("gzip", str(len(packed.data)))
    assert "Content-Encoding" not in plain.headers
    for answer in (plain, packed):
        assert "Accept-Encoding" in answer.headers["Vary"] and "immutable" in answer.headers["Cache-Control"]
    assert packed.headers["ETag"] == f"W/{plain.headers['ETag']}"
    known = {"Accept-Encoding": "gzip", "If-None-Match": packed.headers["ETag"]}
    assert production.get(address, headers=known, buffered=True).status_code == 304


@pytest.mark.parametrize("accepted", ["identity", "gzip;q=0", "br"])
def test_other_clients_get_them_as_they_are(production: FlaskClient, accepted: str) -> None:
    address = released_at(production) + "admin/base.css"
    answer = production.get(address, headers={"Accept-Encoding": accepted}, buffered=True)
    assert "Content-Encoding" not in answer.headers and b"{" in answer.data


def test_a_page_from_before_an_upgrade_gets_the_file_but_may_not_keep_it(production: FlaskClient) -> None:
    old = production.get("/static/v-0123456789ab/admin/page.js", buffered=True)
    assert old.status_code == 200
    assert old.headers["Cache-Control"] == "no-cache"


def test_the_version_is_computed_as_the_application_is_made(tmp_path: Path) -> None:
    (tmp_path / "page.js").write_text("before")
    app = Flask(__name__, static_folder=str(tmp_path))
    app.register_blueprint(static_files.bp)
    (tmp_path / "page.js").write_text("after")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "page.js").write_text("before")
    other = Flask(__name__, static_folder=str(tmp_path / "other"))
    other.register_blueprint(static_files.bp)
    with app.app_context(), other.app_context():
        expected = static_files.static_url("page.js")
    with app.app_context():
        assert static_files.static_url("page.js") == expected


def test_in_development_every_use_asks_again(app: Flask) -> None:
    client = app.test_client()
    answer = client.get(released_at(client) + "admin/page.js", buffered=True)
    assert answer.headers["Cache-Control"] == "no-cache"
    unchanged = client.get(answer.request.path, headers={"If-None-Match": answer.headers["ETag"]}, buffered=True)
    assert unchanged.status_code == 304


@pytest.mark.parametrize("path", ["/static/v-0/nothing.js", "/static/v-0/../config.py", "/static/v-0/%2e%2e/config.py"])
def test_there_is_nothing_beside_the_static_files(app: Flask, path: str) -> None:
    assert app.test_client().get(path).status_code == 404


def test_a_page_names_all_that_its_script_imports_so_that_it_is_fetched_at_once(production: FlaskClient) -> None:
    page = production.get("/admin/login").text
    named = re.findall(r'<link rel="modulepreload" href="([^"]+)">', page)
    folder = released_at(production)
    scripts = ("error_summary", "forms", "selection", "focus", "palette", "htmx")
    assert named == [f"{folder}admin/{name}.js" for name in scripts]
    assert all(production.get(address, buffered=True).status_code == 200 for address in named)


def test_caches_learn_of_both_forms_from_every_answer(production: FlaskClient) -> None:
    address = released_at(production) + "admin/base.css"
    packed = production.get(address, headers={"Accept-Encoding": "gzip"}, buffered=True)
    known = production.get(address, headers={"If-None-Match": packed.headers["ETag"]}, buffered=True)
    part = production.get(address, headers={"Range": "bytes=0-9"}, buffered=True)
    assert [known.status_code, part.status_code] == [304, 206]
    assert all("Accept-Encoding" in answer.headers["Vary"] for answer in (known, part))
    assert "Content-Encoding" not in part.headers

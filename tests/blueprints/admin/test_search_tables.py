"""Search terms and rules as spreadsheets; what all such tables do stands with the synonyms."""

from __future__ import annotations

from io import BytesIO
from time import process_time

import pytest
from flask import Flask

from app.domain.relevance.rules import stored_rules
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.factories import make_product


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    found = merchandiser(app)
    with app.app_context(), transaction():
        make_product(db.session.get_one(Site, found.site_id), "KETTLE-1", name="Kettle", search_terms=["boiler"])
    return found


def exported(mia: Merchandiser, table: str) -> list[str]:
    answer = mia.pages.client.get(f"/admin/search/{table}/export.csv", base_url=mia.pages.base)
    assert answer.mimetype == "text/csv"
    return answer.text.removeprefix("\ufeff").splitlines()


def take(mia: Merchandiser, table: str, text: str) -> None:
    page = f"/admin/search/{table}/import"
    mia.get(page)
    looked = mia.post(page, {"file": (BytesIO(text.encode()), "table.csv")}, 200)
    mia.post(f"{page}/apply", {"table": text, "digest": looked.value("digest")})


def test_search_terms_go_out_and_in(mia: Merchandiser) -> None:
    assert exported(mia, "terms") == ['"sku","name","terms"', '"KETTLE-1","Kettle","boiler"']
    take(mia, "terms", 'sku,terms\nKETTLE-1,"boiler, tea pot"\nNONE,lid')
    assert exported(mia, "terms")[1] == '"KETTLE-1","Kettle","boiler, tea pot"'


def test_rules_go_out_and_in(app: Flask, mia: Merchandiser) -> None:
    take(mia, "ranking", "term,pins,bannerText\nkettle,1:KETTLE-1,=Hot")
    effects, conditions = '"kettle","1:KETTLE-1","","","","\'=Hot","","yes","","",""', '"exact","","","","100","",""'
    assert exported(mia, "ranking")[1] == f"{effects},{conditions}"
    take(mia, "ranking", "\n".join(exported(mia, "ranking")).replace("Hot", "Cold"))
    with app.app_context():
        (rule,) = stored_rules(mia.site_id)
        assert rule.banner is not None and rule.banner.text == "=Cold"


def test_refused_lines_are_shown_with_the_reason(mia: Merchandiser) -> None:
    mia.get("/admin/search/terms/import")
    page = mia.post("/admin/search/terms/import", {"table": "sku,terms\nNONE,lid"}, 200)
    assert "The shop has no product with the SKU “NONE”." in page.texts["td"]
    assert "Correct the lines" in page.texts["h2"]


def test_the_page_says_where_more_terms_go_in_than_a_table_takes(mia: Merchandiser) -> None:
    shown = " ".join(mia.get("/admin/search/terms/import").texts.values())
    assert "more than 5,000 products go in under Products → Import, with the columns sku and searchTerms" in shown
    page = mia.post("/admin/search/terms/import", {"table": "sku,terms\n" + "A,b\n" * 125_001}, 400)
    assert "at most 500,000 go in at once" in " ".join(page.texts.values())


@pytest.mark.parametrize("table", ["terms", "ranking", "synonyms"])
def test_a_table_of_nothing_but_line_ends_is_refused_at_once(mia: Merchandiser, table: str) -> None:
    mia.get(f"/admin/search/{table}/import")
    for text in ("\n" * 499_000, "\r\n" * 249_000, "a\n" * 249_000):
        began = process_time()
        page = mia.post(f"/admin/search/{table}/import", {"file": (BytesIO(text.encode()), "table.csv")}, 400)
        assert process_time() - began < 1
        assert "at most 20,000 go in at once" in " ".join(page.texts.values())


@pytest.mark.parametrize("page", ["/admin/search/terms", "/admin/search/ranking"])
def test_the_list_leads_to_its_import(mia: Merchandiser, page: str) -> None:
    assert f"{page}/import" in {link.get("href") for link in mia.get(page).all("a")}

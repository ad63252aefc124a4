"""Synonyms, search terms and rules as spreadsheets: the export of a whole list, and the import of a file after a
preview."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from flask import url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin import csv_import, spreadsheet
from app.blueprints.admin.blueprint import bp
from app.blueprints.callers import current_author
from app.domain.catalogue import terms
from app.domain.relevance import rule_import, rules, synonym_import, synonyms
from app.domain.relevance.rule_definition import MOST_RULES
from app.domain.relevance.synonym_definition import MOST_GROUPS
from app.domain.shared.author import Author
from app.domain.shared.csv_tables import ImportReport
from app.web.permissions import Permission, requires


@dataclass(frozen=True, slots=True)
class Table:
    """A list of the search pages that can be exported and imported. `noun` names one line of it, `stays` says what a
    file does not change; at most `most` lines are imported at once. `columns` says how they are written, `pasted` how
    people paste them."""

    noun: str
    title: str
    page: str
    most: int
    columns: str
    pasted: str
    rows: Callable[[int], Iterable[Sequence[str]]]
    preview: Callable[[int, str], ImportReport[Any]]
    apply: Callable[[Author, str, str], ImportReport[Any]]
    stays: str


TABLES: Mapping[str, Table] = {
    "synonyms": Table(
        noun="synonym",
        title="Synonyms",
        page="admin.search_synonyms",
        most=MOST_GROUPS,
        columns="A CSV file with the columns type, root and words, as the export makes it, or lines that you paste.",
        pasted="One synonym a line: mobile = cell phone, or hoover -> vacuum, or as the export writes it: "
        "both ways,,mobile;cell phone",
        rows=lambda site_id: synonym_import.table_rows([synonym.group for synonym in synonyms.live_synonyms(site_id)]),
        preview=synonym_import.preview,
        apply=synonym_import.apply,
        stays="Synonyms that the file does not name stay.",
    ),
    "terms": Table(
        noun="product",
        title="Search terms",
        page="admin.search_terms",
        most=terms.MOST_LINES,
        columns="A CSV file with the columns sku and terms, as the export makes it: all terms of a product on one "
        "line, with commas between. An empty cell removes them. The export may be longer: more than "
        f"{terms.MOST_LINES:,} products go in under Products → Import, with the columns sku and searchTerms.",
        pasted='The first line names the columns: sku,terms. Then a product a line: KETTLE-1,"tea kettle, boiler"',
        rows=terms.table_rows,
        preview=terms.preview_import,
        apply=terms.apply_import,
        stays="Products that the file does not name keep their terms.",
    ),
    "ranking": Table(
        noun="rule",
        title="Rules and ranking",
        page="admin.search_ranking",
        most=MOST_RULES,
        columns="A CSV file with the columns of the export, of which only term is needed. Products are named by SKU "
        "with semicolons between, pinned ones with their place: 1:COAT-2;3:COAT-7, levels by id or path: Camping > "
        "Tents. Groups stand as manufacturer=Acme&attribute.colour=Red, the range of a number as "
        "attribute.weight-g.from=100&attribute.weight-g.to=900. What the file has no column for stays.",
        pasted="The first line names the columns, such as term,pins,note. Then a rule a line.",
        rows=lambda site_id: rule_import.table_rows(rules.stored_rules(site_id)),
        preview=rule_import.preview,
        apply=rule_import.apply,
        stays="Rules that the file does not name stay.",
    ),
}
ADDRESS = f"/search/<any({', '.join(TABLES)}):words_table>"


@bp.get(f"{ADDRESS}/export.csv")
@requires(Permission.MANAGE_SEARCH)
def search_table_export(words_table: str) -> Response:
    return spreadsheet.download(TABLES[words_table].rows(current_user.site_id), f"{words_table}.csv")


@bp.get(f"{ADDRESS}/import")
@requires(Permission.MANAGE_SEARCH)
def search_table_import(words_table: str) -> Response:
    return csv_import.show(_import_into(words_table))


@bp.post(f"{ADDRESS}/import")
@requires(Permission.MANAGE_SEARCH)
def search_table_import_look(words_table: str) -> Response:
    return csv_import.preview(_import_into(words_table))


@bp.post(f"{ADDRESS}/import/apply")
@requires(Permission.MANAGE_SEARCH)
def search_table_import_apply(words_table: str) -> Response:
    return csv_import.apply(_import_into(words_table))


def _import_into(name: str) -> csv_import.CsvImport:
    table = TABLES[name]
    return csv_import.CsvImport(
        title=table.title.lower(),
        noun=table.noun,
        into=table.title,
        list_url=url_for(table.page),
        import_url=url_for("admin.search_table_import", words_table=name),
        apply_url=url_for("admin.search_table_import_apply", words_table=name),
        most=table.most,
        columns=table.columns,
        pasted=table.pasted,
        stays=table.stays,
        preview=partial(table.preview, current_user.site_id),
        apply=partial(table.apply, current_author()),
        effect="Search has them within seconds.",
    )

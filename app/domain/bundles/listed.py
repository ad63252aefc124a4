"""Collections and pages: a record a line, matched by its SEO name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import select

from app.domain.bundles.products.known import ids_by_sku
from app.domain.bundles.reading import Row, read_rows
from app.domain.bundles.report import Refusal
from app.domain.bundles.task import NO_SITE, ImportTask, field_of
from app.domain.catalogue import collections, pages
from app.domain.catalogue.models import Collection, Page
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.shared.shapes import Field, Kind, Shape, read_fields
from app.extensions import db

COLLECTIONS, PAGES = "collections", "pages"
COLLECTION: Shape = {
    "seoName": Field(Kind.TEXT, required=True),
    "name": Field(Kind.TEXT, required=True),
    "description": Field(Kind.TEXT, nullable=True),
    "skus": Field(Kind.TEXTS),
    "canonicalUrl": Field(Kind.TEXT, nullable=True),
    "enabled": Field(Kind.FLAG),
}
PAGE: Shape = {
    "seoName": Field(Kind.TEXT, required=True),
    "title": Field(Kind.TEXT, required=True),
    "body": Field(Kind.TEXT, nullable=True),
    "metaDescription": Field(Kind.TEXT, nullable=True),
    "canonicalUrl": Field(Kind.TEXT, nullable=True),
    "enabled": Field(Kind.FLAG),
}
NAMES = {
    "seoName": "seo_name",
    "name": "name",
    "title": "title",
    "description": "description",
    "body": "body",
    "metaDescription": "meta_description",
    "canonicalUrl": "canonical_url",
    "enabled": "enabled",
}
TEXTS = ("description", "body")

Take = Callable[[ImportTask, str, Row, dict[str, Any]], None]


def import_collections(task: ImportTask) -> None:
    _import(task, "collections.jsonl", COLLECTIONS, COLLECTION, _take_collection)


def import_pages(task: ImportTask) -> None:
    _import(task, "pages.jsonl", PAGES, PAGE, _take_page)


def _import(task: ImportTask, name: str, kind: str, shape: Shape, take: Take) -> None:
    file = task.bundle.find(name)
    if file is None:
        return
    task.report.of(kind)
    lines: dict[str, int] = {}
    for row in read_rows(task.bundle, file):
        try:
            fields = _fields(row, shape, lines)
            with task.writing():
                take(task, file, row, fields)
        except Invalid as refused:
            _refuse(task, kind, file, row, refused.problems)
        except Conflict as refused:
            _refuse(task, kind, file, row, [Problem(refused.code, refused.message)])


def _fields(row: Row, shape: Shape, lines: dict[str, int]) -> dict[str, Any]:
    """What the line says, under the names of the draft. Raises Invalid."""
    problems: list[Problem] = []
    fields = read_fields(row.fields, shape, "#", problems)
    seo_name = fields.get("seoName", "").strip()
    if not seo_name and not problems:
        problems.append(Problem("required", "The SEO name is missing.", "#/seoName"))
    if seo_name in lines:
        message = f"The SEO name “{seo_name[:80]}” stands on line {lines[seo_name]} already."
        problems.append(Problem("duplicate_seo_name", message, "#/seoName"))
    if problems:
        raise Invalid(problems)
    lines[seo_name] = row.line
    said = {draft_name: fields[name] for name, draft_name in NAMES.items() if name in fields}
    said["seo_name"] = seo_name
    said.update({name: said[name] or "" for name in TEXTS if name in said})
    if "skus" in fields:
        said["skus"] = fields["skus"]
    return said


def _refuse(task: ImportTask, kind: str, file: str, row: Row, problems: Sequence[Problem]) -> None:
    refusals = [Refusal(file, row.line, field_of(problem.pointer), problem.message) for problem in problems]
    task.report.refuse(kind, refusals)


def _take_collection(task: ImportTask, file: str, row: Row, said: dict[str, Any]) -> None:
    skus = said.pop("skus", None)
    query = select(Collection).where(Collection.site_id == task.site_id, Collection.seo_name == said["seo_name"])
    stored = db.session.scalar(query)
    before = collections.draft_of(stored) if stored else None
    if skus is not None:
        said["product_ids"] = _product_ids(task, file, row, skus)
    wanted = collections.clean_collection(collections.CollectionDraft(**{**_known(before), **said}))
    if stored is None:
        if not task.dry_run:
            collections.create(task.clock, task.site_id, wanted, task.actor)
        task.report.of(COLLECTIONS).added += 1
    elif wanted == before:
        task.report.of(COLLECTIONS).unchanged += 1
    else:
        if not task.dry_run:
            collections.save(task.clock, task.site_id, stored.id, stored.revision, wanted, task.actor)
        task.report.of(COLLECTIONS).changed += 1


def _product_ids(task: ImportTask, file: str, row: Row, skus: list[str]) -> tuple[int, ...]:
    ids = ids_by_sku(task, list(dict.fromkeys(skus)))
    unknown = [
        Problem("unknown_sku", f"The shop has no product with the SKU “{sku[:80]}”.", f"#/skus/{index}")
        for index, sku in enumerate(skus)
        if sku not in ids
    ]
    if unknown:
        _refuse(task, f"parts of {COLLECTIONS}", file, row, unknown)
    found = [ids[sku] for sku in dict.fromkeys(skus) if sku in ids]
    # Products that a dry run would add share an id that no record has; each still counts as one.
    return tuple(-place if product_id == NO_SITE else product_id for place, product_id in enumerate(found, start=1))


def _take_page(task: ImportTask, file: str, row: Row, said: dict[str, Any]) -> None:
    query = select(Page).where(Page.site_id == task.site_id, Page.seo_name == said["seo_name"])
    stored = db.session.scalar(query)
    before = pages.draft_of(stored) if stored else None
    wanted = pages.clean_page(pages.PageDraft(**{**_known(before), **said}))
    if stored is None:
        if not task.dry_run:
            pages.create(task.clock, task.site_id, wanted, task.actor)
        task.report.of(PAGES).added += 1
    elif wanted == before:
        task.report.of(PAGES).unchanged += 1
    else:
        if not task.dry_run:
            pages.save(task.clock, task.site_id, stored.id, stored.revision, wanted, task.actor)
        task.report.of(PAGES).changed += 1


def _known(draft: Any) -> dict[str, Any]:
    """What a line does not say stays as it is."""
    return {} if draft is None else {name: getattr(draft, name) for name in draft.__slots__}

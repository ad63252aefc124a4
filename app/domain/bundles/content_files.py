"""Pages and collections in bundles: a file of rows per kind of content, matched by their SEO names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select

from app.domain.bundles.import_task import NO_SITE, ImportTask, ids_by_sku
from app.domain.bundles.reading import FileRow, read_rows
from app.domain.catalogue import content
from app.domain.catalogue.content import COLLECTION, PAGE, ContentKind
from app.domain.catalogue.models import CollectionEntry, Product
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.shared.schema import Flag, Record, Text, Texts
from app.extensions import db

BETWEEN_STEPS = 50  # Rows.


@dataclass(frozen=True, slots=True)
class ContentFile:
    """The file of a kind of content; `holds_products` where its rows name products by SKU."""

    kind: ContentKind[Any, Any]
    name: str
    holds_products: bool = False

    @property
    def file(self) -> str:
        return f"{self.name}.jsonl"

    @property
    def columns(self) -> dict[str, str]:
        """The names of the plain fields in the draft, by their names in a row."""
        texts = {text.field: text.name for text in self.kind.texts}
        return {"seoName": "seo_name", **texts, "canonicalUrl": "canonical_url", "enabled": "enabled"}

    @property
    def record(self) -> Record:
        texts = {text.field: Text(required=text.required, allow_none=not text.required) for text in self.kind.texts}
        skus = {"skus": Texts()} if self.holds_products else {}
        plain = {"canonicalUrl": Text(allow_none=True), "enabled": Flag()}
        return Record(seoName=Text(required=True), **texts, **skus, **plain)


COLLECTIONS = ContentFile(COLLECTION, "collections", holds_products=True)
PAGES = ContentFile(PAGE, "pages")


def content_rows(listed: ContentFile, site_id: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of a site's records, in the order in which they were added."""
    model = listed.kind.model
    for record in db.session.scalars(select(model).where(model.site_id == site_id).order_by(model.id)):
        row = {field: getattr(record, name) for field, name in listed.columns.items()}
        plain = {field: row.pop(field) for field in ("canonicalUrl", "enabled")}
        yield row | ({"skus": _skus_of(record.id)} if listed.holds_products else {}) | plain


def _skus_of(collection_id: int) -> list[str]:
    query = (
        select(Product.sku)
        .join(CollectionEntry, CollectionEntry.product_id == Product.id)
        .where(CollectionEntry.collection_id == collection_id)
        .order_by(CollectionEntry.position, Product.id)
    )
    return list(db.session.scalars(query))


def import_content(task: ImportTask, listed: ContentFile) -> None:
    file = task.bundle.find(listed.file)
    if file is None:
        return
    task.report.of(listed.name)
    record, lines = listed.record, dict[str, int]()
    for row in read_rows(task.bundle, file):
        if row.line % BETWEEN_STEPS == 1:
            task.step(listed.name.capitalize(), min(row.line - 1, BETWEEN_STEPS))
        try:
            values = _read_values(row, record, listed.columns, lines)
            with task.writing():
                if (skus := values.pop("skus", None)) is not None:
                    values["product_ids"] = _product_ids(task, listed, file, row, skus)
                _store_record(task, listed, values)
        except Invalid as refused:
            task.refuse_line(listed.name, file, row.line, refused.problems)
        except Conflict as refused:
            task.refuse_line(listed.name, file, row.line, [Problem(refused.code, refused.message)])


def _read_values(row: FileRow, record: Record, columns: Mapping[str, str], lines: dict[str, int]) -> dict[str, Any]:
    """Return the values of a row under their names in the draft, and its `skus`. Raises Invalid."""
    problems: list[Problem] = []
    fields = record.read(row.fields, "#", problems)
    seo_name = fields.get("seoName", "").strip()
    if not seo_name and not problems:
        problems.append(Problem("required", "The SEO name is missing.", "#/seoName"))
    if seo_name in lines:
        message = f"The SEO name “{seo_name[:80]}” is already on line {lines[seo_name]}."
        problems.append(Problem("duplicate_seo_name", message, "#/seoName"))
    if problems:
        raise Invalid(problems)
    lines[seo_name] = row.line
    skus = {"skus": fields["skus"]} if "skus" in fields else {}
    return {name: fields[field] for field, name in columns.items() if field in fields} | {"seo_name": seo_name} | skus


def _product_ids(task: ImportTask, listed: ContentFile, file: str, row: FileRow, skus: list[str]) -> tuple[int, ...]:
    ids = ids_by_sku(task, list(dict.fromkeys(skus)))
    unknown = [
        Problem("unknown_sku", f"The shop has no product with the SKU “{sku[:80]}”.", f"#/skus/{index}")
        for index, sku in enumerate(skus)
        if sku not in ids
    ]
    if unknown:
        task.refuse_line(f"parts of {listed.name}", file, row.line, unknown)
    found = [ids[sku] for sku in dict.fromkeys(skus) if sku in ids]
    # Products that a dry run would add share an id that no record has; each still counts as one.
    return tuple(-place if product_id == NO_SITE else product_id for place, product_id in enumerate(found, start=1))


def _store_record(task: ImportTask, listed: ContentFile, values: dict[str, Any]) -> None:
    """Create or change the record of the SEO name. What a line does not say stays as it is."""
    kind = listed.kind
    query = select(kind.model).where(kind.model.site_id == task.site_id, kind.model.seo_name == values["seo_name"])
    stored = db.session.scalar(query)
    before = kind.draft_of(stored) if stored else None
    wanted = content.clean(task.site_id, kind, replace(before, **values) if before else kind.draft(**values))
    counts = task.report.of(listed.name)
    if stored is None:
        if not task.dry_run:
            content.create(task.author, kind, wanted)
        counts.note("added", wanted.seo_name)
    elif wanted == before:
        counts.note("unchanged", wanted.seo_name)
    else:
        if not task.dry_run:
            content.save(task.author, kind, stored.id, stored.revision, wanted)
        counts.note("changed", wanted.seo_name)

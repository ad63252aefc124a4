"""The changes that bring an index up to date with records."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from app.domain.search.engine import Change, Delete, IndexDocument, IndexName, Upsert
from app.domain.search.index.document import content_document_id, product_document_id
from app.domain.search.index.documents import Refuse, content_documents, product_documents
from app.domain.search.index.outbox import COLLECTION, PAGE, PRODUCT

Record = tuple[str, int]  # The kind of the outbox, and the id.


def documents_of(
    site_id: int, index: IndexName, records: Collection[Record] | None = None, refuse: Refuse | None = None
) -> Iterator[IndexDocument]:
    """Yield all documents of an index, or those of `records`. A record of which no document can be made is passed to
    `refuse` and left out; without `refuse` its exception is raised."""
    if index is IndexName.PRODUCTS:
        ids = None if records is None else {record_id for _, record_id in records}
        return product_documents(site_id, ids, refuse=refuse)
    return content_documents(site_id, records, refuse=refuse)


def changes_of(
    site_id: int, index: IndexName, records: Collection[Record], refuse: Refuse | None = None
) -> list[Change]:
    """Return a change for each record as it is now: one that is gone or not enabled is deleted from the index. Refused
    records are left out; without `refuse` their exception is raised."""
    refused: set[Record] = set()

    def note(kind: str, record_id: int, error: Exception) -> None:
        refused.add((kind, record_id))
        if refuse is None:
            raise error
        refuse(kind, record_id, error)

    documents = {document.id: document for document in documents_of(site_id, index, records, note)}
    wanted = [document_id(*record) for record in sorted(records) if record not in refused]
    return [Upsert(documents[id]) if id in documents else Delete(id) for id in wanted]


def document_id(kind: str, record_id: int) -> str:
    return product_document_id(record_id) if kind == PRODUCT else content_document_id(kind, record_id)


def record_of(document_id: str) -> Record | None:
    """The record behind a document of an index; None for an id that this shop never gives."""
    for kind, prefix in ((PRODUCT, "p"), (PAGE, f"{PAGE}:"), (COLLECTION, f"{COLLECTION}:")):
        number = document_id.removeprefix(prefix)
        if number != document_id and number.isascii() and number.isdigit():
            return kind, int(number)
    return None

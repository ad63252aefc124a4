"""Changes to a generation: deletions by document number and one new segment, in one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from whoosh.codec.whoosh3 import W3Segment

from app.adapters.whoosh.commits import read_commit, write_commit
from app.adapters.whoosh.embedding import embedder
from app.adapters.whoosh.inversion import invert
from app.adapters.whoosh.merging import merged, segments_to_merge
from app.adapters.whoosh.segment import Segment
from app.adapters.whoosh.segment_file import write_segment
from app.adapters.whoosh.vectors import RowVectors
from app.domain.search.engine import Change, Upsert
from app.domain.search.sentence_model import SentenceModel

OpenSegment = Callable[[W3Segment], Segment]


def apply_changes(
    directory: Path,
    changes: Sequence[Change],
    open_segment: OpenSegment,
    model: SentenceModel | None = None,
    prepared: RowVectors | None = None,
) -> bool:
    """Apply changes to a generation in one durable commit, and return whether anything changed. The last change of an
    id wins. A changed document keeps its vector while its text stays the same; that of another text is among
    `prepared`, or missing."""
    last = {_id_of(change): change for change in changes}
    commit = read_commit(directory)
    entries = list(commit.segments)
    deleted = _delete(entries, last, open_segment)
    documents = [change.document for change in last.values() if isinstance(change, Upsert)]
    if not documents and not deleted:
        return False
    if documents:
        inverted = invert(documents)
        makes_vectors = embedder(model, [prepared, *(open_segment(entry).vectors for entry in commit.segments)])
        if makes_vectors is not None:
            inverted.vectors = makes_vectors.vectors(documents, most=0)
        entries.append(write_segment(directory, inverted))
    entries = _merge_small(directory, entries, open_segment)
    write_commit(directory, commit, entries)
    return True


def _id_of(change: Change) -> str:
    return change.document.id if isinstance(change, Upsert) else change.id


def _delete(entries: Iterable[W3Segment], ids: Iterable[str], open_segment: OpenSegment) -> bool:
    deleted = False
    for entry in entries:
        segment = open_segment(entry)
        for document_id in ids:
            doc = segment.document_of(document_id)
            if doc is not None and not entry.is_deleted(doc):
                entry.delete_document(doc)
                deleted = True
    return deleted


def _merge_small(directory: Path, entries: list[W3Segment], open_segment: OpenSegment) -> list[W3Segment]:
    empty = [entry for entry in entries if entry.deleted_count() == entry.doc_count_all()]
    kept = [entry for entry in entries if entry not in empty]
    crowd = segments_to_merge(kept)
    if not crowd:
        return kept
    inverted = merged([open_segment(entry) for entry in crowd], [list(entry.deleted_docs()) for entry in crowd])
    return [*(entry for entry in kept if entry not in crowd), write_segment(directory, inverted)]


def prepared_vectors(
    model: SentenceModel | None, changes: Iterable[Change], known: Iterable[RowVectors | None]
) -> RowVectors | None:
    """Return the vectors of the changed documents, of which `known` ones are taken over; None without a model."""
    makes_vectors = None if model is None else embedder(model, known)
    if makes_vectors is None:
        return None
    return makes_vectors.vectors([change.document for change in changes if isinstance(change, Upsert)])

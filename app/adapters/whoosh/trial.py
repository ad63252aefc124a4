"""Preview what searches would find after some changes, without making them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from app.adapters.whoosh.embedding import Embedder, embedder
from app.adapters.whoosh.inversion import invert
from app.adapters.whoosh.segment import Segment
from app.adapters.whoosh.segment_file import write_segment
from app.adapters.whoosh.view import View
from app.domain.search.engine import Change, Delete, IndexDocument, Upsert
from app.domain.search.sentence_model import SentenceModel

MOST_EMBEDDED = 64  # New texts of a preview, so that it takes no longer than a second or so.


@contextmanager
def changed_view(view: View, changes: Sequence[Change], model: SentenceModel | None = None) -> Iterator[View]:
    """Yield the view as it would be once the changes are committed: the old documents deleted, the new ones in a
    segment of their own, so every search, statistics included, answers as it would then. No other search sees it. Of
    documents with new texts the first MOST_EMBEDDED get vectors; words alone rank the others."""
    last = {change.id if isinstance(change, Delete) else change.document.id: change for change in changes}
    deleted = [{*docs, *_places(segment, last)} for segment, docs in zip(view.segments, view.deleted, strict=True)]
    documents = [change.document for change in last.values() if isinstance(change, Upsert)]
    makes_vectors = embedder(model, (segment.vectors for segment in view.segments))
    with tempfile.TemporaryDirectory(prefix="trial-") as folder:
        segments = [*view.segments, *_segment_of(Path(folder), documents, makes_vectors)]
        deleted += [set()] * (len(segments) - len(deleted))
        changed = View(view.generation, view.commit, segments, deleted, view.pin, view)
        # What was made of the large segments still holds; what is made here must not get into the live view.
        changed.kept = dict(view.kept)
        yield changed


def _places(segment: Segment, ids: Iterable[str]) -> Iterator[int]:
    for document_id in ids:
        place = segment.document_of(document_id)
        if place is not None:
            yield place


def _segment_of(directory: Path, documents: Sequence[IndexDocument], makes_vectors: Embedder | None) -> list[Segment]:
    if not documents:
        return []
    inverted = invert(documents)
    if makes_vectors is not None:
        inverted.vectors = makes_vectors.vectors(documents, MOST_EMBEDDED)
    return [Segment(directory, write_segment(directory, inverted))]

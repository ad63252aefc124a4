"""The vectors of documents: those that the live index has of the same text, else made by the sentence model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

import structlog

from app.adapters.opensearch.cluster import Cluster
from app.adapters.opensearch.mapping import StoredVector
from app.domain.search.engine import Change, IndexDocument, SearchUnavailable, Upsert
from app.domain.search.ranking.scoring import meaning_text
from app.domain.search.sentence_model import SentenceModel, SentenceModelUnavailable
from app.domain.shared.paging import batched

AT_ONCE = 256  # Documents; few, so that the progress of a rebuild shows.
StoredVectors = Mapping[str, StoredVector]  # By the key of a document's text.

log = structlog.get_logger(__name__)


def text_key(document: IndexDocument) -> str:
    """Return what stands for the text of a document that is embedded."""
    return blake2b(meaning_text(document).encode("utf-8", "replace"), digest_size=16).hexdigest()


class Embedder:
    """Gives documents vectors of one model. Where that cannot be used they go without, and are found by their words
    alone. `live` is the alias of the index whose vectors are taken over."""

    def __init__(self, cluster: Cluster, model: SentenceModel, live: str) -> None:
        self._cluster, self._model, self._live = cluster, model, live
        self._is_usable = True

    def of_changes(self, changes: Iterable[Change]) -> dict[str, StoredVector]:
        """Return the vectors of the documents among the changes."""
        documents = (change.document for change in changes if isinstance(change, Upsert))
        made: dict[str, StoredVector] = {}
        for some in batched(documents, AT_ONCE):
            made |= self.of_documents(some)
        return made

    def of_documents(self, documents: Sequence[IndexDocument]) -> dict[str, StoredVector]:
        """Return the vectors of at most AT_ONCE documents."""
        texts = {text_key(document): meaning_text(document) for document in documents}
        found = {key: vector for key, vector in self._stored(documents).items() if key in texts}
        missing = [key for key in texts if key not in found]
        return found | self._made([(key, texts[key]) for key in missing])

    def _stored(self, documents: Sequence[IndexDocument]) -> dict[str, StoredVector]:
        """Return the vectors that the live index has of the documents, by the text that they were made of."""
        try:
            name = self._model.name
            stored = self._cluster.vectors(self._live, [document.id for document in documents])
        except (SearchUnavailable, SentenceModelUnavailable):
            return {}
        return {vector.key: vector for vector in stored if vector.model == name}

    def _made(self, texts: Sequence[tuple[str, str]]) -> dict[str, StoredVector]:
        if not texts or not self._is_usable:
            return {}
        try:
            vectors = self._model.embed([text for _, text in texts])
            pairs = zip(texts, vectors, strict=True)
            return {key: StoredVector(self._model.name, key, vector) for (key, _), vector in pairs}
        except (SentenceModelUnavailable, OSError, MemoryError) as error:
            self._is_usable = False
            log.warning("indexed_by_words_alone", reason=getattr(error, "message", str(error)))
            return {}

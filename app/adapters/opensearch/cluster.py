"""The cluster, as the adapter speaks with it: every call has a time limit, and its failures are SearchUnavailable with
a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, OpenSearchException

from app.adapters.opensearch.mapping import Body, field_of
from app.domain.search.engine import SearchUnavailable

NO_INDEX = "Search does not answer: there is no index. Rebuild to make it."


class Cluster:
    def __init__(self, client: OpenSearch) -> None:
        self._client = client

    def search_many(self, index: str, bodies: Sequence[Body]) -> list[Mapping[str, Any]]:
        """Return the answer to each body of a search, in their order. Raises SearchUnavailable."""
        lines = [line for body in bodies for line in ({}, body)]
        answers = self._call(lambda: self._client.msearch(body=lines, index=index))["responses"]
        for answer in answers:
            if "error" in answer:
                raise SearchUnavailable(f"Search does not answer: {answer['error'].get('reason')}")
        return answers  # type: ignore[no-any-return]

    def statistics(self, index: str, words: Mapping[str, Sequence[str]]) -> Mapping[str, Any]:
        """Return what the index knows of words, given by the field of `scoring.FIELDS`: for each of these fields
        `field_statistics` and `terms`, in the form of the API of term vectors. A word that no document has is without
        `doc_freq`."""
        document = {"words": {field: " ".join(those) for field, those in words.items()}}
        body = {"doc": document, "term_statistics": True, "field_statistics": True, "positions": False}
        vectors = self._call(
            lambda: self._client.termvectors(
                index=index, body={**body, "offsets": False, "payloads": False, "fields": [field_of(f) for f in words]}
            )
        )["term_vectors"]
        return {field: vectors[field_of(field)] for field in words if field_of(field) in vectors}

    def _call(self, call: Any) -> Any:
        try:
            return call()
        except NotFoundError as error:
            raise SearchUnavailable(NO_INDEX) from error
        except OpenSearchException as error:
            raise SearchUnavailable(f"Search does not answer: {error}") from error

"""The same documents in other engines: tantivy, and Whoosh as it comes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import tantivy
from whoosh import fields, index, qparser

from app.domain.search.engine import IndexDocument
from bench.catalogue import FACETS, MULTI_VALUED_FACETS

TEXT_FIELDS = ("name", "manufacturer_text", "kind", "description", "attributes")
ALL_FACETS = tuple(dict.fromkeys((*FACETS, *MULTI_VALUED_FACETS)))
Counts = dict[str, object]
_WORDS = re.compile(r"\w+")


def text_of(document: IndexDocument) -> dict[str, str]:
    return {
        "name": " ".join((document.name, *document.terms)),
        "manufacturer_text": document.manufacturer,
        "kind": document.kind,
        "description": document.description,
        "attributes": document.attributes,
    }


class Tantivy:
    """Its own stemmer and BM25, facets as fast fields, the card stored: what a shop would set up."""

    def __init__(self, directory: Path, documents: Iterable[IndexDocument] | None) -> None:
        builder = tantivy.SchemaBuilder()
        for name in TEXT_FIELDS:
            builder.add_text_field(name, stored=False, tokenizer_name="en_stem")
        builder.add_text_field("codes", stored=False, tokenizer_name="default")
        for name in ALL_FACETS:
            builder.add_text_field(_facet(name), stored=False, tokenizer_name="raw", fast=True)
        builder.add_text_field("id", stored=True, tokenizer_name="raw")
        builder.add_text_field("card", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_float_field("price", fast=True)
        directory.mkdir(exist_ok=True)
        self._index = tantivy.Index(builder.build(), path=str(directory))
        if documents is not None:
            self._fill(documents)
        self._index.reload()
        self.searcher = self._index.searcher()

    def _fill(self, documents: Iterable[IndexDocument]) -> None:
        writer = self._index.writer(heap_size=256 << 20, num_threads=os.cpu_count() or 1)
        for document in documents:
            row: dict[str, object] = {**text_of(document), "id": document.id, "codes": list(document.codes)}
            row["card"], row["price"] = json.dumps(document.card), document.numbers["price"]
            row.update({_facet(name): list(document.values[name]) for name in ALL_FACETS if name in document.values})
            writer.add_document(tantivy.Document(**row))
        writer.commit()
        writer.wait_merging_threads()

    def query(self, words: str, *, every_word: bool = True) -> tantivy.Query:
        """All words or any, over all fields: what its parser makes of plain words."""
        plain = " ".join(_WORDS.findall(words)).lower()
        fields = [*TEXT_FIELDS, "codes"]
        return self._index.parse_query_lenient(plain, fields, conjunction_by_default=every_word)[0]

    def ids(self, words: str, count: int, *, every_word: bool = True) -> list[str]:
        found = self.searcher.search(self.query(words, every_word=every_word), count, count=False).hits
        return [self.searcher.doc(address)["id"][0] for _, address in found]

    def best_ids(self, words: str, count: int) -> list[str]:
        """Those with all the words, then those with any."""
        found = self.ids(words, count)
        more = self.ids(words, count, every_word=False) if len(found) < count else []
        return list(dict.fromkeys([*found, *more]))[:count]

    def page(self, words: str, facets: Sequence[str], per_page: int = 24) -> tuple[int, list[object], Counts]:
        """Total, cards and counts: AND, and OR where that finds nothing, as the shop's engine does."""
        query = self.query(words)
        result = self.searcher.search(query, per_page)
        if not result.count:
            query = self.query(words, every_word=False)
            result = self.searcher.search(query, per_page)
        cards = [json.loads(self.searcher.doc(address)["card"][0]) for _, address in result.hits]
        return result.count, cards, self.counts(query, facets)

    def counts(self, query: tantivy.Query, facets: Sequence[str]) -> Counts:
        request = {name: {"terms": {"field": _facet(name), "size": 100}} for name in facets}
        counted: Counts = self.searcher.aggregate(query, request)
        return counted

    @property
    def schema(self) -> tantivy.Schema:
        return self._index.schema

    def category(self, facet: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._index.schema, _facet(facet), value)


def _facet(name: str) -> str:
    return "f_" + name.replace("-", "_")


class WhooshDefaults:
    """Whoosh with its own fields, analyzers and writer, nothing tuned."""

    def __init__(self, directory: Path) -> None:
        schema = fields.Schema(id=fields.ID(unique=True, stored=True), codes=fields.KEYWORD, card=fields.STORED)
        for name in TEXT_FIELDS:
            schema.add(name, fields.TEXT(analyzer=_stemming()))
        schema.add("price", fields.NUMERIC(int, bits=64, sortable=True))
        schema.add("v_*", fields.KEYWORD(commas=True, sortable=True), glob=True)
        schema.add("n_*", fields.NUMERIC(int, bits=64, sortable=True), glob=True)
        directory.mkdir(exist_ok=True)
        self._index = index.create_in(str(directory), schema)

    def fill(self, documents: Iterable[IndexDocument]) -> None:
        writer = self._index.writer()
        for document in documents:
            values = {f"v_{name}": ",".join(entry) for name, entry in document.values.items()}
            numbers = {f"n_{name}": int(number) for name, number in document.numbers.items()}
            codes = " ".join(document.codes)
            writer.add_document(
                id=document.id, codes=codes, card=dict(document.card), **text_of(document), **values, **numbers
            )
        writer.commit()

    def ids(self, words: str, count: int) -> list[str]:
        parser = qparser.MultifieldParser([*TEXT_FIELDS, "codes"], self._index.schema)
        query = parser.parse(" ".join(_WORDS.findall(words)))
        with self._index.searcher() as searcher:
            # Its leaps over blocks that cannot reach the first hits never end for some words (“google”, limit 1).
            return [hit["id"] for hit in searcher.search(query, limit=count, optimize=False)]


def _stemming() -> object:
    from whoosh.analysis import StemmingAnalyzer

    return StemmingAnalyzer()

"""How documents lie in an index of OpenSearch: its settings and fields, made from the shop's ranking policy.

Words are analysed by the shop and written with spaces between them, so that the cluster only splits them. Its
similarities are scripts that compute what `ranking.scoring` says. Two numbers of theirs would leave out documents that
have nothing in a field, which the policy counts: how many documents there are, and how long a field is on average. So
every field of words or roots ends with MARKER in every document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from app.domain.search.engine import IndexDocument
from app.domain.search.ranking.analysis import ANALYSIS, PlainLexicon, analyse
from app.domain.search.ranking.scoring import (
    CREATED,
    EXACT_FIELDS,
    FIELDS,
    IN_STOCK,
    K1,
    KIND,
    LOW_STOCK,
    SALES,
    TEXT_FIELDS,
    YES,
    phrases,
)
from app.domain.search.sentence_model import Vectors
from app.domain.search.word_forms import root
from app.domain.shared.text import fold

Body = dict[str, Any]
as_json = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode  # Of bodies, in ASCII.
MARKER = "_"  # No word contains it.
BETWEEN_LEVELS = "\x1f"
FEATURED = "featured"  # The name of the values by which products are featured.
PRICE = "price"
VALUES: Body = {"type": "keyword"}
NUMBERS: Body = {"type": "double"}
MOST_FIELDS = 10_000  # Each attribute of a shop that is a filter or a range is a field.
_KEPT = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def field_of(name: str) -> str:
    """Return the field of the words of one of `scoring.FIELDS`."""
    return f"words.{name}"


def forms_field(name: str) -> str:
    """Return the field of the roots of the words of a text field."""
    return f"forms.{name}"


def values_field(name: str) -> str:
    """Return the field of the values of a filter; any name has one."""
    return f"values.{_encoded(name)}"


def numbers_field(name: str) -> str:
    return f"numbers.{_encoded(name)}"


def stored_values(source: Mapping[str, Any], name: str) -> Sequence[str]:
    """Return the values of a document under a name as they are stored."""
    values: Sequence[str] = source["values"].get(_encoded(name), ())
    return values


def stored_number(source: Mapping[str, Any], name: str) -> float | None:
    """Return a number of a document as it is stored, None where it has none."""
    number: float | None = source["numbers"].get(_encoded(name))
    return number


def _encoded(name: str) -> str:
    """Return a name in characters that mean nothing in the name of a field."""
    return "".join(letter if letter in _KEPT else f"~{ord(letter):x}~" for letter in name)


@dataclass(frozen=True, slots=True)
class StoredVector:
    """The vector of a document's meaning, the model that made it, and the key of the text that it was made of."""

    model: str
    key: str
    vector: Vectors


def source_of(document: IndexDocument, vector: StoredVector | None = None) -> Body:
    """Return a document as it is stored. `any` are the words of all fields and `roots` those of all texts, so that
    whether a document has a word, or a form of it, is looked up in one field."""
    analysed = analyse(document, PlainLexicon())
    forms = {field: roots_of(analysed[field]) for field in TEXT_FIELDS}
    return {
        "id": document.id,
        "digest": document.digest,
        "card": json.dumps(document.card),
        "name": fold(document.name),
        "kind": BETWEEN_LEVELS.join(document.values.get(KIND, ())),
        "phrases": sorted({" ".join(phrase) for phrase in phrases(document.kind_names)}),
        "codes": sorted(set(analysed["codes"])),
        "vocabulary": sorted({word for field in TEXT_FIELDS for word in analysed[field]}),
        "any": sorted({word for found in analysed.values() for word in found}),
        "is_featured": YES in document.values.get(FEATURED, ()),
        "is_sold": YES in document.values.get(IN_STOCK, ()),
        "roots": sorted({shared for found in forms.values() for shared in found} - {MARKER}),
        "forms": {field: " ".join((*found, MARKER)) for field, found in forms.items()},
        "words": {field: " ".join((*found, MARKER)) for field, found in analysed.items()},
        "values": {_encoded(name): list(found) for name, found in document.values.items() if found},
        "numbers": {_encoded(name): number for name, number in document.numbers.items()},
        **({"model": vector.model, "embedded": vector.key, "vector": _digits(vector.vector)} if vector else {}),
    }


def roots_of(words: Iterable[str]) -> list[str]:
    """Return the root of each word, MARKER for one without, so that a field of roots is as long as that of the
    words."""
    return [root(word) or MARKER for word in words]


def _digits(vector: Vectors) -> list[float]:
    """Return a vector in few digits: what is stored of each document is mostly this."""
    return [round(number, 6) for number in vector.tolist()]


def made_with(dimensions: int | None = None) -> Body:
    """Return what an index says of itself: the versions of the text analysis and of these fields and scores, and the
    dimensions of its vectors. The second is computed, so that no change of this module goes without."""
    described = json.dumps([_mappings(None), _similarities()], sort_keys=True)
    return {"analysis": ANALYSIS, "mapping": sha256(described.encode()).hexdigest()[:12], "dimensions": dimensions}


def is_outdated(made: Mapping[str, Any]) -> bool:
    """Whether an index was made by another release, so that it misses something until a rebuild."""
    return {**made_with(), "dimensions": None} != {**made, "dimensions": None}


def index_body(replicas: int, dimensions: int | None = None) -> Body:
    """Return settings and mappings of a new index, for vectors of so many dimensions where the cluster has the plugin
    for them. It has one shard, so that the numbers of a word are those of the whole index."""
    return {
        "settings": {
            "number_of_shards": 1,
            "number_of_replicas": replicas,
            "refresh_interval": "-1",
            "mapping.total_fields.limit": MOST_FIELDS,
            "similarity": _similarities(),
            **({"knn": True} if dimensions else {}),
        },
        "mappings": {"_meta": made_with(dimensions), **_mappings(dimensions)},
    }


def _mappings(dimensions: int | None) -> Body:
    return {
        "dynamic": "strict",
        "dynamic_templates": [
            {"values": {"path_match": "values.*", "mapping": VALUES}},
            {"numbers": {"path_match": "numbers.*", "mapping": NUMBERS}},
        ],
        "properties": _properties() | (_vectors(dimensions) if dimensions else {}),
    }


def names_of(document: IndexDocument) -> frozenset[str]:
    """Return the fields of a document that are there because some document has them."""
    values = (values_field(name) for name, found in document.values.items() if found)
    return frozenset((*values, *map(numbers_field, document.numbers)))


def fields_named(names: Iterable[str]) -> Body:
    """Return the mapping of such fields."""
    kinds: Body = {"values": {}, "numbers": {}}
    for name in names:
        kind, _, field = name.partition(".")
        kinds[kind][field] = VALUES if kind == "values" else NUMBERS
    return {"properties": {kind: {"properties": fields} for kind, fields in kinds.items() if fields}}


def _properties() -> Body:
    stored = {"type": "keyword", "index": False}
    return {
        "id": {"type": "keyword"},
        "digest": stored,
        "card": {"type": "keyword", "index": False, "doc_values": False},
        "name": stored,
        "kind": {"type": "keyword"},
        "phrases": {"type": "keyword"},
        "codes": {"type": "keyword"},
        "vocabulary": {"type": "keyword"},
        "any": {"type": "keyword", "doc_values": False},
        "roots": {"type": "keyword", "doc_values": False},
        "is_featured": {"type": "boolean"},
        "is_sold": {"type": "boolean"},
        "words": {"dynamic": "strict", "properties": {name: _words(name) for name in FIELDS}},
        "forms": {"dynamic": "strict", "properties": {name: _words(name) for name in TEXT_FIELDS}},
        "values": {"type": "object", "dynamic": True, "properties": _named((KIND,), VALUES)},
        "numbers": {
            "type": "object",
            "dynamic": True,
            "properties": _named((PRICE, CREATED, SALES, LOW_STOCK), NUMBERS),
        },
    }


def _vectors(dimensions: int) -> Body:
    method = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
    return {
        "model": {"type": "keyword"},
        "embedded": {"type": "keyword", "index": False, "doc_values": False},
        "vector": {"type": "knn_vector", "dimension": dimensions, "method": method},
    }


def _named(names: Sequence[str], kind: Body) -> Body:
    """Return the fields that scripts and orders read, which are there although no document has them."""
    return {_encoded(name): kind for name in names}


def _words(name: str) -> Mapping[str, object]:
    is_text = name in TEXT_FIELDS
    options = {"index_options": "freqs" if is_text else "docs", "norms": is_text}
    return {"type": "text", "analyzer": "whitespace", "similarity": name if is_text else "exact", **options}


def _similarities() -> Body:
    """Return the similarities: BM25 as `scoring.saturated` has it, with the b of each field, and for fields of exact
    words how rare a word is alone. The weight of a field is the boost of a query."""
    rarity = "double n = field.docCount; double idf = Math.log(n / (term.docFreq + 1)) + 1;"
    made: Body = {"exact": _scripted(f"{rarity} return query.boost * idf;")}
    for name, field in TEXT_FIELDS.items():
        # An average of 0, where no document has a word in the field, is never divided by: no word is found then.
        norm = f"{K1} * ({1 - field.b} + {field.b} * (doc.length - 1) * n / (field.sumTotalTermFreq - n))"
        share = f"doc.freq * {K1 + 1} / (doc.freq + {norm})"
        made[name] = _scripted(f"{rarity} return query.boost * idf * {share};")
    assert EXACT_FIELDS.keys().isdisjoint(made)
    return made


def _scripted(source: str) -> Body:
    return {"type": "scripted", "script": {"source": source}}

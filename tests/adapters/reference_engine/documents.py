"""The documents of one state of an index, and the words in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rapidfuzz.distance import OSA

from app.domain.search.engine import (
    Change,
    Delete,
    IndexDocument,
    RangeFilter,
    Upsert,
    ValueFilter,
)
from app.domain.search.ranking import scoring
from app.domain.search.ranking.analysis import COMMONNESS, PlainLexicon, analyse
from app.domain.search.ranking.scoring import (
    EXACT_FIELDS,
    FIELDS,
    FORM_WORTH,
    TEXT_FIELDS,
    field_weight,
    inverse_document_frequency,
    length_norm,
    saturated,
)
from app.domain.search.sentence_model import SentenceModel, Vectors
from app.domain.search.text import joined
from app.domain.search.word_forms import root

Scores = dict[str, float]  # By document id.


@dataclass(frozen=True)
class Documents:
    """One state of an index, in the order in which its documents came."""

    generation: str
    version: int
    by_id: Mapping[str, IndexDocument]
    model: SentenceModel | None = None

    def changed(self, changes: Iterable[Change]) -> Documents:
        documents = dict(self.by_id)
        for change in changes:
            documents.pop(change.id if isinstance(change, Delete) else change.document.id, None)
            if isinstance(change, Upsert):
                documents[change.document.id] = change.document
        return Documents(self.generation, self.version + 1, documents, self.model)

    @cached_property
    def fields(self) -> dict[str, dict[str, Counter[str]]]:
        """How often each field of each document has each word."""
        return {
            id: {name: Counter(words) for name, words in analyse(document, PlainLexicon()).items()}
            for id, document in self.by_id.items()
        }

    @cached_property
    def forms(self) -> dict[str, dict[str, Counter[str | None]]]:
        """How often each text of each document has forms of each root."""
        return {
            id: {name: Counter(root(word) for word in fields[name].elements()) for name in TEXT_FIELDS}
            for id, fields in self.fields.items()
        }

    @cached_property
    def averages(self) -> dict[str, float]:
        """How many words a field has on average."""
        lengths = {name: sum(fields[name].total() for fields in self.fields.values()) for name in TEXT_FIELDS}
        return {name: length / len(self.by_id) if self.by_id else 1.0 for name, length in lengths.items()}

    def field_score(self, id: str, name: str, word: str) -> float:
        """What a word scores in one field of a document, without the field's weight."""
        return self._score(self.fields, id, name, word)

    def form_score(self, id: str, name: str, word: str) -> float:
        """What the forms of a word score in one text of a document, as if they were one word."""
        return 0.0 if root(word) is None else self._score(self.forms, id, name, root(word))

    def _score(self, counted: Mapping[str, Mapping[str, Counter[Any]]], id: str, name: str, word: str | None) -> float:
        words = counted[id][name]
        if word not in words:
            return 0.0
        idf = inverse_document_frequency(len(self.by_id), sum(word in fields[name] for fields in counted.values()))
        if name in EXACT_FIELDS:
            return idf
        return idf * float(saturated(words[word], length_norm(name, words.total(), self.averages[name])))

    @cached_property
    def _scores(self) -> dict[str, Scores]:
        return {}

    def word(self, word: str) -> Scores:
        """The score of each document that has a word in any field."""
        if word not in self._scores:
            self._scores[word] = {
                id: sum(field_weight(name) * self.field_score(id, name, word) for name in FIELDS)
                for id, fields in self.fields.items()
                if any(word in fields[name] for name in FIELDS)
            }
        return self._scores[word]

    def with_forms(self, word: str) -> Scores:
        """The score of each document that has a word or another form of it: the larger of what the word scores and of a
        share of what all its forms score."""
        if root(word) is None:
            return self.word(word)
        formed = {
            id: FORM_WORTH * sum(field_weight(name) * self.form_score(id, name, word) for name in TEXT_FIELDS)
            for id, forms in self.forms.items()
            if any(root(word) in forms[name] for name in TEXT_FIELDS)
        }
        own = self.word(word)
        return {id: max(own.get(id, 0.0), formed.get(id, 0.0)) for id in own | formed}

    def fields_with(self, id: str, word: str) -> list[str]:
        return [name for name in FIELDS if word in self.fields[id][name]]

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self)

    @cached_property
    def vectors(self) -> dict[str, Vectors]:
        assert self.model is not None
        texts = [scoring.meaning_text(document) for document in self.by_id.values()]
        return dict(zip(self.by_id, self.model.embed(texts), strict=True)) if texts else {}

    def has_code(self, words: Sequence[str]) -> bool:
        return any(joined(words) in fields["codes"] for fields in self.fields.values())


@dataclass(frozen=True)
class Vocabulary:
    documents: Documents

    @cached_property
    def _words(self) -> Counter[str]:
        words: Counter[str] = Counter()
        for fields in self.documents.fields.values():
            for name, worth in COMMONNESS.items():
                words.update({word: worth for word in fields[name]})
        return words

    def frequency(self, word: str) -> int:
        return self._words[word]

    def known(self, words: Set[str]) -> set[str]:
        return set(words & self._words.keys())

    def beginning_with(self, beginning: str) -> set[str]:
        return {word for word in self._words if word.startswith(beginning)}

    def codes_beginning_with(self, beginning: str, limit: int) -> list[str]:
        codes = {code for fields in self.documents.fields.values() for code in fields["codes"]}
        return sorted(code for code in codes if code.startswith(beginning))[:limit]

    def near(self, word: str, edits: int, limit: int) -> list[str]:
        distances = {other: OSA.distance(word, other) for other in self._words if other.isalpha()}
        near = [other for other, distance in distances.items() if distance <= edits]
        return sorted(near, key=lambda other: (distances[other], len(other), other))[:limit]

    def documents_with(self, words: Sequence[str]) -> int:
        return len(set.intersection(*(set(self.documents.with_forms(word)) for word in words)))


def carries(document: IndexDocument, wanted: ValueFilter) -> bool:
    return not set(wanted.values).isdisjoint(document.values.get(wanted.name, ()))


def sells(document: IndexDocument) -> bool:
    return scoring.YES in document.values.get(scoring.IN_STOCK, ())


def lies_in(document: IndexDocument, wanted: RangeFilter) -> bool:
    number = document.numbers.get(wanted.name)
    if number is None:
        return False
    return (wanted.low is None or number >= wanted.low) and (wanted.high is None or number <= wanted.high)

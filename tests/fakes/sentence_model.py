"""A sentence model without a model: texts are near one another as far as they share words."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from app.domain.search.sentence_model import Vectors


class WordSums:
    """Each word has a direction of its own, the same in every process. Words that `meanings` lists with the same
    meaning count as one: `WordSums({"couch": "sofa"})`."""

    name = "word-sums"
    label = "sums of words"

    def __init__(self, meanings: Mapping[str, str] | None = None, dimensions: int = 384) -> None:
        self.dimensions = dimensions
        self.embedded: list[str] = []  # Every text that was asked for, in order: what is embedded again shows here.
        self._meanings = meanings or {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split() or [""]:
                row += self._direction(self._meanings.get(word, word))
            row /= np.linalg.norm(row)
        return rows

    def embed_search(self, words: str) -> Vectors:
        vector: Vectors = self.embed([words])[0]
        return vector

    def _direction(self, word: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        return np.random.default_rng(seed).standard_normal(self.dimensions).astype(np.float32)

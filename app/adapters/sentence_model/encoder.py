"""The network of all-MiniLM-L6-v2 (a BERT of six layers) over arrays: word pieces in, vectors of sentences out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import sqrt
from typing import NamedTuple

import numpy as np

from app.adapters.sentence_model.weights import Array

LAYERS, HEADS, WIDTH, INNER = 6, 12, 384, 1536
HEAD = WIDTH // HEADS
PIECES, PLACES = 30_522, 512
EPSILON = np.float32(1e-12)
# Half of 1 + tanh(x · polynomial of x²) is the normal distribution, by which GELU multiplies, to within 3e-5; beyond
# the edge it is 0 or 1.
GELU = tuple(np.float32(factor) for factor in (7.97507884e-01, 3.70056463e-02, -3.51516828e-04))
GELU_EDGE = np.float32(5)


class Run(NamedTuple):
    """Sentences of equally many pieces that stand side by side among the rows of a batch."""

    start: int
    sentences: int
    length: int

    @property
    def rows(self) -> slice:
        return slice(self.start, self.start + self.sentences * self.length)


class Encoder:
    """Sentences of one batch lie one after another in the rows of each array, without padding: what works on rows takes
    them all at once, and attention those of equal length."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self._weights = weights
        self._layers = [_Layer(weights, f"encoder.layer.{number}") for number in range(LAYERS)]

    def vectors(self, sentences: Sequence[Sequence[int]]) -> Array:
        """Return a row of length 1 for each list of pieces; lists of equal length must stand side by side."""
        runs = list(_runs(sentences))
        rows = self._embedded(sentences)
        for layer in self._layers:
            rows = layer.applied(rows, runs)
        means = [rows[run.rows].reshape(run.sentences, run.length, WIDTH).mean(axis=1) for run in runs]
        vectors = np.concatenate(means)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def _embedded(self, sentences: Sequence[Sequence[int]]) -> Array:
        """The sum of what stands for each piece, its place and the kind of text."""
        pieces = np.concatenate([np.asarray(pieces, np.int64) for pieces in sentences])
        places = np.concatenate([np.arange(len(pieces)) for pieces in sentences])
        rows: Array = self._weights["embeddings.word_embeddings.weight"][pieces]
        rows += self._weights["embeddings.position_embeddings.weight"][places]
        rows += self._weights["embeddings.token_type_embeddings.weight"][0]
        return _normalised(rows, self._weights, "embeddings.LayerNorm")


class _Layer:
    def __init__(self, weights: Mapping[str, Array], name: str) -> None:
        self._weights = weights
        self._name = name

    def applied(self, rows: Array, runs: Sequence[Run]) -> Array:
        rows += self._dense("attention.output.dense", self._attention(rows, runs))
        rows = _normalised(rows, self._weights, f"{self._name}.attention.output.LayerNorm")
        rows += self._dense("output.dense", _gelu(self._dense("intermediate.dense", rows)))
        return _normalised(rows, self._weights, f"{self._name}.output.LayerNorm")

    def _attention(self, rows: Array, runs: Sequence[Run]) -> Array:
        query, key, value = (self._dense(f"attention.self.{part}", rows) for part in ("query", "key", "value"))
        query *= np.float32(1 / sqrt(HEAD))
        mixed = np.empty_like(rows)
        for run in runs:
            scores = _by_head(query, run) @ _by_head(key, run).swapaxes(2, 3)
            scores -= scores.max(axis=3, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=3, keepdims=True)
            np.matmul(scores, _by_head(value, run), out=_by_head(mixed, run))
        return mixed

    def _dense(self, name: str, rows: Array) -> Array:
        result: Array = rows @ self._weights[f"{self._name}.{name}.weight"].T
        result += self._weights[f"{self._name}.{name}.bias"]
        return result


def _runs(sentences: Sequence[Sequence[int]]) -> Iterator[Run]:
    start = 0
    for length, equal in groupby(map(len, sentences)):
        run = Run(start, len(list(equal)), length)
        yield run
        start = run.rows.stop


def _by_head(rows: Array, run: Run) -> Array:
    """A view of the rows of a run: sentence, head, place, number."""
    return rows[run.rows].reshape(run.sentences, run.length, HEADS, HEAD).swapaxes(1, 2)


def _normalised(rows: Array, weights: Mapping[str, Array], name: str) -> Array:
    """Each row with mean 0 and variance 1, then scaled and moved as the weights say; in place."""
    rows -= rows.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", rows, rows) / np.float32(rows.shape[1])
    rows /= np.sqrt(variance + EPSILON)[:, None]
    rows *= weights[f"{name}.weight"]
    rows += weights[f"{name}.bias"]
    return rows


def _gelu(rows: Array) -> Array:
    """x · Φ(x), in place."""
    bounded = np.clip(rows, -GELU_EDGE, GELU_EDGE)
    squares = bounded * bounded
    curve = squares * GELU[2]
    curve += GELU[1]
    curve *= squares
    curve += GELU[0]
    curve *= bounded
    np.tanh(curve, out=curve)
    curve += np.float32(1)
    rows *= curve
    rows *= np.float32(0.5)
    return rows


def shapes() -> dict[str, tuple[int, ...]]:
    """The shape of each tensor that the network reads, by its name."""
    named: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (PIECES, WIDTH),
        "embeddings.position_embeddings.weight": (PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    square, inner, outer = (WIDTH, WIDTH), (INNER, WIDTH), (WIDTH, INNER)
    parts = {
        "attention.self.query": square,
        "attention.self.key": square,
        "attention.self.value": square,
        "attention.output.dense": square,
        "attention.output.LayerNorm": (WIDTH,),
        "intermediate.dense": inner,
        "output.dense": outer,
        "output.LayerNorm": (WIDTH,),
    }
    for number in range(LAYERS):
        for part, shape in parts.items():
            named[f"encoder.layer.{number}.{part}.weight"] = shape
            named[f"encoder.layer.{number}.{part}.bias"] = shape[:1]
    return named

"""The encoder of all-MiniLM-L6-v2 over arrays: texts are cut into word pieces, as the uncased BERT models were trained
on them, and a BERT of six layers, whose weights are mapped from a file, makes vectors of their pieces."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, groupby
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.domain.search.sentence_model import SentenceModelUnavailable

Array = NDArray[np.float32]

EPSILON = np.float32(1e-12)
# Half of 1 + tanh(x · polynomial of x²) is the normal distribution, by which GELU multiplies, to within 3e-5; beyond
# the edge it is 0 or 1.
GELU = tuple(np.float32(factor) for factor in (7.97507884e-01, 3.70056463e-02, -3.51516828e-04))
GELU_EDGE = np.float32(5)

LONGEST_WORD = 100
MOST = 128  # Word pieces of a text that are read, its marks included.
CACHED_WORDS = 50_000
CACHED_CHARACTERS = 5_000
ASCII_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
UNSEEN = frozenset(("Cc", "Cf", "Co", "Cs", "Mn"))
CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip

LENGTH = 8  # Bytes of the file of weights that say how long its header is.
LONGEST_HEADER = 1_000_000


class WordPieces:
    """Cuts texts into the word pieces of a vocabulary, whose entries are in the order of their ids. A word that has
    none is [UNK]. Raises KeyError where the vocabulary lacks the marks of BERT."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids: Mapping[str, int] = {piece: id for id, piece in enumerate(vocabulary)}
        self._begin, self._end, self._unknown = (self._ids[mark] for mark in ("[CLS]", "[SEP]", "[UNK]"))
        self._characters = _Characters()
        self._of_word = lru_cache(CACHED_WORDS)(self._cut)

    def ids(self, text: str, most: int = MOST) -> list[int]:
        """Return the ids of a text's pieces between those of [CLS] and [SEP], at most `most` with these."""
        pieces: list[int] = []
        for word in unicodedata.normalize("NFD", text).translate(self._characters).split(" "):
            if word:
                pieces += self._of_word(word)
        return [self._begin, *pieces[: most - 2], self._end]

    def _cut(self, word: str) -> tuple[int, ...]:
        """Return the ids of a word's pieces, each the longest that the rest of the word begins with; that of [UNK]
        alone where there is none."""
        if len(word) > LONGEST_WORD:
            return (self._unknown,)
        pieces = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                if (id := self._ids.get(mark + word[start:end])) is not None:
                    break
            else:
                return (self._unknown,)
            pieces.append(id)
            start = end
        return tuple(pieces)


class _Characters(dict[int, str | None]):
    """The table by which `str.translate` normalises a decomposed text: to lower case, with blanks around punctuation
    and Chinese characters, without accents and what cannot be seen. It caches only the first CACHED_CHARACTERS that it
    meets, since people can type any of a million."""

    def __missing__(self, code: int) -> str | None:
        kept = _kept(chr(code))
        if len(self) < CACHED_CHARACTERS:
            self[code] = kept
        return kept


def _kept(character: str) -> str | None:
    category = unicodedata.category(character)
    if character in "\t\n\r" or category[0] == "Z":
        return " "
    if category in UNSEEN or character == "\ufffd":
        return None
    if category[0] == "P" or character in ASCII_PUNCTUATION or any(low <= ord(character) <= high for low, high in CJK):
        return f" {character} "
    return character.lower()


class Architecture(NamedTuple):
    """The sizes of a network."""

    layers: int
    heads: int
    width: int
    inner: int
    pieces: int
    places: int


MINILM = Architecture(layers=6, heads=12, width=384, inner=1536, pieces=30_522, places=512)


class Encoder:
    """The network with its weights. The word pieces of a batch are the columns of each array, sentence after sentence
    without padding: layers that work on single pieces take all at once, attention those of sentences of equal length.
    Columns, because with the weights as they are stored a few of them take half the time of a few rows."""

    def __init__(self, weights: Mapping[str, Array], architecture: Architecture = MINILM) -> None:
        self._weights = _Weights(weights)
        self._layers = [f"encoder.layer.{number}" for number in range(architecture.layers)]
        self._heads = architecture.heads

    def vectors(self, sentences: Sequence[Sequence[int]]) -> Array:
        """Return a row of length 1 for each list of piece ids, shape (len(sentences), width). Only lists of equal
        length that stand side by side are computed together."""
        runs = list(_runs(sentences))
        columns = self._embedded(sentences)
        for layer in self._layers:
            columns = self._after(layer, columns, runs)
        vectors = np.concatenate([_pooled(columns, run) for run in runs])
        vectors /= np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
        return vectors

    def _embedded(self, sentences: Sequence[Sequence[int]]) -> Array:
        """Return the normalised sum of the embeddings of each piece, its position and the first token type; shape
        (width, pieces)."""
        pieces = np.fromiter(chain.from_iterable(sentences), np.int64)
        places = np.concatenate([np.arange(len(pieces)) for pieces in sentences])
        rows: Array = self._weights["embeddings.word_embeddings.weight"][pieces]
        rows += self._weights["embeddings.position_embeddings.weight"][places]
        rows += self._weights["embeddings.token_type_embeddings.weight"][0]
        return self._weights.normalised("embeddings.LayerNorm", np.ascontiguousarray(rows.T))

    def _after(self, layer: str, columns: Array, runs: Sequence[Run]) -> Array:
        weights = self._weights
        columns += weights.dense(f"{layer}.attention.output.dense", self._attention(layer, columns, runs))
        columns = weights.normalised(f"{layer}.attention.output.LayerNorm", columns)
        inner = _gelu(weights.dense(f"{layer}.intermediate.dense", columns))
        columns += weights.dense(f"{layer}.output.dense", inner)
        return weights.normalised(f"{layer}.output.LayerNorm", columns)

    def _attention(self, layer: str, columns: Array, runs: Sequence[Run]) -> Array:
        parts = ("query", "key", "value")
        query, key, value = (self._weights.dense(f"{layer}.attention.self.{part}", columns) for part in parts)
        query *= np.float32(1 / sqrt(len(query) / self._heads))
        mixed = np.empty_like(columns)
        for run in runs:
            shares = self._by_head(query, run).swapaxes(2, 3) @ self._by_head(key, run)
            shares -= shares.max(axis=3, keepdims=True)
            np.exp(shares, out=shares)
            shares /= shares.sum(axis=3, keepdims=True)
            np.matmul(self._by_head(value, run), shares.swapaxes(2, 3), out=self._by_head(mixed, run))
        return mixed

    def _by_head(self, columns: Array, run: Run) -> Array:
        """Return a view of the columns of a run, of shape (sentences, heads, width of a head, length)."""
        part = columns[:, run.start : run.end].reshape(self._heads, -1, run.sentences, run.length)
        return part.transpose(2, 0, 1, 3)


class _Weights:
    def __init__(self, tensors: Mapping[str, Array]) -> None:
        self._tensors = {name: np.asarray(tensor) for name, tensor in tensors.items()}

    def __getitem__(self, name: str) -> Array:
        return self._tensors[name]

    def dense(self, name: str, columns: Array) -> Array:
        result: Array = self[f"{name}.weight"] @ columns
        result += self[f"{name}.bias"][:, None]
        return result

    def normalised(self, name: str, columns: Array) -> Array:
        """Normalise each column to mean 0 and variance 1, then scale and shift it by the weights, in place."""
        columns -= columns.mean(axis=0)
        variance = np.einsum("ij,ij->j", columns, columns)
        variance /= np.float32(len(columns))
        columns *= 1 / np.sqrt(variance + EPSILON)
        columns *= self[f"{name}.weight"][:, None]
        columns += self[f"{name}.bias"][:, None]
        return columns


class Run(NamedTuple):
    """Sentences of equally many pieces that stand side by side in a batch."""

    start: int
    sentences: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.sentences * self.length


def _runs(sentences: Sequence[Sequence[int]]) -> Iterator[Run]:
    start = 0
    for length, equal in groupby(map(len, sentences)):
        run = Run(start, len(list(equal)), length)
        yield run
        start = run.end


def _pooled(columns: Array, run: Run) -> Array:
    pooled: Array = columns[:, run.start : run.end].reshape(-1, run.sentences, run.length).mean(axis=2).T
    return pooled


def _gelu(columns: Array) -> Array:
    """Replace each number x by x · Φ(x), in place."""
    bounded = np.clip(columns, -GELU_EDGE, GELU_EDGE)
    squares = bounded * bounded
    curve = squares * GELU[2]
    curve += GELU[1]
    curve *= squares
    curve += GELU[0]
    curve *= bounded
    np.tanh(curve, out=curve)
    curve += np.float32(1)
    curve *= np.float32(0.5)
    columns *= curve
    return columns


def tensors(architecture: Architecture) -> dict[str, tuple[int, ...]]:
    """Return the shape of each tensor that the network reads, by its name."""
    width, inner = architecture.width, architecture.inner
    found: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (architecture.pieces, width),
        "embeddings.position_embeddings.weight": (architecture.places, width),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
    }
    parts: dict[str, tuple[int, ...]] = {
        "attention.self.query": (width, width),
        "attention.self.key": (width, width),
        "attention.self.value": (width, width),
        "attention.output.dense": (width, width),
        "attention.output.LayerNorm": (width,),
        "intermediate.dense": (inner, width),
        "output.dense": (width, inner),
        "output.LayerNorm": (width,),
    }
    for layer in range(architecture.layers):
        for part, sizes in parts.items():
            found[f"encoder.layer.{layer}.{part}.weight"] = sizes
            found[f"encoder.layer.{layer}.{part}.bias"] = sizes[:1]
    return found


def mapped_weights(file: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Return the tensors of `shapes` by name. Processes that map the same file share its memory. Raises
    SentenceModelUnavailable for a file that is damaged or has other tensors, and OSError."""
    try:
        content = np.memmap(file, np.uint8, "r")
        length = int.from_bytes(content[:LENGTH].tobytes(), "little")
        if not 0 < length <= LONGEST_HEADER:
            raise ValueError
        header = json.loads(content[LENGTH : LENGTH + length].tobytes())
        return {name: _tensor(content[LENGTH + length :], header[name], shape) for name, shape in shapes.items()}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SentenceModelUnavailable("Its weights are damaged, or those of another kind of model.") from error


def _tensor(content: NDArray[np.uint8], entry: Mapping[str, Any], shape: tuple[int, ...]) -> Array:
    start, end = entry["data_offsets"]
    if entry["dtype"] != "F32" or tuple(entry["shape"]) != shape or len(content[start:end]) != 4 * math.prod(shape):
        raise ValueError
    return content[start:end].view(np.float32).reshape(shape)

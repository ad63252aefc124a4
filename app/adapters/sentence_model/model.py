"""The sentence model all-MiniLM-L6-v2, or another of its shapes, from a folder of files."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from app.adapters.sentence_model.encoder import Encoder
from app.adapters.sentence_model.files import ModelFiles, installed_files, unreadable
from app.adapters.sentence_model.word_pieces import WordPieces
from app.domain.search.sentence_model import SentenceModelUnavailable, Vectors

SEARCH_PIECES = 32  # Word pieces of a search that are read, its marks included.
ROWS = 1_024  # Word pieces that the network takes at once; more are no faster.


class MiniLm:
    """The model. It reads its files once, when it is first used; a fault found then stays until the process ends."""

    def __init__(self, files: ModelFiles) -> None:
        self._files = files
        self.dimensions = files.architecture.width
        self._lock = threading.Lock()
        self._network: tuple[WordPieces, Encoder] | None = None
        self._fault: SentenceModelUnavailable | None = None

    @property
    def name(self) -> str:
        """The digest of the weights. An index stores it with its vectors; it is compared without loading the model."""
        return self._files.digest

    @property
    def label(self) -> str:
        self._loaded()
        return self._files.label

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row of length 1 for each text. Equal texts are computed once, and many on all processors."""
        word_pieces, network = self._loaded()
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        sentences = [word_pieces.ids(text) for text in places]
        vectors = np.empty((len(places), self.dimensions), np.float32)

        def fill(batch: Sequence[int]) -> None:
            vectors[batch] = network.vectors([sentences[place] for place in batch])

        _each(fill, list(_batches(sentences)))
        return vectors if len(places) == len(texts) else vectors[[places[text] for text in texts]]

    def embed_search(self, words: str) -> Vectors:
        word_pieces, network = self._loaded()
        vector: Vectors = network.vectors([word_pieces.ids(words, SEARCH_PIECES)])[0]
        return vector

    def _loaded(self) -> tuple[WordPieces, Encoder]:
        with self._lock:
            if self._fault is not None:
                raise self._fault
            if self._network is None:
                self._network = self._load()
            return self._network

    def _load(self) -> tuple[WordPieces, Encoder]:
        try:
            word_pieces, network = self._files.network()
            with np.errstate(all="ignore"):
                if np.isfinite(network.vectors([word_pieces.ids("a")])).all():
                    return word_pieces, network
            self._fault = SentenceModelUnavailable("Its weights are no numbers that can be used.")
        except SentenceModelUnavailable as error:
            self._fault = error
        except OSError as error:
            self._fault = unreadable(error)
        raise self._fault


def _batches(sentences: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield the places of the sentences, the longest first, in batches of at most ROWS pieces."""
    batch: list[int] = []
    rows = 0
    for place in sorted(range(len(sentences)), key=lambda place: -len(sentences[place])):
        if batch and rows + len(sentences[place]) > ROWS:
            yield batch
            batch, rows = [], 0
        batch.append(place)
        rows += len(sentences[place])
    if batch:
        yield batch


def _each(work: Callable[[Sequence[int]], None], batches: Sequence[Sequence[int]]) -> None:
    """Do the work for each batch, on one thread for each processor: arrays compute without Python's lock."""
    if len(batches) < 2:
        for batch in batches:
            work(batch)
        return
    with ThreadPoolExecutor(len(os.sched_getaffinity(0)), "sentence-model") as threads:
        list(threads.map(work, batches))


def installed_model(folder: Path | None) -> MiniLm | None:
    """Return the model in the folder that the owner named, else the installed one; None where neither is there."""
    files = installed_files(folder)
    return MiniLm(files) if files else None

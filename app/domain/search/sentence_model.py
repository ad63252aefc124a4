"""The port to a sentence model: texts as vectors that lie near one another where the texts mean alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from app.domain.shared.problems import DomainError

Vectors = NDArray[np.float32]


class SentenceModelUnavailable(DomainError):
    """The model cannot be used. The message is for people and names no file of this machine by its path."""

    code = "sentence_model_unavailable"


@dataclass(frozen=True, slots=True)
class ModelState:
    """A sentence model as a page shows it: what it is called, or why it cannot be used."""

    label: str | None = None
    fault: str | None = None


class SentenceModel(Protocol):
    """Makes vectors of texts. Vectors of models with different names cannot be compared. The first use may take
    seconds, for loading."""

    @property
    def name(self) -> str:
        """The identity of the model, with which its vectors are stored. Raises SentenceModelUnavailable."""
        ...

    @property
    def label(self) -> str:
        """The name of the model for people, once its files were checked. Raises SentenceModelUnavailable."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row of length 1 for each text, in their order; shape (len(texts), dimensions). The cosine of two
        texts is the product of their rows. Raises SentenceModelUnavailable."""
        ...

    def embed_search(self, words: str) -> Vectors:
        """Return the vector of the words of one search, of length 1 and shape (dimensions,). Of many words only the
        first count, so that no search costs much more than another. Raises SentenceModelUnavailable."""
        ...


def state_of(model: SentenceModel | None) -> ModelState:
    """Return the name of the model for people, or why it cannot be used; neither without a model. May load it."""
    try:
        return ModelState(model.label if model else None)
    except SentenceModelUnavailable as error:
        return ModelState(fault=error.message)

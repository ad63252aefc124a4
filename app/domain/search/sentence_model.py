"""The port to a sentence model: texts as vectors that lie near one another where the texts mean alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class SentenceModel(Protocol):
    """Makes vectors of texts. Vectors of models with different names cannot be compared."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row of length 1 for each text, in their order; shape (len(texts), dimensions). The cosine of two
        texts is the product of their rows."""
        ...

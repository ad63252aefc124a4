"""The weights of a model, mapped into memory from a file of the format safetensors."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.domain.search.sentence_model import SentenceModelUnavailable

Array = NDArray[np.float32]
LENGTH = 8  # Bytes that say how long the header is.
LONGEST_HEADER = 1_000_000


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

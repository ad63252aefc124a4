"""A sentence model of a few kilobytes with random weights, in the files of a real one; and what it must answer,
computed slowly, one sentence at a time, in the words of the paper."""

from __future__ import annotations

import json
from math import erf, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.adapters.sentence_model.encoder import Architecture, tensors

LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *(f"##{letter}" for letter in LETTERS), "mug", "##ug"]
SMALL = Architecture(layers=2, heads=2, width=8, inner=16, pieces=len(PIECES), places=20)
KIND = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "num_hidden_layers": SMALL.layers,
    "num_attention_heads": SMALL.heads,
    "hidden_size": SMALL.width,
}
Weights = dict[str, NDArray[np.float32]]


def random_weights() -> Weights:
    random = np.random.default_rng(7)
    return {name: random.standard_normal(sizes).astype(np.float32) for name, sizes in tensors(SMALL).items()}


def write_model(folder: Path, weights: Weights) -> Path:
    folder.mkdir()
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    content = b""
    for name, tensor in weights.items():
        offsets = [len(content), len(content) + tensor.nbytes]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": offsets}
        content += tensor.tobytes()
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    (folder / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + content)
    (folder / "config.json").write_text(json.dumps(KIND))
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    return folder


def expected(weights: Weights, pieces: list[int]) -> NDArray[np.float64]:
    """The vector of one sentence."""
    exact = {name: tensor.astype(np.float64) for name, tensor in weights.items()}

    def dense(name: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return rows @ exact[f"{name}.weight"].T + exact[f"{name}.bias"]

    def normal(name: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        centred = rows - rows.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
        return scaled * exact[f"{name}.weight"] + exact[f"{name}.bias"]

    def attention(name: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        query, key, value = (dense(f"{name}.{part}", rows) for part in ("query", "key", "value"))
        heads = []
        for head in np.split(np.arange(SMALL.width), SMALL.heads):
            scores = np.exp(query[:, head] @ key[:, head].T / sqrt(len(head)))
            heads.append(scores / scores.sum(axis=1, keepdims=True) @ value[:, head])
        return np.hstack(heads)

    gelu = np.vectorize(lambda x: x / 2 * (1 + erf(x / sqrt(2))))
    embeddings = (exact[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type"))
    words, places, kinds = embeddings
    rows = normal("embeddings.LayerNorm", words[pieces] + places[: len(pieces)] + kinds[0])
    for layer in (f"encoder.layer.{number}" for number in range(SMALL.layers)):
        mixed = dense(f"{layer}.attention.output.dense", attention(f"{layer}.attention.self", rows))
        rows = normal(f"{layer}.attention.output.LayerNorm", rows + mixed)
        inner = gelu(dense(f"{layer}.intermediate.dense", rows))
        rows = normal(f"{layer}.output.LayerNorm", rows + dense(f"{layer}.output.dense", inner))
    mean = rows.mean(axis=0)
    return mean / np.linalg.norm(mean)

"""The sentence model: the vector of a search that was never made, on one processor, and those of products at a rebuild,
on all of them, beside the bare products of matrices that no way around leads past; and how much longer a search with
meaning takes than the same by words, in processor time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from unittest import SkipTest

import numpy as np

from app.adapters.sentence_model import installed_model
from app.adapters.sentence_model.encoder import MINILM, tensors
from app.adapters.sentence_model.model import ROWS, MiniLm, installed_files
from app.adapters.whoosh import WhooshEngine
from app.config import read_path
from app.domain.search.engine import SearchRequest
from app.domain.search.ranking.scoring import meaning_text
from app.domain.search.sentence_model import QueryVectors, Vectors
from bench.catalogue import FACETS, documents, many, queries
from bench.measuring import (
    PRODUCTS,
    ROUNDS,
    SITE,
    Yardstick,
    at_most,
    build,
    heading,
    median,
    milliseconds,
    percentile,
    run,
    seconds,
    sized,
    workspace,
)

SEARCHES = 200
PIECES = 8  # Of an ordinary search with its marks.
TEXTS = 2_000
MANY = 100_000
PROCESSORS = len(os.sched_getaffinity(0))


def main() -> None:
    folder = read_path(os.environ, "EMBEDDING_MODEL_DIR")
    model, files = installed_model(folder), installed_files(folder)
    if model is None or files is None:
        raise SkipTest("no sentence model is installed (`make semantic`)")
    heading(f"A search that was never made, {model.label}")
    searches(model, [words for words in dict.fromkeys(queries()) if 2 <= len(words.split()) <= 6][:SEARCHES])
    heading(f"{sized(TEXTS):,} products, name, manufacturer and level, on {PROCESSORS} processors")
    word_pieces, _ = files.network()
    texts = list(dict.fromkeys(map(meaning_text, islice(documents(), 2 * sized(TEXTS)))))[: sized(TEXTS)]
    products(model, texts, sum(len(word_pieces.ids(text)) for text in texts))
    heading(f"A results page with meaning, {sized(MANY):,} products")
    pages(model, list(dict.fromkeys(queries()))[:SEARCHES])


def searches(model: MiniLm, words: list[str]) -> None:
    """The vectors one by one, each at once after a plain multiplication of the same weights, then from the cache."""
    weights, columns = dense_weights(), {width: np.ones((width, PIECES), np.float32) for width in (384, 1536)}

    def bare(_: str) -> None:
        for matrix in weights:
            matrix @ columns[matrix.shape[1]]

    took, least = [], []
    for query in words:
        least += milliseconds(bare, [query])
        took += milliseconds(model.embed_search, [query])
    product = Yardstick(f"the weights times {PIECES} columns", median(least), "ms")
    at_most("its vector, p50", median(took), 2 * product)
    at_most("its vector, p95", percentile(took, 0.95), 4 * product)
    vectors = QueryVectors(model)
    for query in words:
        vectors.get(query, 60)
    at_most("its vector for the second time, p95", percentile(again(vectors, words), 0.95), 0.5 * plain_search(words))


def again(vectors: QueryVectors, words: Iterable[str]) -> list[float]:
    return milliseconds(lambda query: vectors.get(query, 0), words)


class Sketched:
    """Real vectors of searches, and random ones of products: these cost as much to compare, and nothing to make."""

    name = label = "sketched"

    def __init__(self, model: MiniLm) -> None:
        self.dimensions, self.embed_search = model.dimensions, model.embed_search

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.random.default_rng(1).standard_normal((len(texts), self.dimensions), np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def pages(model: MiniLm, words: list[str]) -> None:
    """Each search by words, by meaning for the first time, and again, one after the other."""
    vector = Yardstick("its vector", median(processor_milliseconds(model.embed_search, words)), "ms")
    with workspace() as directory:
        engine = WhooshEngine(directory, Sketched(model), wait=60)
        build(engine, many(sized(MANY)))
        plain, meant = page_of(engine, by_meaning=False), page_of(engine, by_meaning=True)
        for query in ("warm", *words):
            plain(query)
        meant("warm")
        by_words = fastest(plain, words)
        first, again = processor_milliseconds(meant, words), fastest(meant, words)
    more = [late - early for late, early in zip(first, by_words, strict=True)]
    at_most("more for a search that was never made, p50", median(more), 1.5 * vector)
    at_most("more for a search that was never made, p95", percentile(more, 0.95), 2 * vector)
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        alone = Yardstick("by words alone", percentile(by_words, share), "ms")
        at_most(f"the search again, {name}", percentile(again, share), 1.5 * alone)


def page_of(engine: WhooshEngine, *, by_meaning: bool) -> Callable[[str], object]:
    similar = 24 if by_meaning else 0
    plain = SearchRequest(facets=FACETS, by_meaning=by_meaning, similar_below=similar)
    return lambda words: engine.search(SITE, PRODUCTS, replace(plain, words=words))


def fastest(work: Callable[[str], object], words: Sequence[str]) -> list[float]:
    rounds = [processor_milliseconds(work, words) for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def processor_milliseconds(work: Callable[[str], object], words: Iterable[str]) -> list[float]:
    took = []
    for one in words:
        start = time.process_time()
        work(one)
        took.append(1000 * (time.process_time() - start))
    return took


def plain_search(words: Iterable[str]) -> Yardstick:
    with workspace() as directory:
        engine = WhooshEngine(directory)
        build(engine, documents())
        took = [milliseconds(lambda q: engine.search(SITE, PRODUCTS, SearchRequest(words=q)), words) for _ in range(2)]
    return Yardstick("a plain search", median(took[1]), "ms")


def products(model: MiniLm, texts: list[str], pieces: int) -> None:
    took = seconds(lambda: model.embed(texts))
    print(f"     {len(texts) / took:.0f} texts of {pieces / len(texts):.0f} pieces a second")
    at_most("100,000 of them", 100_000 / len(texts) * took / 60, 2 * bare_products(pieces, len(texts)))


def bare_products(pieces: int, texts: int) -> Yardstick:
    """The weights times as many columns as there are pieces, on as many threads."""
    weights, columns = dense_weights(), {width: np.ones((width, ROWS), np.float32) for width in (384, 1536)}

    def batch(_: int) -> None:
        for matrix in weights:
            matrix @ columns[matrix.shape[1]]

    with ThreadPoolExecutor(PROCESSORS) as threads:
        took = seconds(lambda: list(threads.map(batch, range(pieces // ROWS))))
    return Yardstick("the weights times their pieces", 100_000 / texts * took / 60, "min")


def dense_weights() -> list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    """Matrices of the sizes that every piece is multiplied with."""
    sizes = (sizes for name, sizes in tensors(MINILM).items() if name.endswith("dense.weight") or ".self." in name)
    return [np.ones(pair, np.float32) for pair in sizes if len(pair) == 2]


if __name__ == "__main__":
    run(main)

"""Vectors are read from their file where they are needed, and compared where their signs are near."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from app.adapters.whoosh.files import open_file
from app.adapters.whoosh.vectors import (
    RowVectors,
    Signs,
    hash_texts,
    least_differing,
    most_differing,
    pack_vectors,
    read_vectors,
    write_vectors,
)
from app.domain.search.ranking.scoring import SIMILAR_COSINE
from tests.fakes.sentence_model import WordSums

COUNT, DIMENSIONS = 200, 48


@pytest.fixture
def made() -> RowVectors:
    numbers = np.random.default_rng(7).standard_normal((COUNT, DIMENSIONS)).astype(np.float32)
    return pack_vectors("a model", numbers, hash_texts([str(number) for number in range(COUNT)]))


@pytest.fixture
def file(tmp_path: Path, made: RowVectors) -> Path:
    path = tmp_path / "vectors"
    path.write_bytes(write_vectors(made))
    return path


@pytest.mark.parametrize(
    "places", [slice(None), slice(3, 9), np.array([5, 6, 9]), np.array([0, 150, 199]), np.array([], np.intp)]
)
def test_stored_vectors_are_those_that_were_written(file: Path, made: RowVectors, places: slice) -> None:
    stored = read_vectors(open_file(file), COUNT)
    assert (stored.model, stored.dimensions, len(stored)) == ("a model", DIMENSIONS, COUNT)
    assert np.array_equal(stored.rows[places], made.rows[places])
    assert np.array_equal(stored.scales, made.scales) and np.array_equal(stored.hashes, made.hashes)
    vector = np.ones(DIMENSIONS, np.float32)
    assert np.array_equal(stored.cosines(vector, places), made.cosines(vector, places))


def test_a_file_that_is_cut_short_while_it_is_open_is_an_error_and_ends_no_process(file: Path) -> None:
    stored = read_vectors(open_file(file), COUNT)
    os.truncate(file, 0)
    with pytest.raises(ValueError, match="reshape"):
        stored.cosines(np.ones(DIMENSIONS, np.float32), slice(None))


def test_a_row_comes_back_nearly_as_it_was() -> None:
    vectors = WordSums().embed(["red sofa", "blue lamp", ""])
    row = pack_vectors("any", vectors, np.zeros(3, np.uint64))
    assert row.cosines(vectors[0], slice(None)) == pytest.approx(vectors @ vectors[0], abs=0.01)


def test_no_vector_that_is_near_differs_in_too_many_signs() -> None:
    random = np.random.default_rng(5)
    vectors = random.standard_normal((20_000, 384)).astype(np.float32)
    vectors[:4_000] += random.uniform(0.5, 2, (4_000, 1)).astype(np.float32) * vectors[-1]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    differing = Signs.of(pack_vectors("any", vectors, np.zeros(len(vectors), np.uint64)).rows).differing(vectors[-1])
    assert differing[-1] < 10, "but for numbers that were rounded to zero"
    near = vectors @ vectors[-1] >= SIMILAR_COSINE
    likely = differing <= most_differing(SIMILAR_COSINE, 384)
    assert near.sum() > 1_000
    assert not (near & ~likely).any()
    assert likely[4_000:-1].sum() == 0, "what is not near at all is not compared"


def test_those_that_differ_least_are_compared() -> None:
    assert least_differing(np.array([9, 3, 5, 3, 5, 1], np.uint16), 4).tolist() == [1, 2, 3, 4, 5]

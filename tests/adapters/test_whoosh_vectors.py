"""Vectors are read from their file where they are needed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from app.adapters.whoosh.files import open_file
from app.adapters.whoosh.vectors import RowVectors, hash_texts, pack_vectors, read_vectors, write_vectors

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

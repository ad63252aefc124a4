from __future__ import annotations

import numpy as np

from tests.fakes.sentence_model import WordSums


def test_texts_that_share_words_are_near() -> None:
    mug, cup, lamp = WordSums().embed(["red mug", "red cup", "desk lamp"])
    assert mug @ cup > 0.4 > mug @ lamp


def test_words_of_one_meaning_are_one() -> None:
    couch, sofa = WordSums({"couch": "sofa"}).embed(["Couch", "sofa"])
    np.testing.assert_allclose(couch @ sofa, 1, rtol=1e-6)


def test_every_row_has_length_one() -> None:
    rows = WordSums(dimensions=16).embed(["red mug", "", "lamp"])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)

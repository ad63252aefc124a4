"""The sentence model answers what its network must, whatever stands beside a text, and says what is wrong with its
files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app import create_app
from app.adapters.sentence_model.encoder import CACHED_CHARACTERS, WordPieces
from app.adapters.sentence_model.model import (
    PACKAGE,
    RELEASED,
    SEARCH_PIECES,
    MiniLm,
    ModelFiles,
    installed_files,
    installed_model,
)
from app.domain.search.sentence_model import SentenceModelUnavailable, state_of
from app.ports import EXTENSION
from tests.adapters.small_sentence_model import PIECES, SMALL, expected, random_weights, write_model
from tests.examples import examples
from tests.ready_app import config_for

WEIGHTS = random_weights()
# The cosine to the first text and the first four numbers, as the original has them under PyTorch.
ORIGINAL = {
    "That is a happy person": (1.0, [-0.033877, 0.091942, 0.048701, -0.034884]),
    "That is a very happy person": (0.942915, [-0.002483, 0.091517, 0.048386, -0.057212]),
    "Today is a sunny day": (0.256876, [-0.016291, 0.104066, 0.097408, 0.07417]),
    "Crème brûlée ramekin, 6×9 cm – DeLonghi™": (0.006994, [-0.011897, -0.04417, -0.023571, -0.038552]),
    "hp laserjet " * 60: (-0.019653, [0.012179, 0.004016, 0.01662, -0.015567]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model") / "small", WEIGHTS)


@pytest.fixture(scope="module")
def model(folder: Path) -> MiniLm:
    return MiniLm(ModelFiles(folder, architecture=SMALL))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder that a test may damage."""
    return write_model(tmp_path / "own", WEIGHTS)


@given(st.lists(st.text("abg mu-", max_size=14), max_size=60))
@settings(max_examples=examples(40))
def test_each_text_has_the_vector_of_the_network_whatever_stands_beside_it(model: MiniLm, texts: list[str]) -> None:
    pieces = WordPieces(PIECES)
    rows = model.embed(texts)
    assert (rows.shape, rows.dtype) == ((len(texts), SMALL.width), np.float32)
    for row, text in zip(rows, texts, strict=True):
        np.testing.assert_allclose(row, expected(WEIGHTS, pieces.ids(text)), atol=1e-4)


def test_many_texts_on_several_threads_are_as_each_by_itself(model: MiniLm) -> None:
    texts = [f"{'mug ' * (number % 7)}{'ab' * (number % 5)}" for number in range(300)]
    alone = np.concatenate([model.embed([text]) for text in texts])
    np.testing.assert_allclose(model.embed(texts), alone, atol=1e-5)


def test_a_name_is_known_before_anything_is_read() -> None:
    assert MiniLm(ModelFiles(Path("/nowhere"), RELEASED)).name == RELEASED


def test_two_models_of_different_weights_have_different_names(model: MiniLm, tmp_path: Path) -> None:
    other = write_model(tmp_path / "other", {name: tensor * 2 for name, tensor in WEIGHTS.items()})
    assert MiniLm(ModelFiles(other, architecture=SMALL)).name != model.name
    assert model.label == f"a model of your own ({model.name[:12]})"


def test_words_are_cut_into_the_longest_pieces_and_long_texts_cut_off() -> None:
    pieces = WordPieces(PIECES)

    def cut(text: str) -> str:
        return " ".join(PIECES[id] for id in pieces.ids(text, most=6))

    assert cut("Mug") == "[CLS] mug [SEP]"
    assert cut("smug É") == "[CLS] s ##m ##ug e [SEP]"
    assert cut("a-b\u200b") == "[CLS] a [UNK] b [SEP]"
    assert cut("a\tb 漢c") == "[CLS] a b [UNK] c [SEP]"
    assert cut("a b c d e f") == "[CLS] a b c d [SEP]"
    assert cut("a" * 101) == "[CLS] [UNK] [SEP]"
    assert cut("") == "[CLS] [SEP]"


def test_of_a_long_search_the_first_pieces_count(folder: Path) -> None:
    given: list[int] = []

    class Network:
        def vectors(self, sentences: list[list[int]]) -> list[list[int]]:
            given.extend(map(len, sentences))
            return sentences

    model = MiniLm(ModelFiles(folder, architecture=SMALL))
    model._network = WordPieces(PIECES), Network()  # type: ignore[assignment]
    for words in ("mug", "a b " * 50):
        model.embed_search(words)
    assert given == [3, SEARCH_PIECES]


def test_a_search_has_the_vector_of_its_text(model: MiniLm) -> None:
    np.testing.assert_array_equal(model.embed_search("mug"), model.embed(["mug"])[0])


def test_only_so_many_characters_are_kept() -> None:
    pieces = WordPieces(PIECES)
    pieces.ids("".join(map(chr, range(0x4E00, 0x9000))))
    assert len(pieces._characters) == CACHED_CHARACTERS


def test_the_vocabulary_may_be_in_the_file_of_the_tokenizer(own: Path, model: MiniLm) -> None:
    ids = {piece: id for id, piece in reversed([*enumerate(PIECES)])}
    (own / "tokenizer.json").write_text(json.dumps({"model": {"vocab": ids}}))
    (own / "vocab.txt").unlink()
    rows = MiniLm(ModelFiles(own, architecture=SMALL)).embed(["smug mug"])
    np.testing.assert_array_equal(rows, model.embed(["smug mug"]))


TELLTALE_LETTERS = st.sampled_from("漢字한글ΣςİßéÉ½ﬁ™–“”\u200b\u00a0\u00ad")


@given(st.text(st.characters(max_codepoint=0x24F) | TELLTALE_LETTERS, max_size=60))
@settings(max_examples=examples(400))
def test_texts_are_cut_as_the_library_of_the_original_cuts_them(text: str) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the library tokenizers is not installed")
    ours, library = _of_the_installed_model(tokenizers)
    assert ours.ids(text) == library.encode(text).ids


@cache
def _of_the_installed_model(tokenizers: ModuleType) -> tuple[WordPieces, Any]:
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("The sentence model is not installed (make semantic).")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    library.no_padding()
    return WordPieces((folder / "vocab.txt").read_text(encoding="utf-8").splitlines()), library


def _cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-9])


def _change_kind(file: Path) -> None:
    file.write_text(file.read_text().replace("gelu", "relu"))


def _no_numbers(file: Path) -> None:
    weights = {name: tensor * np.float32("nan") for name, tensor in WEIGHTS.items()}
    file.write_bytes((write_model(file.parent / "nan", weights) / file.name).read_bytes())


@pytest.mark.parametrize(
    "name, damage, said",
    [
        ("model.safetensors", Path.unlink, "Its file model.safetensors is missing."),
        ("model.safetensors", _cut_off, "Its weights are damaged, or those of another kind of model."),
        ("model.safetensors", lambda file: file.write_bytes(b""), "Its weights are damaged, or those of another"),
        ("model.safetensors", lambda file: file.write_bytes(b"x" * 99), "Its weights are damaged, or those of another"),
        ("model.safetensors", _no_numbers, "Its weights are no numbers that can be used."),
        ("config.json", Path.unlink, "Its file config.json is missing."),
        ("config.json", lambda file: file.write_text("{"), "Its file config.json is damaged."),
        ("config.json", lambda file: file.write_text("[]"), "It is another kind of model than all-MiniLM-L6-v2"),
        ("config.json", _change_kind, "It is another kind of model than all-MiniLM-L6-v2"),
        ("vocab.txt", Path.unlink, "Its file tokenizer.json is missing."),
        ("vocab.txt", _cut_off, "Its list of word pieces is damaged"),
        ("vocab.txt", lambda file: file.write_bytes(b"\xff" * 99), "Its list of word pieces is damaged"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_a_sentence(
    own: Path, name: str, damage: Callable[[Path], object], said: str
) -> None:
    damage(own / name)
    model = MiniLm(ModelFiles(own, architecture=SMALL))
    for _ in range(2):
        with pytest.raises(SentenceModelUnavailable) as raised:
            model.embed(["mug"])
        assert raised.value.message.startswith(said)
        assert str(own) not in raised.value.message


def test_a_folder_that_is_not_there_is_said() -> None:
    model = installed_model(Path("/nowhere"))
    assert model is not None
    with pytest.raises(SentenceModelUnavailable, match=r"^The folder of its files is not there\.$"):
        model.embed(["mug"])


def test_the_application_takes_the_model_of_the_folder_that_was_named(tmp_path: Path) -> None:
    config = config_for(f"sqlite:///{tmp_path / 'shop.db'}", tmp_path)
    app = create_app(replace(config, embedding_model_dir=tmp_path / "nowhere"), surfaces=False)
    assert state_of(app.extensions[EXTENSION].sentence_model).fault == "The folder of its files is not there."


def test_weights_of_the_package_must_be_those_that_were_released(own: Path) -> None:
    model = MiniLm(ModelFiles(own, RELEASED, SMALL))
    with pytest.raises(SentenceModelUnavailable, match=r"not those that were released\. Run “make semantic”"):
        model.embed(["mug"])


def test_the_installed_model_answers_as_the_original() -> None:
    named = os.environ.get("SHOP_TEST_SENTENCE_MODEL")
    files = ModelFiles(Path(named), RELEASED) if named else installed_files(None)
    if files is None:
        pytest.skip("The sentence model is not installed (make semantic).")
    rows = MiniLm(files).embed(list(ORIGINAL))
    assert files.digest == RELEASED
    for row, (cosine, first) in zip(rows, ORIGINAL.values(), strict=True):
        assert float(row @ rows[0]) == pytest.approx(cosine, abs=1e-4)
        np.testing.assert_allclose(row[:4], first, atol=1e-4)

"""The files are in the format of Whoosh 2.7.4, for every shape that content can take."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
import whoosh
from hypothesis import example, given
from hypothesis import strategies as st
from whoosh import columns
from whoosh.filedb.filetables import OrderedHashReader
from whoosh.filedb.structfile import BufferFile

from app.adapters.whoosh.files import (
    TextColumn,
    ValueColumn,
    read_numbers,
    read_rare_numbers,
    read_values,
    write_numbers,
    write_rare_numbers,
    write_texts,
    write_values,
)
from app.adapters.whoosh.inversion import InvertedField, group_postings
from app.adapters.whoosh.terms import TermFile, read_postings, term_key, write_postings, write_terms

counts = st.lists(st.integers(1, 300), min_size=1, max_size=40)


def test_the_format_belongs_to_one_version_of_whoosh() -> None:
    assert whoosh.versionstring() == "2.7.4"


@given(st.lists(st.binary(max_size=40), max_size=60))
def test_texts_come_back_and_whoosh_reads_them(texts: list[bytes]) -> None:
    content = write_texts(texts)
    ours = TextColumn(content, len(texts))
    theirs = columns.VarBytesColumn().reader(BufferFile(content), 0, len(content), len(texts))
    assert [ours[doc] for doc in range(len(texts))] == texts
    assert [theirs[doc] for doc in range(len(texts))] == texts


@pytest.mark.parametrize("distinct", [1, 255, 256, 257, 65_535, 65_536, 70_000])
def test_values_come_back_and_whoosh_reads_them(distinct: int) -> None:
    uniques = [b"", *(b"%d" % number for number in range(1, distinct))]
    codes = np.arange(distinct)[::-1].copy()
    content = write_values(ValueColumn(codes, uniques))
    read_codes, read_uniques = read_values(content, distinct)
    theirs = columns.RefBytesColumn().reader(BufferFile(content), 0, len(content), distinct)
    assert read_uniques == uniques
    assert read_codes.tolist() == codes.tolist()
    assert [theirs[0], theirs[distinct - 1]] == [uniques[-1], b""]


@given(st.lists(st.floats(allow_nan=False), max_size=30))
def test_numbers_come_back_and_whoosh_reads_them(numbers: list[float]) -> None:
    content = write_numbers(np.array(numbers, np.float64))
    theirs = columns.NumericColumn("d").reader(BufferFile(content), 0, len(content), len(numbers))
    assert read_numbers(content, len(numbers)).tolist() == numbers
    assert list(theirs) == numbers


@given(st.lists(st.none() | st.floats(allow_nan=False), max_size=30))
@example([0.0, -0.0])  # The same number, so the same value is read for both.
def test_rare_numbers_come_back_and_whoosh_reads_them_as_values(numbers: list[float | None]) -> None:
    column = np.array([np.nan if number is None else number for number in numbers], np.float64)
    content = write_rare_numbers(column)
    theirs = columns.RefBytesColumn().reader(BufferFile(content), 0, len(content), len(numbers))
    assert np.array_equal(read_rare_numbers(content, len(numbers)), column, equal_nan=True)
    assert [struct.unpack("!d", value)[0] if value else None for value in theirs] == numbers


@given(st.dictionaries(st.binary(max_size=12), st.binary(max_size=12), max_size=300))
def test_terms_are_found_by_us_and_by_whoosh(terms: dict[bytes, bytes]) -> None:
    names = sorted(terms)
    content = write_terms({"name": 0, "id": 1}, [term_key(0, name) for name in names], [terms[n] for n in names])
    ours = TermFile(content)
    theirs = OrderedHashReader(BufferFile(content), len(content))
    assert {name: ours.info("name", name) for name in names} == terms
    assert {name: theirs[term_key(0, name)] for name in names} == terms
    assert list(ours.vocabulary("name")) == [(name, terms[name]) for name in names]
    assert [key for key, _ in theirs.items_from(term_key(0, b""))] == [term_key(0, name) for name in names]
    assert ours.info("id", b"x") is None
    assert ours.info("no such field", b"x") is None


def test_terms_are_listed_from_any_on_however_many_there_are() -> None:
    names = [b"%05d" % number for number in range(0, 3000, 2)]
    keys = [term_key(field, name) for field in (0, 1) for name in names]
    ours = TermFile(write_terms({"name": 0, "id": 1}, keys, [key[1:] for key in keys]))
    for start in range(0, 3001, 127):
        later = [name for name in names if name >= b"%05d" % start]
        assert [name for name, _ in ours.vocabulary("name", b"%05d" % start)] == later
        assert [info for _, info in ours.vocabulary("id", b"%05d" % start)] == [b"\1" + name for name in later]


def test_a_term_that_is_not_there_is_hardly_ever_looked_for() -> None:
    names = [b"%05d" % number for number in range(2000)]
    file = CountingBytes(write_terms({"name": 0}, [term_key(0, name) for name in names], names))
    terms = TermFile(file)
    assert terms.info("name", b"00007") == b"00007"
    before = file.reads
    assert not any(terms.info("name", b"missing %d" % number) for number in range(1000))
    assert file.reads - before < 250


class CountingBytes:
    """Bytes that count how often they are read."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.reads = 0

    def __len__(self) -> int:
        return len(self._content)

    def __getitem__(self, part: slice) -> bytes:
        self.reads += 1
        return self._content[part]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=200))
def test_occurrences_become_postings(occurrences: list[tuple[int, int]]) -> None:
    terms = [b"t%02d" % number for number in range(31)]
    ids = np.array([term for term, _ in occurrences], np.int64)
    docs = np.array([doc for _, doc in occurrences], np.int64)
    names, starts, found, frequencies = group_postings(terms, ids, docs, 10)
    postings = {
        name: list(zip(found[begin:end].tolist(), frequencies[begin:end].tolist(), strict=True))
        for name, begin, end in zip(names, starts[:-1], starts[1:], strict=True)
    }
    expected: dict[bytes, dict[int, int]] = {}
    for term, doc in occurrences:
        counted = expected.setdefault(terms[term], {})
        counted[doc] = counted.get(doc, 0) + 1
    assert names == sorted(expected)
    assert postings == {name: sorted(counted.items()) for name, counted in expected.items()}


@given(st.lists(st.tuples(st.integers(1, 100_000), st.integers(1, 400)), min_size=1, max_size=50))
def test_postings_come_back_whatever_the_gaps_and_frequencies(steps: list[tuple[int, int]]) -> None:
    docs = np.cumsum([step for step, _ in steps])
    weights = np.array([weight for _, weight in steps])
    field = InvertedField([b"term"], np.array([0, len(steps)]), docs, weights)
    infos, blocks = write_postings(field, 7)
    read_docs, read_weights = read_postings(infos[0], b"\0" * 7 + b"".join(blocks))
    assert read_docs.tolist() == docs.tolist()
    assert read_weights.tolist() == weights.tolist()


@pytest.mark.parametrize("last", [0x480, 0x0480_0001, 0x1_0480])
def test_numbers_that_look_like_the_start_of_a_pickle_come_back(last: int) -> None:
    """1152 documents, or a last document 1152, are stored as the two bytes with which every pickle begins."""
    docs = np.append(np.arange(0x480 - 1), last)
    weights = np.ones(len(docs), np.int64)
    infos, blocks = write_postings(InvertedField([b"term"], np.array([0, len(docs)]), docs, weights), 0)
    read_docs, _ = read_postings(infos[0], b"".join(blocks))
    assert read_docs.tolist() == docs.tolist()


def test_a_file_that_is_no_posting_list_is_refused(tmp_path: Path) -> None:
    field = InvertedField([b"term"], np.array([0, 2]), np.array([1, 2]), np.array([1, 1]))
    infos, _ = write_postings(field, 0)
    with pytest.raises(ValueError, match="mark"):
        read_postings(infos[0], b"\0" * 100)

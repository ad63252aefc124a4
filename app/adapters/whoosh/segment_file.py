"""One segment as one file: Whoosh's compound format, written in one go from an inverted segment."""

from __future__ import annotations

import os
import pickle
import secrets
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from whoosh.codec.whoosh3 import W3Codec, W3Segment

from app.adapters.whoosh.column_files import write_numbers, write_rare_numbers, write_texts, write_values
from app.adapters.whoosh.inverted import Inverted
from app.adapters.whoosh.postings import write_postings
from app.adapters.whoosh.schema import INDEXED_FIELDS, NUMBER_PREFIX, RARE_NUMBER_PREFIX, VALUES_PREFIX, VECTORS_COLUMN
from app.adapters.whoosh.term_file import term_key, write_terms
from app.adapters.whoosh.vectors import write_vectors

INDEX_NAME = "MAIN"
_START = struct.Struct("!qi")
_ALIGNMENT = 8

# A number is rare in a segment when fewer than one in so many documents have it.
RARE = 4


def length_column(field: str) -> str:
    return f"_{field}_len"


def column_file(segment: W3Segment, column: str) -> str:
    name: str = W3Codec.column_filename(segment, column)
    return name


def segment_name(segment: W3Segment) -> str:
    """Return the name of the file of a segment."""
    name: str = segment.make_filename(W3Segment.COMPOUND_EXT)
    return name


def write_segment(directory: Path, inverted: Inverted) -> W3Segment:
    """Write and fsync the file of a segment, and return the segment, which becomes visible with the table of
    contents."""
    segment = W3Segment(W3Codec(), INDEX_NAME, doccount=inverted.count, segid=secrets.token_hex(8))
    segment.compound = True
    segment._fieldlengths = {name: field.total_length for name, field in inverted.fields.items() if field.total_length}
    segment.analysis = inverted.analysis  # Kept in the table of contents, as all of a segment but its file.
    with open(directory / segment_name(segment), "xb") as file:
        file.write(_START.pack(0, 0))
        entries = {}
        for name, content in _files(segment, inverted):
            file.write(b"\0" * (-file.tell() % _ALIGNMENT))
            entries[name] = {"offset": file.tell(), "length": len(content), "modified": int(time.time())}
            file.write(content)
        start = file.tell()
        file.write(pickle.dumps(entries, 4) + pickle.dumps({}, 4))
        end = file.tell()
        file.seek(0)
        file.write(_START.pack(start, end - start))
        file.flush()
        os.fsync(file.fileno())
    return segment


def _files(segment: W3Segment, inverted: Inverted) -> Iterator[tuple[str, bytes]]:
    terms, postings = _term_files(inverted)
    yield str(segment.make_filename(W3Codec.TERMS_EXT)), terms
    yield str(segment.make_filename(W3Codec.POSTS_EXT)), postings
    for name, field in inverted.fields.items():
        if field.lengths is not None:
            yield column_file(segment, length_column(name)), field.lengths.tobytes()
    for name, values in inverted.values.items():
        yield column_file(segment, VALUES_PREFIX + name), write_values(values)
    for name, numbers in inverted.numbers.items():
        rare = RARE * np.count_nonzero(~np.isnan(numbers)) < len(numbers)
        prefix, write = (RARE_NUMBER_PREFIX, write_rare_numbers) if rare else (NUMBER_PREFIX, write_numbers)
        yield column_file(segment, prefix + name), write(numbers)
    for name, texts in inverted.texts.items():
        yield column_file(segment, name), write_texts(texts)
    if inverted.vectors is not None:
        yield column_file(segment, VECTORS_COLUMN), write_vectors(inverted.vectors)
    # Whoosh reads stored fields from every segment, empty here: ours are columns that need no decompression.
    yield column_file(segment, "_stored"), write_texts([b""] * inverted.count)


def _term_files(inverted: Inverted) -> tuple[bytes, bytes]:
    numbers = {name: number for number, name in enumerate(INDEXED_FIELDS)}
    keys: list[bytes] = []
    infos: list[bytes] = []
    blocks: list[bytes] = []
    offset = 0
    for name, number in numbers.items():
        field = inverted.fields[name]
        keys.extend(term_key(number, term) for term in field.terms)
        field_infos, field_blocks = write_postings(field, offset)
        infos.extend(field_infos)
        blocks.extend(field_blocks)
        offset += sum(map(len, field_blocks))
    return write_terms(numbers, keys, infos), b"".join(blocks)

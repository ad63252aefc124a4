"""Reading files strictly, and finding the line of what is wrong."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.bundles.archive import open_bundle
from app.domain.bundles.reading import LONGEST_LINE, Document, lines_by_pointer, read_rows
from app.domain.bundles.report import BrokenBundle
from app.domain.shared.schema import token

sound = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)
content = st.recursive(
    st.none() | st.booleans() | st.integers() | sound,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(sound, inner, max_size=4),
    max_leaves=20,
)


def pointers(value: Any, at: str = "#") -> list[str]:
    found = [at]
    if isinstance(value, list):
        for index, item in enumerate(value):
            found += pointers(item, f"{at}/{index}")
    elif isinstance(value, dict):
        for name, item in value.items():
            found += pointers(item, f"{at}/{token(name)}")
    return found


@given(content)
def test_every_part_of_a_document_has_the_line_on_which_it_begins(value: Any):
    text = json.dumps(value, indent=2)
    lines = lines_by_pointer(text)
    assert set(lines) == set(pointers(value))
    in_order = [lines[pointer] for pointer in pointers(value)]
    assert in_order == sorted(in_order)
    assert max(in_order) <= text.count("\n") + 1


def test_a_missing_part_has_the_line_of_what_should_hold_it():
    document = Document("site.json", '{\n "domains": [\n  {"primary": true}\n ]\n}')
    assert document.line_of("#/domains/0/host") == 3
    assert document.line_of("#/name") == 1


def rows_of(folder: Path, raw: bytes, name: str = "products.jsonl") -> list[int]:
    (folder / name).write_bytes(raw)
    with open_bundle(folder) as bundle:
        return [row.line for row in read_rows(bundle, name)]


def test_blank_lines_and_a_byte_order_mark_are_passed_over(tmp_path: Path):
    assert rows_of(tmp_path, b'\xef\xbb\xbf{"a": 1}\n\n  \n{"a": 2}') == [1, 4]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"{", "valid JSON"),
        (b"[1]", "JSON object"),
        (b'{"price": NaN}', "NaN"),
        (b'{"price": 1e999}', "too large"),
        (b'{"sku": "a", "sku": "b"}', "twice"),
        (b'{"name": "\\ud800"}', "surrogate"),
        (b'{"name": "a\\u0000b"}', "NUL"),
        (b'{"name": "\xff"}', "utf-8"),
        (b'{"price": ' + b"9" * 5_000 + b"}", "too large"),
        (b'{"a":' + b"[" * 70 + b"]" * 70 + b"}", "deep"),
        (b"[" * 100_000, "deep"),
        (b'{"name": "' + b"x" * LONGEST_LINE + b'"}', "longer"),
    ],
)
def test_a_line_that_is_no_sound_json_breaks_the_file_and_is_named(tmp_path: Path, raw: bytes, words: str):
    with pytest.raises(BrokenBundle) as broken:
        rows_of(tmp_path, b'{"sku": "a"}\n' + raw + b"\n")
    assert broken.value.problems[0].pointer == "products.jsonl:2"
    assert words in broken.value.message


def test_a_gzipped_file_that_is_cut_off_is_broken(tmp_path: Path):
    whole = gzip.compress(b'{"sku": "a"}\n' * 5_000)
    with pytest.raises(BrokenBundle, match=r"products\.jsonl\.gz"):
        rows_of(tmp_path, whole[:-20], "products.jsonl.gz")


def test_a_gzipped_file_that_swells_without_measure_is_refused(tmp_path: Path):
    bomb = gzip.compress((b" " * 9_999 + b"\n") * 1_700)
    assert len(bomb) < 100_000
    with pytest.raises(BrokenBundle, match="unpacks to over"):
        rows_of(tmp_path, bomb, "products.jsonl.gz")

"""What is too much is refused while it is unpacked: nothing of it is read, nothing is written."""

from __future__ import annotations

import gzip
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from app.domain.bundles import reading
from app.domain.bundles.archive import open_bundle
from app.domain.bundles.importer import import_bundle
from app.domain.bundles.report import BrokenBundle
from app.domain.catalogue.models import Product
from app.domain.shared import strict_json
from app.domain.sites.models import Site
from app.ports import clock, images
from app.transaction import transaction
from tests.domain.bundles.conftest import HOST, count

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], str]:
    """Why an import is refused, without a single row or document of it having been read."""

    def unread(*_args: object) -> None:
        raise AssertionError("a row was read")

    monkeypatch.setattr(strict_json, "loads", unread)

    def take(path: Path) -> str:
        with pytest.raises(BrokenBundle) as refusal:
            import_bundle(path, HOST, clock(), images(), transaction, "Mia", 8)
        assert (count(Site), count(Product)) == (0, 0)
        return refusal.value.problems[0].message

    return take


def zipped(path: Path, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name.replace("__", "."), content)
    return path


def rows(number: int) -> bytes:
    """Such as a zip of two megabytes holds hundreds of thousands of."""
    chosen = random.Random(7)
    return b"".join(b'{"sku": "%06d", "name": "x"}\n' % chosen.randrange(10**6) for _ in range(number))


def test_countless_rows_are_refused(tmp_path: Path, refused: Callable[[Path], str]) -> None:
    few = rows(10_000)
    path = zipped(tmp_path / "a.zip", products__jsonl=few * 21)
    assert path.stat().st_size < 2_000_000
    assert refused(path) == (
        "products.jsonl: A bundle has at most 200,000 rows, in all its files together. Import it in parts."
    )


def test_rows_count_over_all_files(tmp_path: Path, refused: Callable[[Path], str], monkeypatch) -> None:
    monkeypatch.setattr(reading, "MOST_ROWS", 10)
    path = zipped(tmp_path / "a.zip", products__jsonl=rows(6), pages__jsonl=rows(6))
    assert refused(path).startswith("pages.jsonl: A bundle has at most 10 rows")


def test_blank_lines_are_rows_too(tmp_path: Path, refused: Callable[[Path], str]) -> None:
    assert "200,000 rows" in refused(zipped(tmp_path / "a.zip", products__jsonl=b"\n" * 2**20))


def test_data_that_takes_too_much_is_refused(tmp_path: Path, refused: Callable[[Path], str], monkeypatch) -> None:
    monkeypatch.setattr(reading, "LARGEST_DATA", 3 * 1024**2)
    long_lines = (b'{"sku": "%s"}\n' % (b"x" * 900_000)) * 2
    path = zipped(tmp_path / "a.zip", products__jsonl=long_lines, collections__jsonl=long_lines)
    assert refused(path).startswith("collections.jsonl: A bundle has at most 3 MB of data, unpacked")


def test_values_beyond_measure_are_refused(tmp_path: Path, refused: Callable[[Path], str], monkeypatch) -> None:
    monkeypatch.setattr(reading, "MOST_VALUES", 100_000)
    (tmp_path / "rules.json").write_bytes(b"[" + b"[]," * 60_000 + b"[]]")
    assert refused(tmp_path).startswith("rules.json: A bundle has at most 100,000 values")


def test_a_gzipped_file_counts_as_it_is_unpacked(tmp_path: Path, refused: Callable[[Path], str], monkeypatch) -> None:
    monkeypatch.setattr(reading, "MOST_ROWS", 1_000)
    (tmp_path / "products.jsonl.gz").write_bytes(gzip.compress(rows(1_001)))
    assert refused(tmp_path).startswith("products.jsonl.gz: A bundle has at most 1,000 rows")


@pytest.mark.parametrize("claimed", [0, 1, 5_000])
def test_an_archive_that_claims_less_than_it_holds_is_refused(
    tmp_path: Path, refused: Callable[[Path], str], claimed: int
) -> None:
    path = zipped(tmp_path / "a.zip", products__jsonl=b"\n" * 2**24)
    raw = bytearray(path.read_bytes())
    struct.pack_into("<I", raw, raw.rindex(b"PK\x01\x02") + 24, claimed)  # Size, in the entry of the directory.
    path.write_bytes(raw)
    assert refused(path).startswith("products.jsonl: The file cannot be read")


def test_a_document_of_countless_items_is_refused_before_they_take_memory(tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_bytes(b"[" + b"[]," * 700_000 + b"[]]")
    with pytest.raises(BrokenBundle, match="too many items"):
        import_bundle(tmp_path, HOST, clock(), images(), transaction, "Mia", 8)


def test_a_bundle_at_the_limit_is_taken(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(reading, "MOST_ROWS", 1_000)
    path = zipped(tmp_path / "a.zip", products__jsonl=rows(1_000))
    with open_bundle(path) as bundle:
        reading.check_size(bundle, ["products.jsonl"])

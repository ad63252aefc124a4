"""Files of others that are served with the pages are exactly the released ones, with their licence beside."""

import hashlib
import importlib.util
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from tests.surroundings import ROOT

VENDOR = ROOT / "app" / "static" / "vendor"
LISTED = dict(reversed(line.split("  ")) for line in (VENDOR / "SHA256SUMS").read_text().splitlines())


def test_every_vendored_file_is_listed_and_unchanged() -> None:
    found = {
        file.relative_to(VENDOR).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in VENDOR.rglob("*")
        if file.is_file() and file.name != "SHA256SUMS"
    }
    assert found == LISTED


def test_every_vendored_program_carries_its_version_and_its_licence() -> None:
    for name in LISTED:
        assert re.search(r"-\d+\.\d+\.\d+", name), f"{name} does not say its version"
        versioned = re.match(r".*?-\d+\.\d+\.\d+", name).group()
        assert f"{versioned}.LICENSE.txt" in LISTED, f"{name} has no licence beside it"


@pytest.fixture(scope="module")
def vendor() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vendor", ROOT / "tools" / "vendor.py")
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_the_table_names_every_vendored_file_and_no_other(vendor: ModuleType) -> None:
    assert list(vendor.differences(VENDOR, vendor.read_table(ROOT))) == []


def test_files_that_are_missing_changed_or_of_no_package_are_named(vendor: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "vendor"
    shutil.copytree(VENDOR, folder)
    (folder / "idb-8.0.4.js").unlink()
    (folder / "chart-1.2.3.js").write_text("")
    (folder / "htmx-4.0.1.min.js").write_text("")
    assert list(vendor.differences(folder, vendor.read_table(ROOT))) == [
        "idb-8.0.4.js is in the table, but not in the folder.",
        "chart-1.2.3.js is in the folder, but not in the table.",
        "chart-1.2.3.js is not the one that SHA256SUMS lists.",
        "htmx-4.0.1.min.js is not the one that SHA256SUMS lists.",
        "idb-8.0.4.js is listed, but not in the folder.",
    ]


def test_a_package_with_another_digest_is_refused(vendor: ModuleType, tmp_path: Path) -> None:
    package = vendor.read_table(ROOT)[0]._replace(integrity="sha512-another")
    (tmp_path / "made-1.0.0.tgz").write_bytes(b"")
    with pytest.raises(vendor.VendorError, match=r"htmx\.org .* is not what the table names"):
        vendor.unpack(package, tmp_path / "made-1.0.0.tgz", "LICENSE")

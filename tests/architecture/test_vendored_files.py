"""Files of others that are served with the pages are exactly the released ones, with their licence beside."""

import hashlib
import re

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

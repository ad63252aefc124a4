"""What a test or a benchmark finds on this machine or does without. The benchmarks' environment has no pytest, which
takes these two exceptions of the standard library for a skip and a failure."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn
from unittest import SkipTest

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"


def missing(what: str) -> NoReturn:
    """Skips; fails where everything must be there (SHOP_TESTS_REQUIRE_ALL=1)."""
    if os.environ.get("SHOP_TESTS_REQUIRE_ALL") == "1":
        raise AssertionError(f"{what}, and SHOP_TESTS_REQUIRE_ALL is set")
    raise SkipTest(what)


def real_bundle(name: str) -> Path:
    """The folder of a real shop's bundle: `icecat-3` or `fashion`."""
    bundle = DATA / "bundles" / name
    if not bundle.is_dir():
        missing(f"the bundle {name} is not beside the repository")
    return bundle


def relevance_data() -> Path:
    """The folder with real queries and rated answers to them."""
    folder = DATA / "relevance"
    if not folder.is_dir():
        missing("the real queries are not beside the repository")
    return folder


def google_taxonomy() -> Path:
    """Google's tree of products: one level a line, indented, with numbers before the last `|` and its name behind."""
    for found in sorted((DATA / "google-taxonomy").glob("*.txt")):
        return found
    missing("Google's product taxonomy is not beside the repository")


def postgresql_programs() -> Path:
    """The folder with initdb and postgres."""
    for folder in sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True):
        if os.access(f"{folder}/initdb", os.X_OK):
            return Path(folder)
    if found := shutil.which("initdb"):
        return Path(found).parent
    missing("PostgreSQL is not installed (on Debian: apt install postgresql)")


def stripe_mock() -> Path:
    """The folder of Stripe's mock server. Nothing else here needs Go, so its tests are skipped where it is not built,
    also where everything else must be there."""
    found = subprocess.run([ROOT / "tools" / "stripe-mock", "--where"], capture_output=True, text=True, check=True)
    folder = Path(found.stdout.strip())
    if not (folder / "stripe-mock").exists():
        raise SkipTest("Stripe's mock server is not built (tools/stripe-mock builds it, where there is Go)")
    return folder


def chromium() -> str:
    """The headless shell where there is one: it starts a third of the processes."""
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    missing("no Chromium is installed (on Debian: apt install chromium-headless-shell)")

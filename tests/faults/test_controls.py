"""Whether the tests can see what they are for: each of its controls is taken out of a copy of the shop, and its
tests must fail there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.controls import CONTROLS, Control
from tests.surroundings import ROOT

COPIED = ("app", "migrations", "tests", "bench", "tools", "docs")
FAILED = 1  # What pytest ends with: tests were run, and some failed.


@pytest.fixture(scope="module")
def copy_of_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("controls") / "shop"
    folder.mkdir()
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, symlinks=True)
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    return folder


@contextmanager
def without(control: Control, root: Path) -> Iterator[None]:
    file = root / "app" / control.file
    whole = file.read_text()
    file.write_text(whole.replace(control.code, control.without))
    try:
        yield
    finally:
        file.write_text(whole)


def run(tests: list[str], root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *(f"tests/{one}" for one in tests)]
    environment = os.environ | {"PYTHONPATH": str(root), "SHOP_TEST_DATABASE": "sqlite"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_what_takes_a_control_away_fits_the_code(control: Control) -> None:
    assert (ROOT / "app" / control.file).read_text().count(control.code) == 1
    assert all((ROOT / "tests" / name).is_file() for name in control.tests.split())


@pytest.mark.torture
@pytest.mark.timeout(1800)
def test_with_all_controls_the_tests_pass(copy_of_shop: Path) -> None:
    done = run(sorted({name for control in CONTROLS for name in control.tests.split()}), copy_of_shop)
    assert done.returncode == 0, done.stdout[-4_000:]


@pytest.mark.torture
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_without_a_control_its_tests_fail(copy_of_shop: Path, control: Control) -> None:
    with without(control, copy_of_shop):
        done = run(control.tests.split(), copy_of_shop)
    assert done.returncode == FAILED and re.search(r"\d+ failed", done.stdout), done.stdout[-4_000:]

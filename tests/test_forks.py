"""Every fork of the tests has the application loaded, whichever test is the first to start one."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.forks import fork
from tests.surroundings import ROOT


def test_a_fork_has_loaded_the_application(tmp_path: Path) -> None:
    output = tmp_path / "output.txt"
    output.touch()
    process = fork(_is_loaded, folder=tmp_path, environment={}, output=output, errors=tmp_path / "errors.txt")
    process.join(60)
    assert process.exitcode == 0


def _is_loaded() -> int:
    return 0 if "tests.loaded" in sys.modules else 1


def test_nobody_else_starts_the_server_of_forks() -> None:
    """It serves all tests of a process: started without the application, it makes each fork take a second more."""
    naming = {path.name for path in (ROOT / "tests").rglob("*.py") if "forkserver" in path.read_text()}
    assert naming == {"forks.py", Path(__file__).name}

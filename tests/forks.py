"""Processes forked from one that has loaded the application already: seconds saved for each, which many tests make
minutes. Otherwise a fork is a process like those that the shop starts: with a folder, an environment and outputs."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.surroundings import ROOT


def fork(
    function: Callable[..., int | None],
    *arguments: object,
    folder: Path,
    environment: Mapping[str, str],
    output: Path,
    errors: Path,
) -> BaseProcess:
    """A process that calls `function` in `folder` and ends with what it returns; what it prints is added to files."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.loaded"])
    become = (function, arguments, folder, dict(environment), output, errors)
    with _importable():
        process = context.Process(target=_become, args=become)
        process.start()
    return process


@contextmanager
def _importable() -> Iterator[None]:
    """The server of forks is started with the first of them and finds the tests by this."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT)
    yield
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


def _become(
    function: Callable[..., int | None],
    arguments: tuple[object, ...],
    folder: Path,
    environment: dict[str, str],
    output: Path,
    errors: Path,
) -> None:
    """Runs in the fork."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for path, number in ((output, 1), (errors, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), number)
    sys.exit(function(*arguments))

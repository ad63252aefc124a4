"""Processes forked from one that has loaded the application already: seconds saved for each, which many tests make
minutes. Otherwise a fork is a process like those that the shop starts: with a folder, an environment and outputs."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
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
    become = (function, arguments, folder, dict(environment), output, errors)
    process = loaded_context().Process(target=_become, args=become)
    process.start()
    return process


def loaded_context() -> ForkServerContext:
    """The one way to the server of forks: it serves all tests of this process, and who starts it decides what is
    loaded in every fork. A test that starts it without the application makes each fork import that anew."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.loaded"])
    with _importable():
        forkserver.ensure_running()
    return context


@contextmanager
def _importable() -> Iterator[None]:
    """The server of forks finds the tests by this when it is started."""
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

"""A backup or a restore in a process that is killed, or interrupted, at its nth step that the disk sees."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from tests.operations.backups.installation import Installation

STEPS = ("fsync", "rename", "replace", "link", "unlink", "mkdir", "rmdir")
ALL_STEPS_DONE = 3


def act(deed: str, folder: str, path: str, step: int) -> None:
    installation = Installation(Path(folder))
    _count_steps(step, _killed)
    if deed == "back up":
        installation.back_up(Path(path), minutes=step)
    else:
        installation.restore(Path(path), minutes=60 + step)


def interrupt(folder: str, path: str, step: int) -> None:
    """As by Ctrl-C, which comes right after the step."""
    installation = Installation(Path(folder))
    _count_steps(step, _interrupted)
    with suppress(KeyboardInterrupt):
        installation.restore(Path(path), minutes=60 + step)
        os._exit(ALL_STEPS_DONE)


def _killed(_call: Callable[[], Any]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _interrupted(call: Callable[[], Any]) -> None:
    with suppress(OSError):
        call()
    raise KeyboardInterrupt


def _count_steps(step: int, end: Callable[[Callable[[], Any]], None]) -> None:
    steps = count(1)

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any, **more: Any) -> Any:
            if next(steps) == step:
                end(partial(call, *arguments, **more))
            return call(*arguments, **more)

        return counting

    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))

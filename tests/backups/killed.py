"""A backup or a restore in a process that is killed at its nth step that the disk sees."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from tests.backups.installation import Installation

STEPS = ("fsync", "rename", "replace", "link", "unlink", "mkdir", "rmdir")


def act(deed: str, folder: str, path: str, step: int) -> None:
    installation = Installation(Path(folder))
    _kill_at(step)
    if deed == "back up":
        installation.back_up(Path(path), minutes=step)
    else:
        installation.restore(Path(path), minutes=60 + step)


def _kill_at(step: int) -> None:
    steps = count(1)

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any, **more: Any) -> Any:
            if next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **more)

        return counting

    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))

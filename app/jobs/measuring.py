"""The sizes of the shop's folders, measured every hour: a walk over a million files takes too long for a request."""

from __future__ import annotations

import os
from pathlib import Path

from flask import current_app

from app.config import Config
from app.ports import clock

SECONDS = 60.0  # For each folder.
Size = dict[str, int | None]


def measure(seconds: float = SECONDS) -> dict[str, Size]:
    """Return bytes and files by folder, both None where it cannot be read, or not in time. The folder of the database
    is left out: the database reports its own size, and the folder may hold all the others."""
    config: Config = current_app.config["SHOP"]
    folders = {name: folder for name, folder in config.data_folders.items() if name != "database"}
    return {name: _size(folder, seconds) for name, folder in folders.items()}


def folder_size(folder: Path, seconds: float = SECONDS) -> Size:
    """Return the bytes and the number of files in a folder. Links are not followed; what is removed meanwhile is passed
    over. Raises OSError, and TimeoutError after `seconds`."""
    size = files = 0
    waiting, until = [os.fspath(folder)], clock().monotonic() + seconds
    while waiting:
        if clock().monotonic() > until:
            raise TimeoutError
        try:
            entries = os.scandir(waiting.pop())
        except FileNotFoundError:
            continue
        with entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    files += 1
                    size += _bytes(entry)
    return {"bytes": size, "files": files}


def _bytes(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0


def _size(folder: Path, seconds: float) -> Size:
    try:
        return folder_size(folder, seconds)
    except OSError:  # A TimeoutError is one.
        return {"bytes": None, "files": None}

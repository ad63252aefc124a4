"""The identity of a machine: a file in its instance folder. A machine is what shares that folder, whichever host it is
mounted on, so a folder that was moved or restored elsewhere is still the same machine."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO


class MachineFile:
    """The file that names a machine: its id, and the file's own number on its disk, by which a copy shows. It is read
    each time, since a copy gets another id when its machine starts."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def id(self) -> str:
        """The id of this machine, made at first; empty where the disk takes no file, as a full one."""
        with suppress(OSError):
            if known := self._read():
                return known[0]
            with self._locked() as file:
                return _read(file)[0] or self._write(file, token_hex(6))
        return ""

    def settle(self, is_taken: Callable[[str], bool]) -> None:
        """Note that the file lies where it does now. Where it was moved or copied, `is_taken` says whether another
        machine still runs under its id; then this one gets its own. Raises OSError."""
        with self._locked() as file:
            machine_id, place = _read(file)
            if machine_id and place != _place_of(file):
                self._write(file, token_hex(6) if is_taken(machine_id) else machine_id)

    def _read(self) -> list[str]:
        try:
            return self._path.read_text().split()
        except FileNotFoundError:
            return []

    @contextmanager
    def _locked(self) -> Iterator[IO[str]]:
        """Open the file for this process alone. It is written in place: a new file would have another number."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file

    def _write(self, file: IO[str], machine_id: str) -> str:
        file.seek(0)
        file.truncate()
        file.write(f"{machine_id}\n{_place_of(file)}\n")
        file.flush()
        os.fsync(file.fileno())
        return machine_id


def _read(file: IO[str]) -> tuple[str, str]:
    """Return the id and the place that a file names, empty where a power cut left it without."""
    file.seek(0)
    machine_id, place, *_ = [*file.read().split(), "", ""]
    return machine_id, place


def _place_of(file: IO[str]) -> str:
    return str(os.fstat(file.fileno()).st_ino)

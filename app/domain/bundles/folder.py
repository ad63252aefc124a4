"""The folder of bundles that were uploaded, or exported to be downloaded: names are the shop's own, and nothing stays
for long."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import IO

from app.domain.shared.problems import Invalid, NotFound

LARGEST_UPLOAD = 512 * 1024**2  # Bytes; larger files are imported by the command.
CHUNK = 1024**2
FILE = re.compile(r"[0-9a-f]{32}[.](?:zip|csv)", re.ASCII)
GONE = "This file has expired. Files are kept for one day."


class BundleFolder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def new_name(self, kind: str = "zip") -> str:
        return f"{token_hex(16)}.{kind}"

    def path(self, name: str) -> Path:
        """Return the path of a file that exists or will. Raises NotFound for a name that `new_name` does not make."""
        if not FILE.fullmatch(name):
            raise NotFound(GONE)
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / name

    def existing(self, name: str | None) -> Path:
        """Return the path of a file that exists. Raises NotFound."""
        path = self.path(name or "")
        if not path.is_file():
            raise NotFound(GONE)
        return path

    def receive(self, stream: IO[bytes], kind: str = "zip", most_lines: int | None = None) -> str:
        """Store an upload and return its name. Raises Invalid for an empty or a too large one, and one of more lines
        than `most_lines`, which are counted before anything reads them."""
        name = self.new_name(kind)
        path, size, lines = self.path(name), 0, 0
        try:
            with path.open("xb") as out:
                while chunk := stream.read(CHUNK):
                    size += len(chunk)
                    if size > LARGEST_UPLOAD:
                        raise Invalid.one("too_large", f"A file has at most {LARGEST_UPLOAD // CHUNK} MB.", "#/bundle")
                    if most_lines is not None and (lines := lines + chunk.count(b"\n")) > most_lines:
                        message = f"A table has at most {most_lines:,} lines, blank ones included. Import it in parts."
                        raise Invalid.one("too_many_lines", message, "#/bundle")
                    out.write(chunk)
            if not size:
                raise Invalid.one("required", f"Choose a .{kind} file first.", "#/bundle")
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return name

    @contextmanager
    def received(self, stream: IO[bytes], kind: str = "zip", most_lines: int | None = None) -> Iterator[str]:
        """Store an upload and yield its name for a request in the block; it is removed where the block raises anything,
        since no run is stored then, save where the database went away in the moment of the commit. Raises Invalid."""
        name = self.receive(stream, kind, most_lines)
        try:
            yield name
        except BaseException:
            self.drop(name)
            raise

    def drop(self, name: str) -> None:
        self.path(name).unlink(missing_ok=True)

    def sweep(self, kept: Collection[str], ended: Collection[str], written_before: float) -> int:
        """Remove the files that are not in `kept` and are either in `ended` or were written before a moment (seconds
        since 1970), and return their number."""
        if not self._folder.is_dir():
            return 0
        old = [
            entry.path
            for entry in os.scandir(self._folder)
            if entry.name not in kept
            and entry.is_file()
            and (entry.name in ended or entry.stat().st_mtime < written_before)
        ]
        for path in old:
            Path(path).unlink(missing_ok=True)
        return len(old)

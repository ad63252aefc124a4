"""Power cuts, by replay: what a process does to the shop's folder is recorded by strace, and for a point of the record
the folder is made anew as a disk may hold it that lost what was not fsynced.

The model: a file's content and a folder's entries are durable once the file, or that folder, was fsynced. Of the rest
a disk keeps what it likes, and of a write perhaps the first half; a rename is one step.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

CALLS = (
    "openat,lseek,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,"
    "rmdir,symlink,symlinkat"
)
UNMODELLED = "open,creat,truncate,writev,pwritev,pwritev2,fallocate,copy_file_range,sendfile,link,linkat,msync"
# SQLite's memory, and the files of the tests.
NOT_REPLAYED = re.compile(r"shop\.db-shm|said-\d+\.txt|errors\.log|.*\.strace")
SAID = re.compile(r"said-\d+\.txt")

_LINE = re.compile(r"\d+ +(\w+)\((.*)\) += (-?\d+)")
_UNFINISHED = " <unfinished ...>"
_RESUMED = re.compile(r"\d+ +<\.\.\. \w+ resumed>")
_DESCRIPTOR = re.compile(r"(?:AT_FDCWD|(\d+))<([^>]*)>")
_TEXT = re.compile(r'"([^"]*)"')


def recording(log: Path) -> tuple[str, ...]:
    """Options of strace."""
    return "-y", "-xx", "-s", str(2**26), "-e", f"trace={CALLS},{UNMODELLED}", "-o", str(log)


@dataclass(eq=False)
class File:
    durable: bytes = b""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)  # Offset and content; None cuts there.

    def content(self, keep: Keep) -> bytes:
        content = bytearray(self.durable)
        for write in filter(None, map(keep, self.pending)):
            offset, written = write
            content.extend(b"\0" * (offset - len(content)))
            if written is None:
                del content[offset:]
            else:
                content[offset : offset + len(written)] = written
        return bytes(content)

    def sync(self) -> None:
        self.durable, self.pending = self.content(lambda write: write), []


@dataclass(eq=False)
class Folder:
    durable: dict[str, Node] = field(default_factory=dict)
    pending: list[Change] = field(default_factory=list)

    def entries(self, kept: Kept = list) -> dict[str, Node]:
        entries: dict[str, Node | None] = dict(self.durable)
        for change in kept(self.pending):
            entries |= change
        return {name: node for name, node in entries.items() if node is not None}

    def sync(self) -> None:
        self.durable, self.pending = self.entries(), []


Write = tuple[int, bytes | None]
Keep = Callable[[Write], Write | None]
Node = File | Folder | str  # The last a symbolic link.
Change = dict[str, Node | None]
Kept = Callable[[list[Change]], list[Change]]


class Call(NamedTuple):
    name: str
    arguments: str
    result: int

    @property
    def paths(self) -> list[str]:
        """Of the files that it names, relative ones to the folder that is named before."""
        base, paths = "", []
        for descriptor, text in re.findall(r'(?:AT_FDCWD|\d+)<([^>]*)>|"([^"]*)"', self.arguments):
            if descriptor:
                base = _decoded(descriptor).decode()
            else:
                paths.append(os.path.join(base, _decoded(text).decode()))
        return paths

    @property
    def descriptor(self) -> tuple[int, str]:
        found = _DESCRIPTOR.match(self.arguments)
        assert found and found[1], self.arguments
        return int(found[1]), _decoded(found[2]).decode()

    @property
    def content(self) -> bytes:
        found = _TEXT.search(self.arguments)
        assert found, self.arguments
        return _decoded(found[1])[: self.result]


def _decoded(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


class Disk:
    """The folder of a shop while a record of it is replayed."""

    def __init__(self, folder: Path) -> None:
        self.said = ""
        self._path = str(folder)
        self._root = _read_folder(folder)
        self._offsets: dict[int, int] = {}

    def replay(self, log: Path) -> Iterator[str]:
        """Names each call that changed something, once it is done."""
        for line in _whole_lines(log.read_text().splitlines()):
            found = _LINE.match(line)
            assert found or "+++" in line or "---" in line, line
            if found and int(found[3]) >= 0 and self._do(Call(found[1], found[2], int(found[3]))):
                yield found[1]

    def lay_out(self, folder: Path, kept: Kept, keep: Keep) -> None:
        _write_folder(self._root, folder, kept, keep)

    def _do(self, call: Call) -> bool:
        assert call.name not in UNMODELLED.split(","), f"the model knows no {call.name}"
        steps: dict[str, Callable[[Call], bool]] = {
            "openat": self._open,
            "lseek": self._seek,
            "write": self._write,
            "pwrite64": self._write,
            "ftruncate": self._cut,
            "fsync": self._sync,
            "fdatasync": self._sync,
        }
        return steps.get(call.name, self._change_entries)(call)

    def _open(self, call: Call) -> bool:
        path = call.paths[0]
        self._offsets[call.result] = 0
        folder, name = self._place(path)
        if folder is None or "O_CREAT" not in call.arguments:
            return False
        node = folder.entries().get(name)
        if node is None:
            folder.pending.append({name: File()})
        elif "O_TRUNC" in call.arguments and isinstance(node, File):
            node.pending.append((0, None))
        return node is None

    def _seek(self, call: Call) -> bool:
        self._offsets[call.descriptor[0]] = call.result
        return False

    def _write(self, call: Call) -> bool:
        number, path = call.descriptor
        if SAID.fullmatch(os.path.basename(path)):
            self.said += call.content.decode()
        file = self._node(path)
        if not isinstance(file, File):
            return False
        offset = self._offsets[number]
        if call.name == "pwrite64":
            offset = int(call.arguments.rsplit(", ", 1)[1])
        else:
            self._offsets[number] = offset + call.result
        file.pending.append((offset, call.content))
        return True

    def _cut(self, call: Call) -> bool:
        file = self._node(call.descriptor[1])
        if isinstance(file, File):
            size = int(call.arguments.rsplit(", ", 1)[1], 0)
            file.pending.append((size, None))
        return isinstance(file, File)

    def _sync(self, call: Call) -> bool:
        node = self._node(call.descriptor[1])
        if isinstance(node, File | Folder):
            node.sync()
        return node is not None

    def _change_entries(self, call: Call) -> bool:
        if call.name.startswith("symlink"):
            target = _decoded(call.arguments.split('"')[1]).decode()
            return self._enter(call.paths[-1], target)
        if call.name.startswith("mkdir"):
            return self._enter(call.paths[0], Folder())
        if call.name.startswith("rename"):
            return self._rename(*call.paths)
        return self._enter(call.paths[0], None)

    def _enter(self, path: str, node: Node | None) -> bool:
        folder, name = self._place(path)
        if folder is not None:
            folder.pending.append({name: node})
        return folder is not None

    def _rename(self, old: str, new: str) -> bool:
        (folder, name), (target, new_name) = self._place(old), self._place(new)
        assert folder is target, "the model knows no rename into another folder"
        if folder is not None:
            folder.pending.append({name: None, new_name: folder.entries()[name]})
        return folder is not None

    def _place(self, path: str) -> tuple[Folder | None, str]:
        """The folder in which a path is, None if that is not replayed, and its name there."""
        parent, name = os.path.split(path)
        folder = None if NOT_REPLAYED.fullmatch(name) else self._node(parent)
        return folder if isinstance(folder, Folder) else None, name

    def _node(self, path: str) -> Node | None:
        if path != self._path and not path.startswith(self._path + "/"):
            return None
        node: Node | None = self._root
        for name in Path(path).relative_to(self._path).parts:
            node = node.entries().get(name) if isinstance(node, Folder) else None
        return node


def _whole_lines(lines: Iterable[str]) -> Iterator[str]:
    """A call during which another thread did something stands in two lines."""
    begun: dict[str, str] = {}
    for line in lines:
        thread = line.split()[0]
        if line.endswith(_UNFINISHED):
            begun[thread] = line.removesuffix(_UNFINISHED)
        elif resumed := _RESUMED.match(line):
            yield begun.pop(thread) + line[resumed.end() :]
        else:
            yield line


def _read_folder(path: Path) -> Folder:
    return Folder({entry.name: _read(entry) for entry in path.iterdir() if not NOT_REPLAYED.fullmatch(entry.name)})


def _read(path: Path) -> Node:
    if path.is_symlink():
        return os.readlink(path)
    return _read_folder(path) if path.is_dir() else File(path.read_bytes())


def _write_folder(folder: Folder, path: Path, kept: Kept, keep: Keep) -> None:
    path.mkdir()
    for name, node in folder.entries(kept).items():
        if isinstance(node, Folder):
            _write_folder(node, path / name, kept, keep)
        elif isinstance(node, File):
            (path / name).write_bytes(node.content(keep))
        else:
            (path / name).symlink_to(node)


def nothing_is_kept(disk: Disk, folder: Path, _rng: random.Random) -> None:
    disk.lay_out(folder, lambda _changes: [], lambda _write: None)


def entries_are_kept(disk: Disk, folder: Path, _rng: random.Random) -> None:
    """But no content, by which files are empty or what they were."""
    disk.lay_out(folder, list, lambda _write: None)


def the_last_is_kept(disk: Disk, folder: Path, _rng: random.Random) -> None:
    """Of each folder's changes, which the disk did in another order; and the content of files."""
    disk.lay_out(folder, lambda changes: changes[-1:], lambda write: write)


def anything_is_kept(disk: Disk, folder: Path, rng: random.Random) -> None:
    def keep(write: Write) -> Write | None:
        offset, content = write
        luck = rng.random()
        return None if luck < 0.4 else (offset, content[: len(content) // 2]) if content and luck < 0.6 else write

    disk.lay_out(folder, lambda changes: [one for one in changes if rng.random() < 0.5], keep)

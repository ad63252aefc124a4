"""The folder of the generations of one index, and the locks by which processes share them.

    <directory>/<site>/<index>/gen-7-1f0c…/       a complete generation; one in the making ends in .tmp
                               current            a symbolic link to the live one, replaced in one step
                               pins/gen-7-1f0c…   held shared by every process that reads the generation
                               publish.lock       held while changes are applied or a generation is swapped in

All locks are flock: the kernel frees them when their process dies.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.domain.shared.durable_files import fsync_path

_NAME = re.compile(r"gen-(\d+)-[0-9a-f]+(\.tmp)?")


class HeldLock:
    """A flock that is held until released, or until the process dies."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    __del__ = release


class IndexFolder:
    """The folder of one index of one site."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._current = str(directory / "current")

    def create(self) -> None:
        """Create the folders durably: a rebuild that is done must not be lost with the folder of its index."""
        for folder in (self.directory.parent.parent, self.directory.parent, self.directory, self.directory / "pins"):
            if not folder.is_dir():
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                fsync_path(folder.parent)

    def current(self) -> str:
        """The name of the live generation. Raises FileNotFoundError where there is none."""
        return os.path.basename(os.readlink(self._current))

    def size(self) -> int | None:
        """The bytes of the live generation, a few dozen files; None where there is none, or it goes meanwhile."""
        try:
            with os.scandir(self.directory / self.current()) as entries:
                return sum(entry.stat().st_size for entry in entries if entry.is_file())
        except OSError:
            return None

    def is_live(self, generation: str) -> bool:
        """Whether the link leads to a generation. It is read each time: a swap that was interrupted may have happened
        all the same."""
        try:
            return self.current() == generation
        except FileNotFoundError:
            return False
        except OSError:
            return True  # A link that cannot be read may lead there; if not, the next build removes the generation.

    def next_generation(self) -> str:
        """Return a name that is never used again, not even after the folder was lost: readers tell states apart by
        it."""
        return f"gen-{max(self._numbers(), default=0) + 1}-{secrets.token_hex(4)}"

    def _numbers(self) -> list[int]:
        names = os.listdir(self.directory) + os.listdir(self.directory / "pins")
        return [int(found[1]) for name in names if (found := _NAME.fullmatch(name))]

    def publish(self, generation: str) -> None:
        """Point `current` at a generation, atomically and durably. Raises FileNotFoundError for a pruned one."""
        os.stat(self.directory / generation)
        aside = self.directory / "current.new"
        aside.unlink(missing_ok=True)
        aside.symlink_to(generation)
        os.replace(aside, self._current)
        fsync_path(self.directory)

    @contextmanager
    def reverting(self) -> Iterator[None]:
        """Publish the generation that is live now again where the block raises. Called within the publish lock. Where
        no readable one is live, what the block published stays."""
        try:
            before = self.current()
            pin = self.pin(before)  # Or it would be pruned by what takes its place.
        except OSError:
            yield
            return
        try:
            yield
        except BaseException:
            if not self.is_live(before):
                self.publish(before)
            raise
        finally:
            pin.release()
            with suppress(OSError):  # The next build clears up.
                self.prune()

    @contextmanager
    def publish_lock(self) -> Iterator[None]:
        self.create()
        lock = _take(self.directory / "publish.lock", fcntl.LOCK_EX)
        try:
            yield
        finally:
            lock.release()

    def pin(self, generation: str) -> HeldLock:
        """Keep a generation from being pruned. Raises FileNotFoundError when that has happened already."""
        path = self.directory / "pins" / generation
        lock = _try(path, fcntl.LOCK_SH)
        if lock is None or not path.exists() or not (self.directory / generation).is_dir():
            raise FileNotFoundError(f"{generation} is being removed")
        return lock

    def make_pin(self, generation: str) -> None:
        pins = self.directory / "pins"
        (pins / generation).touch(mode=0o600)
        fsync_path(pins)

    def prune(self) -> None:
        """Remove what other builders left or still make, and every generation that is neither live nor being read.
        Called within the publish lock, so that no generation is removed while it becomes the live one."""
        live = self.current() if os.path.islink(self._current) else None
        for name in {*os.listdir(self.directory), *self._orphaned_pins()}:
            found = _NAME.fullmatch(name)
            if found and name != live:
                self._remove(name)

    def _orphaned_pins(self) -> list[str]:
        """Pins whose generation is gone, but for the latest, which keeps the count of the generations."""
        latest = max(self._numbers(), default=0)
        orphans = [name for name in os.listdir(self.directory / "pins") if not (self.directory / name).is_dir()]
        return [name for name in orphans if (found := _NAME.fullmatch(name)) and int(found[1]) < latest]

    def _remove(self, name: str) -> None:
        pin = self.directory / "pins" / name
        lock = _try(pin, fcntl.LOCK_EX) if pin.exists() else None
        if pin.exists() and lock is None:
            return
        shutil.rmtree(self.directory / name, ignore_errors=True)
        pin.unlink(missing_ok=True)
        if lock is not None:
            lock.release()


def _take(path: Path, mode: int) -> HeldLock:
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, mode)
    return HeldLock(descriptor)


def _try(path: Path, mode: int) -> HeldLock | None:
    """Return a lock of an existing file, None where it is held. A shared one works on a disk that is mounted read-only,
    too."""
    descriptor = os.open(path, os.O_CLOEXEC | (os.O_RDONLY if mode == fcntl.LOCK_SH else os.O_RDWR))
    try:
        fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return HeldLock(descriptor)

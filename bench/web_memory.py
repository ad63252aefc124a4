"""Memory of the web processes of a running shop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path


def web_processes(supervisor: int) -> list[int]:
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    return [int(pid) for pid in children if b"app.web.server" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def growth(processes: Sequence[int], work: Callable[[], object], peak: bool = False) -> float:
    """Megabytes by which the one that grew most has grown after the work, or at its largest meanwhile."""
    for pid in processes:
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # The peak is counted from here.
    before = [_megabytes(pid, "VmRSS") for pid in processes]
    work()
    after = [_megabytes(pid, "VmHWM" if peak else "VmRSS") for pid in processes]
    return max(late - early for early, late in zip(before, after, strict=True))


def _megabytes(pid: int, name: str) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024

"""Which worker of xdist runs which test: files that start a whole shop, or something else that takes seconds, go as one
to one worker, the largest first; of all others a worker takes the next one when it is free, those that wait for
processes first, so that no worker is left alone with them at the end.

xdist's own groups, made by marks, are lost on the way under pytest 9.2, which keeps its ids elsewhere."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

TOGETHER = (
    "tests/adapters/test_stripe_mock.py",
    "tests/operations/backups/test_damaged_backups.py",
    "tests/operations/backups/test_killed.py",
    "tests/blueprints/v1/test_generated_client.py",
    "tests/demo/test_history.py",
    "tests/faults/test_controls.py",
    "tests/faults/test_machines_under_load.py",
    "tests/faults/test_postgresql.py",
    "tests/faults/test_search_nodes.py",
    "tests/faults/test_slow_clients.py",
    "tests/mcp/test_running.py",
    "tests/operations/supervisor/test_running_shop.py",
    "tests/operations/supervisor/test_upgrade.py",
)
WAITING = ("tests/operations/supervisor/", "tests/faults/", "tests/operations/backups/")


class ByWhatTheyShare(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return shared_by(nodeid)


def shared_by(nodeid: str) -> str:
    """What a test shares with others that run on the same worker: a browser's shop, its file, or nothing."""
    file = nodeid.partition("::")[0]
    if file.startswith("tests/e2e/"):
        return "e2e of taxonomy" if "taxonomy" in file or "classifying" in file else "e2e of the rest"
    return file if file in TOGETHER else nodeid


def waits(nodeid: str) -> bool:
    """Whether a test spends most of its time waiting for processes that it starts and kills."""
    return nodeid.startswith(WAITING)

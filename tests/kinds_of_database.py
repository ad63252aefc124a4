"""On which kinds of database a test runs: on all that SHOP_TEST_DATABASE names, as in the continuous integration.
Where it names none, all run on SQLite, and on PostgreSQL those that are about databases or about transactions at the
same moment, and a quarter of the others that call the domain, the same ones in every run."""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

import pytest

from tests.databases import KINDS, NAMED

# Views, commands and agents' tools reach the database through the domain alone.
FROM_OUTSIDE = (
    "tests/blueprints/",
    "tests/cli/",
    "tests/mcp/",
    "tests/architecture/test_forgeries.py",
    "tests/architecture/test_names_on_pages.py",
    "tests/architecture/test_role_matrix.py",
)
# Here the kind of database is the subject.
ABOUT_DATABASES = (
    "tests/adapters/test_clock.py",
    "tests/architecture/test_expand_and_contract.py",
    "tests/architecture/test_migrations.py",
    "tests/operations/backups/",
    "tests/operations/database_copy/",
    "tests/domain/system/test_facts.py",
    "tests/operations/test_storage.py",
    "tests/test_transaction.py",
)


def left_out(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    if NAMED:
        return set()
    return {item for item in items if _kind_of(item) not in (None, KINDS[0]) and not _runs_on_others(item)}


def _runs_on_others(item: pytest.Item) -> bool:
    if item.get_closest_marker("concurrent") or _names_its_kind(item):
        return True
    return item.nodeid.startswith(ABOUT_DATABASES) or is_of_the_sample(item.nodeid)


def is_of_the_sample(nodeid: str) -> bool:
    """Whether it is one of the quarter."""
    return not nodeid.startswith(FROM_OUTSIDE) and crc32(nodeid.encode()) % 4 == 0


def _names_its_kind(item: pytest.Item) -> bool:
    return any("database_kind" in str(mark.args[0]) for mark in item.iter_markers("parametrize"))


def _kind_of(item: pytest.Item) -> str | None:
    specification = getattr(item, "callspec", None)
    return specification.params.get("database_kind") if specification else None

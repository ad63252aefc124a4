"""The facts of this release: its version, and which migrations lie beside its code."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory

ROOT = Path(__file__).parents[3]
MIGRATIONS = ROOT / "migrations"
# Columns (table, name) that no model has any more. The release before may still use them while an upgrade is going on;
# the next one drops them.
OF_THE_RELEASE_BEFORE: frozenset[tuple[str, str]] = frozenset()


@cache
def version() -> str:
    """Return the version in pyproject.toml beside the code."""
    try:
        return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])
    except (OSError, tomllib.TOMLDecodeError, KeyError):
        return "unknown"


@cache
def newest_revision() -> str | None:
    """Return the newest migration's revision; None where there are no migrations."""
    return _scripts().get_current_head() if MIGRATIONS.is_dir() else None


@cache
def known_revisions() -> frozenset[str]:
    """Return the revisions of this release's migrations. A database at another revision was made by a later release."""
    scripts = _scripts().walk_revisions() if MIGRATIONS.is_dir() else ()
    return frozenset(script.revision for script in scripts)


def _scripts() -> ScriptDirectory:
    """Alembic is imported only here: it takes a fifth of the time in which a worker loads the application."""
    from alembic.script import ScriptDirectory

    return ScriptDirectory(str(MIGRATIONS))

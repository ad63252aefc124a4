"""Which version of the shop runs."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


@cache
def shop_version() -> str:
    """As pyproject.toml beside the code says it."""
    try:
        return str(tomllib.loads(PROJECT.read_text())["project"]["version"])
    except (OSError, tomllib.TOMLDecodeError, KeyError):
        return "unknown"

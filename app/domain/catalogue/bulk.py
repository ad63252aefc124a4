"""Statements that change many products at once pass the session unseen, and with it the listener that writes the wish
to index them. Such a statement is refused unless its author says that the index is told in another way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

INDEX_IS_TOLD: Mapping[str, Any] = {"index_is_told": True}  # Execution options of such a statement.

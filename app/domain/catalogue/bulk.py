"""Bulk statements on products bypass the session, and with it the listener that writes the outbox. The outbox refuses
such a statement unless its execution options say that the products are enqueued separately."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

INDEXED_SEPARATELY: Mapping[str, Any] = {"indexed_separately": True}  # Execution options.

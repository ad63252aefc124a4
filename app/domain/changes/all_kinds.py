"""Every kind of change that the activity log can undo. An entry is of the first kind that it fits."""

from __future__ import annotations

from collections.abc import Mapping

from app.domain.changes.catalogue_kinds import CATALOGUE_KINDS
from app.domain.changes.kinds import RecordKind
from app.domain.changes.merchandising_kinds import MERCHANDISING_KINDS
from app.domain.changes.search_kinds import SEARCH_KINDS
from app.domain.changes.shop_kinds import SHOP_KINDS

# The save of a product comes before its search terms, which are a part of it.
KINDS: tuple[RecordKind, ...] = (*CATALOGUE_KINDS, *MERCHANDISING_KINDS, *SHOP_KINDS, *SEARCH_KINDS)
BY_NAME: Mapping[str, RecordKind] = {kind.name: kind for kind in KINDS}
# Records whose ids SQLite gives to others once they are deleted, by the first part of their actions.
REUSED_IDS = ("product", "page", "collection", "category", "tree")

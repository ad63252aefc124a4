"""The kinds of tasks."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """The change that a task makes to each of its products, and its `parameters`:

    - RECOMPUTE: its completeness by the active taxonomy. None.
    - RENAME_VALUES: other words for values that it holds. `taxonomyId`, `since` (when that was saved), and `renames`
      and `governed` (app/domain/taxonomy/levels/renamed_words.py).
    - ASSIGN_LEVEL: another level; values that do not hold there are dropped. `levelId`, and which products.
    - ASSIGN_VALUE: the value of one attribute. `attributeId`, `value`, `way`, and which products.
    - RESTORE: the classification that was archived when another taxonomy became active.

    Which products, that is `products`, a list of ids, or `filter`, the query of a list of products, with `upTo`, the
    highest id that there was.
    """

    RECOMPUTE = "RECOMPUTE"
    RENAME_VALUES = "RENAME_VALUES"
    ASSIGN_LEVEL = "ASSIGN_LEVEL"
    ASSIGN_VALUE = "ASSIGN_VALUE"
    RESTORE = "RESTORE"

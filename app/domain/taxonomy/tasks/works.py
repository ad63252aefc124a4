"""The implementations of the kinds of tasks."""

from __future__ import annotations

from collections.abc import Mapping

from app.domain.taxonomy.task_kinds import Kind
from app.domain.taxonomy.tasks import assigning, recompute, rename_values, restoring
from app.domain.taxonomy.tasks.batch import Work

WORKS: Mapping[Kind, Work] = {
    Kind.RECOMPUTE: Work(recompute.candidates, recompute.change),
    Kind.RENAME_VALUES: Work(rename_values.candidates, rename_values.change),
    Kind.ASSIGN_LEVEL: Work(assigning.candidates, assigning.change_level),
    Kind.ASSIGN_VALUE: Work(assigning.candidates, assigning.change_value),
    Kind.RESTORE: Work(restoring.candidates, restoring.change),
}

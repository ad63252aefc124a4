"""Why a form was not saved, for its page: by field, and as a summary."""

from __future__ import annotations

from app.domain.shared.problems import Conflict, DomainError, Invalid, Problem, StaleRevision


class FieldErrors:
    """Asked by templates. Without an error it is empty and false."""

    def __init__(self, error: DomainError | None = None) -> None:
        self.problems: tuple[Problem, ...] = error.problems if isinstance(error, Invalid) else ()
        self.conflict = error.message if isinstance(error, Conflict) else None
        self.is_stale = isinstance(error, StaleRevision)
        self._told: dict[str, list[str]] = {}
        for problem in self.problems:
            self._told.setdefault(problem.pointer, []).append(problem.message)

    def __bool__(self) -> bool:
        return bool(self.problems or self.conflict)

    def at(self, name: str) -> str | None:
        """What is wrong with a field: its name or the path to it, as in `variants/0/sku`."""
        return " ".join(self._told.get(f"#/{name}", ())) or None

    def within(self, name: str) -> list[str]:
        """What is wrong with a field or anything below it."""
        starts = (f"#/{name}", f"#/{name}/")
        return [p.message for p in self.problems if p.pointer == starts[0] or p.pointer.startswith(starts[1])]

    @property
    def status(self) -> int:
        return 409 if self.conflict else 400

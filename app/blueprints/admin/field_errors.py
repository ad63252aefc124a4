"""The errors of a form for its page: by field, and as a summary."""

from __future__ import annotations

from app.domain.shared.problems import Conflict, DomainError, Invalid, Problem, StaleRevision


class FieldErrors:
    """The messages of a DomainError as templates show them; empty and false without one."""

    def __init__(self, error: DomainError | None = None) -> None:
        self.problems: tuple[Problem, ...] = error.problems if isinstance(error, Invalid) else ()
        self.conflict = error.message if isinstance(error, Conflict) else None
        self.is_stale = isinstance(error, StaleRevision)
        self._messages: dict[str, list[str]] = {}
        for problem in self.problems:
            self._messages.setdefault(problem.pointer, []).append(problem.message)

    def __bool__(self) -> bool:
        return bool(self.problems or self.conflict)

    def at(self, name: str) -> str | None:
        """Return the message of a field, given by its name or its path, such as `variants/0/sku`."""
        return " ".join(self._messages.get(f"#/{name}", ())) or None

    def within(self, name: str) -> list[str]:
        """Return the messages of a field and of everything below it."""
        starts = (f"#/{name}", f"#/{name}/")
        return [p.message for p in self.problems if p.pointer == starts[0] or p.pointer.startswith(starts[1])]

    @property
    def status(self) -> int:
        return 409 if self.conflict else 400

"""Problems and errors of the domain, as data that every surface can show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to fix. `pointer` is a JSON pointer to its place (RFC 6901, with a leading `#`)."""

    code: str
    message: str
    pointer: str = "#"

    def as_json(self) -> dict[str, str]:
        """Return the entry of a problem in the list `errors` of a problem document."""
        return {"code": self.code, "pointer": self.pointer, "message": self.message}


class DomainError(Exception):
    """An error that clients and operators may read. `code` is a stable lower_snake word; `details` are further members
    of the problem document, by their names in JSON."""

    code = "error"

    def __init__(self, message: str, code: str | None = None, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.details: Mapping[str, object] = details

    @property
    def detail(self) -> str:
        """The message for programs, which have no page that says what can be done."""
        return self.message


class Invalid(DomainError):
    """Invalid input; every problem is listed at once."""

    code = "invalid"

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems[0].message if len(problems) == 1 else f"{len(problems)} things need fixing.")
        self.problems = tuple(problems)

    @classmethod
    def one(cls, code: str, message: str, pointer: str = "#") -> Invalid:
        return cls([Problem(code, message, pointer)])


class Malformed(Invalid):
    """The error of input that cannot be read at all."""

    code = "bad_request"


class NotFound(DomainError):
    """The error of a record that the site does not have, even where another site has it."""

    code = "not_found"


class Conflict(DomainError):
    """The error of a change that the present state does not allow."""

    code = "conflict"


class Unprocessable(DomainError):
    """The error of a well-formed request that is beyond what the shop allows."""

    code = "unprocessable"


class StaleRevision(Conflict):
    """The error of a change to a record that another user has saved since it was read."""

    code = "stale_revision"

    def __init__(self, message: str, current_revision: int) -> None:
        super().__init__(message, currentRevision=current_revision)
        self.current_revision = current_revision

    @property
    def detail(self) -> str:
        return f"{self.message} Read it again, then send your change with revision {self.current_revision}."


class Forbidden(DomainError):
    code = "forbidden"


class Unauthenticated(DomainError):
    """The error of a caller with wrong or expired credentials; `code` says which."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message, code)


class TooManyRequests(DomainError):
    code = "rate_limited"

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after

"""What every command says when the domain refuses: each problem on a line of its own, and an exit status that tells."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from app.domain.shared.problems import DomainError, Invalid

Command = TypeVar("Command", bound=Callable[..., Any])
REFUSED = 1
ACTOR = "command line"  # Who the activity log names.


def telling(command: Command) -> Command:
    """The exit status is 1 when the domain refuses; the reasons go to the error output."""

    @wraps(command)
    def told(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except Invalid as refused:
            for problem in refused.problems:
                click.echo(problem.message, err=True)
        except DomainError as refused:
            click.echo(refused.message, err=True)
        raise SystemExit(REFUSED)

    return told  # type: ignore[return-value]

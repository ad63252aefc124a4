"""The decorator of every command: refusals of the domain become lines on the error output and exit status 1."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from app.domain.shared.problems import DomainError, Invalid
from app.domain.sites.activity import COMMAND_LINE as ACTOR

__all__ = ["ACTOR", "REFUSED", "reports_refusals"]

Command = TypeVar("Command", bound=Callable[..., Any])
REFUSED = 1


def reports_refusals(command: Command) -> Command:
    @wraps(command)
    def reporting(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except Invalid as refused:
            for problem in refused.problems:
                click.echo(problem.message, err=True)
        except DomainError as refused:
            click.echo(refused.message, err=True)
        raise SystemExit(REFUSED)

    return reporting  # type: ignore[return-value]

"""Threads beside the event loop, which reads and writes for all callers and must never wait for the database."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar, TypeVarTuple, Unpack

from anyio import CapacityLimiter, to_thread

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


class Threads:
    """A limited number of threads: each holds a connection to the database, of which a process has fifteen."""

    def __init__(self, most: int) -> None:
        self._most = most

    async def run(self, function: Callable[[Unpack[Arguments]], Result], *arguments: *Arguments) -> Result:
        return await to_thread.run_sync(function, *arguments, limiter=self._limiter)

    @cached_property
    def _limiter(self) -> CapacityLimiter:
        """The limiter, made within the event loop to which it belongs."""
        return CapacityLimiter(self._most)

"""A connection to Redis for what must not wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import structlog
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry

PAUSE = 5.0  # Seconds without further tries after a failure.
SECONDS_BETWEEN_ERRORS = 60.0

log = structlog.get_logger()
T = TypeVar("T")


class RestingRedis:
    """A Redis that is given up after `timeout` seconds and then, for `pause` seconds, is not tried again: a server that
    hangs costs a process one timeout every few seconds, not one for each request. `purpose` names it in the log."""

    def __init__(
        self,
        url: str,
        purpose: str,
        timeout: float,
        pause: float = PAUSE,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._redis = Redis.from_url(
            url,
            socket_connect_timeout=timeout,
            socket_timeout=timeout,
            retry=Retry(NoBackoff(), 0),
            # Else a server that announces maintenance could make the timeout longer.
            maint_notifications_config=MaintNotificationsConfig(enabled=False),
        )
        self.pause, self._purpose, self._monotonic = pause, purpose, monotonic
        self._resting_until = self._logged_at = float("-inf")
        self._fault = ""
        self._lock = threading.Lock()

    def run(self, command: Callable[[Redis], T]) -> T:
        """Return what a command returns. Raises OSError where Redis refuses it or does not answer in time, and at once
        while it is not tried."""
        if self._monotonic() < self._resting_until:
            raise OSError(self._fault)
        try:
            return command(self._redis)
        except (RedisError, OSError) as error:
            self._note_failure(str(error))
            raise OSError(str(error)) from error

    def script(self, text: str) -> Callable[[list[str], list[Any]], Any]:
        """Return a script that runs in Redis as one step, called with its keys and arguments as `run` runs a
        command."""
        script = self._redis.register_script(text)
        return lambda keys, arguments: self.run(lambda _redis: script(keys, arguments))

    def _note_failure(self, reason: str) -> None:
        """Log a failure, once a minute."""
        with self._lock:
            now = self._monotonic()
            self._fault, self._resting_until = reason, now + self.pause
            if now - self._logged_at < SECONDS_BETWEEN_ERRORS:
                return
            self._logged_at = now
        log.error("redis_does_not_serve", purpose=self._purpose, reason=reason)

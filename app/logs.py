"""Logs: one event is one line of JSON on standard error, tied to its request and free of secrets and bodies."""

from __future__ import annotations

import logging
import re
import sys
import time
import uuid
from collections.abc import MutableMapping
from typing import Any

import structlog
from flask import Flask, Response, g, request

from app import metrics

log = structlog.get_logger()

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
SECRET_NAMES = re.compile(r"password|secret|token|authorization|cookie|api_?key|signature", re.IGNORECASE)
SECRET_VALUES = re.compile(
    r"(?:sk|rk|pk)_(?:live|test)_\w+|whsec_\w+|pst_\w+|(?:pi|seti)_\w+_secret_\w+|(?i:bearer\s+)\S+|eyJ[\w-]+\.[\w-]+\.[\w-]+"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
)
QUIET = ("static", "health.", "media.", "storefront.picture")  # Endpoints that say nothing worth a line each.


def configure(level: str) -> None:
    """Send the log lines of this program and of its libraries through one chain."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        redact,
    ]
    render = structlog.processors.JSONRenderer(default=str, ensure_ascii=True)
    structlog.configure(
        processors=[*shared, render],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level)),
        logger_factory=lambda *_: structlog.WriteLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, redact, render],
    )
    _replace_root_handler(formatter, level)


class _StandardError(logging.Handler):
    """Writes to what standard error is at that moment, where logging's own handler keeps what it once was."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"{self.format(record)}\n")


def _replace_root_handler(formatter: logging.Formatter, level: str) -> None:
    root = logging.getLogger()
    handler = next((known for known in root.handlers if isinstance(known, _StandardError)), None)
    if handler is None:
        handler = _StandardError()
        root.addHandler(handler)
    handler.setFormatter(formatter)
    # Libraries talk more than is worth keeping; what they warn of is kept.
    root.setLevel(level if level in ("DEBUG", "ERROR") else "WARNING")


def redact(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Keep what must not be read out of the log: values under telling names, and tell-tale values anywhere."""
    for name, value in event.items():
        event[name] = "[redacted]" if SECRET_NAMES.search(name) else _without_secrets(value)
    return event


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return SECRET_VALUES.sub("[redacted]", value)
    if isinstance(value, dict):
        return dict(redact(None, "", dict(value)))
    if isinstance(value, list | tuple):
        return [_without_secrets(item) for item in value]
    return value


def init_logs(app: Flask, level: str) -> None:
    configure(level)
    app.before_request(_begin)
    app.after_request(_finish)
    app.teardown_request(_forget)


def _begin() -> None:
    sent = request.headers.get("X-Request-ID", "")
    g.request_id = sent if REQUEST_ID.fullmatch(sent) else uuid.uuid4().hex
    g.started = time.perf_counter()
    structlog.contextvars.bind_contextvars(request_id=g.request_id)


def _finish(response: Response) -> Response:
    if "request_id" not in g:
        return response
    response.headers["X-Request-ID"] = g.request_id
    seconds = time.perf_counter() - g.started
    endpoint = request.endpoint or "none"
    metrics.count_request(request.method, endpoint, response.status_code, seconds)
    if not endpoint.startswith(QUIET):
        # The query is left out: shoppers type personal things into search boxes.
        log.info(
            "request",
            method=request.method,
            path=request.path[:300],
            status=response.status_code,
            ms=round(seconds * 1000, 1),
        )
    return response


def _forget(_error: BaseException | None) -> None:
    structlog.contextvars.clear_contextvars()

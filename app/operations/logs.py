"""Logs: one event is one line of JSON on standard error, tied to its request and free of secrets, bodies and whatever
is personal."""

from __future__ import annotations

import io
import logging
import re
import sys
import time
import uuid
from contextlib import suppress
from typing import Any, TextIO, cast

import structlog
from flask import Flask, Response, g, request

from app.domain.shared.redaction import redact, traceback_text
from app.operations import metrics

log = structlog.get_logger()

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
IN_PROCESS = "shop.in_process"  # In the WSGI environment of requests that the shop makes of itself.
QUIET = ("static", "health.", "media.", "storefront.picture")  # Endpoints whose requests are not logged.


class _Lenient(io.TextIOBase):
    """A stream to the current `sys.stderr`. A line that cannot be written, such as to a full disk, is dropped without
    an error."""

    def write(self, text: str) -> int:
        with suppress(OSError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()


_STANDARD_ERROR = _Lenient()


def configure(level: str) -> None:
    """Send the log lines of this program and of its libraries through one chain."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(traceback_text),
        redact,
    ]
    render = structlog.processors.JSONRenderer(default=str, ensure_ascii=True)
    structlog.configure(
        processors=[*shared, render],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level)),
        logger_factory=lambda *_: structlog.WriteLogger(cast(TextIO, _STANDARD_ERROR)),
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, redact, render],
    )
    _replace_root_handler(formatter, level)


class _StandardError(logging.Handler):
    """A handler that writes to the current `sys.stderr`; logging's own handler keeps the one that it was made with."""

    def emit(self, record: logging.LogRecord) -> None:
        _STANDARD_ERROR.write(f"{self.format(record)}\n")


def _replace_root_handler(formatter: logging.Formatter, level: str) -> None:
    root = logging.getLogger()
    handler = next((known for known in root.handlers if isinstance(known, _StandardError)), None)
    if handler is None:
        handler = _StandardError()
        root.addHandler(handler)
    handler.setFormatter(formatter)
    # Libraries log too much at INFO; their warnings are kept.
    root.setLevel(level if level in ("DEBUG", "ERROR") else "WARNING")


def init_logs(app: Flask, level: str) -> None:
    configure(level)
    app.url_value_preprocessor(_begin)  # The first of all: also what refuses a body before it is read has a line.
    app.after_request(_finish)
    app.teardown_request(_forget)


def _begin(_endpoint: str | None, _values: dict[str, Any] | None) -> None:
    sent = request.headers.get("X-Request-ID", "")
    g.request_id = sent if REQUEST_ID.fullmatch(sent) else uuid.uuid4().hex
    g.started = time.perf_counter()
    structlog.contextvars.bind_contextvars(request_id=g.request_id)


def _finish(response: Response) -> Response:
    if "request_id" not in g or IN_PROCESS in request.environ:
        return response
    response.headers["X-Request-ID"] = g.request_id
    seconds = time.perf_counter() - g.started
    endpoint = request.endpoint or "none"
    metrics.count_request(request.method, endpoint, response.status_code, seconds)
    if not endpoint.startswith(QUIET):
        # The rule stands for the path, which may name an order or a receipt by its token, and the query is left out:
        # shoppers type personal things into search boxes.
        log.info(
            "request",
            method=request.method,
            route=route(),
            status=response.status_code,
            ms=round(seconds * 1000, 1),
        )
    return response


def route() -> str:
    """The rule that the request's path matches, as `/c/<path:path>`; "none" where it matches none."""
    return request.url_rule.rule if request.url_rule else "none"


def _forget(_error: BaseException | None) -> None:
    structlog.contextvars.clear_contextvars()

"""The tools over streamable HTTP: one POST a call, answered with JSON, no sessions."""

from __future__ import annotations

import logging
import socket
from collections.abc import Mapping
from functools import partial
from typing import Any

import uvicorn
from flask import Flask
from mcp.server.transport_security import TransportSecuritySettings

from app.mcp.front import PATH, Front, sent_token
from app.mcp.messages import LARGEST_BODY
from app.mcp.server import SentContext, make_server
from app.mcp.slow_clients import Connection, Limits

SECONDS_TO_FINISH = 5
LARGEST_HEAD = 32 * 1024  # Bytes.


def asgi_app(app: Flask, limits: Limits) -> Front:
    """The application of the SDK behind our checks, which know the hosts of the shops."""
    served = make_server(app, _token_of).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=LARGEST_BODY,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Front(app, served, limits.seconds_to_send)


def serve(app: Flask, listener: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT, then finish what was begun."""
    http_server(app).run(sockets=[listener])


def http_server(app: Flask, limits: Limits = Limits()) -> uvicorn.Server:  # noqa: B008 - It is frozen.
    """Return the server, not started yet."""
    connection: Any = partial(Connection, limits=limits)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # Broken HTTP of unknown clients is not worth a line.
    config = uvicorn.Config(
        asgi_app(app, limits),
        http=connection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )
    return uvicorn.Server(config)


def _token_of(context: SentContext) -> str:
    headers: Mapping[str, Any] = context.headers or {}
    return sent_token(headers)

"""Alerts as JSON, posted to an address of the owner's."""

from __future__ import annotations

import json
import time
from urllib.parse import urlsplit

from app.adapters.webhook_signatures import sign
from app.domain.alerts.messages import Notice, NotSent

TIMEOUT = 10.0  # Seconds for the whole exchange.
LARGEST_ANSWER = 20_000  # Bytes as they come, with headers.


class WebhookChannel:
    """The channel that posts alerts to a URL. With a secret, the header `X-Shop-Signature` is `t=<seconds>,v1=<hex>`:
    the HMAC-SHA256 of `<seconds>.<body>`."""

    name = "webhook"

    def __init__(self, url: str, secret: str, timeout: float = TIMEOUT) -> None:
        self._url, self._secret, self._timeout = url, secret, timeout

    def send(self, notice: Notice) -> None:
        # Imported when they are needed: they take a while.
        from httpx2 import HTTPError, InvalidURL

        from app.adapters.bounded_http import bounded_client

        body = json.dumps(notice.as_json()).encode()
        try:
            with bounded_client(self._url, self._timeout, LARGEST_ANSWER) as client:
                status = client.post(self._url, content=body, headers=self._headers(body)).status_code
        except (HTTPError, InvalidURL) as error:
            raise NotSent(f"The webhook at {self._host} did not answer ({type(error).__name__}).") from error
        if not 200 <= status < 300:
            raise NotSent(f"The webhook at {self._host} answered with status {status}.")

    @property
    def _host(self) -> str:
        """The host of the address, for error messages: the rest of the address may hold a secret."""
        return urlsplit(self._url).hostname or ""

    def _headers(self, body: bytes) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "User-Agent": "shop-alerts"}
        if self._secret:
            headers["X-Shop-Signature"] = sign(self._secret.encode(), int(time.time()), body)
        return headers

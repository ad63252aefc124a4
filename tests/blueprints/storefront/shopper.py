"""A shopper of the small shop, whose browser says where a form comes from, as browsers do."""

from __future__ import annotations

import re

from flask import Flask
from werkzeug.test import TestResponse

FROM_AFAR = "192.0.2.7"  # What comes from this very machine is a proxy or a tool, and not slowed down.
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
HERE = {"Sec-Fetch-Site": "same-origin"}
CONTACT = {"name": "Mia Moss", "email": "mia@home.test"}


class Shopper:
    def __init__(self, app: Flask, host: str = "shop.test") -> None:
        self.client, self.host, self.base = app.test_client(), host, f"http://{host}"
        self.client.environ_base |= {"REMOTE_ADDR": FROM_AFAR, "HTTP_USER_AGENT": BROWSER}

    def get(self, path: str, **headers: str) -> TestResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.get(path, base_url=self.base, headers=named)

    def post(self, path: str, form: dict[str, object], **headers: str) -> TestResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(path, data=form, base_url=self.base, headers=HERE | named)

    def swap(self, path: str, form: dict[str, object]) -> TestResponse:
        """As htmx sends a form."""
        return self.post(path, form, HX_Request="true")

    def add(self, sku: str, quantity: int = 1) -> TestResponse:
        return self.post("/basket", {"sku": sku, "quantity": quantity})

    def line(self, name: str) -> str:
        """Where the form of a line in the basket goes."""
        page = self.get("/basket").text
        lines = re.findall(r'<li id="line-(\d+)".*?</li>', page, re.DOTALL)
        texts = re.findall(r'<li id="line-\d+".*?</li>', page, re.DOTALL)
        return next(f"/basket/lines/{line}" for line, text in zip(lines, texts, strict=True) if name in text)

    def order(self, **form: str) -> TestResponse:
        hidden = dict(re.findall(r'name="(seen|form)" value="([\w-]+)"', self.get("/checkout").text))
        return self.post("/checkout", CONTACT | hidden | form)

    def cookie(self, name: str) -> str | None:
        cookie = self.client.get_cookie(name, domain=self.host)
        return cookie.value if cookie else None

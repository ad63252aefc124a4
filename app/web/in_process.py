"""The shop's own pages, requested within the process: as a crawler gets them, but without network, logs and
statistics."""

from __future__ import annotations

from contextvars import Context

from flask import g, request
from werkzeug.test import TestResponse

from app.domain.seo.crawled_page import Fetch, Fetched
from app.domain.seo.indexing_decision import IndexingDecision
from app.operations.logs import IN_PROCESS
from app.ports import application_with_pages

USER_AGENT = "Shop-Site-Check/1.0 (bot)"  # A bot's, whose visits no statistics count.


def pages_of(host: str) -> Fetch:
    """Return the function that requests pages of the shop at a host, as a new visitor does."""
    client = application_with_pages().test_client(use_cookies=False)
    base = f"https://{host}"

    def fetch(address: str) -> Fetched:
        decisions: list[IndexingDecision] = []
        environ = {IN_PROCESS: decisions, "REMOTE_ADDR": "127.0.0.1"}
        # In a context of its own: within one of the same application Flask would share `g` and the database session.
        answer: TestResponse = Context().run(
            client.get, address, base_url=base, headers={"User-Agent": USER_AGENT}, environ_overrides=environ
        )
        is_html = answer.mimetype == "text/html"
        fetched = Fetched(
            status=answer.status_code,
            location=answer.headers.get("Location", ""),
            robots=answer.headers.get("X-Robots-Tag", ""),
            text=answer.get_data(as_text=True) if is_html else "",
            decision=decisions[-1] if decisions else None,
        )
        answer.close()
        return fetched

    return fetch


def keep_decision(decision: IndexingDecision) -> None:
    """Keep the indexing decision of a page for its X-Robots-Tag header and, where `pages_of` requested the page, for
    its caller."""
    g.decision = decision
    if IN_PROCESS in request.environ:
        request.environ[IN_PROCESS].append(decision)

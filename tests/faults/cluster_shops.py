"""Shops whose index lies in a cluster of OpenSearch."""

from __future__ import annotations

import time
from pathlib import Path
from secrets import token_hex

from flask import current_app
from opensearchpy import OpenSearch

from app.adapters.opensearch import OpenSearchEngine
from app.adapters.write_locks import write_lock_for
from app.config import OpenSearchSettings
from app.domain.search.engine import SearchContext, SearchUnavailable
from app.domain.search.index import outbox
from app.domain.search.index.outbox import apply_waiting
from app.extensions import db
from app.transaction import transaction
from tests.faults.shops import SITE, Shop, check_equal
from tests.searching import add_product

SEARCH_SECONDS = 1
# One request of a page waits for the cluster, and what follows is spared the wait; the rest is for this busy machine.
MOST_SECONDS = 2 * SEARCH_SECONDS + 2


class ClusterShop(Shop):
    """A shop whose index lies at the addresses `url`. `client` asks the cluster at `own_url`, past the shop."""

    def __init__(
        self, folder: Path, url: str, own_url: str, replicas: int = 0, seconds: float = SEARCH_SECONDS
    ) -> None:
        super().__init__(folder)
        self.settings = OpenSearchSettings(url=url, prefix=f"t{token_hex(6)}", replicas=replicas, seconds=seconds)
        self.client = OpenSearch(own_url.split(","), timeout=30, max_retries=10)

    @property
    def prefix(self) -> str:
        return self.settings.prefix

    def engine(self) -> OpenSearchEngine:
        return OpenSearchEngine(self.settings, write_lock_for(self.config))

    def environment(self, **more: str) -> dict[str, str]:
        cluster = {"OPENSEARCH_URL": self.settings.url, "OPENSEARCH_PREFIX": self.prefix}
        cluster |= {"OPENSEARCH_REPLICAS": str(self.settings.replicas)}
        return super().environment(SEARCH_ENGINE="opensearch", **cluster, **more)

    @property
    def indices(self) -> list[str]:
        found = self.client.cat.indices(index=f"{self.prefix}-*gen-*", params={"format": "json"})
        return sorted(index["index"] for index in found)


def save(number: int = 0) -> None:
    with transaction():
        add_product(SITE, f"saved-{number}", "Saved meanwhile")


def waiting() -> int:
    return outbox.count(SITE)[0]


def seconds_for(path: str) -> tuple[int, float]:
    before = time.monotonic()
    status = current_app.test_client().get(path, base_url="http://shop.test").status_code
    return status, time.monotonic() - before


def apply_in_vain(context: SearchContext) -> None:
    """As the worker does every second while changes wait."""
    try:
        apply_waiting(context, SITE)
    except SearchUnavailable:
        db.session.rollback()


def holds_all(context: SearchContext) -> bool:
    """Whether the index is what the database says and nothing waits."""
    apply_waiting(context, SITE)
    check_equal(context)
    return waiting() == 0 and outbox.count(SITE)[1] == 0

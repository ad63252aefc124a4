"""How fast suggestions are made as shoppers type, letter by letter, at 100,000 products: the products alone beside a
prefix query of tantivy on the same documents, and these and the whole answer of the shop beside a prompt answer."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import tantivy
from flask import Flask

from app import ports
from app.adapters.whoosh import WhooshEngine
from app.domain.merchandising.models import Node, Tree
from app.domain.search.engine import IndexDocument, SearchRequest
from app.domain.search.suggestions import Typed
from app.domain.search_statistics.models import SearchWindow, SearchWordDay, SearchWordWindow
from app.domain.search_statistics.popular import DAYS
from app.domain.sites.models import Domain, Site
from app.extensions import db
from app.transaction import transaction
from bench.catalogue import icecat, levels_of, many, queries
from bench.measuring import (
    PRODUCTS,
    SITE,
    Yardstick,
    at_most,
    build,
    heading,
    milliseconds,
    percentile,
    run,
    sized,
    workspace,
)
from bench.rivals import TEXT_FIELDS, Tantivy
from bench.shop import empty_shop, settings
from bench.yardsticks import prompt_answer

COUNT = sized(100_000)
TYPED = 150  # Queries of which every beginning is typed.
SHOWN = 5
BROWSER = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"}
COLD = 4  # Words are decoded and spellings found, which tantivy keeps decoded or does not offer.
SHARES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
KINDS = ("searches", "categories", "brands", "products")
_WORDS = re.compile(r"[^\W_]+")


def main() -> None:
    with workspace() as directory:
        made = list(_documents())
        shop = empty_shop(settings(directory))
        build(WhooshEngine(directory / "index"), made)
        Tantivy(directory / "tantivy", made)
        del made
        typed = beginnings()
        heading(f"Suggestions, {COUNT:,} products, {len(typed):,} beginnings of {TYPED} real queries")
        _products(directory, typed)
        with shop.app_context():
            _fill(shop)
        _answers(shop, typed)


def beginnings() -> list[str]:
    """Return what a script requests while queries are typed: every beginning of two letters and more."""
    chosen = random.Random(7).sample(queries(), TYPED)
    return [query[:end] for query in chosen for end in range(2, len(query) + 1) if query[end - 1] != " "]


def _documents() -> Iterator[IndexDocument]:
    nodes = _nodes()
    for number, document in enumerate(many(COUNT), 1):
        categories = tuple(str(nodes[level]) for level in document.values.get("category", ()))
        card = {**document.card, "id": number, "colour": "", "imageWidth": None}
        yield replace(document, card=card, values={**document.values, "category": categories})


def _nodes() -> dict[str, int]:
    """The number of the category that each level is in the shop."""
    return {level: number for number, level in enumerate(levels_of(icecat()), 1)}


def _products(directory: Path, typed: Sequence[str]) -> None:
    """Each beginning for the first time, and once more."""
    engine, rival = WhooshEngine(directory / "index"), Tantivy(directory / "tantivy", None)

    def ours(words: str) -> object:
        is_typing = Typed.read([words]).is_typing
        return engine.search(SITE, PRODUCTS, SearchRequest(words, per_page=SHOWN, is_typing=is_typing))

    def theirs(words: str) -> object:
        return prefix_hits(rival, words)

    ours("the first query opens the index")
    theirs("the first query opens the index")
    for label, multiple in (("each for the first time", COLD), ("as a worker answers them from then on", 1)):
        shop, tantivys = milliseconds(ours, typed), milliseconds(theirs, typed)
        for name, share in SHARES:
            limit = multiple * Yardstick("tantivy", percentile(tantivys, share), "ms")
            at_most(f"products, {label}, {name}", percentile(shop, share), limit)
        at_most(f"products, {label}, p99 as promised", percentile(shop, 0.99), prompt_answer())


def prefix_hits(rival: Tantivy, words: str) -> list[object]:
    """Return the cards that tantivy finds by all words, the last of which may go on."""
    *before, last = _WORDS.findall(words.lower())
    schema = rival.schema
    begun = [tantivy.Query.regex_query(schema, field, f"{re.escape(last)}.*") for field in TEXT_FIELDS]
    parts = [(tantivy.Occur.Must, rival.query(" ".join(before)))] if before else []
    parts.append((tantivy.Occur.Must, tantivy.Query.boolean_query([(tantivy.Occur.Should, one) for one in begun])))
    found = rival.searcher.search(tantivy.Query.boolean_query(parts), SHOWN, count=False).hits
    return [json.loads(rival.searcher.doc(address)["card"][0]) for _, address in found]


def _fill(shop: Flask) -> None:
    """The shop around the index: its categories, and searches that were counted."""
    now = ports.clock().now()
    with transaction():
        site = Site(name="Bench", created_at=now, domains=[Domain(host="shop.test", primary=True)])
        tree = Tree(name="Shop", primary=True, facets=[], updated_at=now)
        db.session.add(site)
        db.session.flush()
        tree.site_id = site.id
        db.session.add(tree)
        db.session.flush()
        for level, number in _nodes().items():
            name, path = levels_of(icecat())[level]
            facts = {"source_levels": [level], "position": number, "updated_at": now, "slug": level}
            parent = _nodes()[path[-2]] if path[1:] else None
            facts |= {"id": number, "parent_id": parent, "name": name, "path": "/".join(path)}
            db.session.add(Node(site_id=site.id, tree_id=tree.id, **facts))
        db.session.add(SearchWindow(site_id=site.id, until=now.date()))
        for place, words in enumerate(dict.fromkeys(query.casefold() for query in queries())):
            counts = {"searches": 9 + 2000 // (place + 1), "last_result_count": 9}
            db.session.add(SearchWordWindow(site_id=site.id, days=DAYS, word=words, last_day=now.date(), **counts))
            counts["networks"] = counts["searches"]
            db.session.add_all(
                SearchWordDay(site_id=site.id, day=now.date() - timedelta(days=ago), word=words, **counts)
                for ago in range(3)
            )


def _answers(shop: Flask, typed: Sequence[str]) -> None:
    """The whole answer: popular searches, categories, brands and products, drawn, counted and compressed."""
    client = shop.test_client()
    shown = client.get("/search/suggest?q=ca", base_url="http://shop.test").text
    missing = [kind for kind in KINDS if f'id="suggested-{kind}"' not in shown]
    assert not missing, f"the shop of the benchmark suggests no {', no '.join(missing)}"

    def answer(words: str) -> object:
        headers = {**BROWSER, "Accept-Encoding": "gzip"}
        found = client.get("/search/suggest", query_string={"q": words}, base_url="http://shop.test", headers=headers)
        assert found.status_code == 200
        return found

    prompt = prompt_answer()
    first, again = (milliseconds(answer, typed) for _ in range(2))
    for label, times, multiple in (("for the first time", first, 1), ("again, from the cache", again, 0.4)):
        for name, share in SHARES:
            at_most(f"the shop’s whole answer {label}, {name}", percentile(times, share), multiple * prompt)


if __name__ == "__main__":
    run(main)

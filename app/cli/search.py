"""`search`: what the shop would show for some words."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import replace

import click
from flask.cli import with_appcontext

from app.cli.refusals import reports_refusals
from app.cli.sites import chosen_site, with_site
from app.domain.merchandising.shop import Shop, read_shop
from app.domain.search.listings.browsing import SearchPage, read_request, search_listing
from app.domain.search.serving.configuration import served
from app.domain.search.serving.rules import SEARCH_PATH
from app.ports import clock, search_engine


@click.command("search")
@click.argument("words", nargs=-1)
@with_site
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Products to show.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--batch", is_flag=True, help="Read a query a line from standard input, print one JSON object a line.")
@with_appcontext
@reports_refusals
def command(words: tuple[str, ...], host: str | None, limit: int, as_json: bool, batch: bool) -> None:
    """What the shop would show for WORDS: SKU, name and score of the first products."""
    shop = read_shop(chosen_site(host).id)
    if batch:
        _print_batch(shop, sys.stdin, limit)
        return
    query = " ".join(words)
    page = _search(shop, query, limit)
    if as_json:
        click.echo(json.dumps(_full_view(query, page), ensure_ascii=False))
    else:
        _print(query, page)


def _search(shop: Shop, query: str, limit: int) -> SearchPage:
    request = replace(read_request(shop, SEARCH_PATH, [("q", query)]), page_size=limit)
    return search_listing(search_engine(), shop, request, served(shop.site_id), clock().now())


def _print_batch(shop: Shop, lines: Iterable[str], limit: int) -> None:
    for line in lines:
        query = line.rstrip("\r\n")
        result = _search(shop, query, limit).listing.result
        skus = [hit.card["sku"] for hit in result.hits]
        click.echo(json.dumps({"query": query, "total": result.total, "skus": skus}, ensure_ascii=False))


def _full_view(query: str, page: SearchPage) -> dict[str, object]:
    result = page.listing.result
    return {
        "query": query,
        "total": result.total,
        "suggestion": result.suggestion,
        "corrected": result.corrected,
        "relaxed": result.relaxed,
        "products": [
            {"sku": hit.card["sku"], "name": hit.card["name"], "score": round(hit.score, 4)} for hit in result.hits
        ],
        "similar": [{"sku": hit.card["sku"], "name": hit.card["name"]} for hit in result.similar],
    }


def _print(query: str, page: SearchPage) -> None:
    result = page.listing.result
    if result.corrected:
        click.echo(f"Nothing is called “{query}”; searched for “{result.suggestion}”.", err=True)
    elif result.suggestion:
        click.echo(f"Did you mean “{result.suggestion}”?", err=True)
    for hit in result.hits:
        click.echo(f"{hit.card['sku']}\t{hit.card['name']}\t{hit.score:.4f}")
    for hit in result.similar:
        click.echo(f"{hit.card['sku']}\t{hit.card['name']}\tsimilar")
    click.echo(f"{len(result.hits):,} of {result.total:,}", err=True)

"""What a shopper does with what they searched, noted for the counts. No page reads any of it, and nothing here can
fail or hold up a page: the trail lives in a signed cookie of the shopper's own browser, the counts in a file that
others work off."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

from flask import Response, after_this_request, current_app, g, request
from itsdangerous import BadSignature, Signer

from app import ports
from app.blueprints.storefront import pace
from app.blueprints.storefront.blueprint import current_shop
from app.domain.merchandising.shop import Shop
from app.domain.search.counting import trail as rules
from app.domain.search.counting.days import day_at
from app.domain.search.counting.events import Event, Kind
from app.domain.search.counting.trail import Moment, Noted, ResultsPage, Trail
from app.domain.search.counting.trail_text import from_text, to_text
from app.domain.search.counting.words import countable
from app.domain.search.listings.listing import ListingRequest
from app.domain.search.live.redirects import SEARCH_PATH
from app.domain.search.search_settings import CLICKS, TRACKING

COOKIE = "trail"
LONGEST_COOKIE = 4_096
PERSON = "_user_id"  # Where flask-login keeps who is signed in.
# How programs that read pages by themselves call themselves.
BOT = re.compile(
    r"(?<!cu)bot\b|bot[/;_-]|crawl|spider|slurp|archiver|scrap|preview|facebookexternalhit|mediapartners|feedfetcher|"
    r"lighthouse|pingdom|uptime|monitor|validator|google-|yandex|baidu|duckduckgo|bingbot|semrush|ahrefs",
    re.IGNORECASE,
)


def note_search(asked: ListingRequest, hit_ids: Sequence[str], found: int | None, ruled: bool) -> None:
    """A page of results is about to be shown, with these documents of the index; `found` None: a rule led elsewhere."""
    word = countable(asked.words)
    if word is not None:
        page = ResultsPage(word, rules.ids_of(hit_ids), found, _is_first(asked), ruled)
        _note(lambda trail, moment: rules.searched(trail, moment, page))


def note_opened(product_id: int) -> None:
    """A product's page is about to be shown. Where the browser says where the shopper comes from, it must be a page of
    results; a browser that does not say is believed to come from the latest one that showed the product."""
    referrer = request.headers.get("Referer")
    if not referrer:
        _note(lambda trail, moment: rules.opened(trail, moment, product_id))
    elif word := _word_of_results(referrer):
        _note(lambda trail, moment: rules.opened(trail, moment, product_id, word))


def note_added(product_id: int) -> None:
    """A product went into the basket."""
    _note(lambda trail, moment: rules.added(trail, moment, product_id))


def note_ordered(lines: Iterable[tuple[int, int]]) -> None:
    """The basket was ordered: (product id, what its line costs in minor units)."""
    bought = tuple(lines)
    _note(lambda trail, moment: rules.ordered(trail, moment, bought))


def _is_first(asked: ListingRequest) -> bool:
    return asked.page == 1 and not asked.is_filtered and asked.sort is None


def _word_of_results(referrer: str) -> str | None:
    try:
        parts = urlsplit(referrer)
    except ValueError:
        return None
    if parts.netloc != request.host or parts.path != SEARCH_PATH:
        return None
    return countable(parse_qs(parts.query).get("q", [""])[0])


def _note(change: Callable[[Trail, Moment], Noted]) -> None:
    shop = current_shop()
    if not shop.settings[TRACKING] or request.method == "HEAD" or not _is_a_shopper():
        return
    try:
        now = ports.clock().now()
        moment = Moment(shop.site_id, now, day_at(now, shop.time_zone), shop.settings[CLICKS])
        before = _trail(shop)
        after, events = change(rules.current(before, now), moment)
    except Exception:  # Whatever goes wrong here, the page is what matters.
        current_app.logger.exception("search_not_noted")
        return
    if any(event.kind is Kind.SEARCHED for event in events) and not pace.allows(pace.SEARCHES):
        return
    if after != before:
        _keep_after_this(shop, after)
    if events:
        _count_after_this(events)


def _is_a_shopper() -> bool:
    """Not a program that says so, not a page fetched in advance, nobody who works on the shop."""
    agent = request.headers.get("User-Agent", "")
    purpose = request.headers.get("Sec-Purpose", "") + request.headers.get("Purpose", "")
    return bool(agent) and not BOT.search(agent) and "prefetch" not in purpose and not _is_staff()


def _is_staff() -> bool:
    """Reads the cookie of the session aside: the page's own session stays untouched, so the page stays the same for
    everybody. That the session may have ended does not matter here; who signs out loses the name in it."""
    if current_app.config["SESSION_COOKIE_NAME"] not in request.cookies:
        return False
    session = current_app.session_interface.open_session(current_app._get_current_object(), request)  # type: ignore[attr-defined]
    return session is not None and PERSON in session


def _trail(shop: Shop) -> Trail:
    if "trail" not in g:
        g.trail = _read(shop, request.cookies.get(_cookie_name(), ""))
    trail: Trail = g.trail
    return trail


def _read(shop: Shop, cookie: str) -> Trail:
    if not cookie or len(cookie) > LONGEST_COOKIE:
        return Trail()
    try:
        return from_text(urlsafe_b64decode(_signer(shop).unsign(cookie)))
    except (BadSignature, ValueError):
        return Trail()


def _keep_after_this(shop: Shop, trail: Trail) -> None:
    first = "trail_kept" not in g
    g.trail = g.trail_kept = trail
    if first:
        after_this_request(lambda response: _keep(shop, response))


def _keep(shop: Shop, response: Response) -> Response:
    """Only the shopper's own browser may keep the answer that carries their trail."""
    if response.status_code < 400:
        value = _signer(shop).sign(urlsafe_b64encode(to_text(g.trail_kept))).decode()
        secure = current_app.config["SESSION_COOKIE_SECURE"]
        response.set_cookie(
            _cookie_name(), value, max_age=rules.ORDER, secure=secure, httponly=True, samesite="Lax", path="/"
        )
        response.headers.setdefault("Cache-Control", "private")
    return response


def _count_after_this(events: list[Event]) -> None:
    def count(response: Response) -> Response:
        if response.status_code < 400:
            ports.counting().note(events)
        return response

    after_this_request(count)


def _cookie_name() -> str:
    return f"__Host-{COOKIE}" if current_app.config["SESSION_COOKIE_SECURE"] else COOKIE


def _signer(shop: Shop) -> Signer:
    """A trail of one shop means nothing to another of the same server."""
    return Signer(
        current_app.config["SECRET_KEY"], salt=f"{COOKIE}-{shop.site_id}", key_derivation="hmac", digest_method=sha256
    )

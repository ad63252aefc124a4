"""Record searches, and what follows from them, for the statistics. No page reads any of it, and nothing here can fail
or delay a page: the journey is kept in a signed cookie of the shopper's browser, events go to a spool."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import parse_qs, urlsplit

from flask import Response, after_this_request, current_app, g, request

from app import ports
from app.blueprints.callers import network_of_client
from app.blueprints.storefront.blueprint import current_shop
from app.blueprints.storefront.rate_limit import SEARCHES, allows
from app.domain.merchandising.shop import Shop
from app.domain.search.listings.listing import ListingRequest
from app.domain.search.serving.plan import LearningMode
from app.domain.search.serving.rules import SEARCH_PATH
from app.domain.search.settings import CLICKS, LEARNING, TRACKING
from app.domain.search_statistics.counting import attribution as rules
from app.domain.search_statistics.counting.attribution import (
    NOT_COMPARED,
    Attributed,
    Compared,
    EventContext,
    Journey,
    ResultsPage,
    from_text,
    to_text,
)
from app.domain.search_statistics.counting.days import day_at
from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.search_statistics.counting.gathering import countable, gather
from app.domain.seo.crawlers import is_browser
from app.web.tokens import JOURNEY, current_signer

COOKIE = "trail"
PERSON = "_user_id"  # Key of the signed-in user in a session of flask-login.


def note_search(
    listing_request: ListingRequest,
    hit_ids: Sequence[str],
    found: int | None,
    ruled: bool,
    compared: Compared = NOT_COMPARED,
) -> None:
    """Record a page of results with these documents of the index; `found` is None where a page answers in
    place of products: one to which a rule redirects, or one that the search finds. `compared` says how it takes part in
    a comparison of rankings."""
    word = countable(listing_request.words)
    if word is not None:
        is_top = listing_request.page == 1
        is_first = is_top and not listing_request.is_filtered and listing_request.sort is None
        page = ResultsPage(word, rules.ids_of(hit_ids), found, is_first, ruled, is_top, compared)
        _note_change(lambda journey, context: rules.searched(journey, context, page))


def visit_seed(shop: Shop) -> int | None:
    """Return the seed of the visit for comparisons of rankings, None where it has none yet."""
    now = ports.clock().now()
    try:
        return rules.current(_journey(shop), now).seed_at(now)
    except Exception:  # As in `_note_change`: the page is what matters.
        current_app.logger.exception("visit_not_read")
        return None


def note_opened(product_id: int) -> None:
    """Record that a product page was opened, from the page of results that is the referrer; without a referrer from the
    latest one that showed the product."""
    referrer = request.headers.get("Referer")
    if not referrer:
        _note_change(lambda journey, context: rules.opened(journey, context, product_id))
    elif word := _word_of_results(referrer):
        _note_change(lambda journey, context: rules.opened(journey, context, product_id, word))


def note_added(product_id: int) -> None:
    """Record that a product went into the basket."""
    _note_change(lambda journey, context: rules.added(journey, context, product_id))


def note_ordered(lines: Iterable[tuple[int, int]]) -> None:
    """Record an order of (product id, amount of its line in minor units)."""
    bought = tuple(lines)
    _note_change(lambda journey, context: rules.ordered(journey, context, bought))


def _word_of_results(referrer: str) -> str | None:
    try:
        parts = urlsplit(referrer)
    except ValueError:
        return None
    if parts.netloc != request.host or parts.path != SEARCH_PATH:
        return None
    return countable(parse_qs(parts.query).get("q", [""])[0])


def _note_change(change: Callable[[Journey, EventContext], Attributed]) -> None:
    shop = current_shop()
    if not shop.settings[TRACKING] or request.method == "HEAD" or not is_a_shopper():
        return
    try:
        now = ports.clock().now()
        context = EventContext(shop.site_id, now, day_at(now, shop.time_zone), shop.settings[CLICKS])
        before = _journey(shop)
        after, events = change(rules.current(before, now), context)
    except Exception:  # Whatever goes wrong here, the page is what matters.
        current_app.logger.exception("search_not_noted")
        return
    if any(event.kind is EventKind.SEARCHED for event in events) and not allows(SEARCHES):
        return
    if after != before:
        _keep_after_this(shop, after)
    if counted := _storable_events(shop, events):
        _count_after_this(counted)


def _storable_events(shop: Shop, events: Iterable[Event]) -> list[Event]:
    """Return the events that may be stored. Products count only while the shop learns from clicks."""
    learns = shop.settings[LEARNING] != LearningMode.OFF
    memory, now, network = ports.shared_memory(), ports.clock().now(), network_of_client()
    kept = (gather(memory, now, event, network) for event in events if learns or not event.kind.is_of_product)
    return [event for event in kept if event is not None]


def is_a_shopper() -> bool:
    """Whether a shopper sent the request: from a browser, neither to prefetch a page nor as staff."""
    agent = request.headers.get("User-Agent", "")
    purpose = request.headers.get("Sec-Purpose", "") + request.headers.get("Purpose", "")
    return is_browser(agent) and "prefetch" not in purpose and not _is_staff()


def _is_staff() -> bool:
    """Read the session's cookie apart from the page's own session, which stays untouched so that the page stays
    cacheable. Whether the session has ended does not matter: signing out removes the user from it."""
    if current_app.config["SESSION_COOKIE_NAME"] not in request.cookies:
        return False
    session = current_app.session_interface.open_session(current_app._get_current_object(), request)  # type: ignore[attr-defined]
    return session is not None and PERSON in session


def _journey(shop: Shop) -> Journey:
    if "journey" not in g:
        g.journey = _read_journey(shop, request.cookies.get(_cookie_name(), ""))
    journey: Journey = g.journey
    return journey


def _read_journey(shop: Shop, cookie: str) -> Journey:
    """Return the journey in a cookie. It was signed for this shop: a journey is not valid in another one of the same
    server."""
    signed = current_signer().read_as_is(JOURNEY, shop.site_id, cookie)
    return Journey() if signed is None else from_text(urlsafe_b64decode(signed))


def _keep_after_this(shop: Shop, journey: Journey) -> None:
    first = "journey_kept" not in g
    g.journey = g.journey_kept = journey
    if first:
        after_this_request(lambda response: _set_cookie(shop, response))


def _set_cookie(shop: Shop, response: Response) -> Response:
    """Set the cookie; only the shopper's own browser may cache the response that carries it."""
    if response.status_code < 400:
        journey = urlsafe_b64encode(to_text(g.journey_kept)).decode()
        value = current_signer().sign_as_is(JOURNEY, shop.site_id, journey)
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

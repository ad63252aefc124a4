"""Rate limits of requests that leave a record: a counted search, a new basket. Requests of every browser count,
whatever it calls itself, because programs drive real browsers too."""

from __future__ import annotations

from flask import request

from app.blueprints import rate_limit as callers
from app.domain.search.ranking.learning import WINDOW
from app.domain.search_statistics.counting.events import Event
from app.domain.seo.crawlers.families import is_browser
from app.domain.shared.rate_limit import Rate

SEARCHES, BASKETS, UNDERSTOOD = "searches", "baskets", "understood"
PER_MINUTE = 60  # More than a person makes, or an office that shares an address.
TWO_DAYS = 2 * 86_400  # Seconds: what a search of one day leads to within a day of it counts for that day.
OPENS_A_DAY = 200  # Of one network, and
WORDS_A_DAY = 100  # that count for popular searches, and
REPHRASINGS_A_DAY = 50  # so that it does not take up what a shop counts on a day.


def allows(action: str) -> bool:
    """Count an action of the client, such as SEARCHES; return whether it is within the limit."""
    return callers.seconds_to_wait(action, Rate(PER_MINUTE)) == 0


def may_use_model() -> bool:
    """Whether the sentence model may work for the client's search: only for browsers, and no more often than people
    search, so that no program takes the model from the searches of others. What the model knows already is used for
    everybody."""
    return is_browser(request.headers.get("User-Agent", "")) and allows(UNDERSTOOD)


def counts_open(event: Event) -> bool:
    """Whether search may learn from the client's network that this product was opened."""
    return _counts_once(event, "opened", f"{event.word}\0{event.product_id}", OPENS_A_DAY)


def opens_first(event: Event) -> bool:
    """Whether the client's network is new among those that opened the product from the search, within the time in which
    opens teach: summed over all days, it counts different networks, however often each comes back."""
    return callers.is_first_of_group(f"opened\0{event.site_id}\0{event.word}\0{event.product_id}", WINDOW * 86_400)


def is_first_of_network(event: Event) -> bool:
    """Whether the client's network makes the search for the first time on its day: the sum over a day is of networks
    and not of visits, of which a program without cookies makes as many as it likes."""
    return _counts_once(event, "searched", event.word, WORDS_A_DAY)


def counts_rephrasing(event: Event) -> bool:
    """Whether the client's network counts as one more visit that rephrased the one search as the other."""
    return _counts_once(event, "rephrased", f"{event.word}\0{event.next_word}", REPHRASINGS_A_DAY)


def _counts_once(event: Event, action: str, what: str, most: int) -> bool:
    """Whether the network has not done the same on the day of the event, and is within the limit of a day. A count
    above the number of days thus stands for several networks. The limit is checked first, so that nothing is kept
    beyond it."""
    of_day = f"{action}\0{event.site_id}\0{event.day}"
    return callers.counts(of_day, Rate(most, TWO_DAYS)) and callers.counts(f"{of_day}\0{what}", Rate(1, TWO_DAYS))

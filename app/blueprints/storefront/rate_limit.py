"""Rate limits of requests that leave a record: a counted search, a new basket. Requests of every browser count,
whatever it calls itself, because programs drive real browsers too."""

from __future__ import annotations

from app.blueprints import rate_limit as callers
from app.domain.shared.rate_limit import Rate

SEARCHES, BASKETS = "searches", "baskets"
OPENS_A_DAY = Rate(2, seconds=24 * 60 * 60)  # Of one product by one network: nobody alone teaches search much.
PER_MINUTE = 60  # More than a person does; an office that shares an address stays below it, too.
WORDS_A_DAY = 100  # Of one network that count for popular searches, so that it does not fill the table of a day.
DAY = 86_400  # Seconds.
REPHRASINGS_A_DAY = 50  # Of one network, so that it does not take up the pairs that a shop counts on a day.


def allows(action: str) -> bool:
    """Whether the client may do one more of SEARCHES or BASKETS now."""
    return callers.seconds_to_wait(action, Rate(PER_MINUTE)) == 0


def allows_rephrasing(site_id: int, word: str, next_word: str) -> bool:
    """Whether the client's network may count as one more visit that searched the one and then the other: for each such
    pair once a day. More visits than days are thus those of several networks."""
    limits = {f"rephrasing\0{site_id}\0{word}\0{next_word}": 1, f"rephrasings\0{site_id}": REPHRASINGS_A_DAY}
    return all(callers.seconds_to_wait(action, Rate(most, DAY)) == 0 for action, most in limits.items())


def counts_open(site_id: int, product_id: int) -> bool:
    """Whether search may learn from the client that this product was opened."""
    return callers.counts_open(f"opened:{site_id}:{product_id}", OPENS_A_DAY)


def is_first_of_network(site_id: int, word: str) -> bool:
    """Whether the client's network searches for the word for the first time within a day: the sum over a day is of
    networks, not of visits, which a program without cookies makes as many of as it likes. The limit of all words stands
    first, since each word makes a window of a day."""
    limits = {f"words\0{site_id}": WORDS_A_DAY, f"word\0{site_id}\0{word}": 1}
    return all(callers.counts_open(action, Rate(most, DAY)) for action, most in limits.items())

"""Rate limits of requests that leave a record: a counted search, a new basket. Requests of every browser count,
whatever it calls itself, because programs drive real browsers too."""

from __future__ import annotations

from flask import request

from app.blueprints import callers
from app.domain.seo.crawlers import is_browser
from app.domain.shared.rate_limit import Rate

SEARCHES, BASKETS, UNDERSTOOD = "searches", "baskets", "understood"
PER_MINUTE = 60  # More than a person makes, or an office that shares an address.


def allows(action: str) -> bool:
    """Count an action of the client, such as SEARCHES; return whether it is within the limit."""
    return callers.seconds_to_wait(action, Rate(PER_MINUTE)) == 0


def may_use_model() -> bool:
    """Whether the sentence model may work for the client's search: only for browsers, and no more often than people
    search, so that no program takes the model from the searches of others. What the model knows already is used for
    everybody."""
    return is_browser(request.headers.get("User-Agent", "")) and allows(UNDERSTOOD)

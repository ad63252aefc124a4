"""Rate limits of requests that leave a record, a counted search or a new basket, and of those that guess: looking up an
order. Requests of every browser count, whatever it calls itself, because programs drive real browsers too."""

from __future__ import annotations

from flask import request

from app.blueprints import callers
from app.domain.seo.crawlers import is_browser
from app.domain.shared.rate_limit import Rate
from app.web.callers import seconds_to_wait

SEARCHES, BASKETS, UNDERSTOOD = "searches", "baskets", "understood"
PER_MINUTE = 60  # More than a person makes, or an office that shares an address.

LOOK_UPS = "order-look-ups"
OF_CALLER = Rate(20, 600)
OF_NUMBER = Rate(10, 3_600)  # Failures, whoever looks: addresses are not guessed from many places either.


def allows(action: str) -> bool:
    """Count an action of the client, such as SEARCHES; return whether it is within the limit."""
    return callers.seconds_to_wait(action, Rate(PER_MINUTE)) == 0


def may_use_model() -> bool:
    """Whether the sentence model may work for the client's search: only for browsers, and no more often than people
    search, so that no program takes the model from the searches of others. What the model knows already is used for
    everybody."""
    return is_browser(request.headers.get("User-Agent", "")) and allows(UNDERSTOOD)


def seconds_until_look_up(site_id: int, number: int) -> int:
    """Count a look-up of an order for the client; return the seconds until another is allowed, 0 when this one is
    within the limits of the client and of the number. One that is refused counts for neither: else a client alone could
    keep everybody from looking up."""
    wait = callers.seconds_to_wait(LOOK_UPS, OF_CALLER)
    return wait or seconds_to_wait(_key_of_number(site_id, number), OF_NUMBER, counted=0)


def count_failed_look_up(site_id: int, number: int) -> None:
    """Count for the number of an order that a look-up found nothing."""
    seconds_to_wait(_key_of_number(site_id, number), OF_NUMBER)


def _key_of_number(site_id: int, number: int) -> str:
    return f"{LOOK_UPS}:{site_id}:{number}"

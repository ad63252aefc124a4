"""The table of lanes: which requests share threads, so that no kind of request keeps another waiting."""

from __future__ import annotations

import re
from dataclasses import dataclass

UPLOADS = "POST|PUT|PATCH|DELETE"
ANY = "[A-Z]+"


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane of requests. `threads` of them are answered at once, `waiting` more may wait, others are refused. A
    request belongs to the first lane of which a line of `paths` matches its method and path."""

    name: str
    threads: int
    waiting: int
    paths: re.Pattern[str]

    def takes(self, method: str, path: str) -> bool:
        return self.paths.match(f"{method} {path}") is not None


def _lines(*lines: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{line})" for line in lines))


# It waits for nothing, so that a process says that it lives, whatever all others wait for.
HEALTH = Lane("health", 1, 200, _lines(rf"{ANY} /healthz\Z"))
# A browser asks for the thirty files of a page at once. Signing in costs memory and 50 ms by design.
FILES = Lane("files", 2, 200, _lines(f"{ANY} /(?:static|picture)/"))
# What looks at the database: seconds where that is silent.
CHECKS = Lane("checks", 2, 20, _lines(rf"{ANY} /(?:readyz|metrics)\Z"))
SIGN_IN = Lane(
    "sign-in",
    2,
    20,
    _lines(
        rf"{ANY} /admin/(?:login|login/code|login/passkey|logout|forgotten)\Z",
        rf"{ANY} /admin/(?:new-password|invitation)/[^/]+\Z",
        rf"{ANY} /v1/auth/(?:login|refresh|logout|passkeys/assertionOptions)\Z",
    ),
)
BULK = Lane(
    "bulk",
    2,
    20,
    _lines(
        r"POST /admin/catalogue/product/[0-9]+/images\Z",
        r"POST /admin/merchandising/category/[0-9]+/picture\Z",
        r"POST /admin/catalogue/products/classify\Z",
        r"POST /admin/settings/appearance(?:/arrange|/preview)?\Z",
        "POST /admin/settings/import-export/upload/",
        "POST /admin/catalogue/products/import/upload/",
        r"GET /admin/catalogue/products[.]csv\Z",
        r"GET /admin/catalogue/products/import/[^/]+/corrections[.]csv\Z",
        r"GET /admin/settings/import-export/[^/]+/report[.](?:json|csv)\Z",
        rf"{ANY} /admin/settings/backups(?:/[^/]+/(?:download|delete))?\Z",
        r"GET /admin/activity[.]csv\Z",
        r"POST /admin/personal-data/(?:export|erase)\Z",
        r"GET /admin/pos/transactions[.]csv\Z",
        r"GET /admin/pos/journal/verification\Z",
        r"POST /admin/pos/journal/export\Z",
        rf"{ANY} /admin/search/analytics/.*[.]csv\Z",
        f"{ANY} /admin/search/[^/]+/(?:import|export)",
        rf"{ANY} /admin/search/judgements/[0-9]+/(?:import|export)",
        rf"{ANY} /admin/seo/redirects/(?:import|export)",
        r"POST /admin/search/(?:try|terms/try)\Z",
        rf"{ANY} /admin/search/test\Z",
        rf"{ANY} /admin/catalogue/taxonomy/tasks/[^/]+/lost\Z",
        rf"{ANY} /admin/catalogue/taxonomy/[^/]+/(?:structure|impact|activation|activation-impact)\Z",
        rf"{ANY} /admin/catalogue/taxonomy/[^/]+/(?:review|restore|conflict)\Z",
        r"GET /admin/merchandising/category/[0-9]+/landing/twins\Z",
        f"(?:{UPLOADS}) /v1/admin/",
    ),
)
# What waits for the storage of pictures, where that is another machine: ten seconds where it hangs. No database
# connection is held meanwhile.
PICTURES = Lane("pictures", 3, 200, _lines(rf"{ANY} /media/"))
# What waits for receipt printers, ten seconds where one is switched off, and for the mail server of a test. No database
# connection is held meanwhile.
PRINTING = Lane(
    "printing",
    1,
    20,
    _lines(
        r"POST /v1/pos/[^/]+/printJobs\Z",
        r"POST /admin/pos/locations/[^/]+/printer/test\Z",
        r"POST /admin/settings/emails/[^/]+/test\Z",
    ),
)
# What may wait for the payment processor: half a minute where that hangs. Two hundred agents may pay at once.
PAYMENTS = Lane(
    "payments",
    4,
    250,
    _lines(
        f"(?:{UPLOADS}) /(?:v1|admin)/pos/",
        "GET /v1/pos/[^/]+/(?:paymentIntents/|readers)",
        r"POST /v1/basket/[^/]+/paymentIntent\Z",
        r"PUT /v1/basket/[^/]+/submit\Z",
        "POST /v1/webhooks/",
    ),
)
PAGES = Lane("pages", 4, 400, _lines(".*"))
LANES = (HEALTH, FILES, CHECKS, PICTURES, SIGN_IN, BULK, PRINTING, PAYMENTS, PAGES)


def lane_of(method: str, path: str) -> Lane:
    return next(lane for lane in LANES if lane.takes(method, path))

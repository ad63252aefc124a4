"""Which routes have threads of their own. A line of the table in app/web/server/lanes.py that fits no route is dead."""

from __future__ import annotations

from collections import defaultdict

from flask import Flask

from app.factory import MOST_MORE_CONNECTIONS
from app.web.server import lanes
from app.web.server.lanes import LANES, lane_of
from tests.architecture.shop_for_routes import CONVERTER, routes

KEPT_BY_SQLALCHEMY = 5
TAXONOMY = "/admin/catalogue/taxonomy/<taxonomy_id>"
BULK = {
    "POST /admin/catalogue/product/<product_id>/images",
    "POST /admin/merchandising/category/<category_id>/picture",
    "POST /admin/catalogue/products/classify",
    "GET /admin/catalogue/products.csv",
    "POST /admin/catalogue/products/import/upload/<permit>",
    "GET /admin/catalogue/products/import/<table_run_id>/corrections.csv",
    "POST /admin/settings/appearance",
    "POST /admin/settings/appearance/arrange",
    "POST /admin/settings/appearance/preview",
    "POST /admin/settings/import-export/upload/<permit>",
    "GET /admin/settings/import-export/<bundle_run_id>/report.csv",
    "GET /admin/settings/import-export/<bundle_run_id>/report.json",
    "GET /admin/settings/backups",
    "POST /admin/settings/backups",
    "GET /admin/settings/backups/<name>/download",
    "POST /admin/settings/backups/<name>/download",
    "GET /admin/settings/backups/<name>/delete",
    "POST /admin/settings/backups/<name>/delete",
    "GET /admin/activity.csv",
    "POST /admin/personal-data/erase",
    "POST /admin/personal-data/export",
    "GET /admin/pos/journal/verification",
    "POST /admin/pos/journal/export",
    "GET /admin/pos/transactions.csv",
    *(
        f"{method} {TAXONOMY}/{act}"
        for method in ("GET", "POST")
        for act in ("activation", "conflict", "restore", "review")
    ),
    f"GET {TAXONOMY}/activation-impact",
    f"POST {TAXONOMY}/impact",
    f"PUT {TAXONOMY}/structure",
    "GET /admin/catalogue/taxonomy/tasks/<task_id>/lost",
    "GET /admin/search/analytics/<list_name>.csv",
    "GET /admin/search/analytics/days.csv",
    "GET /admin/search/<words_table>/export.csv",
    "GET /admin/search/<words_table>/import",
    "POST /admin/search/<words_table>/import",
    "POST /admin/search/<words_table>/import/apply",
    "GET /admin/search/judgements/<judgement_list_id>/export.csv",
    "GET /admin/search/judgements/<judgement_list_id>/import",
    "POST /admin/search/judgements/<judgement_list_id>/import",
    "POST /admin/search/judgements/<judgement_list_id>/import/apply",
    "GET /admin/seo/redirects/export.csv",
    "GET /admin/seo/redirects/import",
    "POST /admin/seo/redirects/import",
    "POST /admin/seo/redirects/import/apply",
    "POST /admin/search/terms/try",
    "GET /admin/search/test",
    "POST /admin/search/test",
    "POST /admin/search/try",
    "GET /admin/merchandising/category/<category_id>/landing/twins",
    "POST /v1/admin/taxonomies",
    "DELETE /v1/admin/taxonomies/<taxonomy_id>",
    "POST /v1/admin/taxonomies/<taxonomy_id>/activate",
    "PUT /v1/admin/taxonomies/<taxonomy_id>/structure",
    "PUT /v1/admin/merchandising/nodes/<node_id>/landing-rules",
    "PUT /v1/admin/merchandising/trees/<tree_id>/landing-rules",
}
SIGN_IN = {
    "GET /admin/login",
    "POST /admin/login",
    "GET /admin/login/code",
    "POST /admin/login/code",
    "GET /admin/login/passkey",
    "POST /admin/login/passkey",
    "GET /admin/forgotten",
    "POST /admin/forgotten",
    "GET /admin/invitation/<token>",
    "POST /admin/invitation/<token>",
    "GET /admin/new-password/<token>",
    "POST /admin/new-password/<token>",
    "POST /admin/logout",
    "POST /v1/auth/login",
    "POST /v1/auth/logout",
    "POST /v1/auth/passkeys/assertionOptions",
    "POST /v1/auth/refresh",
}
FILES = {
    "GET /picture/<shape>/<name>.png",
    "GET /picture/<shape>/<name>.svg",
    "GET /static/<filename>",
    "GET /static/v-<version>/<filename>",
    "GET /static/shop-<digest>.js",
    "GET /static/look/<name>.css",
    "GET /static/themes/<name>/files/<filename>",
    "GET /static/themes/<name>/shop-<digest>.css",
}
HEALTH = {"GET /healthz"}
CHECKS = {"GET /readyz", "GET /metrics"}
MEDIA = {"GET /media/<site_id>/<file>"}
PRINTING = {
    "POST /v1/pos/<location_id>/printJobs",
    "POST /admin/pos/locations/<location_id>/printer/test",
    "POST /admin/settings/emails/<mail_kind>/test",
}
PAYMENTS = {
    "POST /v1/pos/<location_id>/connectionToken",
    "POST /v1/pos/<location_id>/paymentIntents",
    "GET /v1/pos/<location_id>/paymentIntents/<payment_intent_id>",
    "POST /v1/pos/<location_id>/paymentIntents/<payment_intent_id>/capture",
    "POST /v1/pos/<location_id>/paymentIntents/<payment_intent_id>/cancel",
    "GET /v1/pos/<location_id>/readers",
    "GET /v1/pos/<location_id>/readers/<reader_id>",
    "POST /v1/pos/<location_id>/readers/<reader_id>/process",
    "POST /v1/pos/<location_id>/readers/<reader_id>/cancel",
    "POST /v1/basket/<basket_id>/paymentIntent",
    "PUT /v1/basket/<basket_id>/submit",
    "POST /v1/webhooks/processor",
}


def test_what_is_answered_beside_the_pages(app: Flask) -> None:
    by_lane: dict[str, set[str]] = defaultdict(set)
    for method, rule in routes(app):
        by_lane[lane_of(method, CONVERTER.sub("7", rule)).name].add(f"{method} {rule}")
    pages, payments = by_lane.pop("pages"), by_lane.pop("payments")
    assert by_lane == {
        "bulk": BULK,
        "sign-in": SIGN_IN,
        "health": HEALTH,
        "files": FILES,
        "checks": CHECKS,
        "pictures": MEDIA,
        "printing": PRINTING,
    }
    assert payments >= PAYMENTS
    assert not any("/pos" in route and not route.startswith("GET ") for route in pages)


def test_all_threads_of_a_process_find_a_connection_of_the_database() -> None:
    """Pictures need one only for a moment, to see whose they are; that a process lives is said without one."""
    threads = sum(lane.threads for lane in LANES if lane not in (lanes.HEALTH, lanes.PICTURES))
    assert threads <= KEPT_BY_SQLALCHEMY + MOST_MORE_CONNECTIONS

"""What a screen reader makes of every page: links have names, names hold the words one sees, landmarks differ."""

from __future__ import annotations

from flask import Flask

from tests.accessible_names import problems_of_names
from tests.architecture.role_matrix import Principal
from tests.architecture.shop_for_routes import address, build_shops, client_of, routes
from tests.snapshots import built

STOREFRONT = ("/", "/search", "/search?q=product", "/c/all", "/basket", "/nowhere", "/admin/nowhere")


def test_every_page_can_be_named(app: Flask) -> None:
    app.config["WTF_CSRF_ENABLED"] = False
    shops = built(app, build_shops)
    client = client_of(app, Principal.SUPERADMIN)
    wrong, pages = [], 0
    for path in (*STOREFRONT, *(address(rule, shops.own) for method, rule in routes(app) if method == "GET")):
        answer = client.get(path, buffered=True)
        if answer.mimetype == "text/html" and "</html>" in answer.text:
            pages += 1
            wrong += [f"{path}: {problem}" for problem in problems_of_names(answer.text)]
    assert wrong == []
    assert pages > 60

"""Landing rules of a category, by each door: the editor, /v1, and the tool."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import delete

from app.domain.merchandising.models import Node, Tree
from app.domain.seo.landing.stored_rules import rules_fingerprint
from app.domain.sites.models import Site, User
from app.domain.taxonomy.models import Taxonomy
from app.extensions import db
from tests.domain.taxonomy.classified_shop import add_taxonomy
from tests.factories import WHEN
from tests.mcp.agent import token_for
from tests.mcp.doors import Row, Said, Shop, Subject, of_tool

Rules = list[dict[str, Any]] | None


def _page(shop: Shop, category_id: int, rules: Rules) -> Said:
    mode = "inherit" if rules is None else "own" if rules else "off"
    form = {"mode": mode, "seen": rules_fingerprint(OLD)}
    for index, rule in enumerate(rules or ()):
        for name, value in rule.items():
            if name != "overrides":
                form[f"rules/{index}/{name}"] = str(value)
        for number, override in enumerate(rule.get("overrides", ())):
            texts = {f"rules/{index}/overrides/{number}/{name}": str(text) for name, text in override.items() if text}
            form |= texts
    return shop.page(f"/admin/merchandising/category/{category_id}/landing", form)


def _rest(shop: Shop, category_id: int, rules: Rules) -> Said:
    with shop.app.app_context():
        token = token_for(
            shop.app, db.session.scalars(db.select(User)).one(), db.session.get_one(Site, shop.mia.site_id)
        )
    answer = shop.app.test_client().put(
        f"/v1/admin/merchandising/nodes/{category_id}/landing-rules",
        json={"inherit": True} if rules is None else {"rules": rules},
        base_url=shop.mia.pages.base,
        headers={"Authorization": f"Bearer {token}"},
    )
    return Said(answer.status_code < 400, json.dumps(answer.json, ensure_ascii=False))


def _tool(shop: Shop, category_id: int, rules: Rules) -> Said:
    sent = {"action": "inheritLanding"} if rules is None else {"action": "setLanding", "rules": rules}
    return of_tool(shop.tool("manageProductRanking", category=str(category_id), **sent))


OLD: list[dict[str, Any]] = [{"facetId": "manufacturer", "pathSegment": "old"}]


def _prepare(site: Site) -> int:
    db.session.execute(delete(Tree))
    if db.session.scalars(db.select(Taxonomy)).one_or_none() is None:
        add_taxonomy(site)
    tree = Tree(site_id=site.id, name="Shop", primary=True, updated_at=WHEN)
    db.session.add(tree)
    db.session.flush()
    node = Node(site_id=site.id, tree_id=tree.id, name="Tents", slug="tents", path="tents", updated_at=WHEN)
    node.landing_rules = OLD
    db.session.add(node)
    db.session.flush()
    return node.id


def _state(category_id: int) -> Rules:
    return db.session.get_one(Node, category_id).landing_rules


LANDING = Subject({"page": _page, "REST": _rest, "MCP": _tool}, _prepare, _state)
NO_TEXT = frozenset({"page"})  # A field of a form is a text, and reads as a number where it is one.


def _brand(**more: Any) -> list[dict[str, Any]]:
    return [{"facetId": "manufacturer", **more}]


def _row(name: str, rules: Rules, says: tuple[str, ...] = (), *, saved: Any = False, **more: Any) -> Row:
    accepted = saved is not False
    return Row(f"landing: {name}", LANDING, rules, accepted, saved if accepted else OLD, says, **more)


ROWS = [
    _row("inherited", None, saved=None),
    _row("none here", [], saved=[]),
    _row("brands", _brand(), saved=_brand()),
    _row("an attribute", [{"facetId": "season"}], saved=[{"facetId": "season"}]),
    _row("a segment is lower-cased", _brand(pathSegment=" BY "), saved=_brand(pathSegment="by")),
    _row("40 characters", _brand(pathSegment="x" * 40), saved=_brand(pathSegment="x" * 40)),
    _row("41 characters", _brand(pathSegment="x" * 41), ("single hyphens, at most 40",)),
    _row("two hyphens", _brand(pathSegment="a--b"), ("single hyphens",)),
    _row("a least number", _brand(minProducts=1), saved=_brand(minProducts=1)),
    _row("nothing is enough", _brand(minProducts=0), ("needs at least 1 product",)),
    _row("no number", _brand(minProducts="3"), ("must be a whole number",), without=NO_TEXT),
    _row("price", [{"facetId": "price"}], ("“price” has no values",)),
    _row("a yes/no attribute", [{"facetId": "free"}], ("is a yes/no or number attribute",)),
    _row("a number attribute", [{"facetId": "weight"}], ("is a yes/no or number attribute",)),
    _row("no such attribute", [{"facetId": "size"}], ("no attribute “size”",)),
    _row("a facet twice", [*_brand(), *_brand(pathSegment="by")], ("Two rules are for “manufacturer”.",)),
    _row(
        "a segment twice", [*_brand(pathSegment="season"), {"facetId": "season"}], ("have the path segment “season”",)
    ),
    _row("an override without a value", _brand(overrides=[{"value": " ", "heading": "x"}]), ("has no value",)),
    _row(
        "a value twice", _brand(overrides=[{"value": "A", "heading": "x"}, {"value": "A", "intro": "y"}]), ("name “A”",)
    ),
    _row(
        "overrides are trimmed",
        _brand(overrides=[{"value": " Fell ", "heading": " By  Fell ", "excluded": True}]),
        saved=_brand(overrides=[{"value": "Fell", "heading": "By Fell", "excluded": True}]),
    ),
    _row("11 rules", [{"facetId": f"f{n}"} for n in range(11)], ("at most 10 landing rules",)),
    _row("201 overrides", _brand(overrides=[{"value": f"v{n}"} for n in range(201)]), ("at most 200 overrides",)),
    _row("two problems", [{"facetId": "price", "minProducts": -1}], ("“price” has no values", "at least 1 product")),
]

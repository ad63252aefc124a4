"""Search rules and synonyms, by each door."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, select

from app.domain.catalogue.models import Product
from app.domain.relevance.models import SearchRule, Synonym
from app.domain.sites.models import Site
from app.extensions import db
from tests.factories import make_product, make_rule, make_synonym
from tests.mcp.doors import Row, Said, Shop, Subject, of_tool

SKUS = ("T-1", "T-2")
ACTIONS = {"pins": "pin", "boosts": "boost", "buries": "bury", "redirectUrl": "redirect", "banner": "banner"}
Fields = dict[str, Any]


def _page(shop: Shop, rule_id: int, sent: Fields) -> Said:
    pins, banner = sent.get("pins", []), sent.get("banner", {})
    form = {
        "term": sent["term"],
        "pin": [pin["sku"] for pin in pins],
        "position": [str(pin["position"]) for pin in pins],
        "boost": sent.get("boosts", []),
        "bury": sent.get("buries", []),
        "redirectUrl": sent.get("redirectUrl", ""),
        "bannerText": banner.get("text", ""),
        "bannerLinkUrl": banner.get("linkUrl", ""),
        "endsAt": sent.get("endsAt", ""),
        "note": sent.get("note", ""),
        "revision": str(sent.get("revision", 1)),
    }
    return shop.page(f"/admin/search/ranking/{rule_id or 'new'}", form)


def _rest(shop: Shop, rule_id: int, sent: Fields) -> Said:
    if not rule_id:
        return shop.rest("POST", "/admin/search/ranking/rest", sent)
    return shop.rest("PUT", f"/admin/search/ranking/rest/{rule_id}", {"revision": 1, **sent})


def _tool(shop: Shop, rule_id: int, sent: Fields) -> Said:
    """One part of a rule in one call; products come as SKUs."""
    part = next(name for name in ACTIONS if name in sent)
    arguments = {name: value for name, value in sent.items() if name not in ("pins", "boosts", "buries")}
    if part == "pins":
        arguments |= {"products": [pin["sku"] for pin in sent["pins"]], "position": sent["pins"][0]["position"]}
    elif part in ("boosts", "buries"):
        arguments["products"] = sent[part]
    return of_tool(shop.tool("manageProductRanking", action=ACTIONS[part], **arguments))


def _prepare(site: Site) -> int:
    db.session.execute(delete(SearchRule))
    if not db.session.scalars(select(Product)).all():
        for sku in SKUS:
            make_product(site, sku)
    return 0


def _prepare_one(site: Site) -> int:
    _prepare(site)
    return make_rule(site, "tent", redirect_url="/", pins=[], boosts=[], buries=[], revision=2).id


def _state(_: int) -> Fields | None:
    """What a rule has that it need not have."""
    rule = db.session.scalars(select(SearchRule)).one_or_none()
    return None if rule is None else {name: value for name, value in rule.value.as_json().items() if value}


DOORS = {"page": _page, "REST": _rest, "MCP": _tool}
RULE, CHANGED = Subject(DOORS, _prepare, _state), Subject(DOORS, _prepare_one, _state)
TENT = {"term": "tent"}
USUAL = {"enabled": True, "match": "exact", "priority": 100}
KEPT = TENT | {"redirectUrl": "/"} | USUAL
NO_TIME = frozenset({"page"})  # Its times have no zone.


def _pinned(*skus: str, at: int) -> Fields:
    return {"pins": [{"sku": sku, "position": position} for position, sku in enumerate(skus, at)]}


def _row(name: str, sent: Fields, says: tuple[str, ...] = (), after: Fields | None = None, **more: Any) -> Row:
    stored = None if after is None else TENT | USUAL | after
    return Row(f"rule: {name}", RULE, TENT | sent, after is not None, stored, says, **more)


RULES = [
    _row("two pins", _pinned("T-2", "T-1", at=3), after=_pinned("T-2", "T-1", at=3)),
    _row("a term is trimmed", {"term": " tent  ", "boosts": ["T-1"]}, after={"boosts": ["T-1"]}),
    _row("a buried product", {"buries": ["T-2"], "note": " Sold out "}, after={"buries": ["T-2"], "note": "Sold out"}),
    _row("a redirect", {"redirectUrl": "/search?q=yurt"}, after={"redirectUrl": "/search?q=yurt"}),
    _row("a banner", {"banner": {"text": "Dry  feet"}}, after={"banner": {"text": "Dry feet", "linkUrl": None}}),
    _row("no term", {"term": " ", "boosts": ["T-1"]}, ("The term is missing.",)),
    _row("a long term", {"term": "x" * 101, "boosts": ["T-1"]}, ("at most 100 fit",)),
    _row("an unknown product", {"boosts": ["T-9"]}, ("no product with the SKU “T-9”",)),
    _row("a product twice", {"buries": ["T-1", "T-1"]}, ("(T-1) is buried twice.",)),
    _row("position 0", _pinned("T-1", at=0), ("must be a whole number from 1 to 100",)),
    _row("position 101", _pinned("T-1", at=101), ("must be a whole number from 1 to 100",)),
    _row("another site", {"redirectUrl": "//evil.test"}, ("must be a page of this shop",)),
    _row("no such page", {"redirectUrl": "/pages/none"}, ("leads nowhere",)),
    _row("to itself", {"redirectUrl": "/search?q=Tent"}, ("leads to this very search again",)),
    _row("a banner without text", {"banner": {"text": " ", "linkUrl": "/"}}, ("a link but no text",)),
    _row("no time", {"boosts": ["T-1"], "endsAt": "soon"}, ("soon",)),
    _row("a time without a zone", {"boosts": ["T-1"], "endsAt": "2027-01-01T00:00"}, ("a time",), without=NO_TIME),
    _row("two problems at once", {"boosts": ["T-9"], "note": "x" * 2_001}, ("T-9", "at most 2,000 fit")),
    Row("rule: another revision", CHANGED, TENT | {"boosts": ["T-1"], "revision": 1}, False, KEPT),
]


def _synonym_page(shop: Shop, _: int, sent: Fields) -> Said:
    form = {"type": sent["type"], "root": sent.get("root", ""), "words": ", ".join(sent["synonyms"])}
    return shop.page("/admin/search/synonyms", form)


def _synonym_rest(shop: Shop, _: int, sent: Fields) -> Said:
    return shop.rest("POST", "/admin/search/synonyms/rest", sent)


def _synonym_tool(shop: Shop, _: int, sent: Fields) -> Said:
    return of_tool(shop.tool("manageSynonyms", action="add", **sent))


def _prepare_synonyms(site: Site) -> int:
    db.session.execute(delete(Synonym))
    return make_synonym(site, "mobile", "phone").id


def _synonyms(known: int) -> list[str]:
    return [str(row.group) for row in db.session.scalars(select(Synonym).where(Synonym.id != known))]


SYNONYM = Subject({"page": _synonym_page, "REST": _synonym_rest, "MCP": _synonym_tool}, _prepare_synonyms, _synonyms)
NO_COMMA = frozenset({"page"})  # There a comma parts two words.


def _both(*words: str) -> Fields:
    return {"type": "EQUIVALENT", "synonyms": list(words)}


def _one_way(root: str, *words: str) -> Fields:
    return {"type": "ONE_WAY", "root": root, "synonyms": list(words)}


SYNONYMS = [
    Row("synonym: both ways", SYNONYM, _both(" tent ", "ridge  tent"), True, ["tent = ridge tent"]),
    Row("synonym: one way", SYNONYM, _one_way("phone", "handset"), True, ["phone → handset"]),
    Row("synonym: one word", SYNONYM, _both("tent"), False, [], ("Give at least two words.",)),
    Row("synonym: no root", SYNONYM, _one_way(" ", "tent"), False, [], ("Say which word shoppers search for.",)),
    Row("synonym: a word that is taken", SYNONYM, _both("Phones", "x1"), False, [], ("another synonym already",)),
    Row("synonym: forms of a word", SYNONYM, _both("tent", "Tents"), False, [], ("are one word to search",)),
    Row("synonym: 21 words", SYNONYM, _both(*(f"w{n}" for n in range(21))), False, [], ("has at most 20 words",)),
    Row("synonym: 6 words together", SYNONYM, _both("a1 b1 c1 d1 e1 f1", "x1"), False, [], ("at most 5 stand",)),
    Row("synonym: no letters", SYNONYM, _both("??", "x1"), False, [], ("neither letters nor digits",)),
    Row("synonym: a comma", SYNONYM, _both("a,b", "x1"), False, [], ("a comma or a semicolon",), NO_COMMA),
    Row("synonym: two problems", SYNONYM, _one_way("!!", "a1 b1 c1 d1 e1 f1"), False, [], ("neither", "at most 5")),
]
ROWS = [*RULES, *SYNONYMS]

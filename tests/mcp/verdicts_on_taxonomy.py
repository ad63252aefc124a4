"""Classification of a product, and the impact of a changed taxonomy, by each door."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from app.domain.catalogue.models import Product
from app.domain.sites.models import Site
from app.domain.taxonomy.models import Taxonomy
from app.extensions import db
from tests.domain.taxonomy.classified_shop import LEVELS, add_taxonomy, make_classified
from tests.mcp.doors import Row, Said, Shop, Subject, of_tool


def _taxonomy(site: Site) -> None:
    if db.session.scalars(db.select(Taxonomy)).one_or_none() is None:
        add_taxonomy(site)


def _prepare(site: Site) -> int:
    _taxonomy(site)
    product = make_classified(site, "tents", {"sleeps": 2, "colour": ["Moss"]}, name="Ridge tent")
    product.sku = f"T-{product.id}"
    product.seo_name = f"tent-{product.id}"
    return product.id


def _state(product_id: int) -> tuple[str | None, dict[str, Any], int | None]:
    found = db.session.get_one(Product, product_id)
    return found.taxonomy_level_id, found.taxonomy_attributes, found.completeness_score


def _form(shop: Shop, product_id: int, sent: tuple[str, dict[str, Any]]) -> Said:
    """The form holds every value of the product; what is sent stands in its place."""
    level_id, values = sent
    shown = {"sleeps": 2, "colour": ["Moss"]} | values
    texts = {f"attr:{name}": _typed(value) for name, value in shown.items() if value is not None}
    details = {"name": "Ridge tent", "sku": f"T-{product_id}", "price": "12.50", "enabled": "on", "revision": "1"}
    part = {"taxonomyPanelSubmitted": "true", "taxonomyId": "outdoor", "levelId": level_id}
    return shop.page(f"/admin/catalogue/product/{product_id}", details | part | texts, refusal='f-levelId"><a')


def _typed(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, list) else str(value)


def _set(shop: Shop, product_id: int, sent: tuple[str, dict[str, Any]]) -> Said:
    level_id, values = sent
    arguments = {"action": "set", "product": str(product_id), "levelId": level_id, "attributes": values}
    return of_tool(shop.tool("manageProductTaxonomy", **arguments))


CLASSIFICATION = Subject({"page": _form, "MCP": _set}, _prepare, _state)


def _rest_impact(shop: Shop, _: int, levels: Any) -> Said:
    return shop.rest("POST", "/admin/catalogue/taxonomy/outdoor/impact", {"rootLevels": levels})


def _tool_impact(shop: Shop, _: int, levels: Any) -> Said:
    return of_tool(shop.tool("taxonomyImpact", taxonomyId="outdoor", rootLevels=levels))


def _prepare_impact(site: Site) -> int:
    _taxonomy(site)
    if db.session.scalars(db.select(Product)).one_or_none() is None:
        make_classified(site, "tents", {"sleeps": 2, "colour": ["Moss"]})
    return 0


IMPACT = Subject({"REST": _rest_impact, "MCP": _tool_impact}, _prepare_impact, lambda _: None)


def _changed(*path: int, **fields: Any) -> Any:
    """The tree with other fields for the level at a path."""
    levels: Any = deepcopy(LEVELS)
    level = {"children": levels}
    for step in path:
        level = level["children"][step]
    level.update(fields)
    return levels


def _deep(depth: int) -> Any:
    level: dict[str, Any] = {"name": "Bottom"}
    for number in range(depth - 1):
        level = {"name": f"Level {number}", "children": [level]}
    return [level]


TENTS = LEVELS[0]["children"][0]["attributes"]  # type: ignore[index]
KEPT = {"sleeps": 2, "colour": ["Moss"]}
ROWS = [
    Row("values are kept", CLASSIFICATION, ("tents", {"free": True}), True, ("tents", KEPT | {"free": True}, 100)),
    Row("no is a value", CLASSIFICATION, ("tents", {"free": False}), True, ("tents", KEPT | {"free": False}, 100)),
    Row("zero is a value", CLASSIFICATION, ("tents", {"sleeps": 0}), True, ("tents", KEPT | {"sleeps": 0}, 50)),
    Row("a value is taken away", CLASSIFICATION, ("tents", {"sleeps": None}), True, ("tents", {"colour": ["Moss"]}, 0)),
    Row(
        "an empty text is no value",
        CLASSIFICATION,
        ("tents", {"sleeps": " "}),
        True,
        ("tents", {"colour": ["Moss"]}, 0),
    ),
    Row("a number as text", CLASSIFICATION, ("tents", {"weight": "2.5"}), True, ("tents", KEPT | {"weight": 2.5}, 50)),
    Row("no number", CLASSIFICATION, ("tents", {"weight": "heavy"}), True, ("tents", KEPT, 50), ("takes a number",)),
    Row("out of range", CLASSIFICATION, ("tents", {"weight": 70}), True, ("tents", KEPT, 50), ("must be at most 50",)),
    Row(
        "another spelling",
        CLASSIFICATION,
        ("tents", {"season": "SUMMER"}),
        True,
        ("tents", KEPT | {"season": "Summer"}, 50),
    ),
    Row("no such choice", CLASSIFICATION, ("tents", {"season": "Mud"}), True, ("tents", KEPT, 50), ("no value “Mud”",)),
    Row(
        "each choice for itself",
        CLASSIFICATION,
        ("tents", {"colour": ["Clay", "Pink"]}),
        True,
        ("tents", {"sleeps": 2, "colour": ["Clay"]}, 50),
        ("no value “Pink”",),
    ),
    Row(
        "another level",
        CLASSIFICATION,
        ("stoves", {"fuel": "Gas"}),
        True,
        ("stoves", {"fuel": "Gas", "colour": ["Moss"]}, 100),
    ),
    Row("no level", CLASSIFICATION, ("", {"sleeps": None, "colour": None}), True, (None, {}, None)),
    Row("an unknown level", CLASSIFICATION, ("boats", {}), False, ("tents", KEPT, 50), ("has no level “boats”",)),
    Row("nothing changes", IMPACT, LEVELS, True, None, ('"levelsRemoved": []',)),
    Row("a level goes", IMPACT, LEVELS[1:], True, None, ('"levelId": "tents", "name": "Tents", "products": 1',)),
    Row(
        "an attribute goes",
        IMPACT,
        _changed(0, 0, attributes=TENTS[1:]),
        True,
        None,
        ('"attributeId": "sleeps", "name": "Sleeps", "products": 1',),
    ),
    Row("no name", IMPACT, _changed(0, name=" "), False, None, ("has no name.",)),
    Row("the same name twice", IMPACT, _changed(0, 1, name="tents"), False, None, ("“tents” is the name of two",)),
    Row("too deep", IMPACT, _deep(9), False, None, ("Levels nest at most 8 deep.",)),
    Row("no list", IMPACT, {}, False, None, ("must be a list",)),
    Row("an unknown field", IMPACT, _changed(0, colour="red"), False, None, ("There is no field “colour” here.",)),
]

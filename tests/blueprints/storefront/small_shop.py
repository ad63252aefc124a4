"""A shop of a dozen products with everything that pages can show."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from app import ports
from app.domain.catalogue.models import Collection, CollectionEntry, Page, Product, Variant
from app.domain.merchandising.models import Node, Placement, Tree
from app.domain.search.engine import IndexDocument, IndexName
from app.domain.search.index.documents import content_documents, product_documents
from app.domain.sites.models import Domain, Setting, Site
from app.domain.sites.versioning import index_changed
from app.domain.taxonomy.models import Taxonomy
from app.extensions import db
from app.transaction import transaction

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def attribute(attribute_id: str, name: str, type: str, values: Iterable[str] = (), **more: Any) -> dict[str, Any]:
    return {"attributeId": attribute_id, "name": name, "type": type, "allowedValues": list(values), **more}


LEVELS = [
    {
        "levelId": "camping",
        "name": "Camping",
        "attributes": [
            attribute("colour", "Colour", "SINGLE_SELECT", ("Fern", "Navy", "Odd"), displayOnProductPage=True),
            attribute("weight", "Weight", "NUMBER", displayOnProductPage=True, unit="kg"),
            attribute("waterproof", "Waterproof", "BOOLEAN", displayOnProductPage=True, displayOrder=1),
            attribute("secret", "Secret", "STRING"),
        ],
        "children": [
            {"levelId": "tents", "name": "Tents", "attributes": [], "children": []},
            {"levelId": "mugs", "name": "Mugs", "attributes": [], "children": []},
        ],
    }
]
FACETS = [
    {"facetId": "manufacturer", "display": "list", "label": "Brand"},
    {"facetId": "colour", "display": "swatch", "swatches": {"Odd": "#123456"}},
    {"facetId": "price", "display": "range"},
    {"facetId": "weight", "display": "range"},
    {"facetId": "inStock", "display": "toggle"},
    {"facetId": "waterproof", "display": "toggle"},
]


def build(host: str = "shop.test", name: str = "Small shop") -> int:
    """The site's id. Its index is built too."""
    with transaction():
        site = Site(name=name, capabilities=["TAXONOMY_ENGINE"], created_at=BEGAN)
        site.domains = [Domain(host=host, primary=True), Domain(host=f"www.{host}")]
        db.session.add(site)
        db.session.flush()
        _taxonomy(site.id)
        nodes = _categories(site.id)
        products = _products(site.id)
        _more(site.id, nodes, products)
        site_id = site.id
    index(site_id)
    return site_id


def index(site_id: int) -> None:
    _build_index(site_id, IndexName.PRODUCTS, list(product_documents(site_id)))
    _build_index(site_id, IndexName.CONTENT, list(content_documents(site_id)))
    with transaction():
        index_changed(db.session(), site_id)


def _build_index(site_id: int, name: IndexName, documents: list[IndexDocument]) -> None:
    engine = ports.search_engine()
    generation = engine.start_generation(site_id, name)
    generation.add(documents)
    generation.seal()
    with engine.exclusive(site_id, name):
        generation.publish()


def _taxonomy(site_id: int) -> None:
    db.session.add_all(
        [
            Taxonomy(
                site_id=site_id,
                id="outdoor",
                catalogue_id="main",
                name="Outdoor",
                root_levels=LEVELS,
                created_at=BEGAN,
                updated_at=BEGAN,
            ),
            Setting(site_id=site_id, key="taxonomy-active-id", value="outdoor"),
            Setting(site_id=site_id, key="listing-page-size", value=4),
        ]
    )


def _categories(site_id: int) -> dict[str, Node]:
    tree = Tree(site_id=site_id, name="Shop", primary=True, facets=FACETS, updated_at=BEGAN)
    db.session.add(tree)
    db.session.flush()
    nodes: dict[str, Node] = {}
    for path, name, more in (
        ("camping", "Camping", {"source_levels": ["camping"], "description": "For nights outside."}),
        ("camping/tents", "Tents", {"source_levels": ["tents"]}),
        ("camping/mugs", "Mugs", {"source_levels": ["mugs"], "facets": []}),
        ("camping/hidden", "Hidden", {"source_levels": ["mugs"], "visible": False}),
        ("gifts", "Gifts", {}),
    ):
        parent = nodes.get(path.rpartition("/")[0])
        node = Node(
            site_id=site_id,
            tree_id=tree.id,
            parent_id=parent.id if parent else None,
            position=len(nodes),
            name=name,
            slug=path.rpartition("/")[2],
            path=path,
            updated_at=BEGAN,
            **more,
        )
        db.session.add(node)
        db.session.flush()
        nodes[path] = node
    return nodes


def product(site_id: int, number: int, level: str, **more: Any) -> Product:
    kind = "tent" if level == "tents" else "mug"
    facts = {
        "sku": f"S-{number}",
        "name": f"{'Fell' if number % 2 else 'Moor'} {kind} {number}",
        "seo_name": f"{kind}-{number}",
        "manufacturer": "Fell & Fern" if number % 2 else "Moor",
        "description": "<p>Made for <b>rain</b>.</p>",
        "price": number * 1000,
        "stock": number % 4,
        "taxonomy_level_id": level,
        "taxonomy_attributes": {
            "colour": ("Fern", "Navy", "Odd")[number % 3],
            "weight": number / 2,
            "waterproof": number % 2 == 1,
            "secret": "hush",
        },
        "created_at": BEGAN + timedelta(days=number),
        "updated_at": BEGAN,
    }
    return Product(site_id=site_id, **(facts | more))


def _products(site_id: int) -> list[Product]:
    products = [product(site_id, number, "tents") for number in range(1, 10)]
    products += [product(site_id, number, "mugs") for number in range(10, 13)]
    products[0].compare_at_price = 1500
    products[0].featured = True
    products[1].enabled = False
    products[2].variants = [
        Variant(site_id=site_id, position=0, sku="S-3-S", stock=0, options={"Size": "Small", "Colour": "Fern"}),
        Variant(
            site_id=site_id, position=1, sku="S-3-L", stock=3, price=4550, options={"Size": "Large", "Colour": "Fern"}
        ),
        Variant(site_id=site_id, position=2, sku="S-3-N", stock=9, options={"Size": "Large", "Colour": "Navy"}),
    ]
    db.session.add_all(products)
    db.session.flush()
    return products


def _more(site_id: int, nodes: dict[str, Node], products: list[Product]) -> None:
    placed = (products[8], products[0], products[1])
    db.session.add_all(
        Placement(site_id=site_id, node_id=nodes["gifts"].id, product_id=placed_one.id, position=place)
        for place, placed_one in enumerate(placed)
    )
    best = Collection(
        site_id=site_id, seo_name="best", name="Best of rain", description="<p>Wet.</p>", updated_at=BEGAN
    )
    best.entries = [
        CollectionEntry(site_id=site_id, product_id=one.id, position=place)
        for place, one in enumerate((products[5], products[1], products[3]))
    ]
    db.session.add_all(
        [
            best,
            Collection(site_id=site_id, seo_name="old", name="Old", enabled=False, updated_at=BEGAN),
            Page(
                site_id=site_id,
                seo_name="delivery",
                title="Delivery in the rain",
                body="<p>By post.</p>",
                updated_at=BEGAN,
            ),
            Page(site_id=site_id, seo_name="draft", title="Draft", enabled=False, updated_at=BEGAN),
        ]
    )

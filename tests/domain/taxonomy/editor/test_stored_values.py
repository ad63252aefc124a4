"""How many products hold which value, for the definition that governs them."""

import pytest

from app.domain.sites.models import Site
from app.domain.taxonomy.impact import NO_STORED_VALUES, stored_values
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.taxonomy.tree import TaxonomyTree
from tests.factories import make_product, make_site, make_taxonomy

COLOUR = {"attributeId": "colour", "name": "Colour", "type": "MULTI_SELECT", "allowedValues": ["Red", "Blue"]}


def level(level_id: str, *children: dict, attributes: tuple[dict, ...] = ()) -> dict:
    return {"levelId": level_id, "name": level_id.title(), "attributes": list(attributes), "children": list(children)}


TREE = [
    level("camping", level("tents", level("tunnels")), level("mats", attributes=(COLOUR,)), attributes=(COLOUR,)),
    level("books"),
]


@pytest.fixture
def site(context: None) -> Site:
    made = make_site()
    make_taxonomy(made, TREE, active=True, id="kinds")
    tree = active_tree(made.id)
    for level_id, colours in (("tents", "Red"), ("tunnels", "Red,Blue"), ("mats", "Red"), ("camping", "")):
        classify(make_product(made), tree, level_id, {"colour": colours})
    return made


def test_a_definition_governs_the_levels_below_it_down_to_the_next_one() -> None:
    assert sorted(TaxonomyTree.parse(TREE).governed_levels("camping", "colour")) == ["camping", "tents", "tunnels"]
    assert TaxonomyTree.parse(TREE).governed_levels("mats", "colour") == ["mats"]


def test_products_count_for_the_nearest_definition(site: Site) -> None:
    above = stored_values(site.id, "kinds", TaxonomyTree.parse(TREE), "camping", "colour")
    assert (above.products, above.of("Red"), above.of("Blue"), above.of("Green")) == (2, 2, 1, 0)
    own = stored_values(site.id, "kinds", TaxonomyTree.parse(TREE), "mats", "colour")
    assert (own.products, dict(own.values)) == (1, {"Red": 1})


def test_where_an_id_is_defined_once_all_who_hold_it_count(site: Site) -> None:
    once = [level("camping", level("tents", level("tunnels")), level("mats"), attributes=(COLOUR,))]
    assert stored_values(site.id, "kinds", TaxonomyTree.parse(once), "camping", "colour").products == 3


def test_of_a_taxonomy_that_is_not_active_nothing_is_held(site: Site) -> None:
    assert stored_values(site.id, "spare", TaxonomyTree.parse(TREE), "camping", "colour") is NO_STORED_VALUES


def test_another_shops_products_do_not_count(site: Site) -> None:
    other = make_site("other.localhost")
    make_taxonomy(other, TREE, active=True, id="kinds")
    assert stored_values(other.id, "kinds", TaxonomyTree.parse(TREE), "camping", "colour").products == 0

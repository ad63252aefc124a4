"""How the filters of a category, of its landing pages and of others lead to landing pages, and to nothing else."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.blueprints.storefront.conftest import Get
from tests.blueprints.storefront.landing import FELL, MOOR, TENTS, Rules, rail, tags

pytestmark = pytest.mark.usefixtures("brands")


def ratings(text: str) -> dict[str, str]:
    """The link of each rating, as its tag, by the least number of stars."""
    found = re.findall(r'(<a id="f-rating-[^>]*>).*?<span class="unseen">([1-5]) stars? and up', text, re.DOTALL)
    return {stars: unescape(tag) for tag, stars in found}


def test_every_page_is_linked_from_its_category_and_from_the_others(get: Get):
    for path, current in ((TENTS, None), (MOOR, MOOR), (f"{FELL}?p=2", FELL)):
        page = get(path).text
        links = page[page.index('id="landing-links"') :]
        assert "<h2>Shop Tents by brand</h2>" in links
        found = {tag.split('"')[1]: tag for tag in tags(links[: links.index("</nav>")], "a ")}
        assert list(found) == [FELL, MOOR]
        assert [path for path, tag in found.items() if "aria-current" in tag] == ([current] if current else [])
        assert not any("nofollow" in tag for tag in found.values())


def test_values_of_an_unfiltered_category_lead_to_their_pages_and_keep_their_toggle(get: Get):
    values = rail(get(TENTS).text)
    assert f'href="{MOOR}"' in values["Moor"] and "nofollow" not in values["Moor"]
    assert f'data-facet-href="{TENTS}?manufacturer=Moor"' in values["Moor"]
    assert 'rel="nofollow"' in values["Fern"] and "data-facet-href" not in values["Fern"]
    assert all('rel="nofollow"' in tag for tag in rail(get(f"{TENTS}?sort=name").text).values())


def test_values_of_a_filtered_category_are_not_followed(get: Get):
    values = rail(get(f"{TENTS}?colour=Fern&manufacturer=Moor").text)
    assert all('rel="nofollow"' in tag for tag in values.values())
    assert f'href="{MOOR}"' in values["Fern"], "letting the colour go leads to the page without a redirect"


def test_on_a_page_the_value_is_ticked_and_refinements_are_filters_of_the_category(get: Get):
    page = get(MOOR).text
    values = rail(page)
    assert 'aria-current="true"' in values["Moor"] and f'href="{TENTS}"' in values["Moor"]
    assert f'href="{TENTS}?colour=Fern&manufacturer=Moor"' in values["Fern"]
    assert f'href="{TENTS}?manufacturer=Fell+%26+Fern&manufacturer=Moor"' in values["Fell & Fern"]
    assert all('rel="nofollow"' in tag and 'hx-boost="false"' in tag for tag in values.values())


def test_a_rating_is_let_go_in_place_only_where_that_leads_to_the_same_page(get: Get, change: Rules):
    change("camping/tents", facets=[{"facetId": "manufacturer"}, {"facetId": "rating", "display": "range"}])
    of_category = ratings(get(f"{TENTS}?manufacturer=Moor&rating_min=4").text)
    assert f'href="{MOOR}"' in of_category["4"] and 'hx-boost="false"' in of_category["4"]
    alone = ratings(get(f"{TENTS}?rating_min=4").text)
    assert f'href="{TENTS}"' in alone["4"] and "hx-boost" not in alone["4"]


def test_a_swatch_leads_to_its_page_and_is_ticked_there(get: Get, change: Rules):
    change("camping/tents", landing_rules=[{"facetId": "colour", "minProducts": 2, "pathSegment": "in"}])
    swatch = rail(get(TENTS).text)["Navy"]
    assert f'href="{TENTS}/in/navy"' in swatch and "nofollow" not in swatch
    page = get(f"{TENTS}/in/navy").text
    assert 'aria-current="true"' in rail(page)["Navy"] and '<ul class="choices swatchs">' in page
    assert "<h2>Shop Tents by colour</h2>" in page
    assert get(MOOR).status_code == 404, "the category's own rules take the place of the tree's"


def test_a_brand_and_an_attribute_rule_give_both_sets(get: Get, change: Rules):
    change("camping/tents", landing_rules=[{"facetId": "manufacturer"}, {"facetId": "colour", "minProducts": 2}])
    page = get(TENTS).text
    assert "<h2>Shop Tents by brand</h2>" in page and "<h2>Shop Tents by colour</h2>" in page
    assert get(f"{TENTS}/colour/navy").status_code == 200
    assert get(f"{TENTS}?colour=Navy&manufacturer=Moor").status_code == 200


def test_no_link_of_a_category_or_its_pages_redirects(get: Get):
    for path in (TENTS, MOOR, FELL, f"{FELL}?p=2", f"{TENTS}?colour=Fern", f"{TENTS}?colour=Fern&manufacturer=Moor"):
        for link in re.findall(r' href="(/c/[^"]*)"', get(path).text):
            assert get(unescape(link)).status_code == 200, (path, link)

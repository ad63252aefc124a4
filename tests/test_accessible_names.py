"""The check of names that all pages of tests go through."""

from __future__ import annotations

import pytest

from tests.accessible_names import problems_of_names


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<a href="/basket"><svg><text>b</text></svg></a>', "without a name"),
        ('<a href="/basket"><span aria-hidden="true">3</span></a>', "without a name"),
        ('<button aria-label="Add “tent” to a product">Add to a product</button>', "is named"),
        ('<nav aria-label="Pages"></nav><nav aria-label="pages"></nav>', "2 landmarks"),
        (
            '<section aria-label="Kept"></section><section aria-labelledby="k"><h2 id="k">Kept</h2></section>',
            "2 landmarks",
        ),
        ('<form role="search"></form><form role="search"></form>', "2 landmarks"),
    ],
)
def test_what_a_screen_reader_could_not_name_or_tell_apart_is_found(html: str, found: str) -> None:
    (problem,) = problems_of_names(html)
    assert found in problem


@pytest.mark.parametrize(
    "html",
    [
        '<a href="/basket"><svg></svg><span class="unseen">Basket</span></a>',
        '<a href="/p"><img src="/x" alt="A tent"></a>',
        '<button aria-label="Delete the tent">Delete…</button>',
        '<button aria-label="One more"><svg></svg></button>',
        '<nav aria-label="Pages"></nav><section aria-label="Pages"></section><section></section><section></section>',
    ],
)
def test_what_has_a_name_of_its_own_passes(html: str) -> None:
    assert problems_of_names(html) == []

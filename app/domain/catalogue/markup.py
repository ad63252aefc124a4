"""The HTML that merchandisers may write: descriptions and page bodies are cleaned on the way in."""

from __future__ import annotations

import html
import re
from typing import ClassVar

import nh3

MEDIA_PREFIX = "/media/"
# The one form of a picture's address: nothing that a browser would read as another path.
PICTURE = re.compile(rf"{MEDIA_PREFIX}[1-9][0-9]*/[0-9a-z-]+\.webp", re.ASCII)
# What the cleaner writes: every attribute value in double quotes, with inner quotes escaped.
IMAGE_TAG = re.compile(r'<img(?:\s+[\w-]+="[^"]*")*\s*/?>')
BREAKING_TAG = re.compile(
    r"</?(?:p|br|li|ul|ol|h[1-6]|div|tr|td|th|dd|dt|hr|blockquote|pre|table)\b[^>]*>", re.IGNORECASE
)
TEXT_TAGS = "p br hr strong b em i u s sub sup small code pre blockquote a img ul ol li dl dt dd h2 h3 h4"
TABLE_TAGS = "table caption thead tbody tfoot tr th td"
TAGS = set(f"{TEXT_TAGS} {TABLE_TAGS}".split())
ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "width", "height"},
    "th": {"colspan", "rowspan", "scope"},
    "td": {"colspan", "rowspan"},
}


class HoldsMarkup:
    """Mixin of tables with a text in which pictures may stand, and of some with a column that names one. The files of
    these pictures count as used."""

    markup: ClassVar[str]  # The column.
    picture_column: ClassVar[str | None] = None


class NamesPictures:
    """Mixin of tables whose column `files` is a list of files of pictures, which count as used."""


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Return the value of an attribute, None to drop it: pictures of other hosts are dropped, which would learn who
    reads the page."""
    return None if tag == "img" and name == "src" and not PICTURE.fullmatch(value) else value


_cleaner = nh3.Cleaner(
    tags=TAGS,
    attributes=ATTRIBUTES,
    attribute_filter=_attribute,
    url_schemes={"http", "https", "mailto", "tel"},
    link_rel="noopener",
)
_stripper = nh3.Cleaner(tags=set())


def clean_html(text: str, site_id: int) -> str:
    """Return the HTML with only what the site's pages show: tags and attributes that are allowed, and own pictures.
    Idempotent."""
    if "<" not in text and "&" not in text and ">" not in text:
        return text.strip()
    cleaned: str = _cleaner.clean(text)
    own_picture = f' src="{MEDIA_PREFIX}{site_id}/'
    return IMAGE_TAG.sub(lambda image: image[0] if own_picture in image[0] else "", cleaned).strip()


def plain_text(markup: str) -> str:
    """The words of a piece of HTML, on one line."""
    if "<" in markup or "&" in markup:
        markup = html.unescape(_stripper.clean(BREAKING_TAG.sub(" ", markup)))
    return " ".join(markup.split())

"""What a screen reader makes of a page: links with names, names that hold the text one sees, landmarks told apart."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {
    "input",
    "img",
    "br",
    "hr",
    "meta",
    "link",
    "source",
    "use",
    "path",
    "circle",
    "polyline",
    "line",
    "rect",
    "wbr",
}
LANDMARKS = {"nav": "navigation", "aside": "complementary", "main": "main", "search": "search"}
NAMED_LANDMARKS = {"section": "region", "form": "form"}  # Landmarks only with a name.
ROLES = {*LANDMARKS.values(), *NAMED_LANDMARKS.values(), "banner", "contentinfo"}


@dataclass(slots=True)
class Element:
    tag: str
    attributes: dict[str, str]
    inside: list[Element | str] = field(default_factory=list)

    @property
    def is_silent(self) -> bool:
        return self.attributes.get("aria-hidden") == "true" or self.tag in (
            "svg",
            "script",
            "style",
            "template",
            "noscript",
        )

    def text(self, seen: bool = False) -> str:
        """The text, or of it what is seen, as words."""
        hidden = seen and {"unseen", "only-wide"} & set(self.attributes.get("class", "").split())
        if self.is_silent or hidden or (seen and "hidden" in self.attributes):
            return ""
        parts = (
            one if isinstance(one, str) else one.text(seen) or one.attributes.get("alt", "") for one in self.inside
        )
        return " ".join(" ".join(parts).split())


class _Tree(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.open = [Element("", {})]
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(element)
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while len(self.open) > 1 and any(element.tag == tag for element in self.open[1:]):
            if self.open.pop().tag == tag:
                return

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def problems_of_names(html: str) -> list[str]:
    """Return what the rules `link-name`, `label-content-name-mismatch` and `landmark-unique` of axe find."""
    elements = _Tree(html).elements
    texts = {element.attributes["id"]: element.text() for element in elements if "id" in element.attributes}
    pressed = [element for element in elements if element.tag in ("a", "button", "summary") and not element.is_silent]
    nameless = [
        f"{element.tag} without a name: {element.attributes}"
        for element in pressed
        if not _name(element, texts) and not element.text() and "title" not in element.attributes
        if element.tag != "a" or "href" in element.attributes
    ]
    mismatched = [
        f"“{element.text(seen=True)}” is named “{element.attributes['aria-label']}”"
        for element in pressed
        if "aria-label" in element.attributes and not _holds(element.attributes["aria-label"], element.text(seen=True))
    ]
    landmarks = Counter(found for element in elements if (found := _landmark(element, texts)))
    alike = [f"{times} landmarks are {found}" for found, times in landmarks.items() if times > 1]
    return [*nameless, *mismatched, *alike]


def _name(element: Element, texts: dict[str, str]) -> str:
    pointed = " ".join(texts.get(one, "") for one in element.attributes.get("aria-labelledby", "").split())
    return pointed or element.attributes.get("aria-label", "")


def _landmark(element: Element, texts: dict[str, str]) -> tuple[str, str] | None:
    name = _name(element, texts)
    role = element.attributes.get("role") or LANDMARKS.get(element.tag)
    if not role and name:
        role = NAMED_LANDMARKS.get(element.tag)
    return (role, name.casefold()) if role in ROLES else None


def _holds(name: str, seen: str) -> bool:
    """Whether the words that one sees stand in the name in their order; signs and single letters, such as a B for bold,
    do not count."""
    return len(_words(seen).strip()) < 2 or _words(seen) in _words(name)


def _words(text: str) -> str:
    return " ".join(["", *re.findall(r"\w+", text.casefold()), ""])

"""The menu at the top of the pages of a section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flask import current_app, request, url_for
from flask_login import current_user

from app.permissions import DECLARED, Permission, allowed


@dataclass(frozen=True, slots=True)
class Tab:
    label: str
    href: str
    is_current: bool


def section_tabs(pages: Sequence[tuple[str, str]], tab_of: str | None = None) -> list[Tab]:
    """Return the tabs of pages, given as labels and endpoints; current is the one whose page, or a page below its
    address, is shown. A page that lies below no tab names its tab's endpoint in `tab_of`."""
    known = [(label, url_for(endpoint)) for label, endpoint in pages if is_open_to_user(endpoint)]
    addresses = [href for _, href in known]
    here = url_for(tab_of) if tab_of else request.path
    own = [href for href in addresses if here == href or (here.startswith(f"{href}/") and _is_leaf(href, addresses))]
    return [Tab(label, href, href in own) for label, href in known]


def is_open_to_user(endpoint: str) -> bool:
    """Whether the endpoint exists and the user's roles may open its page."""
    view = current_app.view_functions.get(endpoint)
    return view is not None and allowed(current_user.roles, Permission(getattr(view, DECLARED)))


def _is_leaf(href: str, addresses: Sequence[str]) -> bool:
    """Whether no other tab lies below this one, as others do below an Overview, which has no further pages."""
    return not any(other.startswith(f"{href}/") for other in addresses)

"""The till: an installable app that talks to /v1 alone. The shop serves one page for all of its screens."""

from __future__ import annotations

from app.blueprints.till import installation, page
from app.blueprints.till.blueprint import bp

__all__ = ["bp", "installation", "page"]

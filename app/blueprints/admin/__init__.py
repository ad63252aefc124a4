"""The admin. Importing the modules registers their views."""

from app.blueprints.admin import (
    activity,
    alerts,
    body_sizes,
    catalogue_display,
    content,
    dashboard,
    display,
    merchandising,
    orders,
    products,
    search,
    seo,
    settings,
    shell,
    sign_in,
    taxonomy,
    users,
)
from app.blueprints.admin.blueprint import bp

__all__ = [
    "activity",
    "alerts",
    "body_sizes",
    "bp",
    "catalogue_display",
    "content",
    "dashboard",
    "display",
    "merchandising",
    "orders",
    "products",
    "search",
    "seo",
    "settings",
    "shell",
    "sign_in",
    "taxonomy",
    "users",
]

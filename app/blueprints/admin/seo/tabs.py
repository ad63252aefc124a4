"""The menu of the SEO section, the same on every page of it."""

from __future__ import annotations

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.shell import Tab, section_tabs

PAGES = (
    ("Sitemap", "admin.seo_sitemap"),
    ("Site check", "admin.seo_check"),
    ("Inspector", "admin.seo_inspector"),
    ("Redirects", "admin.seo_redirects"),
    ("Crawlers", "admin.seo_crawlers"),
    ("Settings", "admin.seo_settings"),
)


@bp.app_template_global("seo_tabs")
def seo_tabs(tab_of: str | None = None) -> list[Tab]:
    return section_tabs(PAGES, tab_of)

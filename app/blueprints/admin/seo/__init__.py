"""The SEO section: what search engines find of the shop. Importing the modules registers their views."""

from app.blueprints.admin.seo import check, crawlers, inspector, redirects, settings, sitemap, tabs

__all__ = ["check", "crawlers", "inspector", "redirects", "settings", "sitemap", "tabs"]

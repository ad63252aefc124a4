"""The search engine that a shop hosts itself: files in Whoosh's format, evaluated over arrays."""

from app.adapters.whoosh.engine import WhooshEngine

__all__ = ["WhooshEngine"]

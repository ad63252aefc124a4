"""The search engine on a cluster: OpenSearch keeps the index and answers from it."""

from app.adapters.opensearch.engine import OpenSearchEngine

__all__ = ["OpenSearchEngine"]

"""The search engine on a cluster: OpenSearch keeps the index and answers from it."""

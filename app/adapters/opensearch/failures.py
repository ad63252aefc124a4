"""What can be wrong with a cluster, in sentences for people, each with its `EngineFault`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from opensearchpy.exceptions import (
    AuthenticationException,
    AuthorizationException,
    ConnectionError,
    ConnectionTimeout,
    OpenSearchException,
    SerializationError,
    SSLError,
    TransportError,
)

from app.domain.search.engine import EngineFault, SearchUnavailable

NO_INDEX = "Search does not answer: there is no index. Rebuild to make it."
SENTENCES = {
    EngineFault.INDEX: NO_INDEX,
    EngineFault.UNREACHABLE: "The search cluster cannot be reached. Check that it runs, its network and "
    "OPENSEARCH_URL.",
    EngineFault.QUORUM: "Most machines of the search cluster are away (no quorum), so it takes no changes and may not "
    "answer. Bring them back; changes wait meanwhile.",
    EngineFault.SLOW: "The search cluster is too slow: it did not answer in time. Look at its load.",
    EngineFault.CERTIFICATE: "The certificate of the search cluster is not trusted. Check it, and OPENSEARCH_CA.",
    EngineFault.ACCESS: "The search cluster refuses its user, the password, or what the user may do. Check "
    "OPENSEARCH_USER, OPENSEARCH_PASSWORD and the roles of the user.",
    EngineFault.MISSING_SHARD: "Search does not answer: part of its index is missing from the cluster (red). Bring the "
    "machine back that holds it. Rebuild where it is lost.",
    EngineFault.DISK_FULL: "The disks of the search cluster are full, so it takes no changes. Free up space there; "
    "changes wait meanwhile.",
    EngineFault.MAPPING: "The search index does not take a document, whose fields do not fit or are too many. Rebuild "
    "to fix the first.",
    EngineFault.OVERLOADED: "The search cluster refuses work because it is overloaded or short of memory. Look at its "
    "load.",
    EngineFault.REFUSED: "Search does not answer: the search cluster refuses a request. See its log.",
}
# By the types that OpenSearch gives its errors. The first that fits names the fault.
_TYPES = {
    EngineFault.OVERLOADED: (
        "circuit_breaking_exception",
        "rejected_execution_exception",
        "open_search_rejected_execution_exception",
    ),
    EngineFault.ACCESS: ("security_exception",),
    # A write through an alias that is gone is one to an index whose name is none.
    EngineFault.INDEX: ("index_not_found_exception", "aliases_not_found_exception", "invalid_index_name_exception"),
    EngineFault.MAPPING: (
        "mapper_parsing_exception",
        "strict_dynamic_mapping_exception",
        "document_parsing_exception",
    ),
    EngineFault.MISSING_SHARD: (
        "no_shard_available_action_exception",
        "unavailable_shards_exception",
        "index_closed_exception",
        "shard_not_found_exception",
    ),
    EngineFault.QUORUM: ("cluster_manager_not_discovered_exception", "master_not_discovered_exception"),
    EngineFault.UNREACHABLE: (
        "node_not_connected_exception",
        "no_node_available_exception",
    ),
    EngineFault.SLOW: ("process_cluster_event_timeout_exception", "timeout_exception"),
}
_DISK = ("disk usage exceeded", "read-only / allow delete", "read-only-allow-delete", "create-index blocked")
_TOO_MANY_FIELDS = "Limit of total fields"
_TIMED_OUT = "timed out while waiting for a dynamic mapping update"  # Its type is that of any error of a mapping.


def unavailable(error: Exception) -> SearchUnavailable:
    """Return the error that the caller of the engine gets for one of the client, or for an answer that is not one of
    OpenSearch."""
    if isinstance(error, SSLError):
        return _failure(EngineFault.CERTIFICATE, str(error.error))
    if isinstance(error, ConnectionTimeout):
        return _failure(EngineFault.SLOW)
    if isinstance(error, ConnectionError):
        return _failure(EngineFault.UNREACHABLE, _reason_of(error))
    if isinstance(error, AuthenticationException):
        return _failure(EngineFault.ACCESS)
    if isinstance(error, SerializationError) or not isinstance(error, OpenSearchException):
        return _failure(EngineFault.UNREACHABLE, "what answers is not OpenSearch")
    if not isinstance(error, TransportError):
        return _failure(EngineFault.REFUSED, str(error))
    body = error.info if isinstance(error.info, Mapping) else {}
    described = body.get("error", error.error)
    if isinstance(error, AuthorizationException) and not isinstance(described, Mapping):
        return _failure(EngineFault.ACCESS)
    return refusal(described, error.status_code)


def refusal(described: object, status: object = None) -> SearchUnavailable:
    """Return the error for what the cluster says of a request, or of one part of it: `described` is its JSON."""
    if not isinstance(described, Mapping):
        if status == 404:
            return _failure(EngineFault.INDEX)
        is_of_a_proxy = isinstance(status, int) and status >= 500
        return _failure(EngineFault.UNREACHABLE if is_of_a_proxy else EngineFault.REFUSED, str(described))
    parts = list(_parts(described))
    types = {str(part.get("type")) for part in parts}
    reasons = [str(part.get("reason", "")) for part in parts]
    reason = next((text for text in reversed(reasons) if text), "")
    return _failure(_fault_of(types, reasons, status), reason)


def _parts(described: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield an error and those that caused it."""
    yield described
    causes = (*described.get("root_cause", ()), *(each["reason"] for each in described.get("failed_shards", ())))
    for cause in (*causes, described.get("caused_by")):
        if isinstance(cause, Mapping):
            yield from _parts(cause)


def _fault_of(types: set[str], reasons: list[str], status: object) -> EngineFault:
    said = " ".join(reasons)
    if "cluster_block_exception" in types:
        return EngineFault.DISK_FULL if any(words in said for words in _DISK) else EngineFault.UNREACHABLE
    if _TOO_MANY_FIELDS in said:
        return EngineFault.MAPPING
    if _TIMED_OUT in said:
        return EngineFault.SLOW
    for fault, names in _TYPES.items():
        if any(name in types for name in names):
            return fault
    if "search_phase_execution_exception" in types and status == 503:
        return EngineFault.MISSING_SHARD
    return EngineFault.OVERLOADED if status == 429 else EngineFault.REFUSED


def _failure(fault: EngineFault, detail: str = "") -> SearchUnavailable:
    """Return the sentence of a fault, with what the cluster says where that says more."""
    is_plain = fault in (EngineFault.INDEX, EngineFault.MISSING_SHARD, EngineFault.DISK_FULL)
    said = "" if is_plain or not detail else f" ({detail[:300]})"
    return SearchUnavailable(f"{SENTENCES[fault]}{said}", fault)


def _reason_of(error: ConnectionError) -> str:
    """Return why no connection came about, as the operating system says it."""
    cause = error.info
    while isinstance(cause, BaseException):
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__ or getattr(cause, "reason", None)
    return ""

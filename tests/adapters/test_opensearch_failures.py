"""What can be wrong with a cluster is said in a sentence each: by a server that answers as clusters do, and by one that
answers in no time, in none, or in no language of ours."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from app.adapters.opensearch.changes import write
from app.adapters.opensearch.cluster import KNN, MANAGER_SECONDS, Cluster, Target
from app.adapters.opensearch.connection import PAUSE_SECONDS
from app.adapters.opensearch.fencing import Fence, Names
from app.adapters.opensearch.generations import PAUSES, Generations
from app.adapters.opensearch.lookups import Lookups
from app.config import OpenSearchSettings
from app.domain.search.engine import EngineFault, IndexDocument, SearchUnavailable, Upsert
from tests.adapters.test_tls import certificate, folder  # noqa: F401
from tests.processes import free_port

PRODUCTS = Target("products")

FOUND = {"_shards": {"failed": 0}, "timed_out": False}
ANSWER: Any = {"responses": [FOUND]}
ABOUT = {"version": {"distribution": "opensearch", "number": "2.19.1"}}


class FakeNode:
    """Answers each request with `status` and `body`, after `delay` seconds; `first` are the answers before those."""

    def __init__(self) -> None:
        self.about: Mapping[str, Any] = ABOUT
        self.status, self.body, self.delay = 200, ANSWER, threading.Event()
        self.is_silent = False
        self.first: list[tuple[int, Any]] = []
        self.requests: list[str] = []
        node = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                node.requests.append(self.path)
                if node.is_silent:
                    node.delay.wait(30)
                status, body = (200, node.about) if self.path == "/" else node.answer()
                content = (body if isinstance(body, str) else json.dumps(body)).encode()
                self.send_response(status)
                self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_PUT = do_DELETE = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # Clients leave before the answer.
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self) -> tuple[int, Any]:
        return self.first.pop(0) if self.first else (self.status, self.body)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.delay.set()
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def fake_node() -> Iterator[FakeNode]:
    node = FakeNode()
    try:
        yield node
    finally:
        node.close()


@pytest.fixture
def node() -> Iterator[FakeNode]:
    with fake_node() as made:
        yield made


def fault_of(cluster: Cluster) -> tuple[EngineFault | None, str]:
    with pytest.raises(SearchUnavailable) as raised:
        cluster.search_many(PRODUCTS, ["{}"])
    return raised.value.fault, raised.value.message


def error(type: str, reason: str = "for a reason", **more: object) -> dict[str, Any]:
    cause = {"type": type, "reason": reason}
    return {"error": {"root_cause": [cause], **cause, **more}}


BLOCKED = "index [products] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has …];"
FAULTS = [
    (401, "Unauthorized", EngineFault.ACCESS, "OPENSEARCH_PASSWORD"),
    (403, error("security_exception", "no permissions for [indices:data/read/msearch]"), EngineFault.ACCESS, "roles"),
    (404, error("index_not_found_exception"), EngineFault.INDEX, "Rebuild to make it"),
    (429, error("cluster_block_exception", BLOCKED), EngineFault.DISK_FULL, "disks of the search cluster are full"),
    (429, error("circuit_breaking_exception", "[parent] Data too large"), EngineFault.OVERLOADED, "Data too large"),
    (429, error("rejected_execution_exception"), EngineFault.OVERLOADED, "overloaded"),
    (503, error("cluster_manager_not_discovered_exception"), EngineFault.QUORUM, "no quorum"),
    (
        503,
        error("cluster_block_exception", "blocked by: [SERVICE_UNAVAILABLE/1/…]"),
        EngineFault.UNREACHABLE,
        "reached",
    ),
    (
        503,
        {"error": {"type": "search_phase_execution_exception", "reason": "all shards failed", "root_cause": []}},
        EngineFault.MISSING_SHARD,
        "part of its index is missing",
    ),
    (400, error("mapper_parsing_exception"), EngineFault.MAPPING, "do not fit"),
    (
        400,
        error("illegal_argument_exception", "Limit of total fields [10000] has been exceeded"),
        EngineFault.MAPPING,
        "Limit of total fields",
    ),
    (
        500,
        error("mapper_exception", "timed out while waiting for a dynamic mapping update"),
        EngineFault.SLOW,
        "did not answer in time",
    ),
    (400, error("parsing_exception", "unknown query [x]"), EngineFault.REFUSED, "unknown query [x]"),
    (413, "Request Entity Too Large", EngineFault.REFUSED, "refuses a request"),
    (502, "Bad gateway", EngineFault.UNREACHABLE, "(Bad gateway)"),
    (502, ["of another server"], EngineFault.UNREACHABLE, "what answers is not OpenSearch"),
]


@pytest.mark.parametrize(("status", "body", "fault", "words"), FAULTS, ids=lambda value: str(value)[:24])
def test_each_refusal_has_its_sentence(node: FakeNode, status: int, body: Any, fault: EngineFault, words: str) -> None:
    node.status, node.body = status, body
    found, sentence = fault_of(Cluster(OpenSearchSettings(url=node.url)))
    assert found is fault
    assert words in sentence


def test_one_search_of_several_that_fails_is_a_failure(node: FakeNode) -> None:
    node.body = {"responses": [error("search_phase_execution_exception", "all shards failed") | {"status": 503}]}
    assert fault_of(Cluster(OpenSearchSettings(url=node.url)))[0] is EngineFault.MISSING_SHARD


FOREIGN = [
    {"status": "ok"},
    {"responses": [], "items": [], "docs": 7},
    {"responses": 7, "items": {}, "_shards": []},
    "<h1>Back soon</h1>",
    [1],
    None,
]
CALLS: dict[str, Callable[[Cluster], object]] = {
    "search_many": lambda cluster: cluster.search_many(PRODUCTS, ["{}"]),
    "statistics": lambda cluster: cluster.statistics(PRODUCTS, {"words.name": ["shoe"]}),
    "live_index": lambda cluster: cluster.live_index("products"),
    "contents": lambda cluster: cluster.contents("products"),
    "made_with": lambda cluster: cluster.made_with("products"),
    "compares_vectors": lambda cluster: cluster.compares_vectors(),
    "vectors": lambda cluster: cluster.vectors("products", ["p1"]),
    "indices": lambda cluster: cluster.indices("products-*"),
    "size": lambda cluster: cluster.size("products"),
    "page": lambda cluster: cluster.page("products", ["id"], None),
    "create_index": lambda cluster: cluster.create_index("products", {}),
    "declare_fields": lambda cluster: cluster.declare_fields("products", {}),
    "delete_indices": lambda cluster: cluster.delete_indices(["products"]),
    "change_aliases": lambda cluster: cluster.change_aliases([]),
    "bulk": lambda cluster: cluster.bulk(b"", 1),
    "refresh": lambda cluster: cluster.refresh("products"),
    "raise_number": lambda cluster: cluster.raise_number("fences", "writes", 1),
    "number": lambda cluster: cluster.number("fences", "writes"),
}


@pytest.mark.parametrize("foreign", FOREIGN, ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_an_answer_that_is_not_of_opensearch_is_none(node: FakeNode, call: str, foreign: Any) -> None:
    """A proxy or a page of maintenance may answer anything with status 200."""
    node.body = foreign
    with pytest.raises(SearchUnavailable) as raised:
        CALLS[call](Cluster(OpenSearchSettings(url=node.url)))
    assert raised.value.fault is EngineFault.UNREACHABLE
    assert "what answers is not OpenSearch" in raised.value.message


def test_what_a_server_says_of_itself_that_is_not_opensearch_is_none_either(node: FakeNode) -> None:
    node.about = {"name": "another"}
    assert fault_of(Cluster(OpenSearchSettings(url=node.url)))[0] is EngineFault.UNREACHABLE


def test_an_answer_from_only_some_of_the_documents_is_too_slow(node: FakeNode) -> None:
    node.body = {"responses": [{"timed_out": True, "_shards": {"failed": 0}, "hits": {"hits": []}}]}
    assert fault_of(Cluster(OpenSearchSettings(url=node.url)))[0] is EngineFault.SLOW


@pytest.mark.parametrize("copies", [{"successful": 1, "failed": 1}, {"successful": 0, "failed": 0}])
def test_a_copy_that_does_not_show_what_was_written_is_a_failure(node: FakeNode, copies: Mapping[str, int]) -> None:
    node.body = {"_shards": {"total": 2, **copies}}
    with pytest.raises(SearchUnavailable) as raised:
        Cluster(OpenSearchSettings(url=node.url)).refresh("products")
    assert raised.value.fault is EngineFault.MISSING_SHARD


def test_a_change_that_not_all_machines_made_in_time_is_too_slow(node: FakeNode) -> None:
    node.body = {"acknowledged": False}
    with pytest.raises(SearchUnavailable) as raised:
        Cluster(OpenSearchSettings(url=node.url)).change_aliases([])
    assert raised.value.fault is EngineFault.SLOW


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"distribution": "opensearch", "number": "2.11.1"}, "is opensearch 2.11.1; the shop needs OpenSearch 2.12"),
        ({"number": "8.15.0"}, "is not OpenSearch, but 8.15.0"),
    ],
)
def test_a_version_that_is_too_old_is_named_until_it_is_another(
    node: FakeNode, about: Mapping[str, str], said: str
) -> None:
    node.about = {"version": about}
    cluster = Cluster(OpenSearchSettings(url=node.url))
    fault, sentence = fault_of(cluster)
    assert fault is EngineFault.VERSION and said in sentence
    node.about = ABOUT
    assert cluster.search_many(PRODUCTS, ["{}"]) == [FOUND]
    assert node.requests.count("/") == 2
    cluster.search_many(PRODUCTS, ["{}"])
    assert node.requests.count("/") == 2, "it is looked at until it is new enough, and then no more"


def test_a_node_that_is_not_there_is_said_to_be(node: FakeNode) -> None:
    fault, sentence = fault_of(Cluster(OpenSearchSettings(url=f"http://127.0.0.1:{free_port()}")))
    assert fault is EngineFault.UNREACHABLE and "(Connection refused)" in sentence


def test_no_sentence_repeats_the_password() -> None:
    settings = OpenSearchSettings(url=f"http://shop:hidden@localhost:{free_port()}")
    assert "hidden" not in fault_of(Cluster(settings))[1] + repr(settings)


# Certificates


def secure(node: FakeNode, file: Path) -> str:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)
    node.server.socket = context.wrap_socket(node.server.socket, server_side=True)
    return node.url.replace("http:", "https:")


def test_a_certificate_is_trusted_by_the_file_that_is_named_and_by_no_other(
    folder: Path,  # noqa: F811
) -> None:
    mine, other = certificate(folder, 90), certificate(folder, 91)
    with fake_node() as node:
        url = secure(node, mine)
        assert Cluster(OpenSearchSettings(url=url, ca_file=mine)).search_many(PRODUCTS, ["{}"]) == [FOUND]
        for settings in (OpenSearchSettings(url=url, ca_file=other), OpenSearchSettings(url=url)):
            fault, sentence = fault_of(Cluster(settings))
            assert fault is EngineFault.CERTIFICATE and "OPENSEARCH_CA" in sentence


# Time


class Hands:
    """A clock that goes on when it is told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_an_answer_that_does_not_come_is_waited_for_as_long_as_the_setting_says(node: FakeNode) -> None:
    cluster = Cluster(OpenSearchSettings(url=node.url, seconds=0.3))
    cluster.search_many(PRODUCTS, ["{}"])
    node.is_silent = True
    before = time.monotonic()
    assert fault_of(cluster)[0] is EngineFault.SLOW
    assert 0.3 <= time.monotonic() - before < 2


def test_once_a_cluster_does_not_answer_nobody_waits_for_it_but_one_in_a_while(node: FakeNode) -> None:
    hands = Hands()
    cluster = Cluster(OpenSearchSettings(url=node.url, seconds=0.2), hands)
    cluster.search_many(PRODUCTS, ["{}"])
    node.is_silent = True
    for _ in range(2):
        assert fault_of(cluster)[0] is EngineFault.SLOW
    before = len(node.requests)
    for _ in range(5):
        assert fault_of(cluster)[0] is EngineFault.SLOW
    assert len(node.requests) == before
    hands.now += PAUSE_SECONDS
    node.is_silent = False
    assert cluster.search_many(PRODUCTS, ["{}"]) == [FOUND]


def test_after_a_slow_answer_the_next_request_waits_only_to_see_whether_the_cluster_is_there(node: FakeNode) -> None:
    cluster = Cluster(OpenSearchSettings(url=node.url, seconds=3))
    cluster.search_many(PRODUCTS, ["{}"])
    node.is_silent = True
    fault_of(cluster)
    before = time.monotonic()
    assert fault_of(cluster)[0] is EngineFault.SLOW
    assert time.monotonic() - before < 2


def test_one_slow_answer_holds_up_no_others(node: FakeNode) -> None:
    cluster = Cluster(OpenSearchSettings(url=node.url, seconds=0.2))
    cluster.search_many(PRODUCTS, ["{}"])
    node.is_silent = True
    fault_of(cluster)
    node.is_silent = False
    assert cluster.search_many(PRODUCTS, ["{}"]) == [FOUND]


def test_what_is_refused_is_no_silence(node: FakeNode) -> None:
    cluster = Cluster(OpenSearchSettings(url=node.url))
    node.status, node.body = 400, error("parsing_exception")
    for _ in range(3):
        fault_of(cluster)
    node.status, node.body = 200, ANSWER
    assert cluster.search_many(PRODUCTS, ["{}"]) == [FOUND]


def test_an_error_is_an_answer_that_ends_the_pause(node: FakeNode) -> None:
    """The first request after an outage may be that of a shop without an index; the others need not wait on."""
    hands = Hands()
    cluster = Cluster(OpenSearchSettings(url=node.url, seconds=0.2), hands)
    cluster.search_many(PRODUCTS, ["{}"])
    node.is_silent = True
    for _ in range(2):
        assert fault_of(cluster)[0] is EngineFault.SLOW
    node.is_silent = False
    hands.now += PAUSE_SECONDS
    node.first = [(404, error("index_not_found_exception"))]
    assert fault_of(cluster)[0] is EngineFault.INDEX
    assert cluster.search_many(PRODUCTS, ["{}"]) == [FOUND]


# Builds

BULK_TAKEN = {"items": [{"index": {"status": 201}}]}
BUSY = error("rejected_execution_exception")
OVERLOADED = (429, BUSY)
ITEM_REFUSED = (200, {"items": [{"index": {"status": 429, **BUSY}}]})


def add(node: FakeNode, answers: list[tuple[int, Any]]) -> tuple[int, list[float]]:
    """Add a document to a build, and return how many were, and the pauses that it took."""
    node.first, node.body = answers, BULK_TAKEN
    pauses: list[float] = []
    cluster, names = Cluster(OpenSearchSettings(url=node.url)), Names("t")
    fence = Fence(cluster, names, 0, lambda _name: nullcontext(), lambda: 0)
    generations = Generations(cluster, names, fence, 0, pauses.append)
    changes = [Upsert(IndexDocument("p1", "Shoe"))]
    return write(cluster, "building", changes, 1, set(), attempt=generations.patiently), pauses


def test_a_build_sends_again_what_an_overloaded_cluster_did_not_take(node: FakeNode) -> None:
    assert add(node, [OVERLOADED, OVERLOADED]) == (1, list(PAUSES[:2]))
    assert add(node, [ITEM_REFUSED]) == (1, list(PAUSES[:1]))
    assert add(node, [(504, error("timeout_exception"))]) == (1, list(PAUSES[:1]))


def test_a_build_does_not_try_for_ever(node: FakeNode) -> None:
    with pytest.raises(SearchUnavailable) as raised:
        add(node, [OVERLOADED] * (len(PAUSES) + 1))
    assert raised.value.fault is EngineFault.OVERLOADED


def test_a_build_does_not_send_again_what_will_never_be_taken(node: FakeNode) -> None:
    with pytest.raises(SearchUnavailable):
        add(node, [(200, {"items": [{"index": {"status": 400, **error("mapper_parsing_exception")}}]})])


def test_a_search_that_needs_ever_more_is_too_slow(node: FakeNode) -> None:
    lookups, numbers = Lookups(Cluster(OpenSearchSettings(url=node.url)), PRODUCTS), count()
    with pytest.raises(SearchUnavailable) as raised:
        lookups.complete([lambda: lookups.search({"size": next(numbers)})])
    assert raised.value.fault is EngineFault.SLOW


# Several nodes


def test_where_one_node_is_gone_another_answers(node: FakeNode) -> None:
    settings = OpenSearchSettings(url=f"http://127.0.0.1:{free_port()},{node.url}")
    cluster = Cluster(settings)
    for _ in range(6):
        assert cluster.search_many(PRODUCTS, ["{}"]) == [FOUND]


def test_a_node_that_hangs_is_left_out_after_its_first_silence(node: FakeNode) -> None:
    with fake_node() as other:
        cluster = Cluster(OpenSearchSettings(url=f"{node.url},{other.url}", seconds=0.3))
        cluster.search_many(PRODUCTS, ["{}"])
        node.is_silent = True
        failed = 0
        for _ in range(8):
            try:
                cluster.search_many(PRODUCTS, ["{}"])
            except SearchUnavailable:
                failed += 1
        assert failed == 1


def test_a_lost_quorum_is_asked_for_once_in_a_while(node: FakeNode) -> None:
    hands = Hands()
    cluster = Cluster(OpenSearchSettings(url=node.url), hands)
    node.status, node.body = 503, error("cluster_manager_not_discovered_exception")
    assert not cluster.has_manager("products")
    node.status, node.body = 200, {}
    before = len(node.requests)
    assert not cluster.has_manager("products") and len(node.requests) == before
    hands.now += MANAGER_SECONDS + 1
    assert cluster.has_manager("products")


def test_an_index_is_missing_only_where_the_manager_says_so(node: FakeNode) -> None:
    cluster = Cluster(OpenSearchSettings(url=node.url))
    node.status, node.body = 404, error("index_not_found_exception")
    with pytest.raises(SearchUnavailable) as raised:
        cluster.live_index("products")
    assert raised.value.fault is EngineFault.INDEX
    assert ["local=true" in request for request in node.requests if "_settings" in request] == [True, False]


def test_a_server_that_only_listens_is_slow_or_out_of_reach() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        assert fault_of(Cluster(OpenSearchSettings(url=url, seconds=0.3)))[0] is EngineFault.SLOW


@pytest.mark.parametrize(
    ("plugins", "compares"),
    [([[KNN], [KNN, "other"]], True), ([[KNN], ["other"]], False), ([[], []], False), ([], False)],
)
def test_a_cluster_compares_vectors_where_every_machine_of_it_can(
    node: FakeNode, plugins: list[list[str]], compares: bool
) -> None:
    node.body = {"nodes": {str(n): {"plugins": [{"classname": one} for one in p]} for n, p in enumerate(plugins)}}
    assert Cluster(OpenSearchSettings(url=node.url)).compares_vectors() is compares

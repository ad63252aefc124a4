"""What every source of pictures at addresses promises, held against a real web server on this machine."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import closing
from time import monotonic

import pytest
from httpcore2 import ConnectError, ReadError, SyncBackend

from app.adapters.bounded_http import ends_of
from app.adapters.picture_download import LARGEST_ANSWER, MOST_REDIRECTS, PictureDownload
from app.domain.catalogue.picture_source import NoPictureSource, PictureNotFetched, PictureSource
from tests.fakes.picture_host import PictureHost, picture_host

PICTURE = b"a picture"


def is_here(ip: str) -> bool:
    return ip == "127.0.0.1"


HERE = PictureDownload(is_here, ports=None, timeout=2)


@pytest.fixture
def host() -> Iterator[PictureHost]:
    with picture_host() as made:
        yield made


def refusal(source: PictureSource, address: str) -> PictureNotFetched:
    with pytest.raises(PictureNotFetched) as refused:
        source.fetch(address)
    return refused.value


def reason(source: PictureSource, address: str) -> str:
    return refusal(source, address).message


def test_a_picture_is_fetched_also_by_the_name_of_its_host_and_after_redirects(host: PictureHost) -> None:
    host.pages = {"/a.png": (200, PICTURE), "/old": (301, "/older"), "/older": (302, host.address("/a.png"))}
    assert HERE.fetch(host.address("/a.png")) == HERE.fetch(host.address("/a.png", "localhost")) == PICTURE
    assert HERE.fetch(host.address("/old")) == PICTURE


@pytest.mark.parametrize("source", [HERE, NoPictureSource()], ids=["download", "none"])
def test_what_no_picture_can_be_at_is_refused(source: PictureSource) -> None:
    for address in (
        "ftp://x.test/a.png",
        "file:///etc/passwd",
        "https://",
        "//x.test/a.png",
        "http://[::1",
        "http://x.test:port/a.png",
        "http://mia:secret@x.test/a.png",
        f"https://x.test/{'a' * 2_000}",
        "http://no-such-host.invalid/a.png",
    ):
        assert reason(source, address)


@pytest.mark.parametrize(
    "name", ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "127.1", "2130706433"]
)
def test_services_of_this_server_are_never_reached(host: PictureHost, name: str) -> None:
    host.pages = {"/a.png": (200, PICTURE)}
    assert reason(PictureDownload(ports=None, timeout=2), host.address("/a.png", name))
    assert host.requests == []


def test_a_redirect_leads_to_nothing_that_may_not_be_reached_at_once(host: PictureHost) -> None:
    host.pages = {
        "/metadata": (302, "http://169.254.169.254/latest/meta-data/"),
        "/file": (302, "file:///etc/passwd"),
        "/inside": (302, host.address("/a.png", "127.0.0.2")),
        "/a.png": (200, PICTURE),
        "/round": (302, "/round"),
    }
    for path in ("/metadata", "/inside"):
        assert "may not connect" in reason(HERE, host.address(path))
    assert "begins with https://" in reason(HERE, host.address("/file"))
    assert host.requests == ["/metadata", "/inside", "/file"]
    assert "redirects more than" in reason(HERE, host.address("/round"))
    assert host.requests.count("/round") == MOST_REDIRECTS + 1


def test_a_redirect_that_leads_nowhere_refuses_its_picture_alone(host: PictureHost) -> None:
    host.pages = {"/choices": (300, b""), "/unchanged": (304, b""), "/bare": (301, b""), "/broken": (302, "http://[x/")}
    for path, status in (("/choices", 300), ("/unchanged", 304), ("/bare", 301)):
        assert reason(HERE, host.address(path)) == f"The host answered with status {status}."
    assert reason(HERE, host.address("/broken")) == "The host redirects to what is no address."


def test_a_connection_that_was_reset_at_once_counts_as_none() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        closing(SyncBackend().connect_tcp(*server.getsockname())) as stream,
    ):
        assert ends_of(stream) == ("127.0.0.1", "127.0.0.1")
        theirs, _ = server.accept()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        theirs.close()
        with pytest.raises(ReadError):
            stream.read(1, timeout=10)
        with pytest.raises(ConnectError):
            ends_of(stream)


def test_only_the_ports_of_the_web_are_reached(host: PictureHost) -> None:
    host.pages = {"/a.png": (200, PICTURE)}
    assert f"Port {host.server_port} is none of the web" in reason(PictureDownload(is_here), host.address("/a.png"))
    assert host.requests == []


def test_no_proxy_of_the_environment_resolves_names_instead(host: PictureHost, monkeypatch: pytest.MonkeyPatch) -> None:
    host.pages = {"http://169.254.169.254/": (200, PICTURE)}
    monkeypatch.setenv("http_proxy", host.address(""))
    assert "may not connect" in reason(HERE, "http://169.254.169.254/")
    assert host.requests == []


def test_answers_without_a_picture_say_why(host: PictureHost) -> None:
    host.pages = {"/gone": (404, b"no"), "/large": (200, b"x" * (LARGEST_ANSWER + 1)), "/packed": (200, PICTURE)}
    assert reason(HERE, host.address("/gone")) == "The host answered with status 404."
    assert "too large" in reason(HERE, host.address("/large"))
    host.encoding = "gzip"
    packed = refusal(HERE, host.address("/packed"))
    assert "compressed" in packed.message and not packed.is_silent


def test_a_host_that_answers_byte_by_byte_holds_nobody_up_and_is_silent(host: PictureHost) -> None:
    began = monotonic()
    assert refusal(PictureDownload(is_here, ports=None, timeout=0.3), host.address("/drips")).is_silent
    assert monotonic() - began < 2


def test_a_host_that_is_not_there_is_silent() -> None:
    with picture_host() as gone:
        address = gone.address("/a.png")
    assert refusal(HERE, address).is_silent

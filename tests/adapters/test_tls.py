"""Certificates are read from servers of this machine, as browsers would read them."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.adapters.tls import TlsCertificates
from app.domain.alerts.safeguards import NoSecureConnection

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl, which makes certificates, is missing")
HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


def certificate(folder: Path, days: int, name: str = f"IP:{HOST}") -> Path:
    """One that is its own authority, with its key."""
    file = folder / f"{days}-{name.replace(':', '-')}.pem"
    if not file.exists():
        key, request = folder / "key", folder / "request"
        kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key]
        openssl("req", "-new", *kind, "-out", request, "-subj", "/CN=shop", "-addext", f"subjectAltName={name}")
        signed = ["-signkey", key, "-days", str(days), "-copy_extensions", "copy"]
        openssl("x509", "-req", "-in", request, *signed, "-out", file)
        file.write_bytes(file.read_bytes() + key.read_bytes())
    return file


def openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@contextmanager
def serving(file: Path) -> Iterator[int]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)

    def answer(listening: socket.socket) -> None:
        with suppress(OSError):  # A client that refuses the certificate leaves.
            client, _ = listening.accept()
            with client, context.wrap_socket(client, server_side=True) as secure:
                secure.recv(1)

    with listener() as listening:
        thread = threading.Thread(target=answer, args=(listening,))
        thread.start()
        yield int(listening.getsockname()[1])
        thread.join()


def listener() -> socket.socket:
    return socket.create_server((HOST, 0))


def reason(port: int, host: str = HOST) -> str:
    with pytest.raises(NoSecureConnection) as refused:
        TlsCertificates(timeout=0.2).valid_until(host, port)
    return str(refused.value)


def test_the_end_of_a_certificate_that_is_trusted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = certificate(folder, days=9)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with serving(file) as port:
        left = TlsCertificates().valid_until(HOST, port) - datetime.now(UTC)
    assert timedelta(days=8, hours=23) < left <= timedelta(days=9)


def test_one_of_an_unknown_authority_is_refused(folder: Path) -> None:
    with serving(certificate(folder, days=9)) as port:
        assert reason(port) == "the certificate is refused: self-signed certificate"


def test_one_of_another_name_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = certificate(folder, days=9, name="DNS:other.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with serving(file) as port:
        assert "certificate is not valid for '127.0.0.1'" in reason(port)


def test_one_that_has_ended_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = certificate(folder, days=-1)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with serving(file) as port:
        assert reason(port) == "the certificate is refused: certificate has expired"


def test_who_does_not_answer_or_is_not_there_is_a_reason_too() -> None:
    with listener() as silent:
        port = silent.getsockname()[1]
        assert reason(port) == "it did not answer in time"
    assert reason(port) == "Connection refused"
    assert reason(443, "no.such.host.invalid") != ""
    assert reason(443, "a..b") != ""


def test_who_speaks_another_protocol_is_a_reason_too() -> None:
    def answer(listening: socket.socket) -> None:
        client, _ = listening.accept()
        with client:
            client.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")

    with listener() as listening:
        thread = threading.Thread(target=answer, args=(listening,))
        thread.start()
        assert reason(listening.getsockname()[1]).startswith("it does not speak TLS")
        thread.join()

"""`make audit` fails for what is known and has a fix, says what it ignores, and says so where it could ask nobody."""

from __future__ import annotations

import importlib.util
import json
import shutil
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.surroundings import ROOT, missing

NOBODY = "http://127.0.0.1:9/v1/query"  # The discard port: refused at once.
HTMX, PREACT, VALKEY = ("npm", "htmx.org"), ("npm", "preact"), ("Bitnami", "valkey")
VENDORED = tomllib.loads((ROOT / "tools" / "vendored.toml").read_text())["package"]
NPM = {("npm", released["name"]) for package in VENDORED for released in (package, *package.get("bundled", ()))}


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "tools" / "audit.py")
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture
def root(tmp_path: Path, audit: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The parts of a checkout that are audited; of its Python packages nothing is known."""
    shutil.copytree(ROOT / "app" / "static" / "vendor", tmp_path / "app" / "static" / "vendor")
    shutil.copy(ROOT / "requirements.lock", tmp_path)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "vendored.toml", tmp_path / "tools")
    (tmp_path / "tools" / "audit-ignored").write_text("# Nothing.\n")
    monkeypatch.setattr(audit, "python_packages", lambda _root, _source: (70, []))
    return tmp_path


class Advisories(ThreadingHTTPServer):
    """Answers as OSV does. `known` are the vulnerabilities by (ecosystem, name), `asked` the queries."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.known: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self.requests: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/query"

    def add(self, package: tuple[str, str], id: str, fixed_in: str | None, **more: Any) -> None:
        ecosystem, name = package
        events = [{"introduced": "0"}] + ([{"fixed": fixed_in}] if fixed_in else [])
        kind = "ECOSYSTEM" if ecosystem == "PyPI" else "SEMVER"
        affected = {
            "package": {"ecosystem": ecosystem, "name": name},
            "ranges": [{"type": kind, "events": events}],
        }
        elsewhere = {
            "package": {"ecosystem": "npm", "name": "another"},
            "ranges": [{"type": kind, "events": [{"fixed": "99.0.0"}]}],
        }
        vulnerability = {"id": id, "affected": [affected, elsewhere]} | more
        self.known.setdefault(package, []).append(vulnerability)


class _Answer(BaseHTTPRequestHandler):
    server: Advisories

    def do_POST(self) -> None:
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(query)
        known = self.server.known.get((query["package"]["ecosystem"], query["package"]["name"]))
        body = json.dumps({"vulns": known} if known else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_parts: object) -> None:
        pass


@pytest.fixture
def advisories() -> Iterator[Advisories]:
    with Advisories() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_where_nothing_is_known_all_is_well(audit, root: Path, advisories: Advisories, capsys) -> None:
    assert audit.main(root, advisories.url, where_reachable=False) == 0
    requests = {
        (query["package"]["ecosystem"], query["package"]["name"]): query["version"] for query in advisories.requests
    }
    assert requests.keys() == {VALKEY, *NPM}
    assert f"htmx-{requests[HTMX]}.min.js" in (ROOT / "app/static/vendor/SHA256SUMS").read_text()
    output = capsys.readouterr().out
    assert output.startswith("Audited 70 Python packages, @fontsource-variable/dm-sans ")
    assert all(f" {name} {requests['npm', name]}, " in output for _, name in NPM)
    assert f", valkey {requests[VALKEY]} with {advisories.url}" in output


@pytest.mark.parametrize("package", [HTMX, PREACT, VALKEY])
def test_what_is_known_and_has_a_fix_fails(
    audit, root: Path, advisories: Advisories, capsys, package: tuple[str, str]
) -> None:
    advisories.add(package, "GHSA-1", "99.1.0", aliases=["CVE-1"])
    assert audit.main(root, advisories.url, where_reachable=True) == 1
    output = capsys.readouterr().out
    assert f"Known: {package[1]} " in output
    assert "GHSA-1, CVE-1, fixed in 99.1.0\n" in output


def test_what_has_no_fix_is_said_and_what_was_withdrawn_is_not(
    audit, root: Path, advisories: Advisories, capsys
) -> None:
    advisories.add(HTMX, "GHSA-1", None)
    advisories.add(HTMX, "GHSA-2", "99.1.0", withdrawn="2026-01-01T00:00:00Z")
    assert audit.main(root, advisories.url, where_reachable=False) == 0
    output = capsys.readouterr().out
    assert "GHSA-1, no fix yet" in output
    assert "GHSA-2" not in output


def test_what_is_ignored_needs_a_reason_and_is_said(audit, root: Path, advisories: Advisories, capsys) -> None:
    advisories.add(VALKEY, "BIT-1", "99.1.0", aliases=["CVE-1"])
    ignored = root / "tools" / "audit-ignored"
    ignored.write_text("CVE-1 Only over TLS, which the private socket has not.\nCVE-2 Long gone.\n")
    assert audit.main(root, advisories.url, where_reachable=False) == 0
    output = capsys.readouterr().out
    assert "Ignored: valkey" in output
    assert "(Only over TLS, which the private socket has not.)" in output
    assert "take it out of tools/audit-ignored: CVE-2" in output
    ignored.write_text("CVE-1\n")
    assert audit.main(root, advisories.url, where_reachable=False) == 1
    assert "gives no reason for CVE-1" in capsys.readouterr().out


def test_where_nobody_can_be_asked_one_line_says_so(audit, root: Path, capsys) -> None:
    assert audit.main(root, NOBODY, where_reachable=True) == 0
    assert audit.main(root, NOBODY, where_reachable=False) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all(line.startswith(f"Not audited: the advisories of {NOBODY} cannot be read") for line in lines)


def test_a_vendored_file_that_was_changed_fails_even_where_nobody_can_be_asked(audit, root: Path, capsys) -> None:
    changed = next((root / "app" / "static" / "vendor").glob("htmx-*.js"))
    changed.write_bytes(changed.read_bytes() + b"\n")
    assert audit.main(root, NOBODY, where_reachable=True) == 1
    assert f"The vendored file {changed.name} is not the one" in capsys.readouterr().out


def test_a_vendored_file_of_an_unnamed_package_fails(audit, root: Path, capsys) -> None:
    folder = root / "app" / "static" / "vendor"
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    (folder / "SHA256SUMS").write_text(f"{empty}  chart-1.2.3.js\n")
    (folder / "chart-1.2.3.js").touch()
    assert audit.main(root, NOBODY, where_reachable=True) == 1
    assert "Say in tools/vendored.toml in which package" in capsys.readouterr().out


def test_a_python_package_with_a_known_vulnerability_fails(tmp_path: Path, audit, advisories: Advisories) -> None:
    """By pip-audit itself, which `make audit` installs."""
    if importlib.util.find_spec("pip_audit") is None:
        missing("pip-audit is not installed: make audit")
    (tmp_path / "requirements.lock").write_text(
        f"flask==3.1.3 \\\n    --hash=sha256:{'0' * 64}\nvalkeylite==9.1.2 \\\n    --hash=sha256:{'0' * 64}\n"
    )
    advisories.add(("PyPI", "flask"), "PYSEC-1", "3.1.4", aliases=["CVE-1"])
    packages, found = audit.python_packages(tmp_path, advisories.url)
    assert packages == 2
    assert [str(vulnerability) for vulnerability in found] == ["flask 3.1.3: PYSEC-1, CVE-1, fixed in 3.1.4"]


def test_an_audit_that_breaks_off_fails_unless_the_source_went_away(
    audit, advisories: Advisories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit.sys, "executable", "/bin/false")
    with pytest.raises(audit.AuditError, match="ended without a result") as broken:
        audit.python_packages(ROOT, advisories.url)
    assert not isinstance(broken.value, audit.Unreachable)
    with pytest.raises(audit.Unreachable):
        audit.python_packages(ROOT, NOBODY)

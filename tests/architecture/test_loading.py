"""What takes long to load is loaded where it was chosen."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

APP = Path(__file__).resolve().parents[2] / "app"
MCP = re.compile(r"^(?:from|import) (?:mcp|app\.mcp\.(?:server|stdio|http))\b", re.MULTILINE)
AT_ONCE = re.compile(r"^(?:from|import) (?:stripe|app\.adapters\.stripe)\b", re.MULTILINE)

CLIENT = re.compile(r"^(?:from|import) (?:opensearchpy|app\.adapters\.opensearch)\b", re.MULTILINE)


def test_only_the_adapter_of_stripe_imports_its_sdk_at_once() -> None:
    """Half a second of every command and worker."""
    files = {file.relative_to(APP) for file in APP.rglob("*.py") if AT_ONCE.search(file.read_text())}
    assert files == {Path("adapters/stripe.py")}


def test_only_the_adapter_of_opensearch_imports_its_client() -> None:
    files = {file.relative_to(APP) for file in APP.rglob("*.py") if CLIENT.search(file.read_text())}
    assert files and {file.parts[:2] for file in files} == {("adapters", "opensearch")}
    listing = "import sys, app.factory, worker; print(*sorted(sys.modules))"
    loaded = subprocess.check_output([sys.executable, "-c", listing], cwd=APP.parent, text=True).split()
    assert "opensearchpy" not in loaded and "app.adapters.opensearch" not in loaded


def test_a_shop_with_pictures_in_files_loads_no_client_of_other_storage() -> None:
    listing = "import sys; from app import create_app; from app.config import Config;"
    made = " create_app(Config(database_url='sqlite://')); print(*sorted(sys.modules))"
    loaded = subprocess.check_output([sys.executable, "-c", listing + made], cwd=APP.parent, text=True).split()
    assert "app.adapters.picture_files" in loaded
    assert not {"obstore", "app.adapters.s3"} & set(loaded)


def test_only_those_who_serve_mcp_import_its_sdk_at_once() -> None:
    """Half a second of every command and of the web server."""
    files = {str(file.relative_to(APP)) for file in APP.rglob("*.py") if MCP.search(file.read_text())}
    assert files <= {"mcp/server.py", "mcp/stdio.py", "mcp/http.py", "mcp/__main__.py"}


def test_what_only_runs_jobs_loads_no_surface_and_no_migrations() -> None:
    """Workers and the scheduler: half of the code, a second of every start; and Alembic, a fifth of the rest."""
    listing = "import sys, app.factory, worker; print(*sorted(sys.modules))"
    loaded = subprocess.check_output([sys.executable, "-c", listing], cwd=APP.parent, text=True).split()
    assert [name for name in loaded if name.startswith(("app.blueprints", "app.cli", "app.mcp", "alembic"))] == []


def test_whatever_stays_is_loaded_for_good() -> None:
    """The web server, the MCP server and commands by wsgi.py, the workers by their own file."""
    root = APP.parent
    assert all("with loading_for_good():" in (root / name).read_text() for name in ("wsgi.py", "worker.py"))

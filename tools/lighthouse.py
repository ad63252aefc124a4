"""Measure the shop's pages with Lighthouse as a phone sees them, in every theme.

`python tools/lighthouse.py` starts the demo shop in a temporary folder; with an address it measures the shop there, in
the theme that it has. Node fetches Lighthouse, in exactly VERSION, into `.lighthouse/`. Where there is no Node, no
Chromium or no registry it says so and ends well, unless SHOP_TESTS_REQUIRE_ALL=1. The exit status is 1 when a page is
below a limit.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
VERSION = "13.5.0"
FOLDER = ROOT / ".lighthouse"
PROGRAM = FOLDER / "node_modules" / "lighthouse" / "cli" / "index.js"
LIMITS = {"performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100}
MOST_SHIFT = 0.02
TRIES = 5  # A busy machine only makes pages slower, so the best try counts.
CRAWLABLE = "is-crawlable"
SECONDS_TO_INDEX = 60


class NotPossible(Exception):
    """Something that this machine lacks; the message says what."""


class NoReport(Exception):
    """Lighthouse gave up; the message is what it said."""


class Measured(NamedTuple):
    scores: Mapping[str, int]
    shift: float
    faults: tuple[str, ...]

    @property
    def misses(self) -> list[str]:
        below = [f"{name} {self.scores[name]} < {limit}" for name, limit in LIMITS.items() if self.scores[name] < limit]
        return below + ([f"layout shift {self.shift:.3f} > {MOST_SHIFT}"] if self.shift > MOST_SHIFT else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("address", nargs="?", help="a shop that runs, such as http://localhost:8000")
    address = parser.parse_args().address
    try:
        environment = _prepare()
    except NotPossible as lacking:
        print(f"Lighthouse was not run: {lacking}")
        return 1 if os.environ.get("SHOP_TESTS_REQUIRE_ALL") == "1" else 0
    if address:
        return _measure_all(address.rstrip("/"), {"": {}}, environment)
    return _measure_demo(environment)


def _prepare() -> dict[str, str]:
    """The environment for Lighthouse, which is installed if need be. Raises NotPossible."""
    if not shutil.which("node") or not shutil.which("npm"):
        raise NotPossible("node and npm are not installed (on Debian: apt install nodejs npm).")
    browser = next(
        filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"))),
        None,
    )
    if browser is None:
        raise NotPossible("no Chromium is installed (on Debian: apt install chromium).")
    package = FOLDER / "node_modules" / "lighthouse" / "package.json"
    if not package.is_file() or json.loads(package.read_text())["version"] != VERSION:
        FOLDER.mkdir(exist_ok=True)
        install = [
            "npm",
            "install",
            "--prefix",
            str(FOLDER),
            "--no-package-lock",
            "--no-save",
            "--no-audit",
            "--no-fund",
        ]
        done = subprocess.run([*install, f"lighthouse@{VERSION}"], capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotPossible(f"npm could not install it: {done.stderr.strip().splitlines()[-1:]}")
    return os.environ | {"CHROME_PATH": browser}


def _measure_demo(environment: Mapping[str, str]) -> int:
    sys.path.insert(0, str(ROOT))
    from tests.processes import RunningShop

    with tempfile.TemporaryDirectory() as folder:
        shop = RunningShop(Path(folder)).start()
        try:
            _wait_until_indexed(shop.address)
            return _measure_all(shop.address, _themes(shop.address), environment)
        finally:
            shop.stop()


def _wait_until_indexed(address: str) -> None:
    deadline = time.monotonic() + SECONDS_TO_INDEX
    while 'id="landing-links"' not in _text(f"{address}/c/outdoor"):
        if time.monotonic() > deadline:
            raise SystemExit("The demo shop was not indexed.")
        time.sleep(0.5)


def _text(address: str) -> str:
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError:
        return ""


def _themes(address: str) -> dict[str, dict[str, str]]:
    """Headers by theme: none for the one that the demo shop has, the cookie of a preview for the others."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    cookies = next(h.cookiejar for h in opener.handlers if isinstance(h, urllib.request.HTTPCookieProcessor))
    sign_in = opener.open(f"{address}/admin/login").read().decode()
    token = re.findall(r'name="csrf_token" value="([^"]+)"', sign_in)[0]
    form = {"csrf_token": token, "email": "admin@demo.test", "password": "demo-password-1"}
    opener.open(f"{address}/admin/login", urlencode(form).encode())
    settings = opener.open(f"{address}/admin/settings").read().decode()
    found: dict[str, dict[str, str]] = {}
    for name, checked in re.findall(r'name="theme" value="([^"]+)"( checked)?', settings):
        opener.open(f"{address}/admin/settings/themes/{name}/preview").close()
        preview = next(cookie.value for cookie in cookies if "theme-preview" in cookie.name)
        found[name] = {} if checked else {"Cookie": f"theme-preview={preview}"}
    return found


def _measure_all(address: str, themes: Mapping[str, dict[str, str]], environment: Mapping[str, str]) -> int:
    missed = 0
    for theme, headers in themes.items():
        for kind, path in _pages(address):
            measured = _measure(f"{address}{path}", _left_out(kind, headers), headers, environment)
            missed += bool(measured.misses)
            scores = "  ".join(f"{name} {score}" for name, score in measured.scores.items())
            print(f"{theme:10}{kind:10}{scores}  shift {measured.shift:.3f}  {'; '.join(measured.misses) or 'ok'}")
            for fault in measured.faults if measured.misses else ():
                print(f"    {fault}")
    return 1 if missed else 0


def _pages(address: str) -> Iterator[tuple[str, str]]:
    """One page of each kind, found as a visitor finds them."""
    home = _text(f"{address}/")
    category = re.findall(r'href="(/c/[^"]+)"', home)[0]
    listing = _text(f"{address}{category}")
    words = re.findall(r'<span class="name">(\w+)', listing)[0]
    landing = re.search(r'id="landing-links".*?href="(/c/[^"]+)"', listing, re.DOTALL)
    yield "home", "/"
    yield "category", category
    if landing:
        yield "landing", unescape(landing[1])
    yield "product", re.findall(r'href="(/p/[^"]+)"', listing)[0]
    yield "search", f"/search?q={words}"


def _left_out(kind: str, headers: Mapping[str, str]) -> list[str]:
    """Results of a search are not for search engines, by specification, and neither is a preview; nothing else is left
    out."""
    return [CRAWLABLE] if kind == "search" or headers else []


def _measure(address: str, left_out: list[str], headers: Mapping[str, str], environment: Mapping[str, str]) -> Measured:
    """The best of some tries. Chromium now and then loses the trace of a page, so a try may end without a report."""
    best: Measured | None = None
    error = ""
    for _ in range(TRIES):
        try:
            found = _measured(_report(address, left_out, headers, environment))
        except NoReport as failed:
            error = str(failed)
            continue
        if best is None or len(found.misses) < len(best.misses):
            best = found
        if not best.misses:
            break
    if best is None:
        raise SystemExit(f"Lighthouse failed at {address}:\n{error}")
    return best


def _report(
    address: str, left_out: list[str], headers: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, Any]:
    """What Lighthouse says of a page on its own profile of a phone with a slow network. Raises NoReport."""
    command = ["node", str(PROGRAM), address, "--output=json", "--quiet", f"--only-categories={','.join(LIMITS)}"]
    flags = "--headless=new --disable-gpu" + (" --no-sandbox" if os.geteuid() == 0 else "")
    command += [f"--chrome-flags={flags}", f"--extra-headers={json.dumps(headers)}"]
    command += [f"--skip-audits={','.join(left_out)}"] if left_out else []
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
    if done.returncode:
        raise NoReport(done.stderr[-2000:])
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _measured(report: dict[str, Any]) -> Measured:
    scores = {name: round(category["score"] * 100) for name, category in report["categories"].items()}
    audits = report["audits"]
    weighed = {
        ref["id"] for category in report["categories"].values() for ref in category["auditRefs"] if ref["weight"]
    }
    faults = [audits[name] for name in sorted(weighed) if (audits[name]["score"] or 0) < 0.9]
    return Measured(
        scores,
        audits["cumulative-layout-shift"]["numericValue"],
        tuple(f"{fault['id']}: {fault['title']} {fault.get('displayValue', '')}" for fault in faults),
    )


if __name__ == "__main__":
    raise SystemExit(main())

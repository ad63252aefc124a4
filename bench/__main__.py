"""All benchmarks, or those named, each in a process of its own, and a table of their figures:
`python -m bench [NAME …] [--small] [--queries] [--json FILE] [--before FILE]`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.measuring import ALL, FIGURES_FILE, QUERIES, SMALL, Figure, workspace

NAMES = (
    "relevance", "spelling", "understanding", "meaning", "learning", "interleaving", "index_build", "search_speed",
    "suggest", "hostile", "rules", "replay",
    "updates", "pages", "counting", "analytics", "taxonomy", "activation", "sitemap", "findable", "slow_clients", "pos",
    "till_app", "bundle", "load",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    benchmark: str
    seconds: float
    figures: list[Figure]
    remark: str  # Why some or all of it was not measured.


def main() -> int:
    arguments = _arguments()
    settings = ({SMALL: "1"} if arguments.small else {}) | ({} if arguments.names else {ALL: "1"})
    settings |= {QUERIES: "1"} if arguments.queries else {}
    outcomes = [_run(name, settings) for name in arguments.names or NAMES]
    before = _read(arguments.before) if arguments.before else {}
    _print_table(outcomes, before)
    if arguments.json:
        arguments.json.write_text(json.dumps(_as_json(outcomes), indent=1) + "\n")
    return int(any(outcome.remark.startswith("it ended with") for outcome in outcomes))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--small", action="store_true", help="a tenth of the records, for a quick look")
    parser.add_argument("--queries", action="store_true", help="print each rated query with what is found, worst first")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--before", type=Path, metavar="FILE", help="compare with the figures of an earlier --json")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}")
    return arguments


def _run(name: str, settings: dict[str, str]) -> Outcome:
    started = time.monotonic()
    with workspace() as directory:
        file = directory / "figures"
        file.touch()
        environment = os.environ | {FIGURES_FILE: str(file)} | settings
        status = subprocess.run([sys.executable, "-m", f"bench.{name}"], env=environment, check=False).returncode
        entries = [json.loads(line) for line in file.read_text().splitlines()]
    remarks = [entry["missing"] for entry in entries if "missing" in entry]
    remarks += [f"it ended with status {status}"] if status else []
    figures = [Figure(**entry) for entry in entries if "missing" not in entry]
    return Outcome(name, time.monotonic() - started, figures, "; ".join(remarks))


def _print_table(outcomes: list[Outcome], before: dict[tuple[str, str, str], float]) -> None:
    print(f"\n{'':4} {'figure':<70} {'':>10} {'':6} {'limit':>10} {'ratio':>6}{'   before' if before else ''}")
    for outcome in outcomes:
        print(f"{outcome.benchmark}, {outcome.seconds:.0f} s")
        heading = ""
        for figure in outcome.figures:
            if figure.heading != heading:
                heading = figure.heading
                print(f"     {heading}")
            earlier = before.get((outcome.benchmark, heading, figure.name))
            print(_row(figure) + (f" {earlier:>8.3f}" if earlier is not None else ""))
    for outcome in outcomes:
        if outcome.remark:
            print(f"{outcome.benchmark} is not complete: {outcome.remark}.")
    figures = [figure for outcome in outcomes for figure in outcome.figures]
    missed = sum(not figure.kept for figure in figures)
    minutes = sum(outcome.seconds for outcome in outcomes) / 60
    print(f"{len(figures)} figures in {minutes:.0f} minutes, limits missed: {missed}")


def _row(figure: Figure) -> str:
    verdict = "ok" if figure.kept else "MISS"
    numbers = f"{figure.value:>10.3f} {figure.unit:<6} {figure.limit:>10.3f} {figure.ratio:>6}"
    return f"{verdict:4}   {figure.name:<68} {numbers}"


def _as_json(outcomes: list[Outcome]) -> list[dict[str, object]]:
    return [{"benchmark": outcome.benchmark} | asdict(figure) for outcome in outcomes for figure in outcome.figures]


def _read(file: Path) -> dict[tuple[str, str, str], float]:
    entries = json.loads(file.read_text())
    return {(entry["benchmark"], entry["heading"], entry["name"]): entry["value"] for entry in entries}


if __name__ == "__main__":
    sys.exit(main())

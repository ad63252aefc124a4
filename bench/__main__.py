"""All benchmarks, one after the other: `python -m bench`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

NOT_BENCHMARKS = {"__init__", "__main__", "bare_page", "catalogue", "measuring", "rivals", "web_load"}


def main() -> None:
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    for name in names:
        if name not in NOT_BENCHMARKS:
            import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main()

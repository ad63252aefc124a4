"""How far a shop goes: `python -m bench.scale [--products N] [--engine whoosh|opensearch|both] [--folder DIR]` grows a
shop to N products and measures it on the way; `python -m bench.scale plans` looks at what PostgreSQL does for the pages
of the admin."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.measuring import run, workspace
from bench.scale.growing import grow
from bench.scale.pages import examine_pages
from bench.scale.surroundings import ENGINES, running_shop

PRODUCTS = 20_000
PRODUCTS_OF_PLANS = 100_000


def main() -> None:
    arguments = _arguments()
    is_about_plans = arguments.what == "plans"
    engines = ENGINES if arguments.engine == "both" else (arguments.engine,)
    with _folder(arguments.folder) as folder, running_shop(folder, () if is_about_plans else engines) as shop:
        if is_about_plans:
            shop.require_postgresql()
            shop.grow_to(arguments.products or PRODUCTS_OF_PLANS)
            examine_pages(shop.application("whoosh"))
        else:
            grow(shop, arguments.products or PRODUCTS, engines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("grow", "plans"), default="grow")
    parser.add_argument(
        "--products",
        type=int,
        metavar="N",
        help=f"how many there are in the end; {PRODUCTS:,}, for the plans {PRODUCTS_OF_PLANS:,}, where it is left out",
    )
    parser.add_argument("--engine", choices=(*ENGINES, "both"), default="both")
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="keep the shop there, and go on with one that is there"
    )
    arguments = parser.parse_args()
    if arguments.products is not None and arguments.products < 100:
        parser.error("--products is at least 100")
    return arguments


@contextmanager
def _folder(chosen: Path | None) -> Iterator[Path]:
    if chosen is None:
        with workspace() as folder:
            yield folder
    else:
        chosen.mkdir(parents=True, exist_ok=True)
        yield chosen.resolve()


if __name__ == "__main__":
    run(main)

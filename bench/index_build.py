"""How fast an index is built: the shop's rebuild beside Whoosh's own default writer and tantivy."""

from __future__ import annotations

from app.adapters.whoosh import WhooshEngine
from bench.catalogue import documents, many
from bench.measuring import ROUNDS, Yardstick, at_least, build, heading, median, run, seconds, sized, workspace
from bench.rivals import Tantivy, WhooshDefaults

TIMES_WHOOSH = 6
LARGE = sized(100_000)
SAMPLE = sized(20_000)


def main() -> None:
    icecat = list(documents())
    heading(f"Index build, {len(icecat):,} products, median of {ROUNDS} interleaved rounds")
    rates: dict[str, list[float]] = {"shop": [], "whoosh": [], "tantivy": []}
    for _ in range(ROUNDS):
        with workspace() as directory:
            engine, whoosh = WhooshEngine(directory / "shop"), WhooshDefaults(directory / "whoosh")
            rates["shop"].append(len(icecat) / seconds(lambda engine=engine: build(engine, icecat)))  # type: ignore[misc]
            rates["whoosh"].append(len(icecat) / seconds(lambda whoosh=whoosh: whoosh.fill(icecat)))  # type: ignore[misc]
            place = directory / "tantivy"
            rates["tantivy"].append(len(icecat) / seconds(lambda place=place: Tantivy(place, icecat)))  # type: ignore[misc]
    whoosh_rate = median(rates["whoosh"])
    print(f"     Whoosh's default writer {whoosh_rate:,.0f} docs/s, tantivy {median(rates['tantivy']):,.0f} docs/s")
    at_least("rebuild", median(rates["shop"]), TIMES_WHOOSH * Yardstick("Whoosh's default", whoosh_rate, "docs/s"))

    heading(f"Index build, {LARGE:,} products; Whoosh's default on {SAMPLE:,} of them")
    large = list(many(LARGE))
    with workspace() as directory:
        rate = LARGE / seconds(lambda: build(WhooshEngine(directory / "shop"), large))
        whoosh = WhooshDefaults(directory / "whoosh")
        whoosh_rate = SAMPLE / seconds(lambda: whoosh.fill(large[-SAMPLE:]))
    at_least("rebuild", rate, TIMES_WHOOSH * Yardstick("Whoosh's default", whoosh_rate, "docs/s"))


if __name__ == "__main__":
    run(main)

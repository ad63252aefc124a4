"""A shop that grows: at each size it is measured with each engine, and a figure is limited by that of the first size,
in proportion to the products, or for what a cache answers by twice that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from bench import made_up
from bench.apart import Step, apart
from bench.catalogue import FACETS
from bench.measuring import Yardstick, at_least, at_most, heading, percentile
from bench.scale.analytics import report_milliseconds
from bench.scale.steps import Served, Sitemap, index_megabytes, rebuild, serve, write_sitemap
from bench.scale.surroundings import Shop

SIZES = (20_000, 100_000, 300_000, 1_000_000)
SMALLEST_SHARE = 10  # Of a shop that ends below the second size, which is measured at a tenth of its products first.
# Where the engine of one box ends at the latest, so that a run comes to an end.
MOST_MINUTES, MOST_MEGABYTES, SLOWEST_SEARCH = 40, 8_000, 5_000
HALF, SLACK = 0.5, 2.0


@dataclass(slots=True)
class Size:
    """The figures of a shop of a size with an engine, by their names; times in milliseconds where not in seconds."""

    engine: str
    products: int
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def why_no_further(self) -> str:
        """The reason why a larger shop is not tried with this engine; empty where it is."""
        found = self.figures
        if found["rebuild, s"] > 60 * MOST_MINUTES:
            return f"a rebuild takes over {MOST_MINUTES} minutes"
        if found["rebuild, peak MB"] > MOST_MEGABYTES:
            return f"a rebuild takes over {MOST_MEGABYTES:,} MB"
        if found["search p95, ms"] > SLOWEST_SEARCH:
            return f"one search in twenty takes over {SLOWEST_SEARCH:,} ms"
        return ""


def sizes_up_to(products: int) -> list[int]:
    """Return the sizes at which a shop is measured that has so many products in the end."""
    below = [size for size in SIZES if size < products]
    return [*(below or [max(100, products // SMALLEST_SHARE)]), products]


def grow(shop: Shop, products: int, engines: Sequence[str]) -> None:
    measured: dict[str, list[Size]] = {engine: [] for engine in engines}
    stopped = {engine: why for engine, why in shop.missing.items() if engine in engines}
    imports: list[tuple[int, Step]] = []
    there = shop.count()
    for size in sizes_up_to(products):
        if size < there:
            continue  # A shop that was kept has outgrown it.
        heading(f"{size:,} products")
        if imported := shop.grow_to(size):
            imports.append(imported)
            _judge_import(imports)
        for engine in engines:
            if engine not in stopped:
                measured[engine].append(_measure(shop, engine, size))
                _judge(measured[engine])
                stopped |= {engine: why} if (why := measured[engine][-1].why_no_further) else {}
    _report(shop, measured, stopped)


def _report(shop: Shop, measured: Mapping[str, Sequence[Size]], stopped: Mapping[str, str]) -> None:
    heading("Analytics")
    searches = report_milliseconds(shop.application("whoosh"))
    half, slowest = percentile(searches, 0.5), max(searches)
    print(f"     pages about 90 days of searches: p50 {half:,.0f} ms, slowest {slowest:,.0f} ms")
    for engine, sizes in measured.items():
        _print_table(engine, sizes)
        if engine in stopped:
            print(f"     no further with {engine}: {stopped[engine]}")


def _measure(shop: Shop, engine: str, products: int) -> Size:
    found = Size(engine, products)
    step: Callable[..., Step] = partial(apart, shop.environment(engine))
    built = step(rebuild)
    _, found.figures["rebuild, s"] = built.result
    found.figures["rebuild, products/s"] = products / found.figures["rebuild, s"]
    found.figures["rebuild, peak MB"] = built.peak
    found.figures["index, MB"] = step(index_megabytes).result
    facets = made_up.FACETS if shop.is_made_up else FACETS
    _note_served(found, step(partial(serve, shop.bundle, products, facets)).result)
    written = step(write_sitemap)
    sitemap: Sitemap = written.result
    found.figures |= {"sitemap, s": sitemap.seconds, "sitemap, peak MB": written.peak}
    found.figures |= {"sitemap, addresses": sitemap.addresses, "sitemap, files": sitemap.files}
    return found


def _note_served(found: Size, served: Served) -> None:
    first = [time for times in served.first.values() for time in times]
    for name, times in (("search", first), ("narrowed category", served.narrowed), ("kept category", served.kept)):
        found.figures |= {f"{name} p50, ms": percentile(times, 0.5), f"{name} p95, ms": percentile(times, 0.95)}
    for count, times in served.first.items():
        found.figures[f"search of {count} words p95, ms"] = percentile(times, 0.95)
    again = [time for times in served.again.values() for time in times]
    found.figures |= {"search again p50, ms": percentile(again, 0.5), "search again p95, ms": percentile(again, 0.95)}
    found.figures |= {"web process, MB": served.memory, "not answered": served.failed}


def _judge_import(rates: Sequence[tuple[int, Step]]) -> None:
    (first_count, first), (count, latest) = rates[0], rates[-1]
    print(f"     imported at {count / latest.seconds:,.0f} products/s, at most {latest.peak:,.0f} MB")
    if len(rates) > 1:
        before = Yardstick("the first ones", first_count / first.seconds, "/s")
        at_least("products imported a second", count / latest.seconds, HALF * before)
        more = Yardstick("the first ones", first.peak, "MB")
        at_most("memory of the import at its peak", latest.peak, SLACK * more)


def _judge(sizes: Sequence[Size]) -> None:
    """Print the figures of the latest size, and limit them by those of the first."""
    first, latest = sizes[0], sizes[-1]
    print(f"     {latest.engine}: " + ", ".join(f"{name} {value:,.0f}" for name, value in latest.figures.items()))
    if first is latest:
        return
    larger = latest.products / first.products

    def limit(name: str, times: float, unit: str) -> Yardstick:
        return times * Yardstick(f"{first.products:,} products", first.figures[name], unit)

    name = "rebuild, products/s"
    at_least(f"{latest.engine}: {name}", latest.figures[name], limit(name, HALF, "/s"))
    for name in ("search p50, ms", "search p95, ms", "narrowed category p95, ms", "index, MB", "sitemap, s"):
        at_most(f"{latest.engine}: {name}", latest.figures[name], limit(name, larger, name.rpartition(" ")[2]))
    for name in ("kept category p50, ms", "sitemap, peak MB"):
        at_most(f"{latest.engine}: {name}", latest.figures[name], limit(name, SLACK, name.rpartition(" ")[2]))


def _print_table(engine: str, sizes: Sequence[Size]) -> None:
    if not sizes:
        return
    print(f"\n{engine:<34}" + "".join(f"{size.products:>12,}" for size in sizes))
    for name in sizes[0].figures:
        print(f"{name:<34}" + "".join(f"{size.figures[name]:>12,.0f}" for size in sizes))

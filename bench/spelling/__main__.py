"""How many slips are understood, and how many searches that are right are changed, on three lists that lie beside this
file. Settings are chosen on one half of each, see README; both halves are printed.

A slip is understood where most of the first ten products have the word that was meant, whether it was corrected or is
the beginning of the word. A search is changed where other words are searched instead of it: what is suggested alone
does no harm. `--queries` prints what was not understood and what was changed."""

from __future__ import annotations

import os
from collections.abc import Sequence

from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import SearchRequest, SearchResult
from bench.measuring import PRODUCTS, QUERIES, SITE, Yardstick, at_least, at_most, build, heading, run, workspace
from bench.spelling.lists import BUNDLES, HALVES, Entry, documents_of, read_list

DEPTH = 10
EVERYTHING = 10_000
GOALS = {
    "slips": Yardstick("own goal", 0.90, ""),
    "words": Yardstick("own goal", 0.02, ""),
    "names": Yardstick("own goal", 0, ""),
}


def main() -> None:
    for bundle in BUNDLES:
        with workspace() as directory:
            engine = WhooshEngine(directory)
            build(engine, documents_of(bundle))
            heading(f"Spelling, {bundle}")
            _report(engine)


def _report(engine: WhooshEngine) -> None:
    lists = {name: read_list(name) for name in GOALS}
    for half in HALVES:
        slips, words, names = ([entry for entry in lists[name] if entry.half == half] for name in GOALS)
        missed = [entry for entry in slips if not is_understood(engine, entry)]
        at_least(f"slips that are understood, half to {half} on", 1 - len(missed) / len(slips), GOALS["slips"])
        _print("not understood", engine, missed)
        for name, right in (("words", words), ("names", names)):
            changed = [entry for entry in right if _search(engine, entry.typed).corrected]
            kind = "words of the language" if name == "words" else "brands and codes"
            at_most(f"{kind} that are changed, half to {half} on", len(changed) / len(right), GOALS[name])
            _print("changed", engine, changed)


def is_understood(engine: WhooshEngine, entry: Entry) -> bool:
    """Return whether most of the first products have the word that was meant."""
    found = _search(engine, entry.typed)
    as_meant = SearchRequest(words=entry.meant, per_page=EVERYTHING, correct=False, suggest=False, prefix_last=False)
    having = {hit.id for hit in engine.search(SITE, PRODUCTS, as_meant).hits}
    return bool(found.hits) and 2 * sum(hit.id in having for hit in found.hits) > len(found.hits)


def _search(engine: WhooshEngine, words: str) -> SearchResult:
    return engine.search(SITE, PRODUCTS, SearchRequest(words=words, per_page=DEPTH))


def _print(what: str, engine: WhooshEngine, entries: Sequence[Entry]) -> None:
    if QUERIES in os.environ:
        for entry in entries:
            found = _search(engine, entry.typed)
            meant = f", meant {entry.meant}" if entry.meant else ""
            read = f", {'read as' if found.corrected else 'suggested'} {found.suggestion}" if found.suggestion else ""
            print(f"      {what}: {entry.typed}{meant}{read}")


if __name__ == "__main__":
    run(main)

"""A rebuild: a complete new index beside the live one, brought up to date and swapped in.

Every change that commits after the run began stands in the outbox until the run ends (wishes.settle), so the
records may be read in many short transactions: whatever the reading missed is replayed under the lock under
which changes are applied, right before the swap.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from app.domain.search.engine import BuildInProgress, Change, Generation, IndexDocument, IndexName
from app.domain.search.index import builders, wishes
from app.domain.search.index.builders import LEASE, Builder, RunLost
from app.domain.search.index.changes import changes_of, documents_of
from app.domain.search.index.documents import count_of
from app.domain.search.index.failures import Refusals, is_expected, why_it_failed
from app.domain.search.index.heartbeat import kept_alive
from app.domain.search.index.indexing import Indexing, read_afresh
from app.domain.search.index.outbox import PRODUCT
from app.domain.search.index.runs import content_search_is_on
from app.domain.shared.problems import Conflict
from app.domain.taxonomy.products.classification import active_taxonomy

BETWEEN_NOTES = timedelta(seconds=1)

Examine = Callable[[int, Generation, Collection[int]], str | None]


def rebuild(indexing: Indexing, run_id: str, lease: timedelta = LEASE, examine: Examine | None = None) -> bool:
    """Do a waiting run. False when it is not this caller's to do: somebody else builds, or has built. How it ended
    stands in the run; what nobody expected is raised as well. `examine` is handed the site, its sealed index of
    products and the ids of products that change with the swap; it may say why the index must not become the live
    one."""
    builder = indexing.commit(lambda: builders.take_up(indexing.clock, run_id, lease))
    if builder is None:
        return False
    with kept_alive(indexing.clock, builder):
        try:
            return _Rebuild(indexing, builder, examine).run()
        except BaseException as error:
            words = why_it_failed(error)
            with suppress(RunLost):
                indexing.commit(lambda: builders.finish(indexing.clock, builder, words, failed=True))
            if not is_expected(error):
                raise
    return True


@dataclass
class _Rebuild:
    """The state of one rebuild while it runs."""

    indexing: Indexing
    builder: Builder
    examine: Examine | None = None
    written: int = 0
    noted_at: datetime | None = None
    refusals: Refusals = field(default_factory=Refusals)
    generations: dict[str, dict[str, str | None]] = field(default_factory=dict)

    def run(self) -> bool:
        try:
            self._note_start()
            for index in self._indexes():
                self._build(index)
        except BuildInProgress:
            with suppress(RunLost):
                self.indexing.commit(lambda: builders.let_go(self.builder))
            return False
        except RunLost:
            return False
        with suppress(RunLost):
            self.indexing.commit(lambda: builders.finish(self.indexing.clock, self.builder, self.refusals.summary()))
        return True

    def _indexes(self) -> list[IndexName]:
        """Raises Conflict when nothing is left to build."""
        wanted = [index for index in self.builder.scope.indexes if self._is_wanted(index)]
        if not wanted:
            raise Conflict("Content search was switched off while this rebuild ran, so there is nothing to rebuild.")
        return wanted

    def _is_wanted(self, index: IndexName) -> bool:
        return index is not IndexName.CONTENT or content_search_is_on(self.builder.site_id)

    def _note_start(self) -> None:
        read_afresh()
        taxonomy = active_taxonomy(self.builder.site_id)
        taxonomy_id = taxonomy.id if taxonomy else None
        total = sum(count_of(self.builder.site_id, index) for index in self._indexes())
        self._note(total_count=total, document_count=0, taxonomy_id=taxonomy_id)

    def _build(self, index: IndexName) -> None:
        site_id = self.builder.site_id
        generation = self.indexing.engine.start_generation(site_id, index)
        try:
            read_afresh()
            covered = {wish.entry_id for wish in wishes.all_of(site_id, index)}
            read_afresh()
            generation.add(self._counted(documents_of(site_id, index, refuse=self.refusals.note)))
            generation.seal()
            self._note(document_count=self.written)
            with self.indexing.engine.exclusive(site_id, index):
                self._publish(index, generation, covered)
        finally:
            generation.discard()

    def _counted(self, documents: Iterator[IndexDocument]) -> Iterator[IndexDocument]:
        """Between two batches the reading holds no transaction, so progress can be written at any document."""
        for document in documents:
            self.written += 1
            now = self.indexing.clock.now()
            if self.noted_at is None or now - self.noted_at >= BETWEEN_NOTES:
                self._note(document_count=self.written)
            yield document

    def _publish(self, index: IndexName, generation: Generation, covered: set[int]) -> None:
        """Within the publish lock, which the applier needs as well: nothing is applied between replay and swap."""
        site_id = self.builder.site_id
        read_afresh()
        if not self._is_wanted(index):
            return
        everything = wishes.all_of(site_id, index)
        late = [wish for wish in everything if wish.entry_id not in covered]
        changes = self._missed(index, late)
        self._examine(index, generation, late)
        self._note_swap(index, before=self._live(index))
        generation.publish(changes)
        self._note_swap(index, after=self._live(index))
        refused = self.refusals.records
        held = [wish.entry_id for wish in everything if (wish.kind, wish.record_id) not in refused]
        self.indexing.commit(lambda: wishes.drop(held))

    def _examine(self, index: IndexName, generation: Generation, late: list[wishes.Wish]) -> None:
        """Raises Conflict with the reason for which shoppers keep the old index."""
        if self.examine is None or index is not IndexName.PRODUCTS:
            return
        changing = {wish.record_id for wish in late if wish.kind == PRODUCT}
        if reason := self.examine(self.builder.site_id, generation, changing):
            raise Conflict(reason)

    def _missed(self, index: IndexName, late: list[wishes.Wish]) -> list[Change]:
        records = {(wish.kind, wish.record_id) for wish in late}
        return changes_of(self.builder.site_id, index, records, self.refusals.note)

    def _live(self, index: IndexName) -> str | None:
        return self.indexing.engine.status(self.builder.site_id, index).generation

    def _note_swap(self, index: IndexName, **names: str | None) -> None:
        """Written before the swap as well: a builder that dies right after it leaves enough to tell what happened.
        Raises RunLost, by which a builder that was given up finds out in time."""
        self.generations[index] = self.generations.get(index, {}) | names
        self._note(document_count=self.written, generations=self.generations)

    def _note(self, **columns: object) -> None:
        self.noted_at = self.indexing.clock.now()
        self.indexing.commit(lambda: builders.note_progress(self.indexing.clock, self.builder, **columns))

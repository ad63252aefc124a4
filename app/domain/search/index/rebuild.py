"""A rebuild: a complete new index beside the live one, brought up to date and swapped in.

Every change that commits after the run began stands in the outbox until the run ends (outbox.settle), so the
records may be read in many short transactions: whatever the reading missed is replayed under the lock under
which changes are applied, right before the swap.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import select

from app.domain.search.document_ids import PRODUCT
from app.domain.search.engine import Change, Generation, IndexDocument, IndexName, SearchContext
from app.domain.search.index import outbox
from app.domain.search.index.documents import changes_of, count_of, documents_of, is_wanted, ranks_by_meaning
from app.domain.search.index.rebuild_outcomes import Refusals
from app.domain.search.index.runs import REBUILD, Scope
from app.domain.search.models import RebuildRun
from app.domain.shared.problems import Conflict
from app.domain.sites import versioning
from app.domain.taxonomy.taxonomies import active_taxonomy
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.domain.work.leases import Claim, perform
from app.extensions import db

BETWEEN_NOTES = timedelta(seconds=1)

Examine = Callable[[int, Generation, Collection[int]], str | None]
Judge = Callable[[int, Generation], str | None]


def rebuild(
    context: SearchContext,
    run_id: str,
    lease: timedelta | None = None,
    examine: Examine | None = None,
    judge: Judge | None = None,
) -> bool:
    """Claim and do a waiting run. Return False when another worker has claimed it, before or on the way. The run
    stores how it ended; unexpected errors are raised as well. `examine` gets the site, its sealed index of products
    and the ids of products that change with the swap, and returns the reason why the index must not go live, or
    None. `judge` does the same without those ids, and may take long: it is called before changes have to wait."""
    builder = context.commit(lambda: leases.claim(REBUILD, context.clock, RebuildRun.id == run_id, lease=lease))
    return builder is not None and perform(context, builder, _Rebuild(context, builder, examine, judge).run)


@dataclass(slots=True)
class _Built:
    """A sealed generation. `covered` are the entries of the outbox from before its records were read, `prepared` those
    from before the engine prepared changes, None where it has nothing to prepare, and `replayed` those whose changes
    it has as well."""

    index: IndexName
    generation: Generation
    covered: frozenset[int]
    prepared: frozenset[int] | None = None
    replayed: list[outbox.Waiting] = field(default_factory=list)

    def has_all_of(self, entry: outbox.Waiting) -> bool:
        """Whether the generation has all of an entry's change, also the part that is prepared; otherwise the entry is
        applied once more."""
        return self.prepared is None or entry.id in self.prepared


@dataclass
class _Rebuild:
    """The state of one rebuild while it runs. Nothing is published before everything is built, and then all of it or
    nothing, so that a run that fails leaves the old indexes live as a whole. Only a process that dies between the two
    swaps leaves the new content beside the old products: see docs/adr/0003."""

    context: SearchContext
    builder: Claim[RebuildRun]
    examine: Examine | None = None
    judge: Judge | None = None
    written: int = 0
    noted_at: datetime | None = None
    refusals: Refusals = field(default_factory=Refusals)

    def run(self) -> None:
        """Build all indexes of the run, then publish them. Raises LeaseLost once the run is no longer the builder's,
        which is checked right before the swap, too."""
        read_afresh()
        taxonomy = active_taxonomy(self.builder.site_id)
        total = sum(count_of(self.builder.site_id, index) for index in self._indexes())
        self._note(total=total, done=0, taxonomy_id=taxonomy.id if taxonomy else None)
        with ExitStack() as stack:
            built = [self._build(index, stack) for index in self._indexes()]
            for each in built:
                self._prepare(each)
            for each in built:
                self._judge(each)
            for each in built:
                stack.enter_context(self.context.engine.exclusive(self.builder.site_id, each.index))
            self._publish(built)
        error = self.refusals.summary()
        self.context.commit(lambda: leases.finish(self.context.clock, self.builder, error=error))

    def _indexes(self) -> list[IndexName]:
        """Return the indexes of the run's scope that the site uses. Raises Conflict when there is none."""
        read_afresh()
        scope = db.session.scalars(select(RebuildRun.scope).where(RebuildRun.id == self.builder.key)).one()
        wanted = [index for index in Scope(scope).indexes if is_wanted(self.builder.site_id, index)]
        if not wanted:
            raise Conflict("Content search was switched off while this rebuild ran, so there is nothing to rebuild.")
        return wanted

    def _build(self, index: IndexName, stack: ExitStack) -> _Built:
        site_id = self.builder.site_id
        read_afresh()
        by_meaning = ranks_by_meaning(site_id)
        generation = self.context.engine.start_generation(site_id, index, by_meaning=by_meaning)
        stack.callback(generation.discard)
        read_afresh()
        covered = frozenset(entry.id for entry in outbox.all_of(site_id, index))
        read_afresh()
        generation.add(self._count(documents_of(site_id, index, refuse=self.refusals.note)))
        generation.seal()
        self._note(done=self.written)
        return _Built(index, generation, covered)

    def _count(self, documents: Iterator[IndexDocument]) -> Iterator[IndexDocument]:
        """Yield the documents and note the progress. Between two batches the reading holds no transaction, so progress
        can be written at any document."""
        for document in documents:
            self.written += 1
            now = self.context.clock.now()
            if self.noted_at is None or abs(now - self.noted_at) >= BETWEEN_NOTES:
                self._note(done=self.written)
            yield document

    def _publish(self, built: Sequence[_Built]) -> None:
        """Replay and swap within the publish locks, which the applier needs as well: nothing is applied between replay
        and swap. The products come last: what shoppers search with is new only when all of it is."""
        site_id = self.builder.site_id
        read_afresh()
        wanted = [each for each in reversed(built) if is_wanted(site_id, each.index)]
        for each in wanted:
            self._replay(each)
        before = {each.index: self._live(each.index) for each in wanted}
        self._note_swap({index: {"before": name} for index, name in before.items()})
        with self.context.engine.together(site_id, [each.index for each in wanted]):
            for each in wanted:
                each.generation.publish()
        self.context.commit(lambda: versioning.index_changed(db.session(), site_id))
        self._note_swap({index: {"before": name, "after": self._live(index)} for index, name in before.items()})
        self.context.commit(lambda: outbox.drop(self._fulfilled_entries(wanted)))

    def _prepare(self, built: _Built) -> None:
        """Prepare the changes saved since the records were read, before the locks are taken: most records will not
        change again until the replay."""

        site_id = self.builder.site_id

        def changes() -> Iterator[Change]:
            read_afresh()
            waiting = list(outbox.all_of(site_id, built.index))
            built.prepared = frozenset(entry.id for entry in waiting)
            late = {entry.record for entry in waiting if entry.id not in built.covered}
            found = changes_of(site_id, built.index, late, lambda *_: None)
            read_afresh()
            yield from found

        built.generation.prepare(changes())

    def _replay(self, built: _Built) -> None:
        built.replayed = list(outbox.all_of(self.builder.site_id, built.index))
        late = [entry for entry in built.replayed if entry.id not in built.covered]
        missed = {entry.record for entry in late}
        changes = changes_of(self.builder.site_id, built.index, missed, self.refusals.note)
        self._examine(built.index, built.generation, late)
        built.generation.replay(changes)

    def _fulfilled_entries(self, published: Sequence[_Built]) -> list[int]:
        """Return the entries that nothing waits for any more."""
        refused = self.refusals.records
        replayed = ((built, entry) for built in published for entry in built.replayed)
        return [entry.id for built, entry in replayed if entry.record not in refused and built.has_all_of(entry)]

    def _examine(self, index: IndexName, generation: Generation, late: list[outbox.Waiting]) -> None:
        """Raise Conflict with the reason of `examine` for which the new index must not go live. Skipped where there is
        no live index that could be kept."""
        if self.examine is None or not self._may_be_kept(index):
            return
        changing = {entry.record_id for entry in late if entry.kind == PRODUCT}
        self._block(self.examine(self.builder.site_id, generation, changing))

    def _judge(self, built: _Built) -> None:
        """Do the same with the reason of `judge`."""
        if self.judge is not None and self._may_be_kept(built.index):
            read_afresh()
            self._block(self.judge(self.builder.site_id, built.generation))

    def _may_be_kept(self, index: IndexName) -> bool:
        return index is IndexName.PRODUCTS and self._live(index) is not None

    def _block(self, reason: str | None) -> None:
        if reason:
            self._note(blocked=True)
            raise Conflict(reason)

    def _live(self, index: IndexName) -> str | None:
        return self.context.engine.status(self.builder.site_id, index).generation

    def _note_swap(self, generations: dict[str, dict[str, str | None]]) -> None:
        """Store the generations of the swap in the run. Called before the swap as well, so that the run of a builder
        that dies right after it shows what happened. Raises LeaseLost: this is the check of the fence at the swap."""
        self._note(done=self.written, generations=generations)

    def _note(self, **columns: object) -> None:
        self.noted_at = self.context.clock.now()
        self.context.commit(lambda: leases.renew(self.context.clock, self.builder, **columns))

"""THE table: event -> what happens after its commit."""

from __future__ import annotations

from app.domain.search.events import IndexChangesWaiting, RebuildRequested, WordsChanged
from app.domain.search.synonyms.suggesting import SuggestionsRequested
from app.domain.search.trying.replays import ReplayRequested
from app.domain.sites.stored_events import EventsStored
from app.domain.taxonomy.tasks import TaskRequested
from app.events import subscribe
from app.jobs import words
from app.ports import queue


def init_subscribers() -> None:
    subscribe(IndexChangesWaiting, apply_outbox)
    subscribe(RebuildRequested, rebuild)
    subscribe(EventsStored, deliver_events)
    subscribe(TaskRequested, work_off_tasks)
    subscribe(WordsChanged, publish_words)
    subscribe(SuggestionsRequested, suggest)
    subscribe(ReplayRequested, replay)


def apply_outbox(event: IndexChangesWaiting) -> None:
    """A lost wake-up, here and below, is made up for by the scheduler's poll."""
    queue().enqueue("indexing:apply_outbox", event.site_id)


def rebuild(event: RebuildRequested) -> None:
    queue().enqueue("indexing:rebuild", event.run_id)


def deliver_events(_event: EventsStored) -> None:
    queue().enqueue("events:deliver")


def work_off_tasks(event: TaskRequested) -> None:
    queue().enqueue("taxonomy:work_off_slice", event.site_id)


def publish_words(event: WordsChanged) -> None:
    """At once and in this process: what a merchandiser saved is served when the next page answers."""
    words.publish(event.site_id)


def suggest(event: SuggestionsRequested) -> None:
    queue().enqueue("suggesting:suggest", event.site_id)


def replay(event: ReplayRequested) -> None:
    queue().enqueue("trying:replay", event.replay_id)

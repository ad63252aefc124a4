"""The table of subscribers: what follows an event after its commit.

A handler must not raise. The call itself is lost when the process dies: what must be done even then is found again by
the schedule, or is a stored event, which has its handler in app/jobs/events.py. Counts of a deleted product alone then
stay until their days end.
"""

from __future__ import annotations

from app.domain.alerts.alerts import AlertEnded, AlertRaised, log_ended, log_raised
from app.domain.catalogue.products import ProductDeleted
from app.domain.search.events import ConfigurationSaved, IndexChangesWaiting, LearningChanged
from app.domain.sites.accounts import SessionsEnded
from app.domain.sites.sites import SiteCreated
from app.domain.sites.stored_events import EventsStored
from app.domain.work.models import WorkRequested
from app.events import subscribe
from app.jobs import pos, relevance, search
from app.jobs.leased import LEASED_JOBS
from app.ports import queue


def init_subscribers() -> None:
    subscribe(IndexChangesWaiting, apply_outbox)
    subscribe(WorkRequested, start_work)
    subscribe(EventsStored, deliver_events)
    subscribe(ConfigurationSaved, search.publish_words)
    subscribe(LearningChanged, learn_from_clicks)
    subscribe(ProductDeleted, forget_counts)
    subscribe(SessionsEnded, end_work_sessions)
    subscribe(SiteCreated, make_first_index)
    subscribe(AlertRaised, log_raised)
    subscribe(AlertEnded, log_ended)


def apply_outbox(event: IndexChangesWaiting) -> None:
    """Wake the worker to index waiting changes. The scheduler's poll makes up for a lost wake-up, here and below."""
    queue().enqueue("search:apply_outbox", event.site_id)


def start_work(event: WorkRequested) -> None:
    queue().enqueue(LEASED_JOBS[event.kind].job, event.key, machine=event.machine)


def deliver_events(_event: EventsStored) -> None:
    queue().enqueue("events:deliver")


def learn_from_clicks(event: LearningChanged) -> None:
    """Learn in the background; at once where there is no worker. A lost wake-up is made up for by the nightly job."""
    if not queue().enqueue("relevance:learn", event.site_id):
        relevance.learn_at_once(event.site_id)


def forget_counts(event: ProductDeleted) -> None:
    relevance.forget_product(event.site_id, event.product_id)


def end_work_sessions(event: SessionsEnded) -> None:
    """End the work sessions at once, so that the page that shows them is right when it answers."""
    pos.end_sessions_of_user(event.user_id)


def make_first_index(event: SiteCreated) -> None:
    """Make the index at once and in this process: a new site has nothing to index yet, and from then on each save gets
    into it."""
    search.make_first_index(event.site_id)

"""The top searches asked before and after a change, in the background."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

import pytest
from sqlalchemy import select

from app.domain.relevance import replays
from app.domain.relevance.comparison import ReplayReport, Touched, read_report
from app.domain.relevance.models import SearchReplay
from app.domain.relevance.proposals import Proposal, SynonymProposal, TermsProposal
from app.domain.relevance.replays import REPLAY
from app.domain.search.engine import IndexName, SearchContext, SearchRequest, SearchResult
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.models import SearchWordDay
from app.domain.shared.author import Author
from app.domain.shared.problems import NotFound
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.extensions import db
from app.transaction import transaction
from tests.domain.relevance.trials.preview_shop import product_id, save_synonym, shop
from tests.purging import purged

pytestmark = pytest.mark.usefixtures("context")
CHANGE = SynonymProposal(SynonymGroup(SynonymType.EQUIVALENT, None, ("mug", "cup")))


def _counted(indexing: SearchContext, site_id: int, searches: dict[str, int]) -> None:
    with transaction():
        day = site_today(indexing.clock, site_id)
        for word, times in searches.items():
            db.session.add(SearchWordDay(site_id=site_id, day=day, word=word, searches=times))


def _request(indexing: SearchContext, site_id: int, proposal: Proposal = CHANGE) -> str:
    with transaction():
        return replays.request(Author(site_id, "Mia", indexing.clock), proposal).id


def _summary_of_replay(indexing: SearchContext, site_id: int, replay_id: str) -> replays.ReplaySummary:
    read_afresh()
    return replays.replay_of(indexing.clock, site_id, replay_id)


def _replayed(indexing: SearchContext, site_id: int, proposal: Proposal = CHANGE) -> replays.ReplaySummary:
    replay_id = _request(indexing, site_id, proposal)
    assert replays.replay(indexing, replay_id)
    return _summary_of_replay(indexing, site_id, replay_id)


def test_the_report_says_what_the_change_touches(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _counted(indexing, site_id, {"mug": 300, "tea cup": 10, "jug": 90, "nothing": 4})
    summary = _replayed(indexing, site_id)
    assert (summary.state, summary.done, summary.total) == ("done", 4, 4)
    touched = [(one.query, one.searches, one.before, one.after) for one in summary.report.touched]
    assert touched == [("mug", 300, 2, 4), ("tea cup", 10, 2, 4)]
    assert summary.report.sentence == (
        "Touches 2 of your 4 top searches, about 310 searches a month; none would find less."
    )


def test_searches_that_would_find_less_come_first(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    saved = save_synonym(indexing, site_id, "mug", "cup")
    _counted(indexing, site_id, {"jug": 90, "mug": 5})
    removal = SynonymProposal(SynonymGroup(SynonymType.EQUIVALENT, None, ("mug", "jug"), saved))
    touched = _replayed(indexing, site_id, removal).report.touched
    assert [(one.query, one.less) for one in touched] == [("mug", True), ("jug", False)]


def test_a_misspelt_search_is_touched_through_its_correction(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _counted(indexing, site_id, {"travell": 9})
    group = SynonymGroup(SynonymType.EQUIVALENT, None, ("travel", "jug"))
    assert [one.query for one in _replayed(indexing, site_id, SynonymProposal(group)).report.touched] == ["travell"]


def test_search_terms_are_replayed_too(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _counted(indexing, site_id, {"pitcher": 12, "mug": 5})
    summary = _replayed(indexing, site_id, TermsProposal(product_id(site_id, "JUG-1"), ("pitcher",)))
    assert summary.report.sentence == (
        "Touches 1 of your 2 top searches, about 12 searches a month, 1 would find something for the first time; "
        "none would find less."
    )


def test_without_counted_searches_it_is_said_so(indexing: SearchContext) -> None:
    assert "nothing to replay" in _replayed(indexing, shop(indexing)).report.sentence


def test_only_the_searches_of_the_site_are_replayed(indexing: SearchContext) -> None:
    own, other = shop(indexing), shop(indexing, "other.test")
    _counted(indexing, other, {"mug": 50})
    assert _replayed(indexing, own).report.replayed == 0


def test_asking_twice_for_the_same_change_makes_one_replay(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    assert _request(indexing, site_id) == _request(indexing, site_id)
    other = SynonymProposal(SynonymGroup(SynonymType.EQUIVALENT, None, ("mug", "jug")))
    assert _request(indexing, site_id, other) != _request(indexing, site_id)


def test_a_replay_of_another_site_is_not_found(indexing: SearchContext) -> None:
    own, other = shop(indexing), shop(indexing, "other.test")
    replay_id = _request(indexing, other)
    with pytest.raises(NotFound):
        replays.replay_of(indexing.clock, own, replay_id)


class _Dying:
    """An engine whose process is killed at the third search."""

    def __init__(self, indexing: SearchContext) -> None:
        self._engine, self._left = indexing.engine, 3

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        self._left -= len(requests)
        if self._left <= 0:
            raise GeneratorExit  # Nothing that the code catches: as if the process were gone.
        return self._engine.search_many(site_id, index, requests)


def test_a_worker_that_is_killed_leaves_the_replay_to_the_next_one(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _counted(indexing, site_id, {"mug": 3, "cup": 2, "jug": 1})
    replay_id = _request(indexing, site_id)
    dying = SearchContext(indexing.clock, indexing.transaction, _Dying(indexing))  # type: ignore[arg-type]
    with suppress(GeneratorExit):
        replays.replay(dying, replay_id)
    assert _summary_of_replay(indexing, site_id, replay_id).state == "running"
    assert leases.free_keys(REPLAY, indexing.clock) == [], "its lease still runs"
    assert not replays.replay(indexing, replay_id)
    indexing.clock.move(seconds=31)  # type: ignore[attr-defined]
    read_afresh()
    assert leases.free_keys(REPLAY, indexing.clock) == [replay_id]
    assert replays.replay(indexing, replay_id)
    assert _summary_of_replay(indexing, site_id, replay_id).state == "done"


def test_a_worker_that_is_stopped_lets_go_at_once(indexing: SearchContext, monkeypatch: pytest.MonkeyPatch) -> None:
    site_id = shop(indexing)
    _counted(indexing, site_id, {"mug": 3})
    replay_id = _request(indexing, site_id)

    class Stopped(_Dying):
        def search_many(self, *_: object) -> list[SearchResult]:  # type: ignore[override]
            raise SystemExit

    with pytest.raises(SystemExit):
        replays.replay(SearchContext(indexing.clock, indexing.transaction, Stopped(indexing)), replay_id)  # type: ignore[arg-type]
    read_afresh()
    assert leases.free_keys(REPLAY, indexing.clock) == [replay_id]


def test_what_nobody_finishes_fails_after_a_quarter_of_an_hour(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    replay_id = _request(indexing, site_id)
    indexing.clock.move(minutes=14)  # type: ignore[attr-defined]
    with transaction():
        assert leases.expire(REPLAY, indexing.clock) == []
    indexing.clock.move(minutes=2)  # type: ignore[attr-defined]
    with transaction():
        assert len(leases.expire(REPLAY, indexing.clock)) == 1
    summary = _summary_of_replay(indexing, site_id, replay_id)
    assert (summary.state, summary.error) == (
        "failed",
        "It was not finished within a quarter of an hour. Ask for it again.",
    )


def test_a_search_engine_that_is_away_fails_it_with_its_sentence(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _counted(indexing, site_id, {"mug": 3})
    indexing.engine.forget(site_id)
    summary = _replayed(indexing, site_id)
    assert summary.state == "failed" and "Search does not answer" in (summary.error or "")


def test_a_waiting_replay_that_nobody_takes_up_says_so(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    replay_id = _request(indexing, site_id)
    assert not _summary_of_replay(indexing, site_id, replay_id).is_unanswered
    indexing.clock.move(seconds=20)  # type: ignore[attr-defined]
    assert _summary_of_replay(indexing, site_id, replay_id).is_unanswered


def test_replays_are_kept_thirty_days(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _replayed(indexing, site_id)
    indexing.clock.move(days=30)  # type: ignore[attr-defined]
    assert purged(indexing.clock, leases.retention(REPLAY, "replays")) == 0
    indexing.clock.move(seconds=1)  # type: ignore[attr-defined]
    assert purged(indexing.clock, leases.retention(REPLAY, "replays")) == 1
    assert db.session.scalars(select(SearchReplay)).all() == []


def _touched(query: str, searches: int, before: int = 1, after: int = 2) -> Touched:
    return Touched(query, searches, before, after, "1 new", after < before)


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (ReplayReport(0, ()), "No searches were counted in the last 30 days, so there is nothing to replay."),
        (ReplayReport(1, ()), "Touches none of your one top search."),
        (ReplayReport(200, ()), "Touches none of your 200 top searches."),
        (
            ReplayReport(200, (_touched("a", 308), _touched("b", 2, 5, 1))),
            "Touches 2 of your 200 top searches, about 310 searches a month; 1 would find less.",
        ),
    ],
)
def test_the_sentence_of_a_report(report: ReplayReport, sentence: str) -> None:
    assert report.sentence == sentence


def test_a_report_survives_being_stored() -> None:
    report = ReplayReport.of(9, [_touched("a", 3), _touched("b", 2, 5, 1)])
    assert read_report(report.as_json()) == report
    assert [one.query for one in report.touched] == ["b", "a"]
    assert read_report({}) == ReplayReport(0, ())


def test_the_lease_outlasts_the_time_between_two_notes() -> None:
    assert timedelta(seconds=5) < REPLAY.lease

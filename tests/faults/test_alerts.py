"""The owner hears of parts that are gone, once each, from the shop's real processes."""

from __future__ import annotations

from app.domain.alerts.alerts import open_alerts
from app.operations.supervisor.embedded_redis import EmbeddedRedis
from tests.fakes.chat import Chat, chat_server
from tests.faults.shops import Shop
from tests.waiting import until


def open_causes(shop: Shop) -> list[str]:
    with shop.opened():
        return [alert.cause for alert in open_alerts(None)]


def sent(hooks: Chat) -> list[tuple[str, str]]:
    return [(body["event"], body["cause"]) for body in hooks.requests]


def test_workers_and_then_the_queue_are_gone(shop: Shop, redis: EmbeddedRedis) -> None:
    with chat_server() as hooks:
        hooks.fails(200)
        shop.do("watch_machine", ALERT_WEBHOOK_URL=hooks.base_url)
        until(lambda: sent(hooks) == [("alert_raised", "worker_gone")])
        for kind in ("default", "builds"):
            shop.do("work", kind)
        until(lambda: open_causes(shop) == [])
        redis.stop(0)
        until(lambda: open_causes(shop) == ["queue_gone"])
        until(lambda: len(sent(hooks)) > 1)
    assert sent(hooks) == [("alert_raised", "worker_gone"), ("alert_raised", "queue_gone")]


def test_a_job_of_the_night_that_fails_twice_is_sent(shop: Shop) -> None:
    with chat_server() as hooks:
        hooks.fails(200)
        for index in (shop.folder / "index").iterdir():
            index.rename(shop.folder / "elsewhere")
        for _ in range(2):
            shop.do("job", "reconcile").finish()
        shop.do("eager_scheduler", ALERT_WEBHOOK_URL=hooks.base_url)
        until(lambda: ("alert_raised", "job_failed_twice") in sent(hooks))

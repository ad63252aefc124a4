"""F19: jobs that nobody can do are set aside, and those behind them are done."""

from __future__ import annotations

import pytest
from redis import Redis
from rq.job import Job

from app.adapters.queue import connect, queue_name
from app.operations.supervisor.embedded_redis import EmbeddedRedis
from tests.faults.shops import Shop, check
from tests.injected_faults import injected
from tests.waiting import until

pytestmark = pytest.mark.fault("F19")

REBUILD = "app.jobs.search.rebuild"
DATA = {
    "no JSON": b"\x80\x04\x95garbage",
    "another shape": b'{"a": 1}',
    "an unknown function": b'["os.system", null, ["true"], {}]',
    "no function": b"[null, null, [], {}]",
    "too many arguments": f'["{REBUILD}", null, [1, 2, 3, 4, 5, 6, 7], {{}}]'.encode(),
    "a run that is not there": f'["{REBUILD}", null, ["no such run"], {{}}]'.encode(),
    "nothing": b"",
}


def put(queue: Redis, key: str, name: str, data: bytes) -> None:
    record = {"data": data, "origin": key, "status": "queued", "created_at": "2026-11-22T10:00:00.000000Z"}
    queue.hset(Job.key_for(name), mapping=record)  # type: ignore[arg-type]
    queue.rpush(f"rq:queue:{key}", name)


def test_jobs_that_cannot_be_done_do_not_hold_up_those_behind_them(shop: Shop, redis: EmbeddedRedis) -> None:
    builds = queue_name(shop.config.queue_prefix, "builds")
    queue = connect(redis.url)
    for number, data in enumerate(DATA.values()):
        put(queue, builds, f"poison-{number}", data)
    queue.rpush(f"rq:queue:{builds}", "a job whose record is gone")
    queue.hset(Job.key_for("odd"), mapping={"created_at": "never", "timeout": "soon"})
    queue.rpush(f"rq:queue:{builds}", "odd")
    injected(len(DATA) + 2)
    before = shop.live
    shop.do("request_rebuild").finish()
    worker = shop.do("work", "builds")
    until(lambda: shop.run()[0] == "done")
    assert shop.live != before
    assert worker.is_running
    assert queue.llen(f"rq:queue:{builds}") == 0
    check(shop)

"""Who runs the shop can see whether it works and what it counts."""

import dataclasses

import pytest
from flask import Flask


def test_the_process_is_up(client) -> None:
    assert client.get("/healthz").data == b"ok\n"


def test_the_parts_are_named_when_all_work(client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json == {"status": "ok", "checks": {"database": "ok", "queue": "ok", "index": "ok"}}


def test_a_queue_that_is_down_is_named(client, queue) -> None:
    queue.down = True
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json["status"] == "down"
    assert answer.json["checks"]["queue"] == "down: the queue does not answer"
    assert answer.json["checks"]["database"] == "ok"


@pytest.fixture
def with_token(app: Flask):
    app.config["SHOP"] = dataclasses.replace(app.config["SHOP"], metrics_token="a token")
    return app.test_client()


def test_figures_are_off_without_a_token(client) -> None:
    assert client.get("/metrics").status_code == 404


def test_figures_want_the_token(with_token) -> None:
    assert with_token.get("/metrics").status_code == 401
    assert with_token.get("/metrics", headers={"Authorization": "Bearer another"}).status_code == 401


def test_figures_count_requests_by_endpoint_and_never_by_address(with_token) -> None:
    with_token.get("/healthz")
    with_token.get("/made-up-address")
    text = with_token.get("/metrics", headers={"Authorization": "Bearer a token"}).text
    assert 'shop_http_requests_total{endpoint="health.alive",method="GET",status="200"}' in text
    assert "made-up-address" not in text

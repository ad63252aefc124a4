"""One event is one line of JSON, tied to its request, and nothing secret is in it."""

import io
import json
import logging

import pytest
import structlog
from flask import Flask

from app.operations.logs import init_logs

SECRETS = (
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH",
    "pst_live_YWNjdF8x",
    "shop_pat_3f9a0c5be1d24477",
    "pi_3MtwBw_secret_YrKJUKribcBjcG8HVhfZluoGH",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
)


@pytest.fixture
def logged(capsys):
    """The log lines written since the last call."""
    app = Flask(__name__)
    init_logs(app, "INFO")

    @app.get("/page")
    def page():
        return "page"

    @app.get("/broken")
    def broken():
        structlog.get_logger().info("seen", note="line\nbreak")
        raise ValueError("two\nlines")

    def lines() -> list[dict]:
        return [json.loads(line) for line in capsys.readouterr().err.splitlines()]

    app.config["PROPAGATE_EXCEPTIONS"] = False
    lines.client = app.test_client()
    yield lines
    structlog.reset_defaults()
    logging.getLogger().setLevel(logging.WARNING)


def test_a_request_is_one_line_under_the_id_that_the_answer_carries(logged) -> None:
    answer = logged.client.get("/page?q=jane@example.com", headers={"X-Request-ID": "from-the-proxy-1"})
    assert answer.headers["X-Request-ID"] == "from-the-proxy-1"
    (line,) = logged()
    assert line["event"] == "request"
    assert (line["method"], line["route"], line["status"]) == ("GET", "/page", 200)
    assert line["request_id"] == "from-the-proxy-1"
    assert "jane" not in json.dumps(line)


@pytest.mark.parametrize("sent", ["short", "x" * 65, "with space in it", 'quote"quote"'])
def test_an_unfit_request_id_is_replaced(logged, sent: str) -> None:
    answer = logged.client.get("/page", headers={"X-Request-ID": sent})
    assert answer.headers["X-Request-ID"] != sent
    assert len(answer.headers["X-Request-ID"]) == 32


def test_line_breaks_do_not_forge_lines(logged) -> None:
    logged.client.get("/broken")
    events = [line["event"] for line in logged()]
    assert "seen" in events
    assert len(events) == 3


def test_the_lines_of_libraries_take_the_same_way(logged) -> None:
    logging.getLogger("some.library").warning("connecting with %s", SECRETS[0])
    (line,) = logged()
    assert line["logger"] == "some.library"
    assert SECRETS[0] not in json.dumps(line)


@pytest.mark.parametrize("secret", SECRETS)
def test_secrets_are_kept_out_wherever_they_stand(logged, secret: str) -> None:
    log = structlog.get_logger()
    log.info("one", note=f"the key {secret} was refused")
    log.info("two", detail={"inner": [secret]}, password=secret, clientSecret=secret, Authorization=secret)
    try:
        raise ValueError(secret)
    except ValueError:
        log.exception("three")
    lines = logged()
    assert [line["event"] for line in lines] == ["one", "two", "three"]
    assert secret not in json.dumps(lines)


def test_paths_that_match_no_route_are_not_logged(logged) -> None:
    logged.client.get("/order/a-token-with-a-slip")
    (line,) = logged()
    assert (line["route"], line["status"]) == ("none", 404) and "slip" not in json.dumps(line)


def test_passwords_in_addresses_are_kept_out(logged) -> None:
    structlog.get_logger().info("connecting", url="postgresql://shop:hunter2@db/shop")
    assert "hunter2" not in json.dumps(logged())


def test_a_line_that_a_full_disk_refuses_fails_nothing_else(monkeypatch):
    init_logs(Flask(__name__), "INFO")
    with io.TextIOWrapper(io.FileIO("/dev/full", "w"), write_through=True) as full:
        monkeypatch.setattr("sys.stderr", full)
        structlog.get_logger().error("lost")
        logging.getLogger("a.library").error("lost")
        monkeypatch.undo()
        with pytest.raises(OSError):
            full.write("a line")

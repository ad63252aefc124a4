"""The port of the tools for AI agents."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.config import MEMORY, Config, from_environment
from app.instance_claim import CannotStart
from app.operations.supervisor import listeners
from app.operations.supervisor.parts import current_release


@pytest.fixture
def taken() -> Iterator[Config]:
    """A configuration whose port another program has."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield Config(mcp_port=other.getsockname()[1])


def test_it_listens_before_its_process_runs(taken: Config) -> None:
    listener = listeners.listen_for_mcp(replace(taken, mcp_port=0), {})
    assert listener is not None
    with listener, socket.create_connection(listener.getsockname(), 10):
        assert current_release().others(listener.fileno(), 9)[-1].handed_over == [listener.fileno(), 9]
        web = current_release().web_servers(Config(), listener.fileno(), 9)
        assert [part.handed_over for part in web] == [[listener.fileno(), 9]] * 2
        assert {part.environment[MEMORY] for part in web} == {"9"}, "they count shoppers together"


def test_it_can_be_switched_off() -> None:
    assert listeners.listen_for_mcp(Config(mcp_port=None), {}) is None


def test_a_port_that_nobody_chose_keeps_no_shop_from_starting(
    taken: Config, capsys: pytest.CaptureFixture[str]
) -> None:
    assert listeners.listen_for_mcp(taken, {}) is None
    assert f"The MCP server is off. Port {taken.mcp_port}" in capsys.readouterr().err


def test_a_port_that_was_chosen_must_be_free(taken: Config) -> None:
    with pytest.raises(CannotStart, match=f"choose another, MCP_PORT={(taken.mcp_port or 0) + 1}"):
        listeners.listen_for_mcp(taken, {"MCP_PORT": str(taken.mcp_port)})


@pytest.mark.parametrize(
    ("environ", "port"),
    [({}, 8001), ({"PORT": "9000"}, 9001), ({"MCP_PORT": "7000"}, 7000), ({"MCP_PORT": "0"}, None)],
)
def test_by_default_it_is_the_port_after_the_shops(environ: dict[str, str], port: int | None) -> None:
    key = {"SECRET_KEY": "a key for tests that is long enough to be one"}
    assert from_environment(key | environ).mcp_port == port

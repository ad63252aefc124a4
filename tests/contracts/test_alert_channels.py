"""What every channel of alerts promises, held against real conversations with local servers."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from app.adapters.mail import MailChannel
from app.adapters.webhook import WebhookChannel, sign
from app.config import SmtpServer
from app.domain.alerts.causes import Cause
from app.domain.alerts.messages import AlertChannel, Notice, NotSent
from tests.factories import WHEN
from tests.fakes.chat import Chat, chat_server
from tests.fakes.smtp import MailServer, mail_server

RAISED = Notice("7-raised", Cause.DISK_FULL, "fern.test", "/srv", "12 MB left – häh?", WHEN, WHEN)
SECRET = "the-owner-keeps-it"


@dataclass
class Setting:
    """A channel before a server of its own."""

    channel: AlertChannel
    impatient: AlertChannel
    received: Callable[[], list[str]]
    refuse: Callable[[], None]
    hang: Callable[[], None]


def mail_channel(port: int, timeout: float = 10, **more: Any) -> MailChannel:
    server = SmtpServer("127.0.0.1", port, **{"security": "none", **more})
    return MailChannel(server, "shop@fern.test", ("owner@fern.test", "second@fern.test"), timeout)


def webhook_channel(address: str, secret: str = SECRET, timeout: float = 10) -> WebhookChannel:
    return WebhookChannel(f"{address}/hook?key={SECRET}", secret, timeout)


@contextmanager
def mail_setting() -> Iterator[Setting]:
    with mail_server() as server:
        yield Setting(
            mail_channel(server.port),
            mail_channel(server.port, timeout=0.1),
            lambda: [f"{mail['Subject']}\n{mail.get_content()}" for mail in server.mails],
            lambda: setattr(server, "refuses", "DATA"),
            lambda: setattr(server, "hangs", True),
        )


@contextmanager
def webhook_setting() -> Iterator[Setting]:
    with chat_server() as server:
        server.fails(204, b"")
        yield Setting(
            webhook_channel(server.base_url),
            webhook_channel(server.base_url, timeout=0.1),
            lambda: [json.dumps(body, ensure_ascii=False) for body in server.requests],
            lambda: server.fails(500),
            lambda: setattr(server, "drips", "head"),
        )


@pytest.fixture(params=[mail_setting, webhook_setting], ids=["mail", "webhook"])
def setting(request: pytest.FixtureRequest) -> Iterator[Setting]:
    with request.param() as made:
        yield made


def test_a_notice_arrives_once_and_whole(setting: Setting) -> None:
    setting.channel.send(RAISED)
    [received] = setting.received()
    for part in (RAISED.sentence, RAISED.detail, Cause.DISK_FULL.advice, "fern.test", "/srv", "2026-11-01T00:00:00Z"):
        assert part in received


def test_an_end_says_that_it_is_one(setting: Setting) -> None:
    setting.channel.send(replace(RAISED, ended_at=WHEN))
    [received] = setting.received()
    assert "Resolved" in received or '"alert_ended"' in received


def test_a_refusal_is_raised_with_a_reason_without_secrets_and_addresses(setting: Setting) -> None:
    setting.refuse()
    with pytest.raises(NotSent) as refused:
        setting.channel.send(RAISED)
    assert "127.0.0.1" in str(refused.value)
    assert SECRET not in str(refused.value) and "@" not in str(refused.value)


def test_a_server_that_says_nothing_is_not_waited_for_long(setting: Setting) -> None:
    setting.hang()
    began = time.monotonic()
    with pytest.raises(NotSent):
        setting.impatient.send(RAISED)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("make", [mail_channel, lambda port: webhook_channel(f"http://127.0.0.1:{port}")])
def test_no_server_is_a_reason_too(make: Callable[[int], AlertChannel]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # Bound, but nobody listens.
        with pytest.raises(NotSent):
            make(taken.getsockname()[1]).send(RAISED)


@pytest.fixture
def mails() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


def test_a_mail_goes_to_all_from_the_shop(mails: MailServer) -> None:
    mail_channel(mails.port).send(RAISED)
    [mail] = mails.mails
    assert mails.recipients == ["owner@fern.test", "second@fern.test"]
    assert (mail["From"], mail["To"]) == ("shop@fern.test", "owner@fern.test, second@fern.test")
    assert mail["Subject"] == "Critical: The disk is full or nearly full. (fern.test)"
    assert mail["Auto-Submitted"] == "auto-generated" and mail["Date"] and "fern.test" in mail["Message-ID"]


def test_mail_signs_in_where_a_user_is_set(mails: MailServer) -> None:
    mail_channel(mails.port, user="owner", password=SECRET).send(RAISED)
    assert mails.logins == [("owner", SECRET)] and len(mails.mails) == 1


def test_a_password_that_mail_cannot_encode_is_a_reason_without_it(mails: MailServer) -> None:
    with pytest.raises(NotSent, match="UnicodeEncodeError") as refused:
        mail_channel(mails.port, user="owner", password="geheimnisträger").send(RAISED)
    assert "geheim" not in str(refused.value)


def test_mail_is_not_sent_in_the_open_where_encryption_is_set(mails: MailServer) -> None:
    with pytest.raises(NotSent, match="NotSupported"):
        mail_channel(mails.port, security="starttls", user="owner", password=SECRET).send(RAISED)
    assert not mails.mails and not mails.logins


def test_a_mail_that_some_recipients_are_refused_is_not_sent(mails: MailServer) -> None:
    mails.refuses = "RCPT"
    with pytest.raises(NotSent):
        mail_channel(mails.port).send(RAISED)


@pytest.fixture
def hooks() -> Iterator[Chat]:
    with chat_server() as server:
        server.fails(200, b"ok")
        yield server


def test_a_webhook_is_signed_over_time_and_body(hooks: Chat) -> None:
    webhook_channel(hooks.base_url).send(RAISED)
    header = hooks.received_headers[0]["X-Shop-Signature"]
    seconds = int(header.partition(",")[0].removeprefix("t="))
    assert abs(time.time() - seconds) < 30
    assert header == sign(SECRET.encode(), seconds, json.dumps(RAISED.as_json()).encode())
    assert header != sign(b"another", seconds, json.dumps(RAISED.as_json()).encode())


def test_a_webhook_without_a_secret_is_not_signed(hooks: Chat) -> None:
    webhook_channel(hooks.base_url, secret="").send(RAISED)
    assert "X-Shop-Signature" not in hooks.received_headers[0]


def test_a_webhook_is_not_redirected(hooks: Chat) -> None:
    hooks.fails(302)
    hooks.headers = {"Location": hooks.base_url}
    with pytest.raises(NotSent, match="302"):
        webhook_channel(hooks.base_url).send(RAISED)
    assert len(hooks.requests) == 1

"""What every mailer promises, held against a real conversation with a local server and a real folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest

from app.adapters.mail import FolderMailer, SmtpMailer
from app.config import SmtpServer
from app.domain.work.mailing import Mail, Mailer, MailNotSent
from tests.fakes.smtp import mail_server

MAIL = Mail("sam@home.test", "Your receipt from Fern & Fell", "Paid: £5.00\n", "<p>Paid: £5.00</p>", "mail-1")


@dataclass
class Office:
    mailer: Mailer
    received: Callable[[], list[EmailMessage]]
    break_down: Callable[[], None]


@contextmanager
def smtp_office(_folder: Path) -> Iterator[Office]:
    with mail_server() as server:
        chosen = SmtpServer("127.0.0.1", server.port, security="none")
        yield Office(
            SmtpMailer(chosen, "shop@fern.test", timeout=10),
            lambda: server.mails,
            lambda: setattr(server, "refuses", "RCPT"),
        )


@contextmanager
def folder_office(folder: Path) -> Iterator[Office]:
    mails = folder / "mail"

    def received() -> list[EmailMessage]:
        return [message_from_bytes(file.read_bytes(), policy=policy.default) for file in sorted(mails.glob("*.eml"))]

    yield Office(FolderMailer(mails), received, lambda: (folder / "mail").write_text("no folder") and None)


@pytest.fixture(params=[smtp_office, folder_office], ids=["smtp", "folder"])
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Office]:
    with request.param(tmp_path) as made:
        yield made


def test_a_mail_arrives_as_text_and_html(office: Office) -> None:
    office.mailer.send(MAIL)
    [mail] = office.received()
    assert (mail["To"], mail["Subject"]) == (MAIL.to, MAIL.subject) and "mail-1" in mail["Message-ID"]
    text, html = mail.get_body(("plain",)), mail.get_body(("html",))
    assert text and html and "£5.00" in text.get_content() and "<p>Paid: £5.00</p>" in html.get_content()


def test_what_is_not_taken_is_said_without_the_address(office: Office) -> None:
    office.break_down()
    with pytest.raises(MailNotSent) as refused:
        office.mailer.send(MAIL)
    assert "sam" not in str(refused.value)


@pytest.mark.parametrize("bad", [{"to": "sam@home.test\r\nBcc: x@evil.test"}, {"subject": "Hello\nBcc: x@evil.test"}])
def test_no_header_is_smuggled_in(office: Office, bad: dict[str, str]) -> None:
    with pytest.raises(MailNotSent):
        office.mailer.send(replace(MAIL, **bad))
    assert office.received() == []


def test_a_file_is_for_the_shops_user_alone_and_replaced_by_the_next_try(tmp_path: Path) -> None:
    mailer = FolderMailer(tmp_path / "mail")
    for _ in range(2):
        mailer.send(replace(MAIL, key="../../etc/passwd"))
    [file] = list((tmp_path / "mail").iterdir())
    assert file.name == "-etc-passwd.eml" and (tmp_path / "mail").stat().st_mode & 0o077 == 0

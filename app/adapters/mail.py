"""Email through an SMTP server of the owner's, or as files where none is set up: alerts and mails to customers."""

from __future__ import annotations

import os
import re
import smtplib
import ssl
from collections.abc import Sequence
from email.message import EmailMessage
from email.parser import BytesHeaderParser
from email.policy import default
from email.utils import formatdate, make_msgid, parseaddr
from pathlib import Path

from app.config import SmtpServer
from app.domain.alerts.messages import Notice, NotSent
from app.domain.work.mailing import Mail, MailNotSent

TIMEOUT = 5.0  # Seconds for each step of the conversation.
FROM_NOBODY = "shop@localhost"
_NO_FILE_NAME = re.compile(r"[^\w-]+", re.ASCII)


class MailChannel:
    """Alerts by email. They are no leased work as mails to customers are (app/domain/work/mailing.py): an alert also
    leaves while the database takes no write, which a lease needs, and by webhooks, in the same outbox."""

    name = "mail"

    def __init__(self, server: SmtpServer, sender: str, recipients: Sequence[str], timeout: float = TIMEOUT) -> None:
        self._server, self._sender, self._recipients, self._timeout = server, sender, tuple(recipients), timeout

    def send(self, notice: Notice) -> None:
        """Send an alert as one mail to all recipients. Raises NotSent, also where the server refuses some of them."""
        message = _new_message(self._sender, ", ".join(self._recipients), notice.title)
        message.set_content(notice.text)
        try:
            _send_message(self._server, message, self._timeout)
        except MailNotSent as refused:
            raise NotSent(str(refused)) from refused


class SmtpMailer:
    """Mails to customers through an SMTP server."""

    reaches_people = True

    def __init__(self, server: SmtpServer, sender: str, timeout: float = TIMEOUT) -> None:
        self._server, self._sender, self._timeout = server, sender, timeout

    def send(self, mail: Mail) -> None:
        _send_message(self._server, _message_of(self._sender, mail), self._timeout)

    def forget(self, address: str) -> int:
        """Return 0: mails that were sent are the mail server's."""
        return 0


class FolderMailer:
    """Mails to customers as files, one a mail, for a shop without a mail server: any mail program opens them."""

    reaches_people = False

    def __init__(self, folder: Path, sender: str = FROM_NOBODY) -> None:
        self._folder, self._sender = folder, sender

    def send(self, mail: Mail) -> None:
        """Write a mail to a file, which it replaces when it is sent again. Raises MailNotSent."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = self._folder / f"{_NO_FILE_NAME.sub('-', mail.key)[:100]}.eml"
            aside = file.with_suffix(f".{os.getpid()}")
            aside.write_bytes(_message_of(self._sender, mail).as_bytes())
            aside.replace(file)
        except OSError as error:
            raise MailNotSent(f"The folder of mails could not be written ({error.strerror}).") from error

    def forget(self, address: str) -> int:
        removed = 0
        for file in self._folder.glob("*.eml"):
            if _recipient(file).casefold() == address.casefold():
                file.unlink(missing_ok=True)
                removed += 1
        return removed


def _recipient(file: Path) -> str:
    """Return the recipient of a mail, nothing for a file that is gone. Raises OSError for one that cannot be read."""
    try:
        with file.open("rb") as mail:
            return parseaddr(BytesHeaderParser(policy=default).parse(mail).get("To", ""))[1]
    except FileNotFoundError:
        return ""


def _message_of(sender: str, mail: Mail) -> EmailMessage:
    """Return the message of a mail. Raises MailNotSent for what no header may hold."""
    try:
        message = _new_message(sender, mail.to, mail.subject, mail.key)
    except ValueError as error:
        raise MailNotSent("The address or the subject cannot stand in a mail.") from error
    message.set_content(mail.text)
    message.add_alternative(mail.html, subtype="html")
    return message


def _new_message(sender: str, to: str, subject: str, key: str | None = None) -> EmailMessage:
    """Return a message without its text. `key` makes the id of the message: the same for each try to send it."""
    message, domain = EmailMessage(), sender.partition("@")[2]
    message["From"], message["To"], message["Subject"] = sender, to, subject
    message["Date"], message["Message-ID"] = formatdate(), f"<{key}@{domain}>" if key else make_msgid(domain=domain)
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: absence notes are not sent in answer.
    return message


def _send_message(server: SmtpServer, message: EmailMessage, timeout: float) -> None:
    """Send a message as one mail to all its recipients. Raises MailNotSent, also where the server refuses some of
    them."""
    try:
        with _connect(server, timeout) as connection:
            refused = connection.send_message(message)
    except (smtplib.SMTPException, OSError, ValueError) as error:  # ValueError: smtplib encodes settings as ASCII.
        # Without the server's words, which may quote addresses.
        code, strerror = getattr(error, "smtp_code", None), getattr(error, "strerror", None)
        reason = f"{type(error).__name__}{f' {code}' if code else ''}{f': {strerror}' if strerror else ''}"
        raise MailNotSent(f"The mail server {server.host} did not take the mail ({reason}).") from error
    if refused:
        raise MailNotSent(f"The mail server {server.host} refused {len(refused)} of the addresses.")


def _connect(server: SmtpServer, timeout: float) -> smtplib.SMTP:
    context = ssl.create_default_context()
    if server.security == "tls":
        connection: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=timeout, context=context)
    else:
        connection = smtplib.SMTP(server.host, server.port, timeout=timeout)
    try:
        if server.security == "starttls":
            connection.starttls(context=context)
        if server.user:
            connection.login(server.user, server.password)
    except BaseException:
        connection.close()
        raise
    return connection

"""Alerts by e-mail, through an SMTP server of the owner's."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Sequence
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from app.config import SmtpServer
from app.domain.alerts.channel import Notice, NotSent

TIMEOUT = 5.0  # Seconds for each step of the conversation.


class MailChannel:
    name = "mail"

    def __init__(self, server: SmtpServer, sender: str, recipients: Sequence[str], timeout: float = TIMEOUT) -> None:
        self._server, self._sender, self._recipients, self._timeout = server, sender, tuple(recipients), timeout

    def send(self, notice: Notice) -> None:
        """One mail to all; a server that refuses some of them has not sent it."""
        try:
            with self._connection() as server:
                refused = server.send_message(self._message(notice))
        except (smtplib.SMTPException, OSError, ValueError) as error:  # ValueError: smtplib encodes settings as ASCII.
            raise NotSent(f"The mail server {self._server.host} did not take the mail ({_reason(error)}).") from error
        if refused:
            raise NotSent(f"The mail server {self._server.host} refused {len(refused)} of the addresses.")

    def _connection(self) -> smtplib.SMTP:
        server, context = self._server, ssl.create_default_context()
        if server.security == "tls":
            connection: smtplib.SMTP = smtplib.SMTP_SSL(
                server.host, server.port, timeout=self._timeout, context=context
            )
        else:
            connection = smtplib.SMTP(server.host, server.port, timeout=self._timeout)
        try:
            if server.security == "starttls":
                connection.starttls(context=context)
            if server.user:
                connection.login(server.user, server.password)
        except BaseException:
            connection.close()
            raise
        return connection

    def _message(self, notice: Notice) -> EmailMessage:
        message = EmailMessage()
        message["From"], message["To"] = self._sender, ", ".join(self._recipients)
        message["Subject"] = notice.title
        message["Date"], message["Message-ID"] = formatdate(), make_msgid(domain=self._sender.partition("@")[2])
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: absence notes are not sent in answer.
        message.set_content(notice.text)
        return message


def _reason(error: Exception) -> str:
    """Without what the server said: it may quote addresses."""
    code = getattr(error, "smtp_code", None)
    strerror = getattr(error, "strerror", None)
    return f"{type(error).__name__}{f' {code}' if code else ''}{f': {strerror}' if strerror else ''}"

"""A conversation with an SMTP server of the owner's."""

from __future__ import annotations

import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from app.config import SmtpServer

TIMEOUT = 5.0  # Seconds for each step of the conversation.


class MailRefused(Exception):
    """The server did not take the mail; the message says why and names no address."""


def send_message(server: SmtpServer, message: EmailMessage, timeout: float = TIMEOUT) -> None:
    """Send a message as one mail to all its recipients. Raises MailRefused, also where the server refuses some of
    them."""
    try:
        with _connection(server, timeout) as connection:
            refused = connection.send_message(message)
    except (smtplib.SMTPException, OSError, ValueError) as error:  # ValueError: smtplib encodes settings as ASCII.
        raise MailRefused(f"The mail server {server.host} did not take the mail ({_reason(error)}).") from error
    if refused:
        raise MailRefused(f"The mail server {server.host} refused {len(refused)} of the addresses.")


def new_message(sender: str, to: str, subject: str, key: str | None = None) -> EmailMessage:
    """Return a message without its text. `key` makes the id of the message: the same for each try to send it."""
    message, domain = EmailMessage(), sender.partition("@")[2]
    message["From"], message["To"], message["Subject"] = sender, to, subject
    message["Date"], message["Message-ID"] = formatdate(), f"<{key}@{domain}>" if key else make_msgid(domain=domain)
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: absence notes are not sent in answer.
    return message


def _connection(server: SmtpServer, timeout: float) -> smtplib.SMTP:
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


def _reason(error: Exception) -> str:
    """Return the reason of an error without the server's words, which may quote addresses."""
    code = getattr(error, "smtp_code", None)
    strerror = getattr(error, "strerror", None)
    return f"{type(error).__name__}{f' {code}' if code else ''}{f': {strerror}' if strerror else ''}"

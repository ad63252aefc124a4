"""The mails to users that wait, sent to a mail server that takes every mail."""

from __future__ import annotations

import re

from flask import Flask

from app.domain.sites import account_mails
from app.domain.work.mailing import Mail
from app.operations.work_context import work_context
from app.web.account_links import account_link_path


class Post:
    """A mail server that takes every mail."""

    reaches_people = True

    def __init__(self) -> None:
        self.sent: list[Mail] = []

    def send(self, mail: Mail) -> None:
        self.sent.append(mail)

    def forget(self, address: str) -> int:
        return 0


def sent_mails(app: Flask) -> list[Mail]:
    """Return the mails that wait, sent."""
    post = Post()
    with app.app_context():
        for mail_id in account_mails.due(work_context().clock):
            account_mails.send(work_context(), post, mail_id, account_link_path)
    return post.sent


def link_of(mail: Mail) -> str:
    found = re.search(r"https?://localhost(?::\d+)?(/admin/\S+)", mail.text)
    assert found and found[1] in mail.html
    return found[1]

"""Mails about orders."""

from __future__ import annotations

from app.domain.orders import mails
from app.operations.work_context import work_context
from app.ports import mailer


def send(mail_id: str) -> bool:
    return mails.send(work_context(), mailer(), mail_id)

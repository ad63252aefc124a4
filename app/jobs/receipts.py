"""Receipts by email."""

from __future__ import annotations

from app.domain.pos import receipts
from app.operations.work_context import work_context
from app.ports import mailer


def send(mail_id: str) -> bool:
    return receipts.send_mail(work_context(), mailer(), mail_id)

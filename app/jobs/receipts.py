"""Receipts by email."""

from __future__ import annotations

from app.domain.pos import receipts
from app.ports import mailer
from app.work_context import work_context


def send(mail_id: str) -> bool:
    return receipts.send_mail(work_context(), mailer(), mail_id)

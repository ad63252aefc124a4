"""Accounts: mails with links by which users set their passwords."""

from __future__ import annotations

from app.domain.sites import account_mails
from app.operations.work_context import work_context
from app.ports import mailer
from app.web.account_links import account_link_path


def send_mail(mail_id: str) -> bool:
    return account_mails.send(work_context(), mailer(), mail_id, account_link_path)

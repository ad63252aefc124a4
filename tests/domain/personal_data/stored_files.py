"""Files of a shop that are about people."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from app.domain.bundles import runs
from app.domain.bundles.parts import Part
from app.domain.work.mailing import Mail
from app.transaction import transaction
from tests.domain.personal_data.shop_of_sam import Shop


def sent_mail(shop: Shop, to: str) -> Path:
    shop.mailer.send(Mail(to, "Your receipt", "Thank you", "<p>Thank you</p>", "mail"))
    return shop.mails / "mail.eml"


def exported_bundle(shop: Shop) -> Path:
    with transaction():
        run = runs.request_export(shop.author, shop.nia, "all", frozenset(Part))
        run.file, run.state, run.kept_until = shop.bundles.new_name(), "done", shop.clock.now() + timedelta(days=1)
    path = shop.bundles.path(run.file)
    path.write_text("nia@shop.test")
    return path

"""The choice beside an address: whether the old one leads to the new one, as ticked in the form, else as the site's
setting has it."""

from __future__ import annotations

from flask import request
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.domain.seo.redirects.moved_addresses import Choice, redirects_by_default

OFFERED, REDIRECTS, STANDS_IN = "redirectOffered", "redirectOldAddress", "redirectToCategory"


def sent_choice() -> Choice | None:
    """Return the choice of the request's form; None where the form offered none."""
    if OFFERED not in request.form:
        return None
    return Choice(redirects=REDIRECTS in request.form, gone_to_category=STANDS_IN in request.form)


@bp.app_template_global("redirects_old_address")
def redirects_old_address() -> bool:
    """Whether the old address of what is saved now leads to its new one; the state of the checkbox."""
    choice = sent_choice()
    return choice.redirects if choice else redirects_by_default(current_user.site_id)


@bp.app_template_global("redirects_to_category")
def redirects_to_category() -> bool:
    """Whether landing pages whose rule goes lead to their category; the state of the checkbox."""
    choice = sent_choice()
    return choice.gone_to_category if choice else redirects_by_default(current_user.site_id)

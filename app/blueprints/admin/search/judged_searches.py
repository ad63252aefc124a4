"""The searches of a judgement list: added, removed, and their products rated by keyboard in an order that hides
ranks."""

from __future__ import annotations

from collections.abc import Mapping

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_number
from app.blueprints.admin.search.judgements import LIST, NO_ERRORS, Answer, show_list
from app.blueprints.callers import current_author
from app.domain.relevance.judgements import lists, ratings
from app.domain.relevance.judgements.measures import LABELS
from app.domain.relevance.judgements.pool import pool_of
from app.domain.relevance.judgements.ratings import Rater
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.text import numbered
from app.operations.work_context import work_context
from app.transaction import transaction
from app.web.permissions import Permission, requires

SEARCH = f"{LIST}/searches/<int(max=2147483647):judged_search_id>"
MOST_POPULAR = 200
NO_RATING = -1  # Which is refused.


@bp.post(f"{LIST}/searches")
@requires(Permission.MANAGE_SEARCH)
def judged_searches_add(judgement_list_id: int) -> Answer:
    """Add the searches of the form, one a line, or with `popular` so many of those made most."""
    form = request.form
    try:
        with transaction():
            if popular := sent_number(form.get("popular", "")):
                most = min(popular, MOST_POPULAR)
                added = lists.add_popular(current_author(), judgement_list_id, most)
            else:
                typed = form.get("searches", "").splitlines()
                added = lists.add_searches(current_author(), judgement_list_id, typed)
    except (Invalid, Conflict) as error:
        return show_list(judgement_list_id, FieldErrors(error), form.to_dict())
    known = f"; {added.known:,} were there already" if added.known else ""
    flash(f"Added {numbered(added.added, 'search', 'searches')}{known}.", "good")
    return _to_list(judgement_list_id)


@bp.post(f"{SEARCH}/delete")
@requires(Permission.MANAGE_SEARCH)
def judged_search_delete(judgement_list_id: int, judged_search_id: int) -> Answer:
    with transaction():
        query = lists.remove_search(current_author(), judgement_list_id, judged_search_id)
    flash(f"Removed: {query}.", "good")
    return _to_list(judgement_list_id)


@bp.get(SEARCH)
@requires(Permission.MANAGE_SEARCH)
def judged_search(judgement_list_id: int, judged_search_id: int) -> Answer:
    return _show_pool(judgement_list_id, judged_search_id)


@bp.post(SEARCH)
@requires(Permission.MANAGE_SEARCH)
def judged_search_rate(judgement_list_id: int, judged_search_id: int) -> Answer:
    """Store the user's ratings, and go on with the next search that they have not rated."""
    rater, sent = Rater(current_user.user_id, current_user.display_name), _sent_ratings()
    try:
        with transaction():
            rated = ratings.rate_page(current_author(), rater, judgement_list_id, judged_search_id, sent)
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        return _show_pool(judgement_list_id, judged_search_id, errors, sent), errors.status
    flash(f"Saved {numbered(rated.changed, 'rating')}." if rated.changed else "No changes to save.", "good")
    if rated.gone:
        left_out = numbered(len(rated.gone), "rating")
        flash(f"Left out {left_out} of products that are not in the shop any more: {', '.join(rated.gone)}.", "warn")
    row = lists.search_of(current_user.site_id, judgement_list_id, judged_search_id)
    following = lists.next_unrated(current_user.site_id, judgement_list_id, current_user.user_id, row)
    if following is None:
        flash("You have rated every search of this list.", "good")
        return _to_list(judgement_list_id)
    return redirect(url_for("admin.judged_search", judgement_list_id=judgement_list_id, judged_search_id=following))


def _sent_ratings() -> dict[str, int | None]:
    """Return the ratings of the form by SKU: the nth `sku` belongs to the field `rating-n`. None where none is
    chosen, NO_RATING for what is no number."""
    sent = enumerate(request.form.getlist("sku"))
    return {sku[:64]: _sent_rating(request.form.get(f"rating-{place}", "")) for place, sku in sent}


def _sent_rating(text: str) -> int | None:
    number = sent_number(text)
    return NO_RATING if text and number is None else number


def _show_pool(
    list_id: int, search_id: int, errors: FieldErrors = NO_ERRORS, sent: Mapping[str, int | None] | None = None
) -> str:
    """Show the products to rate; `sent` are ratings that were refused, by SKU."""
    row = lists.list_of(current_user.site_id, list_id)
    search = lists.search_of(current_user.site_id, list_id, search_id)
    pool = pool_of(work_context(), row, search, current_user.user_id)
    context = {"row": row, "search": search, "pool": pool, "labels": LABELS, "errors": errors, "sent": sent or {}}
    return render_template("admin/search/judged_searches/page.html", **context)


def _to_list(list_id: int) -> Response:
    return redirect(url_for("admin.judgement_list", judgement_list_id=list_id))

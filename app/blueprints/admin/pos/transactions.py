"""All payments at tills: filtered, with totals, and as a table for a spreadsheet; and the template filters for the
status, anomaly, tender and card of a payment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from zoneinfo import ZoneInfo

from flask import Response, make_response, render_template, request, url_for
from flask_login import current_user

from app import ports
from app.blueprints.admin import spreadsheet
from app.blueprints.admin.blueprint import bp
from app.domain.pos import states, transactions
from app.domain.pos.states import TYPE_LABELS, status_label
from app.domain.pos.transaction_list import StatusFilter, TenderFilter, TransactionList, TypeFilter
from app.domain.pos.transactions import TransactionRow
from app.domain.shared.money import decimal_text, decimals
from app.domain.shared.problems import Invalid
from app.domain.sites.sites import time_zone_of
from app.web.htmx import push_address, wants_fragment
from app.web.permissions import Permission, requires

HEADER = (
    "Transaction",
    "Created",
    "Captured",
    "Status",
    "Type",
    "Agent",
    "Location",
    "Order",
    "Currency",
    "Amount",
    "Taken",
    "Refunded",
    "Net",
    "Card",
    "Last 4",
    "Read by",
    "Declined tries",
    "Decline code",
    "Needs attention",
    "Description",
    "Intent",
    "Charge",
    "Account",
    "Tender",
    "Tip",
    "Change",
    "Rounding",
    "Refunded in cash",
    "App’s sale id",
)
TIMES = ("Created", "Captured")
STATUS_OPTIONS = [
    ("", "Any status"),
    *((status.lower(), status_label(status)) for status in StatusFilter if status not in ("", "ANOMALY")),
    ("anomaly", "Needs attention"),
]
TYPE_OPTIONS = [("", "Any type"), *((type_.lower(), TYPE_LABELS[type_]) for type_ in TypeFilter if type_)]
TENDER_OPTIONS = [("", "Card or cash"), *((tender.lower(), tender.capitalize()) for tender in TenderFilter if tender)]
BADGES = {
    "PROCESSING": "warn",
    "AUTHORIZED": "warn",
    "SUCCEEDED": "good",
    "PARTIALLY_REFUNDED": "good",
    "FAILED": "bad",
    "UNKNOWN": "bad",
}
bp.add_app_template_filter(status_label, "pos_status")
bp.add_app_template_filter(states.anomaly_text, "pos_anomaly")
bp.add_app_template_filter(states.in_words, "in_words")
bp.add_app_template_global(states.card_name, "card_name")
bp.add_app_template_global(states.tender_name, "tender_name")
bp.add_app_template_filter(decimal_text, "decimal")


@bp.get("/pos/transactions")
@requires(Permission.MANAGE_POS)
def pos_transactions() -> Response:
    site_id, filters = current_user.site_id, TransactionList.read(request.args)
    time_zone = time_zone_of(site_id)
    found, totals = transactions.transaction_page(site_id, ZoneInfo(time_zone), filters)
    is_fragment = wants_fragment()
    template = "admin/pos/transactions/_results.html" if is_fragment else "admin/pos/transactions/list.html"
    context = {"found": found, "totals": totals, "filters": filters, "time_zone": time_zone}
    choices = {} if is_fragment else _choices(site_id)
    answer = make_response(render_template(template, **context, **choices))
    if filters.names_card:  # Neither the address bar nor the browser's history keeps it.
        push_address(answer, f"{url_for('admin.pos_transactions')}?{filters.query()}")
    return answer


@bp.get("/pos/transactions.csv")
@requires(Permission.MANAGE_POS)
def pos_transactions_table() -> Response:
    """Return the payments that the filter finds as a table for a spreadsheet. Raises Invalid for a filter that cannot
    be read, so that no other one is used in its place."""
    site_id, filters = current_user.site_id, TransactionList.read(request.args)
    if filters.problems:
        raise Invalid(filters.problems)
    zone = ZoneInfo(time_zone_of(site_id))
    lines = (_cells(row, zone) for row in transactions.every_row(site_id, zone, filters))
    day = ports.clock().now().astimezone(zone).date()
    return spreadsheet.download(chain([_headings(zone)], lines), f"transactions-{day.isoformat()}.csv")


def _choices(site_id: int) -> dict[str, object]:
    return {
        "agents": [("", "Any agent"), *transactions.agent_choices(site_id)],
        "locations": [("", "Any location"), *transactions.location_choices(site_id)],
        "status_options": STATUS_OPTIONS,
        "type_options": TYPE_OPTIONS,
        "tender_options": TENDER_OPTIONS,
    }


def _headings(zone: ZoneInfo) -> Sequence[str]:
    """Return the headings, with the time zone of the times, which their cells do not say."""
    return [f"{name} ({zone.key})" if name in TIMES else name for name in HEADER]


def _cells(row: TransactionRow, zone: ZoneInfo) -> tuple[str, ...]:
    """Return the cells of a row. Money without tips, which have a column of their own; no change of a card is empty."""

    def money(*amounts: int | None) -> Iterator[str]:
        return ("" if amount is None else decimal_text(amount, row.currency) for amount in amounts)

    times = (
        moment and moment.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S") for moment in (row.created_at, row.captured_at)
    )
    card = f"•••• {row.card_last4}" if row.card_last4 else ""  # As text: a spreadsheet would open 0005 as 5.
    texts = (
        *(row.id, *times, row.status, row.type, row.agent, row.location, row.order_number, row.currency.upper()),
        *money(row.amount, row.taken, row.refunded, row.net),
        *(row.card_brand, card, row.read_method, str(row.attempts), row.decline_code, row.anomaly),
        *(row.description, row.intent_id, row.charge_id, row.account_id),
        *(row.tender_type, *money(row.tip, row.change, row.rounding, row.refunded_in_cash), row.client_sale_id),
    )
    return tuple(text or "" for text in texts)


@bp.app_template_filter("pos_status_kind")
def status_kind(status: str) -> str:
    """Return the kind of the status's badge; a plain one has none."""
    return BADGES.get(status, "")


@bp.app_template_filter("amount_example")
def amount_example(currency: str) -> str:
    """An amount as it is typed in this currency: 250 yen have no decimals."""
    return decimal_text(250 * 10 ** decimals(currency), currency)

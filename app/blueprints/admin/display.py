"""Template filters and functions that format numbers, times and money, and that give the addresses of pictures and of
the shop."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from zoneinfo import ZoneInfo

from flask import g, url_for
from flask_login import current_user

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.shell import shell
from app.domain.catalogue.markup import ATTRIBUTES, TAGS
from app.domain.catalogue.pictures import small_form
from app.domain.catalogue.queries import ProductRow
from app.domain.orders.parcel_address import parcel_lines
from app.domain.shared.clock import format_moment, local_day, rfc3339
from app.domain.shared.money import format_money
from app.domain.shared.text import numbered
from app.domain.sites.sites import currency_of, time_zone_of
from app.domain.taxonomy.taxonomies import active_tree

bp.add_app_template_filter(rfc3339, "rfc3339")
bp.add_app_template_filter(numbered, "numbered")

STEPS = ((60, 1, "second"), (3_600, 60, "minute"), (86_400, 3_600, "hour"), (86_400 * 45, 86_400, "day"))


@bp.app_template_filter("counted")
def counted(number: int) -> str:
    """Format 19406 as "19,406"."""
    return f"{number:,}"


@bp.app_template_filter("ago")
def ago(moment: datetime) -> str:
    """Format the time since a moment in its largest fitting unit; as a date after six weeks."""
    seconds = int((ports.clock().now() - moment).total_seconds())
    if seconds < 5:
        return "just now"
    for limit, size, noun in STEPS:
        if seconds < limit:
            return f"{numbered(seconds // size, noun)} ago"
    return f"on {day_of(moment)}"


@bp.app_template_filter("day_of")
def day_of(moment: datetime) -> str:
    """Format the day of a moment in the time zone of the user's shop: "20 November 2026"."""
    return written_day(local_day(moment, _time_zone()))


@bp.app_template_filter("written_day")
def written_day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


@bp.app_template_filter("exact_time")
def exact_time(moment: datetime) -> str:
    """Format a moment to the second in the time zone of the user's shop."""
    return format_moment(moment, _time_zone(), seconds=True)


@bp.app_template_filter("local_time")
def local_time(moment: datetime, time_zone: str) -> str:
    """Format a moment to the minute in a shop's time zone."""
    return format_moment(moment, time_zone)


@bp.app_template_filter("brief_time")
def brief_time(moment: datetime, time_zone: str, seconds: bool = False) -> str:
    """Format a moment in a shop's time zone for narrow columns; the year stands there where it is another one."""
    zone = ZoneInfo(time_zone)
    local, now = moment.astimezone(zone), ports.clock().now().astimezone(zone)
    year = "" if local.year == now.year else f" {local.year}"
    return f"{local.day} {local:%b}{year}, {local:{'%H:%M:%S' if seconds else '%H:%M'}}"


def _time_zone() -> str:
    """Return the time zone of the user's shop, read once a request."""
    if "time_zone" not in g:
        g.time_zone = time_zone_of(current_user.site_id)
    found: str = g.time_zone
    return found


bp.add_app_template_filter(format_money, "money")
bp.add_app_template_filter(parcel_lines, "parcel_lines")


@bp.app_template_global("no_errors")
def no_errors() -> FieldErrors:
    """Return the errors of a form that was not sent yet."""
    return FieldErrors()


@bp.app_template_global("picture_url")
def picture_url(file: str, size: str = "") -> str:
    """Return the address of a stored picture of the current site; `size` "small" for lists."""
    return url_for("media.picture", site_id=current_user.site_id, file=small_form(file) if size == "small" else file)


@bp.app_template_global("rich_text_rules")
def rich_text_rules() -> dict[str, list[str]]:
    """Return the tags and attributes of rich text that are kept, for its editor."""
    return {"tags": sorted(TAGS), "attributes": sorted(set().union(*ATTRIBUTES.values()))}


@bp.app_template_global("product_facts")
def product_facts(product: ProductRow) -> tuple[str, ...]:
    """Return price, stock and, while a taxonomy is active, the level of a product to choose."""
    currency, levels = _currency_and_levels()
    facts = (format_money(product.price, currency), _stock_in_words(product.stock))
    return (*facts, levels.get(product.level_id or "", "No level")) if levels else facts


def _stock_in_words(stock: int | None) -> str:
    if stock is None:
        return "Stock not counted"
    return f"{stock:,} in stock" if stock > 0 else "Sold out"


def _currency_and_levels() -> tuple[str, Mapping[str, str]]:
    """Return what all products of a list share, read once a request."""
    if "currency_and_levels" not in g:
        levels = active_tree(current_user.site_id).levels
        g.currency_and_levels = currency_of(current_user.site_id), {level.id: level.name for level in levels.values()}
    made: tuple[str, Mapping[str, str]] = g.currency_and_levels
    return made


@bp.app_template_global("in_shop")
def in_shop(path: str) -> str:
    """Return the address at which shoppers see a path of the current site."""
    return shell().shop_url.rstrip("/") + path

"""The settings of a site: every key with its type, default and meaning, and the records in which the pages of the admin
have them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class SettingKey:
    """The rules of one setting. `kind` is bool, int, str or list (of strings); `low` and `high` bound an int, `choices`
    are the only texts, `numbers` the only numbers where there are any. None is allowed where the default is None.

    `page` is the page of the admin that changes it, which knows it as `name`; `title` is what messages and the activity
    log call it, `label` and `for_agents` what a field of forms and of tools is called and means."""

    key: str
    kind: type
    default: Any
    meaning: str
    low: int = 0
    high: int = 2_147_483_647
    choices: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    page: str = ""
    name: str = ""
    title: str = ""
    label: str = ""
    for_agents: str = ""
    in_bundles: bool = True

    def accepts(self, value: object) -> bool:
        if value is None:
            return self.default is None
        if self.kind is list:
            return isinstance(value, list) and all(isinstance(item, str) and item for item in value)
        if self.kind is int:
            in_range = type(value) is int and self.low <= value <= self.high
            return in_range and (not self.numbers or value in self.numbers)
        if self.choices:
            return value in self.choices
        return type(value) is self.kind


WEIGHTS = ("none", "low", "medium", "high")
# Pages of the admin.
SEARCH, RANKING, SEO, TILL, JOURNAL, ORDER_MAILS = "search", "ranking", "seo", "pos", "journal", "order-mails"
SETTINGS: Mapping[str, SettingKey] = {
    setting.key: setting
    for setting in (
        SettingKey(
            "taxonomy-active-id",
            str,
            None,
            "The taxonomy that classifies this site's products.",
            in_bundles=False,
        ),
        SettingKey(
            "search-content-enabled",
            bool,
            True,
            "Pages and collections are found by search.",
            page=SEARCH,
            name="content_search",
            title="content search",
        ),
        SettingKey(
            "search-term-tracking-enabled",
            bool,
            True,
            "Search words are counted by day.",
            page=SEARCH,
            name="tracking",
            title="counting searches",
        ),
        SettingKey(
            "search-click-tracking-enabled",
            bool,
            True,
            "Clicks and sales that follow a search are counted.",
            page=SEARCH,
            name="click_tracking",
            title="recording clicks and sales",
        ),
        SettingKey(
            "search-default-filters",
            list,
            ["manufacturer", "price", "inStock", "onSale"],
            "The filters beside search results, in order: manufacturer, price, rating, inStock, onSale, featured or "
            "ids of attributes.",
            page=SEARCH,
            name="filters",
            title="the filters beside results",
        ),
        SettingKey(
            "search-stop-words",
            list,
            [],
            "Optional words from what a search finds, like “the”.",
            page=SEARCH,
            name="stop_words",
            title="the words that may be missing",
        ),
        SettingKey(
            "search-by-meaning",
            bool,
            True,
            "Search ranks by meaning too, where a sentence model is there.",
            page=SEARCH,
            name="by_meaning",
            title="ranking by meaning",
        ),
        SettingKey(
            "search-suggestions-enabled",
            bool,
            True,
            "The storefront suggests as shoppers type.",
            page=SEARCH,
            name="suggestions",
            title="suggestions as shoppers type",
        ),
        SettingKey(
            "search-suggestions-blocked",
            list,
            [],
            "Words that no suggested search has.",
            page=SEARCH,
            name="blocked_words",
            title="the words that are never suggested",
        ),
        SettingKey(
            "search-sold-out",
            str,
            "as-is",
            "Where sold-out products stand in searches and, but for hidden, in categories: as-is, last or hidden.",
            choices=("as-is", "last", "hidden"),
            page=RANKING,
            name="sold_out",
            title="sold-out products",
            label="Sold-out products in searches",
            for_agents=(
                "where sold-out products stand in searches. as-is: where their score puts them. last: behind all "
                "others. hidden: searches do not show them, categories show them last."
            ),
        ),
        SettingKey(
            "search-weight-sales",
            str,
            "none",
            "How much sales lift a product in searches.",
            choices=WEIGHTS,
            page=RANKING,
            name="sales",
            title="the weight of sales",
            label="Sales",
            for_agents="how much the units that a product sold in 90 days raise it.",
        ),
        SettingKey(
            "search-weight-newness",
            str,
            "none",
            "How much being new lifts it.",
            choices=WEIGHTS,
            page=RANKING,
            name="newness",
            title="the weight of newness",
            label="Newness",
            for_agents="how much it raises a product to be new.",
        ),
        SettingKey(
            "search-weight-stock",
            str,
            "none",
            "How much being in stock lifts it.",
            choices=WEIGHTS,
            page=RANKING,
            name="stock",
            title="the weight of stock",
            label="Stock",
            for_agents="how much a large stock raises a product.",
        ),
        SettingKey(
            "search-golden-hold",
            bool,
            False,
            "A rebuild that breaks a golden search is not put live.",
            page=SEARCH,
            name="hold_golden",
            title="holding back rebuilds",
        ),
        SettingKey(
            "search-learning",
            str,
            "off",
            "What shoppers open for a search moves up there: off, shadow (shown to merchandisers alone) or on.",
            choices=("off", "shadow", "on"),
            page=SEARCH,
            name="learning",
            title="learning from clicks",
        ),
        SettingKey(
            "search-understanding",
            str,
            "suggested",
            "Prices, sizes, values and brands among the words of a search become filters: off, suggested (a click "
            "applies them) or on.",
            choices=("off", "suggested", "on"),
            page=SEARCH,
            name="understanding",
            title="understanding searches",
        ),
        SettingKey("listing-page-size", int, 24, "Products per page of a listing.", 1, 100),
        SettingKey(
            "facet-landing-min-products",
            int,
            3,
            "Products that justify a landing page.",
            1,
            page=SEO,
            name="least_products",
            title="products for a landing page",
        ),
        SettingKey(
            "facet-landing-stale-counts",
            bool,
            True,
            "Serve the last good counts while search is down.",
            page=SEO,
            name="stale_counts",
            title="landing pages while search is away",
        ),
        SettingKey(
            "seo-drop-canonical-on-noindex",
            bool,
            False,
            "Leave the canonical out of noindexed variants.",
            page=SEO,
            name="drop_canonical",
            title="the canonical of filtered pages",
        ),
        SettingKey(
            "seo-extra-tracking-parameters",
            list,
            [],
            "Further parameters that only track visitors.",
            page=SEO,
            name="tracking",
            title="tracking parameters",
        ),
        SettingKey(
            "seo-robots-skipped-parameters",
            list,
            [],
            "Parameters that robots.txt asks bots to skip.",
            page=SEO,
            name="skipped",
            title="parameters that bots skip",
        ),
        SettingKey(
            "order-mail-collected",
            bool,
            True,
            "An email follows when an order was collected.",
            page=ORDER_MAILS,
            name="collected",
            title="the email about a collected order",
        ),
        SettingKey(
            "order-mail-refunded",
            bool,
            True,
            "An email follows when money of an order was given back.",
            page=ORDER_MAILS,
            name="refunded",
            title="the email about a refund",
        ),
        SettingKey(
            "seo-redirect-changed-addresses",
            bool,
            True,
            "Redirect the old address of what gets another one.",
            page=SEO,
            name="redirects",
            title="redirects of changed addresses",
        ),
        SettingKey("storefront-theme", str, "market", "The theme that shoppers see: the name of its folder."),
        SettingKey(
            "posEnabled",
            bool,
            False,
            "Payments on phones are on.",
            page=TILL,
            name="is_enabled",
            title="Mobile POS",
        ),
        SettingKey(
            "posProcessorLocationId",
            str,
            None,
            "The payment processor's location.",
            page=TILL,
            name="location_id",
            title="the processor’s location",
        ),
        SettingKey(
            "posProcessorAccountId",
            str,
            None,
            "The payment processor's account of this site.",
            page=TILL,
            name="account_id",
            title="the processor’s account",
        ),
        SettingKey(
            "posAllowQuickPayments",
            bool,
            True,
            "Agents may take an amount without an order.",
            page=TILL,
            name="allows_quick_payments",
            title="quick payments",
        ),
        SettingKey(
            "posMaxTransactionAmount",
            int,
            100_000,
            "Largest payment, in minor units.",
            1,
            99_999_999,
            page=TILL,
            name="largest",
            title="the largest payment",
        ),
        SettingKey(
            "posAllowCash",
            bool,
            True,
            "Agents may take cash.",
            page=TILL,
            name="allows_cash",
            title="cash",
        ),
        SettingKey(
            "posCashRounding",
            int,
            0,
            "Cash is rounded to a multiple of so many minor units; 0: to the exact amount.",
            numbers=(0, 5, 10),
            page=TILL,
            name="cash_rounding",
            title="the rounding of cash",
        ),
        SettingKey(
            "posTipsEnabled",
            bool,
            False,
            "Customers may add a tip to a card payment.",
            page=TILL,
            name="allows_tips",
            title="tips",
        ),
        SettingKey(
            "posUnlockRequired",
            bool,
            True,
            "Agents must set up a quick unlock of the till, a passkey or a PIN, after signing in.",
            page=TILL,
            name="requires_unlock",
            title="quick unlock",
        ),
        SettingKey(
            "posJournalMail",
            str,
            None,
            "The email address that gets the head of the journal after each Z report.",
            page=JOURNAL,
            name="address",
            title="the address for the journal",
            in_bundles=False,
        ),
    )
}
Values = TypeVar("Values", bound="DataclassInstance")


class SettingsPage(Generic[Values]):
    """The settings that one page of the admin changes, as values of a record: a dataclass with a field for each, under
    its `name` and in the order of messages. Lists are tuples there, known texts members of their enum, and a text that
    is None is empty."""

    def __init__(self, page: str, record: type[Values]) -> None:
        named = {setting.name: setting for setting in SETTINGS.values() if setting.page == page}
        self.settings = [named.pop(field.name) for field in fields(record)]
        assert not named, f"{record.__name__} lacks {', '.join(named)}"
        self._record = record
        self._types = get_type_hints(record)

    @property
    def titles(self) -> dict[str, str]:
        """The titles of the settings, by key."""
        return {setting.key: setting.title for setting in self.settings}

    def read(self, stored: Mapping[str, Any]) -> Values:
        return self._record(**{each.name: self._read_value(each, stored[each.key]) for each in self.settings})

    def _read_value(self, setting: SettingKey, stored: Any) -> Any:
        if setting.choices:
            return self._types[setting.name](stored)
        if setting.kind is list:
            return tuple(stored)
        return "" if stored is None and setting.kind is str else stored

    def stored_form(self, values: Values) -> dict[str, object]:
        """Return the settings as they are stored, by the key of each."""
        return {each.key: _stored_value(each, getattr(values, each.name)) for each in self.settings}


def _stored_value(setting: SettingKey, value: Any) -> Any:
    if setting.choices:
        return str(value)
    if setting.kind is list:
        return list(value)
    return None if value == "" and setting.default is None else value

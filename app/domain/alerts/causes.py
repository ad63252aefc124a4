"""THE table of causes: everything that an alert can be about. Pure.

To add one: declare it here, and raise and end it where the fault shows (app/domain/alerts/alerts.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum


class Severity(StrEnum):
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class CauseText:
    """The words about a cause of alerts. `key` is its name in logs, metrics and JSON; `sentence` is what is wrong,
    `advice` what to do about it."""

    key: str
    severity: Severity
    sentence: str
    advice: str


class Cause(Enum):
    INDEX_DAMAGED = CauseText(
        "index_damaged",
        Severity.WARNING,
        "A search index is damaged or missing.",
        "Nothing. It is being rebuilt; until then shoppers can browse by category.",
    )
    INDEX_NOT_REBUILT = CauseText(
        "index_not_rebuilt",
        Severity.CRITICAL,
        "A damaged or missing search index could not be built.",
        "See the reason on the search overview, fix it, and start a rebuild there.",
    )
    SEARCH_ENGINE_FAILING = CauseText(
        "search_engine_failing",
        Severity.CRITICAL,
        "The search engine does not answer, or takes no changes.",
        "See the reason, and fix it at the search cluster. Saves wait meanwhile and get into search by themselves.",
    )
    DISK_FULL = CauseText(
        "disk_full",
        Severity.CRITICAL,
        "The disk is full or nearly full.",
        "Free up space or move the shop to a larger disk. Nothing can be saved on a full disk.",
    )
    DATABASE_GONE = CauseText(
        "database_gone",
        Severity.CRITICAL,
        "The database is not responding.",
        "Start its server and read its log, or check DATABASE_URL and the network. Until then the shop cannot sell.",
    )
    DATABASE_IO_ERROR = CauseText(
        "database_io_error",
        Severity.CRITICAL,
        "The database could not read or write its files.",
        "Check the disk and its mount (read-only, unplugged, failing) and the log of the database server.",
    )
    DISK_IO_ERROR = CauseText(
        "disk_io_error",
        Severity.CRITICAL,
        "Files of the shop could not be read or written.",
        "Check the disk, its mount (read-only, unplugged, failing) and the permissions of the folder.",
    )
    PICTURES_GONE = CauseText(
        "pictures_gone",
        Severity.CRITICAL,
        "The storage of pictures is not responding, or refuses the shop.",
        "Check S3_ENDPOINT, S3_BUCKET and the key, and whether the storage runs. Until then pages lack pictures, and "
        "uploads wait or are refused; nothing is lost.",
    )
    MACHINES_IN_CONFLICT = CauseText(
        "machines_in_conflict",
        Severity.CRITICAL,
        "Two machines run this shop that cannot run together.",
        "Stop one of them, or change the settings that the reason names on both. What is saved at one is not found, or "
        "not shown, at the other.",
    )
    CLOCK_MOVED = CauseText(
        "clock_moved",
        Severity.WARNING,
        "The server’s clock jumped, or the shop was off for more than a day.",
        "If the clock is right, run `flask --app wsgi purge --all`; otherwise nothing is purged, learned or counted "
        "anew until the shop has run for a week. If it is wrong, set it with a time service.",
    )
    PURGE_BLOCKED = CauseText(
        "purge_blocked",
        Severity.WARNING,
        "Only some of many expired records were removed.",
        "Check the server’s clock. If it is right, the rest is removed over the next nights, or at once with "
        "`flask --app wsgi purge --all`.",
    )
    JOB_FAILED_TWICE = CauseText(
        "job_failed_twice",
        Severity.WARNING,
        "A background job failed twice in a row.",
        "See the reason here and in the log. The alert ends when the job succeeds or has not failed for a week.",
    )
    WORKER_GONE = CauseText(
        "worker_gone",
        Severity.CRITICAL,
        "No worker is running.",
        "Start the worker, or the whole shop with `make run`. The log shows why it stopped.",
    )
    QUEUE_GONE = CauseText(
        "queue_gone",
        Severity.WARNING,
        "The queue (Redis) is not responding.",
        "Start it, or set REDIS_URL to one that runs. Until then the scheduler runs the jobs, more slowly.",
    )
    LIMITS_NOT_SHARED = CauseText(
        "limits_not_shared",
        Severity.WARNING,
        "The Redis of the rate limits is not responding, or is not one for them.",
        "Start it, without a disk of its own (docs/deploy.md), or correct LIMITS_REDIS_URL. Until then each machine "
        "counts alone, and admits as much as all of them together should.",
    )
    BACKUP_OLD = CauseText(
        "backup_old",
        Severity.WARNING,
        "There is no recent backup.",
        "Find out why the backup did not run or where it writes, and run it, or press Back up now under Settings › "
        "Backups; `flask --app wsgi jobs run check-backup` checks again at once.",
    )
    CERTIFICATE_EXPIRING = CauseText(
        "certificate_expiring",
        Severity.CRITICAL,
        "The certificate of the shop ends soon, or browsers refuse it.",
        "Renew it, have the proxy load it, and find out why it was not automatic; `flask --app wsgi jobs run "
        "check-certificate` checks again at once.",
    )
    PAYMENT_MISMATCH = CauseText(
        "payment_mismatch",
        Severity.CRITICAL,
        "The shop’s payments and those of the payment processor differ.",
        "Open Mobile POS in the admin, which lists each difference. Resolve it, then mark it as settled.",
    )
    PAYMENT_ANOMALY = CauseText(
        "payment_anomaly",
        Severity.CRITICAL,
        "Money and records of a card payment disagree.",
        "Open the payment in Mobile POS to see what is wrong and what to do. Then mark it as resolved.",
    )
    REFUND_FAILED = CauseText(
        "refund_failed",
        Severity.CRITICAL,
        "A refund did not reach the customer’s card.",
        "Open the payment in Mobile POS and refund it again, or pay the customer back in another way.",
    )
    PROCESSOR_MISCONFIGURED = CauseText(
        "processor_misconfigured",
        Severity.CRITICAL,
        "The payment processor refuses the shop’s key, account or location.",
        "Check PAYMENT_PROCESSOR, STRIPE_… and the account and locations in the settings of Mobile POS; until then no "
        "card can be charged. The alert ends with the next call that the processor accepts.",
    )
    PAID_ORDER_SHORT = CauseText(
        "paid_order_short",
        Severity.WARNING,
        "An order was paid for more than is in stock.",
        "Hand over what is in stock and refund the rest on the payment’s page, or restock; the alert ends when "
        "the order is collected or cancelled.",
    )
    PAID_BASKET_OPEN = CauseText(
        "paid_basket_open",
        Severity.CRITICAL,
        "A basket was paid but could not be submitted as an order.",
        "Compare what was paid with the total on the page of the order; submit it there, or refund the payment.",
    )
    DELIVERY_FAILED = CauseText(
        "delivery_failed",
        Severity.WARNING,
        "Alerts could not be sent by email or webhook.",
        "Check the settings ALERT_… and SMTP_… and try them with `flask --app wsgi alerts test`.",
    )

    @property
    def key(self) -> str:
        return self.value.key

    @property
    def severity(self) -> Severity:
        return self.value.severity

    @property
    def sentence(self) -> str:
        return self.value.sentence

    @property
    def advice(self) -> str:
        return self.value.advice


BY_KEY = {cause.key: cause for cause in Cause}
# Faults of one machine, which alone raises and ends the alerts about them.
OF_A_MACHINE = (
    *(Cause.DISK_FULL, Cause.DISK_IO_ERROR, Cause.DATABASE_GONE, Cause.DATABASE_IO_ERROR),
    *(Cause.QUEUE_GONE, Cause.WORKER_GONE, Cause.BACKUP_OLD, Cause.CERTIFICATE_EXPIRING),
    *(Cause.PICTURES_GONE, Cause.LIMITS_NOT_SHARED, Cause.SEARCH_ENGINE_FAILING, Cause.MACHINES_IN_CONFLICT),
)

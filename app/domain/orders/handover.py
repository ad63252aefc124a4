"""The words for what becomes of an order that is collected, and of one that is delivered. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Handover:
    """The words that follow “Order 12 is …” or “was …” for each change of its status, and the labels of its states."""

    waiting: str
    ready: str
    ready_briefly: str
    not_ready: str
    done: str
    reopened: str
    waiting_label: str
    ready_label: str
    done_label: str
    paid_label: str


COLLECTION = Handover(
    "awaiting collection",
    "ready to collect",
    "ready",
    "not ready to collect yet",
    "collected",
    "awaiting collection again",
    "Awaiting collection",
    "Ready to collect",
    "Collected",
    "Paid on collection",
)
DELIVERY = Handover(
    "waiting to be sent",
    "on its way",
    "sent",
    "not sent yet",
    "delivered",
    "not delivered after all",
    "To be sent",
    "On its way",
    "Delivered",
    "Paid on delivery",
)


def handover_of(is_delivered: bool) -> Handover:
    return DELIVERY if is_delivered else COLLECTION

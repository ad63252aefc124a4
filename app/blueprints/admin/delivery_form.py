"""The form of a shop's delivery: shown with what was typed, changed by its buttons, and read as JSON of the record's
declaration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.forms import read_money, sent_number, sent_revision
from app.domain.delivery.countries import GROUPS, in_order
from app.domain.delivery.declaration import MOST_METHODS, Delivery, DeliveryMethod, DeliveryPayment, RateKind
from app.domain.delivery.deliveries import SavedDelivery, read_sent
from app.domain.delivery.fields import MOST_STEPS, RateStep
from app.domain.shared.money import LARGEST, decimal_text
from app.domain.shared.problems import Invalid, Problem

Values = dict[str, Any]
GROUP = "group:"
BLANK_STEP = {"upTo": "", "price": ""}
TEXTS = ("weightAttribute", "weightUnit", "defaultWeight", "paymentInstructions")
TEXTS_OF_METHOD = ("name", "rate", "freeFrom", "days", "payment")


@dataclass(slots=True)
class DeliveryForm:
    """The form: `values` as texts by the names of the record's JSON, whether valid or not. `is_changed`: a button
    changed it, and nothing is saved yet."""

    values: Values
    revision: int
    is_changed: bool = False

    @classmethod
    def of(cls, saved: SavedDelivery, currency: str) -> DeliveryForm:
        delivery = saved.value
        values: Values = {
            "collection": delivery.collection,
            "weightAttribute": delivery.weight_attribute,
            "weightUnit": str(delivery.weight_unit),
            "defaultWeight": str(delivery.default_weight),
            "paymentInstructions": delivery.payment_instructions,
            "methods": [_texts_of(method, currency) for method in delivery.methods],
        }
        return cls(values, saved.revision)

    @classmethod
    def read(cls, sent: MultiDict[str, str]) -> DeliveryForm:
        values: Values = {name: sent.get(name, "") for name in TEXTS}
        values |= {"collection": "collection" in sent, "methods": list(_sent_methods(sent))}
        return cls(values, sent_revision(sent))

    def arrange(self, intent: str) -> None:
        """Change the form by one of its buttons: `add` a method, `up:2`, `down:2`, `remove:2`. Anything else, such as
        `countries` and `steps`, changes nothing more than the countries that were chosen; there is always room for
        further steps."""
        self.is_changed = True
        name, _, place = intent.partition(":")
        methods = self.values["methods"]
        if name == "add" and len(methods) < MOST_METHODS:
            methods.append(_new_method(methods))
        at = sent_number(place)
        if at is None or at >= len(methods):
            return
        if name in ("up", "down", "remove"):
            method = methods.pop(at)
            if name != "remove":
                methods.insert(max(0, at - 1) if name == "up" else at + 1, method)

    def checked(self, currency: str) -> Delivery:
        """Return the delivery. Raises Invalid with every problem."""
        problems: list[Problem] = []
        sent: Values = {name: self.values[name] for name in ("collection", "paymentInstructions", "weightAttribute")}
        sent["weightUnit"] = self.values["weightUnit"] or "g"
        sent["defaultWeight"] = _read_weight(problems, self.values["defaultWeight"], "#/defaultWeight", 1)
        methods = enumerate(self.values["methods"])
        sent["methods"] = [_read_method(problems, method, f"#/methods/{at}", currency) for at, method in methods]
        if not problems:
            return read_sent(sent)
        unread = {problem.pointer for problem in problems}
        raise Invalid([*problems, *_further_problems(sent, unread)])


def _further_problems(sent: Values, unread: set[str]) -> list[Problem]:
    """Return what else is wrong, but for what only follows from the fields that could not be read."""
    try:
        read_sent(sent)
    except Invalid as invalid:
        rates = {pointer.partition("/steps")[0] for pointer in unread if "/steps" in pointer}
        return [
            problem
            for problem in invalid.problems
            if problem.pointer not in unread and problem.pointer.partition("/steps")[0] not in rates
        ]
    return []


def _texts_of(method: DeliveryMethod, currency: str) -> Values:
    return {
        "name": method.name,
        "rate": str(method.rate),
        "steps": [_texts_of_step(method.rate, step, currency) for step in method.steps],
        "freeFrom": "" if method.free_from is None else decimal_text(method.free_from, currency),
        "countries": list(method.countries),
        "days": method.days,
        "payment": str(method.payment),
    }


def _texts_of_step(rate: RateKind, step: RateStep, currency: str) -> Values:
    if step.up_to is None:
        end = ""
    else:
        end = decimal_text(step.up_to, currency) if rate is RateKind.VALUE else f"{Decimal(step.up_to) / 1_000:f}"
    return {"upTo": end, "price": decimal_text(step.price, currency)}


def _new_method(others: list[Values]) -> Values:
    texts = {"name": "", "rate": str(RateKind.FLAT), "freeFrom": "", "days": ""}
    payment = others[-1]["payment"] if others else str(DeliveryPayment.IN_ADVANCE)
    countries = list(others[-1]["countries"]) if others else []
    return {**texts, "payment": payment, "countries": countries, "steps": [dict(BLANK_STEP)]}


def _sent_methods(sent: MultiDict[str, str]) -> Iterator[Values]:
    for place in range(MOST_METHODS):
        path = f"methods/{place}/"
        if f"{path}name" not in sent:
            return
        values: Values = {name: sent.get(f"{path}{name}", "") for name in TEXTS_OF_METHOD}
        more = sent.get(f"{path}addCountry", "")
        added = GROUPS.get(more.removeprefix(GROUP), ()) if more.startswith(GROUP) else (more,)
        values["countries"] = list(in_order([*sent.getlist(f"{path}countries"), *added]))
        values["steps"] = list(_sent_steps(sent, path)) or [dict(BLANK_STEP)]
        yield values


def _sent_steps(sent: MultiDict[str, str], path: str) -> Iterator[Values]:
    """Yield the steps in which anything was typed."""
    for place in range(MOST_STEPS):
        step = {name: sent.get(f"{path}steps/{place}/{name}", "").strip() for name in ("upTo", "price")}
        if any(step.values()):
            yield step


def _read_method(problems: list[Problem], typed: Values, at: str, currency: str) -> Values:
    rate = typed["rate"]
    steps = typed["steps"][:1] if rate == RateKind.FLAT else typed["steps"]
    return {
        **{name: typed[name] for name in ("name", "rate", "days", "payment", "countries")},
        "freeFrom": read_money(problems, typed["freeFrom"], currency, f"{at}/freeFrom"),
        "steps": [
            _read_step(problems, rate, step, f"{at}/steps/{place}", currency) for place, step in enumerate(steps)
        ],
    }


def _read_step(problems: list[Problem], rate: str, typed: Values, at: str, currency: str) -> Values:
    end = None
    if rate == RateKind.WEIGHT and typed["upTo"]:
        end = _read_weight(problems, typed["upTo"], f"{at}/upTo", 1_000)
    elif rate == RateKind.VALUE:
        end = read_money(problems, typed["upTo"], currency, f"{at}/upTo")
    return {"upTo": end, "price": read_money(problems, typed["price"], currency, f"{at}/price", required=True) or 0}


def _read_weight(problems: list[Problem], typed: str, pointer: str, grams: int) -> int:
    """Return a typed weight in grams; `grams` are in its unit. What is none is added to `problems`."""
    text = typed.strip()
    try:
        weight = Decimal(text) * grams if text.isascii() and text.replace(".", "", 1).isdigit() else None
    except InvalidOperation:
        weight = None
    if weight is None or weight != int(weight) or not 0 < weight <= LARGEST:
        example = "500" if grams == 1 else "2.5"
        problems.append(Problem("invalid_weight", f"“{text[:40]}” is no weight; type it like {example}.", pointer))
        return 1
    return int(weight)

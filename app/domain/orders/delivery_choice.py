"""How a shopper wants to get an order: collected, or delivered to an address, for the price that the shop computes.
Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.delivery.addresses import NO_ADDRESS, Address, address_problems, country_problems, tidy_address
from app.domain.delivery.countries import in_order, name_of
from app.domain.delivery.declaration import Delivery, DeliveryMethod
from app.domain.delivery.rates import Quote, quote
from app.domain.orders.basket import Basket
from app.domain.shared.problems import Problem

NOT_CHOSEN = "Choose how you want to get your order."


@dataclass(frozen=True, slots=True)
class DeliveryChoice:
    """What a shopper chose: the name of a method, empty to collect the order, and an address."""

    method: str = ""
    address: Address = NO_ADDRESS


COLLECT = DeliveryChoice()


@dataclass(frozen=True, slots=True)
class ServedCountry:
    """A country to which a basket is delivered; `methods` are the names of those that do so, none where all do."""

    code: str
    name: str
    methods: tuple[str, ...] = ()


def served_countries(quotes: Sequence[Quote]) -> list[ServedCountry]:
    """Return the countries to which methods deliver that are offered, by name; those that all of them serve first."""
    offered = [one.method for one in quotes if one.price is not None]
    found = []
    for code in in_order(code for method in offered for code in method.countries):
        names = tuple(method.name for method in offered if code in method.countries)
        found.append(ServedCountry(code, name_of(code), names if len(names) < len(offered) else ()))
    return sorted(found, key=lambda country: bool(country.methods))


def countries_by_choice(
    choice: DeliveryChoice, delivery: Delivery, countries: Sequence[ServedCountry]
) -> tuple[list[ServedCountry], list[ServedCountry]]:
    """Return the countries of the chosen method, and those of others alone; without a choice all are the former."""
    method = delivery.method(choice.method) if choice.method else None
    chosen = [country for country in countries if method is None or country.code in method.countries]
    others = [country for country in countries if country not in chosen]
    return (chosen, others) if chosen else (others, [])


def unserved_country(choice: DeliveryChoice, delivery: Delivery) -> str:
    """Return what is wrong with the typed country, to which the chosen method does not deliver; "" while it does, or
    while one of both is not chosen."""
    method, country = delivery.method(choice.method) if choice.method else None, choice.address.country
    problems = country_problems(country, method.name, method.countries) if method and country else []
    return problems[0].message if problems else ""


def chosen_country(choice: DeliveryChoice, delivery: Delivery, countries: Sequence[ServedCountry]) -> str:
    """Return the code of the country that was typed, else the only one of the chosen method, or of all; "" if neither
    says which."""
    codes = [country.code for country in countries]
    if choice.address.country in codes:
        return choice.address.country
    method = delivery.method(choice.method) if choice.method else None
    only = [code for code in codes if method is None or code in method.countries]
    return only[0] if len(only) == 1 else ""


@dataclass(frozen=True, slots=True)
class AgreedDelivery:
    """A choice that the shop can fulfil; `price` in minor units, `weight` in grams. `method` is None for an order that
    is collected, which has no address. `instructions` say how to pay in advance."""

    method: DeliveryMethod | None = None
    price: int = 0
    weight: int = 0
    address: Address = NO_ADDRESS
    instructions: str = ""

    def seen(self, basket: Basket) -> str:
        """Return the digest of what the shopper agrees to: that of the basket, and with delivery its price too."""
        if self.method is None:
            return basket.seen
        shown = repr([basket.seen, self.method.name, self.method.payment.value, self.price])
        return hashlib.sha256(shown.encode()).hexdigest()[:24]


def tidy_choice(choice: DeliveryChoice, name: str) -> DeliveryChoice:
    """Return the choice, trimmed; who is not named otherwise gets the parcel under the contact's `name`."""
    if not choice.method:
        return COLLECT
    address = tidy_address(choice.address)
    return replace(choice, address=replace(address, recipient=address.recipient or name))


def choice_problems(choice: DeliveryChoice, delivery: Delivery, basket: Basket, currency: str) -> list[Problem]:
    """Return the problems of a tidied choice for a basket."""
    if not choice.method:
        return [] if delivery.collection else [Problem("required", NOT_CHOSEN, "#/method")]
    method = delivery.method(choice.method)
    if method is None:
        message = f"“{choice.method[:60]}” is not offered any more. Choose again."
        return [Problem("method_gone", message, "#/method")]
    offered = quote(method, basket.parcel(delivery), currency)
    if offered.price is None:
        return [Problem("not_offered", f"“{method.name}” is not offered: {offered.reason}", "#/method")]
    return address_problems(choice.address, method.name, method.countries)


def agree(choice: DeliveryChoice, delivery: Delivery, basket: Basket, currency: str) -> AgreedDelivery:
    """Return what a choice without problems comes to."""
    method = delivery.method(choice.method) if choice.method else None
    if method is None:
        return AgreedDelivery()
    parcel = basket.parcel(delivery)
    offered = quote(method, parcel, currency)
    assert offered.price is not None, "a choice without problems is offered"
    instructions = delivery.payment_instructions if method.is_paid_in_advance else ""
    return AgreedDelivery(method, offered.price, parcel.weight, choice.address, instructions)

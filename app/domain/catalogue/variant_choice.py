"""The variant that a shopper looks at, and the one to which each further choice leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VariantOnOffer:
    """A buyable form with its own price (minor units, the product's where it has none) and whether it is in stock."""

    sku: str
    options: Mapping[str, str]
    price: int
    in_stock: bool


@dataclass(frozen=True, slots=True)
class OptionChoice:
    """A value of an option. `sku` is the variant that choosing it leads to: the one nearest to the present choice."""

    value: str
    sku: str
    chosen: bool
    in_stock: bool


@dataclass(frozen=True, slots=True)
class OptionGroup:
    name: str
    choices: tuple[OptionChoice, ...]


def choose(variants: Sequence[VariantOnOffer], sku: str) -> VariantOnOffer | None:
    """Return the requested variant, else the first in stock, else the first; None without variants."""
    requested = next((variant for variant in variants if variant.sku == sku), None)
    return requested or next((v for v in variants if v.in_stock), variants[0] if variants else None)


def option_groups(variants: Sequence[VariantOnOffer], chosen: VariantOnOffer) -> tuple[OptionGroup, ...]:
    """Return every option with its values, both in the order of the variants."""
    names = dict.fromkeys(name for variant in variants for name in variant.options)
    return tuple(OptionGroup(name, _choices(name, variants, chosen)) for name in names)


def _choices(name: str, variants: Sequence[VariantOnOffer], chosen: VariantOnOffer) -> tuple[OptionChoice, ...]:
    values = dict.fromkeys(variant.options[name] for variant in variants if name in variant.options)
    return tuple(_choice(name, value, variants, chosen) for value in values)


def _choice(name: str, value: str, variants: Sequence[VariantOnOffer], chosen: VariantOnOffer) -> OptionChoice:
    if chosen.options.get(name) == value:
        return OptionChoice(value, chosen.sku, chosen=True, in_stock=chosen.in_stock)
    having = [variant for variant in variants if variant.options.get(name) == value]
    nearest = max(having, key=lambda variant: (_alike(variant, chosen), variant.in_stock))
    return OptionChoice(value, nearest.sku, chosen=False, in_stock=nearest.in_stock)


def _alike(variant: VariantOnOffer, chosen: VariantOnOffer) -> int:
    return sum(chosen.options.get(name) == value for name, value in variant.options.items())

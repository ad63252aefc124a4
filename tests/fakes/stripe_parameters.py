"""Stripe's forms: what a body says as nested values, and what is wrong with them by the SDK's own types."""

from __future__ import annotations

import re
import sys
import typing
from types import NoneType, UnionType
from typing import Any, ForwardRef, Literal, NotRequired, Required, Union
from urllib.parse import parse_qsl

from stripe import RequestOptions

from tests.fakes.stripe_ledger import Refusal

OPTIONS = frozenset(RequestOptions.__annotations__)


def form(text: str) -> dict[str, Any]:
    """`a[b][0]=x` is {"a": {"b": ["x"]}}."""
    values: dict[str, Any] = {}
    for name, value in parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text)):
        steps = re.findall(r"[^\[\]]+", name)
        place = values
        for step in steps[:-1]:
            place = place.setdefault(step, {})
        place[steps[-1]] = value
    return {name: _with_lists(value) for name, value in values.items()}


def _with_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value and all(name.isdigit() for name in value):
        return [_with_lists(value[name]) for name in sorted(value, key=int)]
    return {name: _with_lists(part) for name, part in value.items()}


def check(sent: dict[str, Any], parameters: type) -> None:
    """Raises Refusal for what the SDK's type of the parameters does not name or allow."""
    _check_members(sent, parameters, "")


def _check_members(sent: dict[str, Any], parameters: type, place: str) -> None:
    known = {name: kind for name, kind in _annotations(parameters).items() if name not in OPTIONS}
    for name, value in sent.items():
        param = f"{place}[{name}]" if place else name
        if name not in known:
            raise Refusal(400, f"Received unknown parameter: {param}", "parameter_unknown", param)
        if not _fits(value, known[name], parameters, param):
            raise Refusal(400, f"Invalid {param}: {value!r}", "parameter_invalid", param)
    for name in parameters.__required_keys__ - sent.keys() - OPTIONS:  # type: ignore[attr-defined]
        param = f"{place}[{name}]" if place else name
        raise Refusal(400, f"Missing required param: {param}.", "parameter_missing", param)


def _annotations(parameters: type) -> dict[str, Any]:
    return {
        name: kind
        for base in reversed(parameters.__mro__)
        for name, kind in vars(base).get("__annotations__", {}).items()
    }


def _fits(value: Any, kind: Any, parameters: type, place: str) -> bool:
    """Types stand there as text where they are declared further down."""
    if isinstance(kind, ForwardRef):
        kind = kind.__forward_arg__
    if isinstance(kind, str):
        kind = eval(kind, vars(sys.modules[parameters.__module__]))
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (NotRequired, Required):
        return _fits(value, parts[0], parameters, place)
    if origin in (Union, UnionType):
        return any(_fits(value, part, parameters, place) for part in parts if part is not NoneType)
    if origin is Literal:
        return value in parts
    if origin is list:
        return isinstance(value, list) and all(_fits(one, parts[0], parameters, place) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
    return _fits_plain(value, kind, place)


def _fits_plain(value: Any, kind: Any, place: str) -> bool:
    if kind is str:
        return isinstance(value, str)
    if kind is int:
        return isinstance(value, str) and re.fullmatch(r"-?\d+", value) is not None
    if kind is bool:
        return value in ("true", "false")
    if isinstance(value, dict) and hasattr(kind, "__required_keys__"):
        _check_members(value, kind, place)
        return True
    return False

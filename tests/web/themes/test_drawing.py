"""Storefront templates come in one piece and say what Jinja's own say."""

from __future__ import annotations

from flask import Flask
from jinja2 import DictLoader, Environment

from app.web.themes.drawing import WholeTemplate, environment

TEMPLATES = {
    "base": "<b>{% block main %}base {{ name }}{% endblock %}</b>{{ self.main() }}",
    "page": "{% extends 'base' %}{% from 'macros' import twice %}"
    "{% block main %}{{ super() }}{% include 'part' %}{{ twice(name) }}{% endblock %}",
    "part": "{% for one in numbers %}{{ one }},{% include 'leaf' %}{% endfor %}{% include 'none' ignore missing %}",
    "leaf": "{{ loop is defined }}{% if one == 2 %}{{ name }}{% endif %}",
    "macros": "{% macro twice(text) %}{{ text }}{% include 'leaf' %}{{ text }}{% endmacro %}",
}


def test_a_template_in_one_piece_says_the_same() -> None:
    plain, whole = (Environment(loader=DictLoader(TEMPLATES), autoescape=True) for _ in range(2))
    whole.template_class = WholeTemplate
    given = {"name": "<Tents>", "numbers": [1, 2, 3]}
    assert whole.get_template("page").render(given) == plain.get_template("page").render(given)
    pieces, piece = (list(kind.get_template("page").generate(given)) for kind in (plain, whole))
    assert len(pieces) > len(piece) == 1


def test_the_storefront_draws_in_one_piece(app: Flask) -> None:
    with app.test_request_context():
        assert type(environment().get_template("storefront/search.html")) is WholeTemplate

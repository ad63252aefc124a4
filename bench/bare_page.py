"""A page of a wished size from one Jinja template and nothing else: what the web server can do at best."""

from __future__ import annotations

from flask import Flask, render_template_string, request

app = Flask(__name__)
PRODUCTS = [{"name": f"Product number {n} with a name of common length", "price": n * 100} for n in range(24)]
PAGE = """<!doctype html><html lang="en"><head><title>{{ title }}</title></head><body><h1>{{ title }}</h1><form>
{% for n in range(choices) %}<label><input type="checkbox" name="brand" value="brand-{{ n }}"> A brand with the
 number {{ n }}</label> <small>{{ n * 7 }}</small> products of it are in this shop now
{% endfor %}</form><ul>
{% for product in products %}<li><a href="/p/{{ loop.index }}">{{ product.name }}</a> {{ product.price }}</li>
{% endfor %}</ul></body></html>"""


@app.get("/")
def page() -> str:
    return _page(int(request.args["choices"]))


def choices_for(wished_bytes: int) -> int:
    """How many choices make a page about as large as wished."""
    with app.app_context():
        none, thousand = len(_page(0)), len(_page(1000))
    return max(0, round((wished_bytes - none) / (thousand - none) * 1000))


def _page(choices: int) -> str:
    return render_template_string(PAGE, title="A bare page", choices=choices, products=PRODUCTS)

"""The classification of products in the admin: the Taxonomy part of the product form, and the worklist.

What was typed is kept as text. The worklist is filled in one row at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import Difference, sent_revision
from app.blueprints.callers import current_author
from app.domain.catalogue.listing import LONGEST_WORDS, page_number
from app.domain.catalogue.models import Product
from app.domain.shared.problems import Invalid, NotFound, StaleRevision
from app.domain.taxonomy.products.classification import PanelForm, fill_gaps
from app.domain.taxonomy.products.panel import attribute_label, path_label, stored_texts
from app.domain.taxonomy.products.worklist import WorkOrder, WorkRow, work_row, work_rows, work_summary
from app.domain.taxonomy.taxonomies import ActiveTaxonomy, active_with_tree
from app.domain.taxonomy.tree import TaxonomyTree
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

PREFIX = "attr:"
LONGEST_ID = 120
MOST_FIELDS = 2_000  # Ten times what one level may define, so that no form of the shop has more.
WORKLIST = "/catalogue/taxonomy/worklist"
Answer = str | AnyResponse


@dataclass(frozen=True, slots=True)
class TaxonomyForm:
    """The Taxonomy part of a product's form. `submitted`: the page had that part. `texts` are the texts of the inputs,
    by attribute id."""

    submitted: bool = False
    taxonomy_id: str = ""
    level_id: str = ""
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, product: Product) -> TaxonomyForm:
        return cls(level_id=product.taxonomy_level_id or "", texts=stored_texts(product.taxonomy_attributes))

    @classmethod
    def typed(cls, sent: MultiDict[str, str]) -> TaxonomyForm:
        """Return the sent form. `chosenLevel`, which a button of the level picker sends, takes precedence over the
        level that the form holds."""
        level_id = sent.get("chosenLevel", sent.get("levelId", ""))
        return cls(
            submitted="taxonomyPanelSubmitted" in sent,
            taxonomy_id=_plain_id(sent.get("taxonomyId", "")),
            level_id=_plain_id(level_id),
            texts=typed_texts(sent),
        )

    def panel(self) -> PanelForm | None:
        return PanelForm(self.taxonomy_id, self.level_id, self.texts) if self.submitted else None

    def with_texts(self, more: Mapping[str, tuple[str, ...]]) -> TaxonomyForm:
        return replace(self, texts={**self.texts, **more})

    def differences(self, stored: TaxonomyForm, tree: TaxonomyTree) -> list[Difference]:
        """Return the changes that saving this form would make to a stored classification."""
        if not self.submitted:
            return []
        level = Difference("Level", _level_text(tree, stored.level_id), _level_text(tree, self.level_id))
        names = sorted({*stored.texts, *self.texts}, key=lambda name: attribute_label(tree, name))
        values = [Difference(attribute_label(tree, name), stored.text(name), self.text(name)) for name in names]
        return [one for one in (level, *values) if one.stored != one.typed]

    def text(self, attribute_id: str) -> str:
        return ", ".join(text for text in self.texts.get(attribute_id, ()) if text)


def typed_texts(sent: MultiDict[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the texts of the attributes' inputs, by attribute id."""
    names = [name for name in sent if name.startswith(PREFIX)][:MOST_FIELDS]
    return {
        _plain_id(name.removeprefix(PREFIX)): tuple(_plain_text(text) for text in sent.getlist(name)) for name in names
    }


def _plain_text(text: str) -> str:
    """Return the text with line feeds as line ends, of which browsers make CR LF, and without NUL and outer spaces."""
    return text.replace("\r\n", "\n").replace("\0", "").strip()


def _plain_id(text: str) -> str:
    return text[:LONGEST_ID].replace("\0", "")


def _level_text(tree: TaxonomyTree, level_id: str) -> str:
    return path_label(tree, level_id) or level_id


@dataclass(frozen=True, slots=True)
class WorklistRequest:
    """The parameters in the address of the worklist."""

    level_id: str
    order: WorkOrder
    page: int

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> WorklistRequest:
        order = WorkOrder.CHANGED if parameters.get("sort") == WorkOrder.CHANGED else WorkOrder.NAME
        level_id = parameters.get("level", "")[:LONGEST_WORDS].replace("\0", "")
        return cls(level_id, order, page_number(parameters.get("p")))

    def href(self, **changes: object) -> str:
        """Return the address with changes, at the first page unless they name one."""
        sort = "" if self.order is WorkOrder.NAME else self.order.value
        parameters = {"level": self.level_id, "sort": sort, "p": ""} | changes
        if parameters["p"] == 1:
            parameters["p"] = ""
        query = urlencode({name: str(value) for name, value in parameters.items() if value})
        return url_for("admin.taxonomy_worklist") + (f"?{query}" if query else "")


@bp.get(WORKLIST)
@requires(Permission.MANAGE_CATALOGUE)
def taxonomy_worklist() -> Answer:
    query = WorklistRequest.read(request.args)
    taxonomy = active_with_tree(ports.clock(), current_user.site_id)
    context = _worklist_context(query, taxonomy)
    template = "admin/taxonomy/products/_worklist.html" if wants_fragment() else "admin/taxonomy/products/page.html"
    answer = make_response(render_template(template, **context))
    shown: WorklistRequest = context["query"]
    answer.headers["HX-Replace-Url"] = shown.href(p=shown.page)
    return answer


@bp.post(f"{WORKLIST}/<int(max=2147483647):product_id>")
@requires(Permission.MANAGE_CATALOGUE)
def taxonomy_worklist_fill(product_id: int) -> Answer:
    """Save what was typed for one product, and return its row, or the message that it is complete."""
    texts = {name: found for name, found in typed_texts(request.form).items() if any(found)}
    problem: str | None = None
    refused: frozenset[str] = frozenset()
    try:
        with transaction():
            _, dropped = fill_gaps(current_author(), product_id, sent_revision(request.form), texts)
        refused = frozenset(one.attribute_id for one in dropped)
    except (StaleRevision, Invalid) as error:
        problem, refused = error.message, frozenset(texts)
    typed = {name: found for name, found in texts.items() if name in refused}
    return _row_answer(product_id, typed, problem)


def _row_answer(product_id: int, typed: Mapping[str, tuple[str, ...]], problem: str | None) -> Answer:
    site_id, query = current_user.site_id, WorklistRequest.read(request.args)
    taxonomy = active_with_tree(ports.clock(), site_id)
    row = work_row(site_id, taxonomy.tree, product_id, typed) if taxonomy else None
    if row is None or taxonomy is None:
        raise NotFound("There is no such product on this site.")
    if not wants_fragment():
        flash(*_describe_row(row, problem))
        return redirect(query.href(p=query.page))
    summary = None if row.inputs else work_summary(site_id, taxonomy.tree, query.level_id)
    context = {"row": row, "problem": problem, "query": query, "summary": summary}
    return make_response(render_template("admin/taxonomy/products/_saved.html", **context), 409 if problem else 200)


def _describe_row(row: WorkRow, problem: str | None) -> tuple[str, str]:
    wrong = problem or " ".join(message for one in row.inputs for message in one.problems)
    if wrong:
        return f"{row.name}: {wrong}", "warn"
    if row.inputs:
        return f"Saved. {row.name} still misses {', '.join(one.attribute.name for one in row.inputs)}.", "good"
    return f"{row.name} is complete.", "good"


def _worklist_context(query: WorklistRequest, taxonomy: ActiveTaxonomy | None) -> dict[str, Any]:
    """Return the context of the list. Since a list gets shorter as it is worked off, a page beyond its end is the last
    one."""
    if taxonomy is None:
        return {"taxonomy": None, "query": query, "fragment": wants_fragment()}
    site_id, level = current_user.site_id, taxonomy.tree.levels.get(query.level_id)
    definitions = taxonomy.tree.attributes_by_id().values()
    rows = work_rows(site_id, taxonomy.tree, query.level_id, query.order, query.page)
    if rows.total_items and not rows.items:
        query = replace(query, page=rows.total_pages)
        rows = work_rows(site_id, taxonomy.tree, query.level_id, query.order, query.page)
    return {
        "taxonomy": taxonomy,
        "query": query,
        "level": level,
        "summary": work_summary(site_id, taxonomy.tree, query.level_id),
        "rows": rows,
        "asks_for_nothing": not any(attribute.mandatory for found in definitions for attribute in found),
        "fragment": wants_fragment(),
    }

"""The list and the editor of pages, collections and every further kind of content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, Self

from flask import Response, flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import Difference, FieldErrors, sent_revision
from app.blueprints.admin.product_order import LAYOUTS, PRODUCT_ACTIONS, SHOP, ProductOrder, news_of
from app.blueprints.admin.redirect_choice import sent_choice
from app.blueprints.admin.shell import flash_saved, flash_undoable, undo_address_of
from app.blueprints.callers import current_author
from app.blueprints.storefront.listing_previews import drawn_collection
from app.domain.catalogue import content, queries
from app.domain.catalogue.content import COLLECTION, PAGE, ContentKind
from app.domain.catalogue.listing import LONGEST_WORDS, page_number
from app.domain.merchandising.shop import collection_at, read_shop
from app.domain.search.engine import SearchUnavailable
from app.domain.seo.redirects.moved_addresses import addresses_left_by
from app.domain.shared.problems import Conflict, Invalid
from app.transaction import transaction
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import Permission, requires


@dataclass(frozen=True, slots=True)
class TextControl:
    """The form's control for a text of the kind: a line, or a text area of so many rows, of HTML where it
    `is_rich`."""

    name: str
    label: str
    help: str = ""
    rows: int = 0
    is_rich: bool = False


@dataclass(frozen=True, slots=True)
class ContentEditor:
    """The declaration of an editor. `folder` is where its pages stand in the admin; `deletion` says what deleting
    means, `deleted` what to add after it. A kind whose records are listed, added and deleted elsewhere has no list.
    `parts` is what the form holds besides texts and products, drawn by `parts_template`, and by `address_template` in
    the card of the address; `below_template` stands below the form."""

    kind: ContentKind[Any, Any]
    plural: str
    folder: str
    permission: Permission
    controls: tuple[TextControl, ...]
    lead: str = ""
    none_yet: str = ""
    deletion: str = ""
    deleted: str = ""
    address_heading: str = "Address"
    address_controls: tuple[TextControl, ...] = ()
    address_label: str = "SEO name"
    holds_products: bool = False
    buries_products: bool = False
    products_help: str = ""
    has_list: bool = True
    parts: type[FormParts] | None = None
    parts_template: str = ""
    address_template: str = ""
    below_template: str = ""

    @property
    def noun(self) -> str:
        return self.kind.noun

    @property
    def fields(self) -> dict[str, str]:
        """The names of the texts in the form, by their names in the draft."""
        return {text.name: text.field for text in self.kind.texts} | {
            "seo_name": "seoName",
            "canonical_url": "canonicalUrl",
        }

    @property
    def title(self) -> TextControl:
        return self.controls[0]

    def in_shop(self, seo_name: str) -> str:
        return f"/{self.plural}/{seo_name}"

    def shop_path(self, record: Any) -> str | None:
        """Return the path of a record in the shop; None where shoppers do not see it."""
        return self.in_shop(record.seo_name) if record.enabled else None

    @property
    def address_help(self) -> str:
        return f"The last part of the address, {self.in_shop('…')}"

    def address_of(self, record: Any) -> str:
        """Return the address that `moved` compares after a save; empty for kinds that report no changed address."""
        return ""

    def moved(self, record: Any, old_address: str) -> str | None:
        """Return a warning where a save changed the address of the record, else None."""
        return None

    def back(self, record: Any) -> tuple[str, str]:
        """Return the address and the name of the page to go back to."""
        return url_for(f"admin.{self.plural}_list"), self.plural.capitalize()

    def order_without_hand(self, record: Any) -> Sequence[int]:
        """Return the ids of the products in the order that the shop gives them by itself; empty where it has none, and
        for a record None, which is not stored yet."""
        return ()

    def drawn_for_shoppers(self, record: Any) -> str | None:
        """Return the page that shoppers see of a stored record with products, as HTML; None where they see none. Raises
        SearchUnavailable."""
        return None

    def context(self, record: Any, form: ContentForm) -> dict[str, Any]:
        """Return the further context of the kind's own templates."""
        return {}


class FormParts(Protocol):
    """The parts of a kind's form besides texts and products."""

    @classmethod
    def of(cls, draft: Any) -> Self:
        """Return the parts of a stored record, in the form in which they are sent."""
        ...

    @classmethod
    def sent(cls, sent: MultiDict[str, str]) -> Self: ...

    def after(self, action: str, name: str) -> Self:
        """Return the parts after a button within them was pressed."""
        ...

    def draft(self) -> dict[str, Any]:
        """Return the values of the parts by their names in the draft."""
        ...

    def differences(self, stored: Self) -> list[Difference]: ...


@dataclass(frozen=True, slots=True)
class ContentForm:
    """The form as it was filled in, its texts by their names in the draft. `revision` 0 is a record that is not saved
    yet."""

    texts: Mapping[str, str]
    enabled: bool = True
    revision: int = 0
    products: ProductOrder = field(default_factory=ProductOrder)
    parts: Any = None

    @property
    def product_ids(self) -> tuple[int, ...]:
        """The ids of the products in their order."""
        return self.products.ids

    @classmethod
    def empty(cls, editor: ContentEditor) -> ContentForm:
        return cls(dict.fromkeys(editor.fields, ""))

    @classmethod
    def of(cls, editor: ContentEditor, record: Any) -> ContentForm:
        texts = {name: getattr(record, name) or "" for name in editor.fields}
        held = editor.kind.further(record)
        products = ProductOrder(held.get("product_ids", ()), held.get("buried_ids", ()))
        parts = editor.parts.of(editor.kind.draft_of(record)) if editor.parts else None
        return cls(texts, record.enabled, record.revision, products, parts)

    @classmethod
    def sent(cls, editor: ContentEditor, sent: MultiDict[str, str]) -> ContentForm:
        texts = {name: sent.get(field, "") for name, field in editor.fields.items()}
        products = ProductOrder.sent(sent)
        parts = editor.parts.sent(sent) if editor.parts else None
        return cls(texts, "enabled" in sent, sent_revision(sent), products, parts)

    def on(self, revision: int) -> ContentForm:
        """Return the same form, to be saved over another revision."""
        return replace(self, revision=revision)

    def after(self, intent: str) -> ContentForm:
        """Return the form after a button of its products (`ProductOrder.after`) or of its parts was pressed."""
        action, _, number = intent.partition(":")
        if action not in PRODUCT_ACTIONS and self.parts is not None:
            return replace(self, parts=self.parts.after(action, number))
        return replace(self, products=self.products.after(action, number))

    def draft(self, editor: ContentEditor) -> Any:
        further: dict[str, Any] = {"product_ids": self.product_ids} if editor.holds_products else {}
        further |= {"buried_ids": self.products.buried} if editor.buries_products else {}
        if self.parts is not None:
            further |= self.parts.draft()
        return editor.kind.draft(**self.texts, enabled=self.enabled, **further)


NO_ERRORS = FieldErrors()
LOOK_UP = "look"


def add_editor(editor: ContentEditor) -> None:
    """Register the views of an editor as `admin.pages_list`, `admin.page_new`, `page_create`, `page_edit`, ..."""
    noun = editor.noun
    new, one = f"{editor.folder}/{noun}/new", f"{editor.folder}/{noun}/<int(max=2147483647):{noun}_id>"
    views: list[tuple[str, str, str, Any]] = [("GET", one, f"{noun}_edit", _edit), ("POST", one, f"{noun}_save", _save)]
    if editor.has_list:
        views += [
            ("GET", f"{editor.folder}/{editor.plural}", f"{editor.plural}_list", _list),
            ("GET", new, f"{noun}_new", _new),
            ("POST", new, f"{noun}_create", _create),
            ("POST", f"{one}/delete", f"{noun}_delete", _delete),
        ]
    for method, rule, endpoint, view in views:
        checked = requires(editor.permission)(_bind(view, editor))
        bp.add_url_rule(rule, endpoint, checked, methods=[method])


def _bind(view: Any, editor: ContentEditor) -> Any:
    def bound(**record_id: int) -> AnyResponse | str:
        answer: AnyResponse | str = view(editor, *record_id.values())
        return answer

    return bound


def _list(editor: ContentEditor) -> str:
    words = " ".join(request.args.get("q", "")[:LONGEST_WORDS].split())
    found = content.list_content(editor.kind, current_user.site_id, words, page_number(request.args.get("p")))
    template = "admin/content/_results.html" if wants_fragment() else "admin/content/list.html"
    return render_template(template, editor=editor, found=found, words=words)


def _new(editor: ContentEditor) -> Response:
    return _page(editor, None, ContentForm.empty(editor))


def _create(editor: ContentEditor) -> AnyResponse:
    form = ContentForm.sent(editor, request.form)
    if editor.holds_products and request.form.get("intent"):
        return _products_changed(editor, None, form)
    try:
        with transaction():
            record_id = content.create(current_author(), editor.kind, form.draft(editor)).id
    except (Invalid, Conflict) as error:
        return _page(editor, None, form, FieldErrors(error))
    address = _address(editor, record_id)
    flash_undoable("Added. Search shows it in a few seconds.", editor.noun, record_id, _list_address(editor))
    return _redirect(address)


def _edit(editor: ContentEditor, record_id: int) -> Response:
    record = _stored_record(editor, record_id)
    form = ContentForm.of(editor, record)
    return _page(editor, record, replace(form, products=form.products.shown(request.args.get("show", ""))))


def _save(editor: ContentEditor, record_id: int) -> AnyResponse:
    form = ContentForm.sent(editor, request.form)
    if (editor.holds_products or editor.parts) and request.form.get("intent"):
        return _products_changed(editor, _stored_record(editor, record_id), form)
    old_address = editor.address_of(_stored_record(editor, record_id))
    try:
        with addresses_left_by(sent_choice()), transaction():
            record, changed = content.save(current_author(), editor.kind, record_id, form.revision, form.draft(editor))
    except (Invalid, Conflict) as error:
        return _page(editor, _stored_record(editor, record_id), form, FieldErrors(error))
    if warning := editor.moved(record, old_address):
        flash(warning, "warn")
    if wants_fragment():
        stored = ContentForm.of(editor, record)
        stored = replace(stored, products=stored.products.shown(form.products.layout))
        return _page(editor, record, stored, saved=changed)
    address = form.products.address(_address(editor, record_id))
    flash_saved(changed, "Saved. Search shows it in a few seconds.", editor.noun, record_id, address)
    return redirect(address)


def _delete(editor: ContentEditor, record_id: int) -> AnyResponse:
    with transaction():
        title = content.delete(current_author(), editor.kind, record_id)
    address = _list_address(editor)
    flash_undoable(f"Deleted {title}.{editor.deleted}", editor.noun, record_id, address)
    return _redirect(address)


def _list_address(editor: ContentEditor) -> str:
    return url_for(f"admin.{editor.plural}_list")


def _stored_record(editor: ContentEditor, record_id: int) -> Any:
    return content.record_of(editor.kind, current_user.site_id, record_id)


def _address(editor: ContentEditor, record_id: int) -> str:
    values: dict[str, Any] = {f"{editor.noun}_id": record_id}
    return url_for(f"admin.{editor.noun}_edit", **values)


def _redirect(address: str) -> AnyResponse:
    return redirect_page(address) if wants_fragment() else redirect(address)


def _products_changed(editor: ContentEditor, record: Any, form: ContentForm) -> Response:
    """Change the list of products in the form; nothing is saved."""
    form = form.after(intent := request.form["intent"])
    if not wants_fragment():
        return _page(editor, record, form)
    context: dict[str, Any] = {
        "form": form,
        "changed": form.products.before is not None,
        "record": record,
        "editor": editor,
    }
    context |= _shown_products(editor, record, form.products)
    context |= {"moved_focus": intent.startswith("remove"), "adds_another": intent.startswith("add")}
    context |= {
        "news": news_of(intent, context["rows"], context["buried_rows"]),
        "focused_product": form.products.pinned_last(intent),
    }
    page = render_template("admin/content/_products_changed.html", products_help=editor.products_help, **context)
    answer = make_response(page)
    if intent.startswith("show:"):
        answer.headers["HX-Replace-Url"] = form.products.address(request.path)
    return answer


def _shown_products(editor: ContentEditor, record: Any, products: ProductOrder) -> dict[str, Any]:
    """Return what the templates show of the products; a page for shoppers only of a record that is stored."""
    layouts = LAYOUTS if record is not None else [layout for layout in LAYOUTS if layout[0] != SHOP]
    listed = products.listed(current_user.site_id, partial(editor.order_without_hand, record)) | {"layouts": layouts}
    if record is None or products.layout != SHOP:
        return listed
    try:
        page = editor.drawn_for_shoppers(record)
    except SearchUnavailable as error:
        return listed | {"no_shop_page": error.message}
    return listed | {"shop_page": page, "no_shop_page": "" if page else f"Shoppers do not see this {editor.noun}."}


def _page(
    editor: ContentEditor,
    record: Any,
    form: ContentForm,
    errors: FieldErrors = NO_ERRORS,
    saved: tuple[str, ...] | None = None,
) -> Response:
    """Show the editor of a record, or of a new one; over a stale revision what was typed beside what is stored."""
    context: dict[str, Any] = {"editor": editor, "record": record, "errors": errors, "saved": saved}
    context |= {"form": form, "stored": None, "changed": False, "back": editor.back(record)}
    context["undo"] = undo_address_of(editor.noun, record.id) if saved else None
    context["products_help"] = editor.products_help
    if request.form.get("intent") == LOOK_UP:  # From a browser without JavaScript.
        context |= _looked_up(request.form.get("lookup", ""))
    context |= editor.context(record, form) if record is not None else {}
    if record is not None:
        context |= {"title": editor.kind.title_of(record), "address": _address(editor, record.id)}
        if errors.is_stale:
            context |= {"stored": ContentForm.of(editor, record), "form": form.on(record.revision)}
    else:
        context |= {"title": f"Add a {editor.noun}", "address": url_for(f"admin.{editor.noun}_new")}
    if editor.holds_products:
        context |= _shown_products(editor, record, form.products)
    template = "admin/content/_edit.html" if wants_fragment() else "admin/content/edit.html"
    return make_response(render_template(template, **context), errors.status if errors else 200)


add_editor(
    ContentEditor(
        kind=PAGE,
        plural="pages",
        folder="/content",
        permission=Permission.MANAGE_CONTENT,
        lead="What the shop says besides products: about, delivery, returns.",
        none_yet="Pages tell shoppers about delivery, returns and who you are.",
        controls=(
            TextControl("title", "Title"),
            TextControl(
                "body",
                "Body",
                "Headings, lists, tables, links and pictures are kept; scripts are removed.",
                rows=16,
                is_rich=True,
            ),
        ),
        address_heading="Address and search engines",
        address_controls=(
            TextControl(
                "meta_description", "Meta description", "One or two sentences that search engines may show.", rows=2
            ),
        ),
        deletion="Shoppers who follow a link to it find nothing. Undo brings it back. To keep it out of sight "
        "instead, untick “Shown in the shop”.",
    )
)


class CollectionEditor(ContentEditor):
    def drawn_for_shoppers(self, record: Any) -> str | None:
        if not record.enabled:
            return None
        shown = collection_at(record.site_id, record.seo_name)
        return drawn_collection(read_shop(record.site_id), shown, self.in_shop(record.seo_name))


add_editor(
    CollectionEditor(
        kind=COLLECTION,
        plural="collections",
        folder="/catalogue",
        permission=Permission.MANAGE_CATALOGUE,
        lead="A collection is a set of products chosen by hand, with a page of its own beside the categories: a "
        "season, a gift list.",
        none_yet="A collection puts products that belong together on one page, in the order you choose.",
        controls=(
            TextControl("name", "Name"),
            TextControl(
                "description",
                "Description",
                "Shown above the products. Headings, lists and links are kept; scripts are removed.",
                rows=4,
                is_rich=True,
            ),
        ),
        holds_products=True,
        deletion="The page of the collection goes; the shop keeps its {products}. Undo brings it back.",
        deleted=" Its products stay.",
    )
)


@bp.get("/catalogue/products/lookup")
@requires(Permission.MANAGE_CATALOGUE)
def products_lookup() -> str:
    """Return the products that match what was typed into the lookup of an editor, for adding them."""
    return render_template("admin/content/_lookup.html", **_looked_up(request.args.get("lookup", "")))


def _looked_up(text: str) -> dict[str, Any]:
    """Return the products of a list of SKUs, or else those that match words."""
    site_id, words = current_user.site_id, text[:LONGEST_WORDS].strip()
    listed = queries.products_of_list(site_id, text)
    found = listed.products or queries.find_products(site_id, words)
    if found and not listed.products:
        listed = queries.ListedProducts()  # Words with a comma between are no list.
    limits = {"most_listed": queries.MOST_LISTED, "longest_list": queries.LONGEST_LIST}
    return {"found": found, "words": words, "listed": listed} | limits

"""The appearance of the shop: a form whose buttons change only the form until it is saved, and the home page as it
would look."""

from __future__ import annotations

from dataclasses import replace

from flask import Response, render_template, request
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.appearance_form import AppearanceForm
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.site_value_pages import answer_save, answer_undo
from app.blueprints.callers import current_author
from app.blueprints.storefront.home_preview import drawn_home
from app.domain.appearance.appearances import APPEARANCES, save_appearance, saved_appearance
from app.domain.appearance.colours import (
    TEXT_CONTRAST,
    WHITE,
    accent_shades,
    background_problems,
    contrast,
    is_colour,
    normal_colour,
)
from app.domain.appearance.declaration import Corners, FocalPoint
from app.domain.appearance.fonts import FONTS, THEME_FONT
from app.domain.appearance.sections import HEADINGS, KIND_LABELS, SectionKind
from app.domain.catalogue.content import COLLECTION
from app.domain.catalogue.pictures import StoredImage
from app.domain.catalogue.queries import manufacturers
from app.domain.merchandising.shop import content_links, read_shop
from app.domain.shared.problems import Conflict, Invalid
from app.domain.taxonomy.taxonomies import active_tree
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

PAGE = "/settings/appearance"
MOST_CHOICES = 500
Answer = str | AnyResponse | tuple[str, int]


@bp.get(PAGE)
@requires(Permission.MANAGE_SETTINGS)
def appearance() -> Answer:
    return _page(AppearanceForm.of(saved_appearance(current_user.site_id)), FieldErrors())


@bp.post(PAGE)
@requires(Permission.MANAGE_SETTINGS)
def appearance_save() -> Answer:
    form = _sent_form()
    try:
        wanted = form.checked(_is_stored)
        with transaction():
            changed = save_appearance(current_author(), form.revision, wanted)
    except (Invalid, Conflict) as refused:
        errors = FieldErrors(refused)
        if errors.is_stale:  # To save again overwrites the other save, of which the page says so.
            form.revision = saved_appearance(current_user.site_id).revision
        return _page(form, errors), errors.status
    return answer_save(APPEARANCES, "admin.appearance", changed)


@bp.post(f"{PAGE}/arrange")
@requires(Permission.MANAGE_SETTINGS)
def appearance_arrange() -> Answer:
    """Return the form with a section moved, added or removed, or with a picture that was chosen; nothing is saved."""
    form = _sent_form()
    form.arrange(request.form.get("intent", ""), request.form.get("add", ""))
    errors = FieldErrors(Invalid(form.problems)) if form.problems else FieldErrors()
    if wants_fragment():
        return render_template("admin/appearance/_form.html", **_context(form, errors))
    return _page(form, errors)


@bp.post(f"{PAGE}/preview")
@requires(Permission.MANAGE_SETTINGS)
def appearance_preview() -> Response:
    """Return the home page with what the form holds; a field that is invalid is as it is stored."""
    shop = read_shop(current_user.site_id)
    return drawn_home(replace(shop, appearance=_sent_form().readable(shop.appearance)))


@bp.get(f"{PAGE}/contrast")
@requires(Permission.MANAGE_SETTINGS)
def appearance_contrast() -> str:
    """Return how the typed accent will be shown, how well it can be read, and why a typed background is refused. The
    message beside the field that was typed into is replaced, that of the other one stays."""
    accent, background = (normal_colour(request.args.get(name, "")) for name in ("accent", "background"))
    typed = request.args.get("typed", "")
    problem = " ".join(_problems_of_background(background)) if typed == "background" else ""
    context = {"contrasts": _contrasts(accent, background), "typed": typed, "typed_problem": problem}
    return render_template("admin/appearance/_contrast.html", **context)


@bp.post(f"{PAGE}/undo")
@requires(Permission.MANAGE_SETTINGS)
def appearance_undo() -> AnyResponse:
    return answer_undo(APPEARANCES, "admin.appearance")


def _sent_form() -> AppearanceForm:
    return AppearanceForm.read(request.form, request.files, _keep_picture)


def _keep_picture(data: bytes) -> StoredImage:
    return ports.images().keep(current_user.site_id, data)


def _is_stored(file: str) -> bool:
    return ports.images().has(current_user.site_id, file)


def _page(form: AppearanceForm, errors: FieldErrors) -> str:
    return render_template("admin/appearance/page.html", **_context(form, errors))


def _context(form: AppearanceForm, errors: FieldErrors) -> dict[str, object]:
    site_id = current_user.site_id
    values = form.values
    colours = (normal_colour(values.get(name) or "") for name in ("accent", "background"))
    return {
        "form": form,
        "values": values,
        "errors": errors,
        "saved": saved_appearance(site_id),
        "fonts": [(THEME_FONT, "The theme’s own"), *((name, font.label) for name, font in FONTS.items())],
        "corners": list(Corners),
        "focal_points": list(FocalPoint),
        "kinds": [(kind.value, label) for kind, label in KIND_LABELS.items()],
        "headings": HEADINGS,
        "products": _product_choices(site_id),
        "collections": _collection_choices(site_id),
        "contrasts": _contrasts(*colours),
        "Kind": SectionKind,
    }


def _product_choices(site_id: int) -> list[tuple[str, list[tuple[str, str]]]]:
    tree = active_tree(site_id)
    levels = [(f"level:{id}", " › ".join(step.name for step in tree.path(id))) for id in tree.levels][:MOST_CHOICES]
    makers = [(f"manufacturer:{name}", name) for name in manufacturers(site_id, "", MOST_CHOICES)]
    return [("Chosen", [("featured", "Featured products")]), ("Taxonomy levels", levels), ("Manufacturers", makers)]


def _collection_choices(site_id: int) -> list[tuple[str, str]]:
    links = content_links(COLLECTION, site_id, MOST_CHOICES)
    return [("", "Choose a collection"), *((link.path.rpartition("/")[2], link.name) for link in links)]


def _problems_of_background(background: str) -> list[str]:
    """Return why a background that is typed in full is refused."""
    return [problem.message for problem in background_problems(background, "")] if is_colour(background) else []


def _contrasts(accent: str, background: str) -> dict[str, object]:
    """Return how an accent is shown on light and dark screens, with the contrast of text on it; empty without one."""
    if not is_colour(accent):
        return {}
    is_usable = is_colour(background) and not _problems_of_background(background)
    shades = accent_shades(accent, background if is_usable else "")
    shown, on_it = shades["accent"], shades["on-accent"]
    return {
        "accent": accent,
        "light": shown.light,
        "dark": shown.dark,
        "on_light": on_it.light,
        "on_dark": on_it.dark,
        "light_contrast": contrast(shown.light, on_it.light),
        "dark_contrast": contrast(shown.dark, on_it.dark),
        "as_typed": contrast(accent, WHITE),
        "is_changed": shown.light != accent,
        "least": TEXT_CONTRAST,
    }

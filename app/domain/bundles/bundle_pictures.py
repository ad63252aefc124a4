"""The pictures that a bundle names: the shop's store takes them, checked and encoded anew, or says which it cannot
take. They are taken between two transactions, since that takes long."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from app.domain.bundles.archive import MEDIA
from app.domain.bundles.import_task import ImportTask
from app.domain.bundles.picture_fetches import NOT_FETCHED, NotYetFetched
from app.domain.bundles.product_changes import CheckedRow, Picture, StoredProduct
from app.domain.bundles.product_rows import ImportedProduct
from app.domain.bundles.reading import read_bytes
from app.domain.catalogue.picture_source import is_address
from app.domain.catalogue.pictures import LARGEST_UPLOAD, MOST_IMAGES, StoredImage
from app.domain.catalogue.product_rules import VariantDraft
from app.domain.shared.problems import Invalid, NotFound, Problem

STEP = "Products"
MISSING = "missing_file"
MOST_NAMED = 5  # Pictures that no line names, in the sentence about them.


def keep_pictures(task: ImportTask, row: ImportedProduct) -> tuple[list[Picture], list[Problem]]:
    """Return the pictures of a row that the shop stores, in their order, and the problems of those it could not take.
    Of a row that keeps others each picture counts once, and an empty description says nothing.

    An address on the web is fetched for a table alone: a bundle must not make this server call on others.
    """
    kept: list[Picture] = []
    problems: list[Problem] = []
    held = _held_pictures(task, row)
    for index, name in enumerate(row.images or ()):
        if _lacks_room(task, name, held, kept):
            problems += [] if _is_noted(problems, held) else [_no_room(held, index)]
            continue
        text = row.image_texts[index] if row.image_texts else None
        source = name if is_address(name) else None
        try:
            kept.append(
                Picture(keep_picture(task, name), None if row.keeps_others and not text else text, name, source)
            )
        except NotYetFetched:
            continue
        except Invalid as refused:
            problems += [_problem_of(name, p, f"#/images/{index}") for p in refused.problems]
        task.step(STEP)  # Drawing takes long, and fetching longer.
    return [*{one.image.file: one for one in kept}.values()] if row.keeps_others else kept, problems


def _held_pictures(task: ImportTask, row: ImportedProduct) -> set[str]:
    """Return the files of the pictures that stay at the product of a row which names addresses; none for other rows."""
    addresses = {name for name in row.images or () if is_address(name)}
    held = task.fetches.know(task.site_id, row.sku, addresses) if task.fetches is not None and addresses else set()
    return held if row.keeps_others else set()


def _lacks_room(task: ImportTask, name: str, held: Collection[str], kept: Sequence[Picture]) -> bool:
    """Whether a picture would be fetched for a product that has no room for it."""
    if task.fetches is None or not is_address(name) or task.fetches.stored(name) is not None:
        return False
    return len({*held, *(picture.image.file for picture in kept)}) >= MOST_IMAGES


def _no_room(held: Collection[str], index: int) -> Problem:
    message = f"A product has at most {MOST_IMAGES} pictures, and this one has {len(held)}; the rest is left out."
    return Problem("too_many", message, f"#/images/{index}")


def _is_noted(problems: Sequence[Problem], held: Collection[str]) -> bool:
    return _no_room(held, 0).message in [problem.message for problem in problems]


def _problem_of(name: str, problem: Problem, pointer: str) -> Problem:
    """Return the problem of a picture, with its name."""
    named = name[:120] in problem.message or problem.code in (MISSING, NOT_FETCHED)
    return Problem(problem.code, problem.message if named else f"{name[:120]}: {problem.message}", pointer)


def keep_picture(task: ImportTask, name: str) -> StoredImage:
    """Return the stored picture that a bundle names; in a dry run what it would be. Raises Invalid, and NotYetFetched
    for an address."""
    if is_address(name):
        return _keep_from_address(task, name)
    if (file := task.bundle.picture(name)) is not None:
        data = read_bytes(task.bundle, file, LARGEST_UPLOAD)
    else:  # An export of this shop without the file: the shop may have it still.
        try:
            data = task.images.read(task.site_id, name.removeprefix(MEDIA))
        except NotFound:
            raise Invalid.one(MISSING, task.bundle.describe_missing(name)) from None
    return (task.images.try_out if task.dry_run else task.images.keep)(task.site_id, data)


def _keep_from_address(task: ImportTask, address: str) -> StoredImage:
    if task.fetches is None:
        message = "A picture at an address is not fetched; put the file into media/ and give its name."
        raise Invalid.one(NOT_FETCHED, message)
    if (known := task.fetches.stored(address)) is not None:
        return known
    if task.dry_run:
        return task.fetches.preview(address)
    stored = task.images.keep(task.site_id, task.fetches.fetch(address))
    task.fetches.note_stored(address, stored)
    return stored


def limit_pictures(candidate: CheckedRow, stored: StoredProduct | None) -> None:
    """Leave out the pictures for which a product has no room beside those that it keeps, also as pictures of its
    variants."""
    if stored is None or candidate.images is None or not candidate.row.keeps_others:
        return
    known = {picture.image.file for picture in stored.images}
    new = [picture for picture in candidate.images if picture.image.file not in known]
    room = max(0, MOST_IMAGES - len(known))
    if len(new) > room:
        if not _is_noted(candidate.row.complaints, known):
            candidate.row.complaints.append(_no_room(known, room))
        candidate.images = [one for one in candidate.images if one not in new[room:]]
        _take_from_variants(candidate.row, {picture.image.file for picture in new[room:]})


def _take_from_variants(row: ImportedProduct, files: Collection[str]) -> None:
    if row.variants is not None:
        row.variants = [replace(one, picture=None) if one.picture in files else one for one in row.variants]


def variants_with_pictures(
    row: ImportedProduct, pictures: Sequence[Picture]
) -> tuple[list[VariantDraft], list[Problem]]:
    """Return the variants of a row with the files of their pictures, which the bundle names as in the product's
    `images`, and the problems of those that are not among them. `pictures` are those that could be taken."""
    named = {name.removeprefix(MEDIA) for name in (*(row.images or ()), *row.left_out)}
    files = {picture.name.removeprefix(MEDIA): picture.image.file for picture in pictures}
    found: list[VariantDraft] = []
    problems: list[Problem] = []
    for index, variant in enumerate(row.variants or ()):
        name = (variant.picture or "").removeprefix(MEDIA)
        if name and name not in named:
            message = "The picture of a variant must be one of the product’s “images”."
            problems.append(Problem("unknown_picture", message, f"#/variants/{index}/image"))
        found.append(replace(variant, picture=files.get(name)))
    return found, problems


def picture_notes(task: ImportTask) -> list[str]:
    """Return what people should know of the pictures of an import, besides those that were left out."""
    unnamed = task.bundle.unnamed_pictures()
    notes = [_describe_unnamed(unnamed)] if unnamed else []
    return notes + (task.fetches.notes() if task.fetches else [])


def _describe_unnamed(names: Sequence[str]) -> str:
    named = ", ".join(name[:80] for name in names[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"No line names these files of the .zip: {named}{more}."

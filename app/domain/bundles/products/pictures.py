"""The pictures that a row of products names: files of the bundle's media folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.bundles.archive import MEDIA
from app.domain.bundles.reading import read_bytes
from app.domain.bundles.task import ImportTask
from app.domain.catalogue.pictures import LARGEST_UPLOAD, StoredImage
from app.domain.catalogue.product_rules import VariantDraft
from app.domain.shared.problems import Invalid, NotFound, Problem


@dataclass(frozen=True, slots=True)
class Picture:
    """A kept picture, its name in the bundle, and its description; None where the bundle says nothing of it."""

    image: StoredImage
    alt: str | None = None
    name: str = ""


def keep_pictures(
    task: ImportTask, names: Sequence[str], texts: Sequence[str] | None
) -> tuple[list[Picture], list[Problem]]:
    """Return the pictures that the shop stores, in their order, and the problems of those it could not take. `texts`
    describe them.

    An address on the web is not fetched: a bundle must not make this server call on others.
    """
    kept: list[Picture] = []
    problems: list[Problem] = []
    for index, name in enumerate(names):
        try:
            kept.append(Picture(_keep(task, name), texts[index] if texts else None, name))
        except Invalid as refused:
            problems += [Problem(p.code, p.message, f"#/images/{index}") for p in refused.problems]
    return kept, problems


def variants_with_pictures(
    variants: Sequence[VariantDraft], pictures: Sequence[Picture]
) -> tuple[list[VariantDraft], list[Problem]]:
    """Return the variants with the files of their pictures, which the bundle names as in the product's `images`, and
    the problems of those that are not among them."""
    files = {picture.name.removeprefix(MEDIA): picture.image.file for picture in pictures}
    found: list[VariantDraft] = []
    problems: list[Problem] = []
    for index, variant in enumerate(variants):
        file = files.get(variant.picture.removeprefix(MEDIA)) if variant.picture else None
        if variant.picture and file is None:
            message = "The picture of a variant must be one of the product’s “images”."
            problems.append(Problem("unknown_picture", message, f"#/variants/{index}/image"))
        found.append(replace(variant, picture=file))
    return found, problems


def _keep(task: ImportTask, name: str) -> StoredImage:
    if "://" in name or name.startswith("//"):
        message = "A picture at an address is not fetched; put the file into media/ and give its name."
        raise Invalid.one("address_not_fetched", message)
    file = f"{MEDIA}{name.removeprefix(MEDIA)}"
    data = read_bytes(task.bundle, file, LARGEST_UPLOAD) if file in task.bundle else _of_shop(task, file)
    return (task.images.try_out if task.dry_run else task.images.keep)(task.site_id, data)


def _of_shop(task: ImportTask, file: str) -> bytes:
    """Return a picture that the bundle does not carry but names as an export of this shop does: the shop has it.
    Raises Invalid."""
    try:
        return task.images.read(task.site_id, file.removeprefix(MEDIA))
    except NotFound:
        raise Invalid.one("missing_file", f"The bundle has no file {file[:120]}.") from None

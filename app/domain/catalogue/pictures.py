"""The names of the forms of a stored picture, and their sizes: pure."""

from __future__ import annotations

from dataclasses import dataclass

MOST_IMAGES = 30  # Of a product.
LARGEST_UPLOAD = 5 * 1024 * 1024  # Bytes.
MOST_PIXELS = 25_000_000
LONGEST_SIDE = 1_600  # Pixels; larger pictures are scaled down to it.
# The smaller forms of a picture by name, with their longest sides: thumbs, cards, and pages on phones.
FORMS = {"tiny": 240, "small": 480, "medium": 960}
JPEG_SIDE = 960  # Of the one JPEG, for programs that read no WebP: old browsers, previews of links.


@dataclass(frozen=True, slots=True)
class StoredImage:
    """A stored picture. `file` is a name without folders, made from its content; sizes are in pixels."""

    file: str
    width: int
    height: int


def form_of(file: str, name: str) -> str:
    """Return the file name of a form of a stored picture; `name` is one of FORMS."""
    stem, point, suffix = file.rpartition(".")
    return f"{stem}-{name}{point}{suffix}"


def small_form(file: str) -> str:
    """Return the file name of the small form of a stored picture, for lists and cards."""
    return form_of(file, "small")


def jpeg_form(file: str) -> str:
    """Return the JPEG of a stored picture, by the name or address of the picture or of a form of it."""
    folder, slash, name = file.rpartition("/")
    return f"{folder}{slash}{name.partition('.')[0].partition('-')[0]}.jpg"


def scale_to(width: int, height: int, longest_side: int) -> tuple[int, int]:
    """Return the size of a picture with at most that longest side; a smaller one stays as it is."""
    factor = min(1.0, longest_side / max(width, height))
    return max(1, round(width * factor)), max(1, round(height * factor))


def srcset(url: str, width: int, height: int) -> str:
    """Return the forms of a picture by their widths in pixels, as the attribute `srcset` of HTML names them; empty for
    a picture that has no smaller form."""
    smaller = [(form_of(url, name), side) for name, side in FORMS.items() if side < max(width, height)]
    sizes = [(file, scale_to(width, height, side)[0]) for file, side in smaller]
    return ", ".join(f"{file} {pixels}w" for file, pixels in [*sizes, (url, width)]) if smaller else ""

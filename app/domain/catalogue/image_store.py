"""The store of pictures: drawn anew by Pillow as WebP, with a JPEG beside. Where their files lie is the matter of a
`PictureStorage`.

Decoding a picture takes a hundred megabytes, and a processor for a second: a machine decodes MOST_AT_ONCE at a time.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex

from PIL import Image, ImageOps

from app.domain.catalogue.picture_storage import PART, RECEIVED, PictureStorage
from app.domain.catalogue.pictures import (
    FORMS,
    JPEG_SIDE,
    LARGEST_UPLOAD,
    LONGEST_SIDE,
    MOST_PIXELS,
    StoredImage,
    form_of,
    jpeg_form,
    scale_to,
)
from app.domain.shared.problems import Invalid, NotFound

FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
QUALITY = 82
PICTURE = re.compile(r"[0-9a-f]{32}\.webp", re.ASCII)
FILE = re.compile(rf"([0-9a-f]{{32}})(?:(?:-({'|'.join(FORMS)}))?\.webp|\.jpg)", re.ASCII)
MOST_AT_ONCE = 2
WHITE = (255, 255, 255)  # The background of transparent pictures as JPEG.


class ImageStore:
    """The pictures of all sites in a storage. `locks` is a folder of this machine, for the locks of those who decode.
    Every method raises what a PictureStorage does."""

    def __init__(self, storage: PictureStorage, locks: Path) -> None:
        self._storage, self._locks = storage, locks

    @property
    def is_shared(self) -> bool:
        """Whether the pictures are those of all machines, and so are the uploads that wait."""
        return self._storage.is_shared

    def keep(self, site_id: int, data: bytes) -> StoredImage:
        """Check and store an upload together with its smaller forms; the same picture twice is stored once. Pictures
        are encoded anew, so that nothing but the picture survives; only what this store has encoded itself, for any
        site, is stored as it is. A machine decodes two at a time, so this may wait. Raises Invalid, saying why, for
        what is not a JPEG, PNG, WebP or GIF of at most LARGEST_UPLOAD and MOST_PIXELS."""
        _check_size(data)
        if known := self._stored_before(site_id, data):
            self._storage.renew(site_id, known.file, data)
            return known
        with decoding_slot(self._locks):
            picture = _decode(data)
            stored, encoded = self._encode(picture, data)
            forms = {name: _encode_webp(picture, side) for name, side in _smaller_forms(picture.size)}
            plain = _encode_jpeg(picture)
        self._storage.write(site_id, jpeg_form(stored.file), plain)
        for name, smaller in forms.items():
            self._storage.write(site_id, form_of(stored.file, name), smaller)
        self._storage.write(site_id, stored.file, encoded)
        return stored

    def try_out(self, site_id: int, data: bytes) -> StoredImage:
        """Return what `keep` would, and raise what it would; nothing is kept."""
        _check_size(data)
        if known := self._stored_before(site_id, data):
            return known
        with decoding_slot(self._locks):
            return self._encode(_decode(data), data)[0]

    def _stored_before(self, site_id: int, data: bytes) -> StoredImage | None:
        """Return the stored picture whose file has this very content, which need not be encoded again; None where it,
        or a form of it, is missing."""
        file = _content_name(data)
        if not self._has(site_id, file) or not self._has(site_id, jpeg_form(file)):
            return None
        with _broken_files_are_invalid():
            width, height = _open_header(data).size
        if not all(self._has(site_id, form_of(file, name)) for name, _ in _smaller_forms((width, height))):
            return None
        return StoredImage(file, width, height)

    def _encode(self, picture: Image.Image, data: bytes) -> tuple[StoredImage, bytes]:
        """Return the stored form of an upload and its bytes, named by their content. What this store has encoded
        already, for any of its sites, stays as it is, so that a picture that goes from one shop to another and back
        remains the same. Any other file is encoded anew, also one that looks like ours: foreign data may lie within the
        compressed picture itself."""
        if any(self._has(site, _content_name(data)) for site in self._storage.sites()):
            return StoredImage(_content_name(data), *picture.size), data
        encoded = _encode_webp(picture, LONGEST_SIDE)
        return StoredImage(_content_name(encoded), *scale_to(*picture.size, LONGEST_SIDE)), encoded

    def add_forms(self, site_id: int, file: str) -> int:
        """Make the smaller forms that a stored picture lacks, as older ones do; return how many. Raises NotFound, and
        Invalid for a file that is no picture any more."""
        data = self.read(site_id, file)
        with decoding_slot(self._locks):
            picture = _decode(data)
            missing = [
                (form, side)
                for name, side in _smaller_forms(picture.size)
                if not self._has(site_id, form := form_of(file, name))
            ]
            for form, side in missing:
                self._storage.write(site_id, form, _encode_webp(picture, side))
        return len(missing)

    def receive(self, site_id: int, data: bytes) -> str:
        """Store an upload for later, checked by its size and header alone, and return its name. Raises Invalid, as
        `keep` does."""
        _check_size(data)
        with _broken_files_are_invalid():
            _open_header(data)
        name = f"{token_hex(16)}{RECEIVED}"
        self._storage.write(site_id, name, data)
        return name

    def received(self, site_id: int, name: str) -> bytes:
        """Return a received upload. Raises NotFound."""
        if (data := self._storage.read(site_id, name)) is None:
            raise NotFound("There is no such picture.")
        return data

    def drop(self, site_id: int, name: str) -> None:
        """Remove a received upload."""
        self._storage.remove(site_id, name)

    def read(self, site_id: int, file: str) -> bytes:
        """Return a picture, a form of it or its JPEG; instead of a form that was never made the next larger one. Raises
        NotFound."""
        if file.endswith(".jpg"):
            return self._jpeg(site_id, file)
        for name in _stand_ins(file):
            if (data := self._storage.read(site_id, name)) is not None:
                return data
        raise NotFound("There is no such picture.")

    def has(self, site_id: int, file: str) -> bool:
        """Whether a file is a stored picture of the site."""
        return PICTURE.fullmatch(file) is not None and self._has(site_id, file)

    def files(self, site_id: int) -> list[tuple[str, float]]:
        """Return every stored picture, smaller forms apart, with the time of its writing in seconds since 1970."""
        return [(one.name, one.written_at) for one in self._storage.files(site_id) if PICTURE.fullmatch(one.name)]

    def discard(self, site_id: int, file: str, written_before: float) -> bool:
        """Remove a picture and its smaller forms, unless it was stored anew since that moment (seconds since 1970);
        return whether it was removed. Nothing happens when there is none."""
        _check_name(file)
        written_at = self._storage.written_at(site_id, file)
        if written_at is None or written_at >= written_before:
            return False
        for name in (file, jpeg_form(file), *(form_of(file, name) for name in FORMS)):
            self._storage.remove(site_id, name)
        return True

    def clear(self, site_id: int, written_before: float) -> None:
        """Remove uploads received before that moment, and what uploads that broke off left behind."""
        for left in self._storage.files(site_id):
            if left.name.endswith((PART, RECEIVED)) and left.written_at < written_before:
                self._storage.remove(site_id, left.name)

    def _jpeg(self, site_id: int, file: str) -> bytes:
        """Return the JPEG of a picture, made now where the picture was kept before there were JPEGs, or came from
        another shop."""
        _check_name(file)
        if (stored := self._storage.read(site_id, file)) is not None:
            return stored
        whole = self.read(site_id, f"{file.removesuffix('.jpg')}.webp")
        with decoding_slot(self._locks):
            plain = _encode_jpeg(_decode(whole))
        self._storage.write(site_id, file, plain)
        return plain

    def _has(self, site_id: int, file: str) -> bool:
        return self._storage.written_at(site_id, file) is not None


@contextmanager
def decoding_slot(folder: Path) -> Iterator[None]:
    """Wait until fewer than MOST_AT_ONCE pictures are decoded by the processes that share the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        slots = [opened.enter_context((folder / f".decoding-{number}").open("a")) for number in range(MOST_AT_ONCE)]
        if not any(_is_taken(slot.fileno()) for slot in slots):
            fcntl.flock(slots[os.getpid() % MOST_AT_ONCE], fcntl.LOCK_EX)
        yield


def _is_taken(slot: int) -> bool:
    """Take the slot if it is free, until its file is closed; return whether it was."""
    try:
        fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _content_name(encoded: bytes) -> str:
    return f"{hashlib.sha256(encoded).hexdigest()[:32]}.webp"


def _smaller_forms(size: tuple[int, int]) -> list[tuple[str, int]]:
    """Return (name, longest side) of the forms of a picture of this size: the smaller ones, and `small` in any case."""
    return [(name, side) for name, side in FORMS.items() if side < max(size) or name == "small"]


def _stand_ins(file: str) -> list[str]:
    """The file, then what may stand in for it: the larger forms and the picture itself. Raises NotFound."""
    named = FILE.fullmatch(file)
    if named is None:
        raise NotFound("There is no such picture.")
    whole, names = f"{named[1]}.webp", list(FORMS)
    larger = names[names.index(named[2]) :] if named[2] else []
    return [*(form_of(whole, name) for name in larger), whole]


def _check_name(file: str) -> None:
    """Check that a name is that of a stored picture. Raises NotFound."""
    if not FILE.fullmatch(file):
        raise NotFound("There is no such picture.")


def _check_size(data: bytes) -> None:
    if not data:
        raise _invalid("no_picture", "Choose a picture first.")
    if len(data) > LARGEST_UPLOAD:
        raise _invalid("too_large", f"A picture has at most {LARGEST_UPLOAD // 1024**2} MB.")


def _open_header(data: bytes) -> Image.Image:
    """Open a picture by its header; no pixel is decoded. Raises Invalid for one with too many pixels."""
    picture = Image.open(io.BytesIO(data), formats=FORMATS)
    width, height = picture.size
    if width * height > MOST_PIXELS:
        raise _invalid("too_many_pixels", f"A picture has at most {MOST_PIXELS // 1_000_000} million pixels.")
    return picture


def _decode(data: bytes) -> Image.Image:
    """Return the first frame of a picture, upright, as RGB or RGBA. Raises Invalid for what is no picture."""
    with _broken_files_are_invalid():
        picture = _open_header(data)
        picture.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
        upright = ImageOps.exif_transpose(picture)
        return upright.convert("RGBA" if upright.has_transparency_data else "RGB")


@contextmanager
def _broken_files_are_invalid() -> Iterator[None]:
    try:
        yield
    except Invalid:
        raise
    except Exception:  # Broken and hostile files make Pillow raise nearly anything, struct.error for one.
        raise _invalid("not_a_picture", "This is not a whole JPEG, PNG, WebP or GIF picture.") from None


def _resize(picture: Image.Image, longest_side: int) -> Image.Image:
    resized = picture.resize(scale_to(*picture.size, longest_side), Image.Resampling.LANCZOS, reducing_gap=3)
    resized.info.clear()
    return resized


def _encode_jpeg(picture: Image.Image) -> bytes:
    resized = _resize(picture, JPEG_SIDE)
    flat = Image.new("RGB", resized.size, WHITE)
    flat.paste(resized, mask=resized.getchannel("A") if resized.mode == "RGBA" else None)
    out = io.BytesIO()
    flat.save(out, "JPEG", quality=QUALITY, optimize=True, progressive=True)
    return out.getvalue()


def _encode_webp(picture: Image.Image, longest_side: int) -> bytes:
    resized = _resize(picture, longest_side)
    out = io.BytesIO()
    resized.save(out, "WEBP", quality=QUALITY, method=4)
    return out.getvalue()


def _invalid(code: str, message: str) -> Invalid:
    return Invalid.one(code, message, "#/image")

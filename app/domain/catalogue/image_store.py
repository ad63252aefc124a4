"""The store of pictures: files below one folder per site, drawn anew by Pillow as WebP, with a JPEG beside.

Decoding a picture takes a hundred megabytes, and a processor for a second: a machine decodes MOST_AT_ONCE at a time.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from PIL import Image, ImageOps

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
PART = ".part"
RECEIVED = ".upload"
FILE = re.compile(rf"([0-9a-f]{{32}})(?:(?:-({'|'.join(FORMS)}))?\.webp|\.jpg)", re.ASCII)
MOST_AT_ONCE = 2
WHITE = (255, 255, 255)  # The background of transparent pictures as JPEG.


class ImageStore:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, site_id: int, data: bytes) -> StoredImage:
        """Check and store an upload together with its smaller forms; the same picture twice is stored once. Pictures
        are encoded anew, so that nothing but the picture survives; only what this store has encoded itself, for any
        site, is stored as it is. A machine decodes two at a time, so this may wait. Raises Invalid, saying why, for
        what is not a JPEG, PNG, WebP or GIF of at most LARGEST_UPLOAD and MOST_PIXELS."""
        _check_size(data)
        if known := self._stored_before(site_id, data):
            os.utime(self._path(site_id, known.file))
            return known
        with decoding_slot(self._folder):
            picture = _decode(data)
            stored, encoded = self._encode(picture, data)
            forms = {name: _encode_webp(picture, side) for name, side in _smaller_forms(picture.size)}
            plain = _encode_jpeg(picture)
        _write(self._path(site_id, jpeg_form(stored.file)), plain)
        for name, smaller in forms.items():
            _write(self._path(site_id, form_of(stored.file, name)), smaller)
        _write(self._path(site_id, stored.file), encoded)
        return stored

    def try_out(self, site_id: int, data: bytes) -> StoredImage:
        """Return what `keep` would, and raise what it would; nothing is kept."""
        _check_size(data)
        if known := self._stored_before(site_id, data):
            return known
        with decoding_slot(self._folder):
            return self._encode(_decode(data), data)[0]

    def _stored_before(self, site_id: int, data: bytes) -> StoredImage | None:
        """Return the stored picture whose file has this very content, which need not be encoded again; None where it,
        or a form of it, is missing."""
        file = _content_name(data)
        path = self._path(site_id, file)
        if not path.exists() or not self._path(site_id, jpeg_form(file)).exists():
            return None
        with _broken_files_are_invalid():
            width, height = _open_header(data).size
        if not all(self._path(site_id, form_of(file, name)).exists() for name, _ in _smaller_forms((width, height))):
            return None
        return StoredImage(file, width, height)

    def _encode(self, picture: Image.Image, data: bytes) -> tuple[StoredImage, bytes]:
        """Return the stored form of an upload and its bytes, named by their content. What this store has encoded
        already, for any of its sites, stays as it is, so that a picture that goes from one shop to another and back
        remains the same. Any other file is encoded anew, also one that looks like ours: foreign data may lie within the
        compressed picture itself."""
        if next(self._folder.glob(f"*/{_content_name(data)}"), None):
            return StoredImage(_content_name(data), *picture.size), data
        encoded = _encode_webp(picture, LONGEST_SIDE)
        return StoredImage(_content_name(encoded), *scale_to(*picture.size, LONGEST_SIDE)), encoded

    def add_forms(self, site_id: int, file: str) -> int:
        """Make the smaller forms that a stored picture lacks, as older ones do; return how many. Raises NotFound, and
        Invalid for a file that is no picture any more."""
        data = self.read(site_id, file)
        with decoding_slot(self._folder):
            picture = _decode(data)
            missing = [
                (path, side)
                for name, side in _smaller_forms(picture.size)
                if not (path := self._path(site_id, form_of(file, name))).exists()
            ]
            for path, side in missing:
                _write(path, _encode_webp(picture, side))
        return len(missing)

    def receive(self, site_id: int, data: bytes) -> str:
        """Store an upload for later, checked by its size and header alone, and return its name. Raises Invalid, as
        `keep` does."""
        _check_size(data)
        with _broken_files_are_invalid():
            _open_header(data)
        name = f"{token_hex(16)}{RECEIVED}"
        _write(self._upload_path(site_id, name), data)
        return name

    def received(self, site_id: int, name: str) -> bytes:
        """Return a received upload. Raises NotFound."""
        try:
            return self._upload_path(site_id, name).read_bytes()
        except FileNotFoundError:
            raise NotFound("There is no such picture.") from None

    def drop(self, site_id: int, name: str) -> None:
        """Remove a received upload."""
        self._upload_path(site_id, name).unlink(missing_ok=True)

    def read(self, site_id: int, file: str) -> bytes:
        """Return a picture, a form of it or its JPEG; instead of a form that was never made the next larger one. Raises
        NotFound."""
        if file.endswith(".jpg"):
            return self._jpeg(site_id, file)
        for name in _stand_ins(file):
            with suppress(FileNotFoundError):
                return self._path(site_id, name).read_bytes()
        raise NotFound("There is no such picture.")

    def files(self, site_id: int) -> list[tuple[str, float]]:
        """Return every stored picture, smaller forms apart, with the time of its writing in seconds since 1970."""
        folder = self._folder / str(site_id)
        if not folder.is_dir():
            return []
        kept = (entry for entry in os.scandir(folder) if PICTURE.fullmatch(entry.name))
        return [(entry.name, entry.stat().st_mtime) for entry in kept]

    def discard(self, site_id: int, file: str, written_before: float) -> bool:
        """Remove a picture and its smaller forms, unless it was stored anew since that moment (seconds since 1970);
        return whether it was removed. Nothing happens when there is none."""
        if not _is_older(self._path(site_id, file), written_before):
            return False
        for name in (file, jpeg_form(file), *(form_of(file, name) for name in FORMS)):
            self._path(site_id, name).unlink(missing_ok=True)
        return True

    def clear(self, site_id: int, written_before: float) -> None:
        """Remove uploads received before that moment, and what uploads that broke off left behind."""
        folder = self._folder / str(site_id)
        for left in (*folder.glob(f"*{PART}"), *folder.glob(f"*{RECEIVED}")):
            if _is_older(left, written_before):
                left.unlink(missing_ok=True)

    def _jpeg(self, site_id: int, file: str) -> bytes:
        """Return the JPEG of a picture, made now where the picture was kept before there were JPEGs, or came from
        another shop."""
        path = self._path(site_id, file)
        with suppress(FileNotFoundError):
            return path.read_bytes()
        whole = self.read(site_id, f"{path.stem}.webp")
        with decoding_slot(self._folder):
            plain = _encode_jpeg(_decode(whole))
        _write(path, plain)
        return plain

    def _path(self, site_id: int, file: str) -> Path:
        if not FILE.fullmatch(file):
            raise NotFound("There is no such picture.")
        return self._folder / str(site_id) / file

    def _upload_path(self, site_id: int, name: str) -> Path:
        return self._folder / str(site_id) / name


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


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: a reader never sees half a picture, and a full disk keeps none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(PART, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.replace(fresh, path)
    except OSError:
        os.unlink(fresh)
        raise


def _is_older(path: Path, moment: float) -> bool:
    try:
        return path.stat().st_mtime < moment
    except FileNotFoundError:
        return False


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

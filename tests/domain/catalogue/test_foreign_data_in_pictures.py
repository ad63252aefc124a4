"""Nothing but the picture is stored of an uploaded file, whatever else travels in it."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from app.domain.catalogue.image_store import ImageStore
from app.domain.catalogue.pictures import FORMS, form_of, jpeg_form
from tests.pictures import image_store

SCRIPT = b"<script>alert(1)</script>"
TEXT = SCRIPT.decode()
SIZE = (31, 21)
OWN_CHUNKS = {b"VP8 ", b"VP8L", b"VP8X", b"ALPH"}


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    return image_store(tmp_path / "pictures")


def archive() -> bytes:
    """A zip with the script, uncompressed, as it may lie behind a picture."""
    with zipfile.ZipFile(out := io.BytesIO(), "w") as made:
        made.writestr("page.html", SCRIPT)
    return out.getvalue()


def described() -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, TEXT  # Turned by a quarter, and a description.
    return exif


def encoded(kind: str, mode: str = "RGB", **options: object) -> bytes:
    colour = (255, 0, 0, 90) if mode == "RGBA" else "red"
    Image.new(mode, SIZE, colour).save(out := io.BytesIO(), kind, **options)
    return out.getvalue()


def png_texts() -> PngInfo:
    texts = PngInfo()
    texts.add_text("Comment", TEXT)
    texts.add_itxt("Title", TEXT)
    texts.add(b"evIl", SCRIPT)
    return texts


def chunk(kind: bytes, content: bytes) -> bytes:
    return kind + len(content).to_bytes(4, "little") + content + b"\0" * (len(content) % 2)


def riff(*chunks: bytes) -> bytes:
    content = b"WEBP" + b"".join(chunks)
    return b"RIFF" + len(content).to_bytes(4, "little") + content


def chunks_of(webp: bytes) -> list[tuple[bytes, bytes]]:
    """Return (kind, content) of each chunk; they make up the whole file."""
    assert (webp[:4], webp[8:12], int.from_bytes(webp[4:8], "little") + 8) == (b"RIFF", b"WEBP", len(webp))
    found, at = [], 12
    while at < len(webp):
        length = int.from_bytes(webp[at + 4 : at + 8], "little")
        found.append((webp[at : at + 4], webp[at + 8 : at + 8 + length]))
        at += 8 + length + length % 2
    return found


def longer(webp: bytes, kind: bytes, by: bytes) -> bytes:
    """A WebP with something behind the compressed picture in the chunk of this kind, which decoders pass over."""
    assert kind in dict(chunks_of(webp))
    return riff(*(chunk(name, content + by if name == kind else content) for name, content in chunks_of(webp)))


PLAIN = encoded("WEBP")[12:]
FILES = {
    "jpeg with comment, exif and profile": encoded(
        "JPEG", comment=SCRIPT, exif=described(), icc_profile=SCRIPT, xmp=SCRIPT
    ),
    "jpeg with a zip behind it": encoded("JPEG") + archive(),
    "png with texts and a chunk of its own": encoded("PNG", pnginfo=png_texts(), exif=described(), icc_profile=SCRIPT),
    "png with a zip behind it": encoded("PNG") + archive(),
    "gif with a comment": encoded("GIF", comment=SCRIPT),
    "gif with a zip behind it": encoded("GIF") + archive(),
    "webp with exif": encoded("WEBP", exif=described()),
    "webp with xmp": encoded("WEBP", xmp=SCRIPT),
    "webp with a profile": encoded("WEBP", icc_profile=SCRIPT),
    "webp with a zip behind it": encoded("WEBP") + archive(),
    "webp with a chunk of its own": riff(PLAIN, chunk(b"EVIL", SCRIPT)),
    "webp with another layer": riff(PLAIN, chunk(b"ALPH", SCRIPT)),
    "webp with another picture": riff(PLAIN, chunk(b"VP8 ", SCRIPT)),
    "webp with a header behind it": riff(PLAIN, chunk(b"VP8X", SCRIPT)),
    "webp with a zip in its picture": longer(encoded("WEBP"), b"VP8 ", archive()),
    "webp with a zip in its lossless picture": longer(encoded("WEBP", lossless=True), b"VP8L", archive()),
    "webp with a zip in its transparency": longer(encoded("WEBP", "RGBA"), b"ALPH", archive()),
}


def is_clean(data: bytes) -> bool:
    return b"script" not in data and not zipfile.is_zipfile(io.BytesIO(data))


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_nothing_but_the_picture_is_stored(store: ImageStore, tmp_path: Path, data: bytes) -> None:
    file = store.keep(1, data).file
    stored = [path.read_bytes() for path in (tmp_path / "pictures" / "1").iterdir()]
    assert len(stored) == len({file, jpeg_form(file), form_of(file, "small")}), "the picture and what is made of it"
    assert all(map(is_clean, stored))
    assert {kind for kind, _ in chunks_of(store.read(1, file))} <= OWN_CHUNKS
    with Image.open(io.BytesIO(store.read(1, jpeg_form(file)))) as plain:
        assert not {"comment", "exif", "icc_profile", "xmp"} & plain.info.keys()


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_each_of_the_files_is_a_picture_with_something_in_it(data: bytes) -> None:
    assert b"script" in data or zipfile.is_zipfile(io.BytesIO(data)) or b"evIl" in data
    with Image.open(io.BytesIO(data)) as picture:
        picture.load()
        assert picture.size == SIZE


def test_a_picture_that_is_turned_by_its_exif_is_stored_upright(store: ImageStore) -> None:
    stored = store.keep(1, encoded("JPEG", exif=described()))
    assert (stored.width, stored.height) == SIZE[::-1]
    assert {Image.open(io.BytesIO(store.read(1, form_of(stored.file, name)))).size for name in FORMS} == {SIZE[::-1]}


def test_a_webp_of_another_shop_is_encoded_anew_and_the_same_one_twice_is_one_picture(store: ImageStore) -> None:
    foreign = encoded("WEBP", quality=90)
    kept = store.keep(1, foreign)
    assert store.read(1, kept.file) != foreign
    assert store.keep(1, foreign) == store.try_out(1, foreign) == kept
    assert len(store.files(1)) == 1


def test_what_this_shop_encoded_stays_as_it_is_at_each_of_its_sites(store: ImageStore) -> None:
    """So that a transfer there and back, or an export and its import, leaves the pictures as they are."""
    kept = store.keep(1, encoded("PNG"))
    data = store.read(1, kept.file)
    assert store.try_out(2, data) == store.keep(2, data) == kept
    assert store.read(2, kept.file) == data


def test_a_picture_that_is_encoded_once_more_looks_the_same(store: ImageStore, tmp_path: Path) -> None:
    """As after an export that another installation imports."""
    shades = Image.merge("RGB", [Image.linear_gradient("L"), Image.radial_gradient("L"), Image.linear_gradient("L")])
    shades.save(out := io.BytesIO(), "PNG")
    first = store.read(1, store.keep(1, out.getvalue()).file)
    other = image_store(tmp_path / "elsewhere")
    second = other.read(1, other.keep(1, first).file)
    pairs = zip(*(Image.open(io.BytesIO(data)).convert("RGB").tobytes() for data in (first, second)), strict=True)
    differences = [abs(one - again) for one, again in pairs]
    assert sum(differences) / len(differences) < 2, "of 255"

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
from dataclasses import replace
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path

import pytest
from PIL import Image

from app.domain.appearance.appearances import read_sent, save_appearance
from app.domain.catalogue import product_images, products
from app.domain.catalogue.image_store import MOST_AT_ONCE, ImageStore, decoding_slot
from app.domain.catalogue.pictures import FORMS, LONGEST_SIDE, StoredImage, form_of, jpeg_form, small_form, srcset
from app.domain.catalogue.product_rules import ProductDraft, VariantDraft
from app.domain.merchandising import trees
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound
from app.transaction import transaction
from tests.factories import draft_of, make_category
from tests.fakes.clock import StoppedClock
from tests.pictures import image_store
from tests.searching import add_page, add_product

TENT = ProductDraft(sku="T-1", name="Ridge tent", price=12_000)
DAY = 86_400
PROCESSES = 6


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    return image_store(tmp_path / "pictures")


def drawn(colour: str, size: tuple[int, int] = (30, 20)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def with_picture(clock: StoppedClock, site_id: int, stored: StoredImage, sku: str = "T-1") -> int:
    with transaction():
        product_id = products.create(Author(site_id, "Mia", clock), ProductDraft(sku, "Tent", 1), ()).product.id
        product_images.add(Author(site_id, "Mia", clock), product_id, stored, "")
        return product_id


def test_the_same_picture_is_kept_once(store: ImageStore) -> None:
    assert store.keep(1, drawn("red")) == store.keep(1, drawn("red"))
    assert len(store.files(1)) == 1


def test_a_kept_picture_moves_to_another_shop_unchanged(store: ImageStore) -> None:
    first = store.keep(1, drawn("red", (LONGEST_SIDE * 2, 500)))
    moved = store.keep(2, store.read(1, first.file))
    assert moved == first
    assert store.read(2, moved.file) == store.read(1, first.file)


def test_a_see_through_picture_moves_to_another_shop_unchanged(store: ImageStore) -> None:
    Image.new("RGBA", (33, 33), (255, 0, 0, 90)).save(out := io.BytesIO(), "PNG")
    first = store.keep(1, out.getvalue())
    assert store.read(2, store.keep(2, store.read(1, first.file)).file) == store.read(1, first.file)


def test_a_broken_picture_is_refused_whatever_the_decoder_makes_of_it(store: ImageStore) -> None:
    exif = Image.Exif()
    exif[0x010E] = "A tent"
    Image.new("RGB", (30, 20)).save(out := io.BytesIO(), "WEBP", exif=exif)
    for at in range(len(whole := out.getvalue())):
        for byte in (0, 1, 0x7F, 0xFF):
            with contextlib.suppress(Invalid):
                store.keep(1, whole[:at] + bytes([byte]) + whole[at + 1 :])


def size_of(data: bytes) -> tuple[int, int]:
    return Image.open(io.BytesIO(data)).size


def test_a_picture_is_kept_in_the_sizes_that_pages_show(store: ImageStore) -> None:
    kept = store.keep(1, drawn("red", (2_000, 1_000)))
    assert (kept.width, kept.height) == (1_600, 800)
    assert {name: size_of(store.read(1, form_of(kept.file, name))) for name in FORMS} == {
        "tiny": (240, 120),
        "small": (480, 240),
        "medium": (960, 480),
    }


def test_a_jpeg_lies_beside_for_programs_that_read_no_webp(store: ImageStore) -> None:
    file = store.keep(1, drawn("red", (2_000, 1_000))).file
    with Image.open(io.BytesIO(store.read(1, jpeg_form(form_of(file, "small"))))) as picture:
        assert (picture.format, picture.size) == ("JPEG", (960, 480))


def test_a_jpeg_is_made_later_for_a_picture_from_before_and_white_where_that_is_see_through(
    store: ImageStore, tmp_path: Path
) -> None:
    out = io.BytesIO()
    Image.new("RGBA", (40, 30)).save(out, "PNG")
    file = store.keep(1, out.getvalue()).file
    (tmp_path / "pictures" / "1" / jpeg_form(file)).unlink()
    with Image.open(io.BytesIO(store.read(1, jpeg_form(file)))) as picture:
        assert picture.convert("RGB").getpixel((5, 5)) == (255, 255, 255)
    assert (tmp_path / "pictures" / "1" / jpeg_form(file)).exists()
    with pytest.raises(NotFound):
        store.read(1, f"{'0' * 32}.jpg")


def test_a_set_of_sources_names_only_forms_that_are_smaller_by_their_true_widths() -> None:
    assert srcset("/a.webp", 300, 600) == "/a-tiny.webp 120w, /a-small.webp 240w, /a.webp 300w"
    assert srcset("/a.webp", 240, 100) == ""


@pytest.mark.parametrize(("lost", "stands_in"), [("tiny", "small"), ("small", "medium"), ("medium", None)])
def test_the_next_larger_form_stands_in_for_one_that_was_never_made(
    store: ImageStore, tmp_path: Path, lost: str, stands_in: str | None
) -> None:
    file = store.keep(1, drawn("red", (1_200, 1_200))).file
    (tmp_path / "pictures" / "1" / form_of(file, lost)).unlink()
    assert store.read(1, form_of(file, lost)) == store.read(1, form_of(file, stands_in) if stands_in else file)


def test_forms_are_made_later_for_pictures_from_before_and_only_once(store: ImageStore, tmp_path: Path) -> None:
    file = store.keep(1, drawn("red", (1_200, 600))).file
    before = {name: store.read(1, form_of(file, name)) for name in FORMS}
    for name in ("tiny", "medium"):
        (tmp_path / "pictures" / "1" / form_of(file, name)).unlink()
    assert store.add_forms(1, file) == 2
    assert {name: size_of(store.read(1, form_of(file, name))) for name in FORMS} == {
        name: size_of(data) for name, data in before.items()
    }
    assert store.add_forms(1, file) == 0


def test_a_picture_that_goes_takes_its_forms_along(store: ImageStore, tmp_path: Path) -> None:
    file = store.keep(1, drawn("red", (1_200, 600))).file
    ((_, at),) = store.files(1)
    assert store.discard(1, file, written_before=at + 1)
    assert list((tmp_path / "pictures" / "1").iterdir()) == []


def test_sites_do_not_share_pictures(store: ImageStore) -> None:
    kept = store.keep(1, drawn("red"))
    with pytest.raises(NotFound):
        store.read(2, kept.file)


def test_files_that_no_product_names_go_after_a_day(
    clock: StoppedClock, site_id: int, store: ImageStore, tmp_path: Path
) -> None:
    used, unused, fresh = (store.keep(site_id, drawn(colour)) for colour in ("red", "green", "blue"))
    with_picture(clock, site_id, used)
    now = clock.now().timestamp()
    folder = tmp_path / "pictures" / str(site_id)
    for stored, age in ((used, 3 * DAY), (unused, 3 * DAY), (fresh, DAY / 2)):
        os.utime(folder / stored.file, (now - age, now - age))
    assert product_images.discard_unused(clock, store, site_id).removed == 1
    assert {file for file, _ in store.files(site_id)} == {used.file, fresh.file}
    assert not (folder / small_form(unused.file)).exists()


def test_a_picture_that_a_text_shows_and_one_of_a_category_stay(
    clock: StoppedClock, site_id: int, store: ImageStore
) -> None:
    shown = [store.keep(site_id, drawn(colour)).file for colour in ("red", "green", "blue", "grey", "black")]
    store.keep(site_id, drawn("white"))
    source = f"/media/{site_id}/"
    text = f'<p><img src="{source}{shown[1]}"> <img src="{source}{small_form(shown[2])}"></p>'
    with transaction():
        add_page(site_id, "about", text)
        add_product(site_id, "T-9").description = f'<img src="{source}{shown[0]}">'
        author = Author(site_id, "Mia", clock)
        category = make_category(author, trees.create(author, "Shop").id, "Tents")
        category.description = f'<img src="{source}{shown[3]}">'
        category.picture = shown[4]
    clock.move(days=1000)
    assert product_images.discard_unused(clock, store, site_id).removed == 1
    assert {file for file, _ in store.files(site_id)} == set(shown)


def test_pictures_of_an_appearance_and_of_the_one_before_it_stay(
    clock: StoppedClock, site_id: int, store: ImageStore
) -> None:
    author = Author(site_id, "Mia", clock)
    logo = store.keep(site_id, drawn("red"))
    shown = {"file": logo.file, "width": logo.width, "height": logo.height}
    clock.move(days=1000)
    for changes, removed in (({"logo": shown}, 0), ({"font": "lora"}, 0), ({"font": "outfit"}, 1)):
        with transaction():
            save_appearance(author, None, read_sent(changes))
        assert product_images.discard_unused(clock, store, site_id).removed == removed, changes


def test_a_picture_that_is_kept_anew_meanwhile_stays(store: ImageStore) -> None:
    kept = store.keep(1, drawn("red"))
    (_, at), *_ = store.files(1)
    assert not store.discard(1, kept.file, written_before=at)
    assert store.discard(1, kept.file, written_before=at + 1)
    assert not store.discard(1, kept.file, written_before=at + 1)


def test_what_a_broken_upload_left_goes_after_a_day(
    clock: StoppedClock, site_id: int, store: ImageStore, tmp_path: Path
) -> None:
    store.keep(site_id, drawn("red"))
    old, fresh = (tmp_path / "pictures" / str(site_id) / name for name in ("old.part", "fresh.part"))
    for part, age in ((old, 2 * DAY), (fresh, DAY / 2)):
        part.write_bytes(b"RIFF")
        os.utime(part, (clock.now().timestamp() - age,) * 2)
    product_images.discard_unused(clock, store, site_id)
    assert (old.exists(), fresh.exists()) == (False, True)


def test_pictures_leave_the_revision_of_their_product(clock: StoppedClock, site_id: int) -> None:
    product_id = with_picture(clock, site_id, StoredImage("0" * 32 + ".webp", 30, 20))
    assert products.product_of(site_id, product_id).revision == 1


def test_a_product_takes_thirty_pictures_and_no_more(clock: StoppedClock, site_id: int) -> None:
    product_id = with_picture(clock, site_id, StoredImage("a.webp", 1, 1))
    with transaction():
        for number in range(29):
            product_images.add(Author(site_id, "Mia", clock), product_id, StoredImage(f"{number}.webp", 1, 1), "")
    with pytest.raises(Invalid, match="at most 30"), transaction():
        product_images.add(Author(site_id, "Mia", clock), product_id, StoredImage("one-more.webp", 1, 1), "")


def test_another_products_picture_is_not_found(clock: StoppedClock, site_id: int) -> None:
    first = with_picture(clock, site_id, StoredImage("a.webp", 1, 1))
    second = with_picture(clock, site_id, StoredImage("b.webp", 1, 1), "T-2")
    picture = products.product_of(site_id, first).images[0].id
    with pytest.raises(NotFound), transaction():
        product_images.remove(Author(site_id, "Mia", clock), second, picture)


def with_variant(clock: StoppedClock, site_id: int, product_id: int, picture: str | None) -> products.Saved:
    red = VariantDraft("T-1-R", options={"Colour": "Red"}, picture=picture)
    stored = products.product_of(site_id, product_id)
    with transaction():
        draft = replace(draft_of(stored), variants=(red,))
        return products.save(Author(site_id, "Mia", clock), product_id, stored.revision, draft, None)


def test_a_variant_has_one_of_the_products_pictures_until_that_is_removed(
    clock: StoppedClock, site_id: int, store: ImageStore
) -> None:
    red, other = store.keep(site_id, drawn("red")), store.keep(site_id, drawn("blue"))
    product_id = with_picture(clock, site_id, red)
    assert with_variant(clock, site_id, product_id, red.file).changed == ("variants",)
    assert draft_of(products.product_of(site_id, product_id)).variants[0].picture == red.file
    with pytest.raises(Invalid) as refused:
        with_variant(clock, site_id, product_id, other.file)
    assert [problem.pointer for problem in refused.value.problems] == ["#/variants/0/picture"]
    with transaction():
        image_id = products.product_of(site_id, product_id).images[0].id
        product_images.remove(Author(site_id, "Mia", clock), product_id, image_id)
    assert products.product_of(site_id, product_id).variants[0].picture is None


def test_a_new_product_has_no_picture_for_a_variant_yet(clock: StoppedClock, site_id: int) -> None:
    red = VariantDraft("T-1-R", options={"Colour": "Red"}, picture="abc.webp")
    with pytest.raises(Invalid, match="among the product’s pictures"), transaction():
        products.create(Author(site_id, "Mia", clock), replace(TENT, variants=(red,)), ())


def decode(folder: Path, at_work: Path, begin: Barrier, number: int) -> None:
    begin.wait(20)
    with decoding_slot(folder):
        mark = at_work / str(number)
        mark.touch()
        busy = len(list(at_work.iterdir()))
        mark.unlink()
    (folder / f"saw-{number}").write_text(str(busy))


def hold(folder: Path, held: Event) -> None:
    with decoding_slot(folder):
        held.set()
        Event.wait(multiprocessing.Event(), 60)


def test_no_more_decode_at_once_than_there_are_slots(tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    at_work, folder = tmp_path / "at work", tmp_path / "pictures"
    at_work.mkdir()
    begin = fork.Barrier(PROCESSES)
    decoders = [fork.Process(target=decode, args=(folder, at_work, begin, number)) for number in range(PROCESSES)]
    for decoder in decoders:
        decoder.start()
    for decoder in decoders:
        decoder.join(20)
        assert decoder.exitcode == 0
    seen = [int(file.read_text()) for file in folder.glob("saw-*")]
    assert len(seen) == PROCESSES
    assert max(seen) <= MOST_AT_ONCE


def test_a_process_that_is_killed_leaves_its_slot(tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    held = [fork.Event() for _ in range(MOST_AT_ONCE)]
    holders = [fork.Process(target=hold, args=(tmp_path, event)) for event in held]
    for holder, event in zip(holders, held, strict=True):
        holder.start()
        assert event.wait(20)
    for holder in holders:
        holder.kill()
        holder.join(20)
    with decoding_slot(tmp_path):
        pass

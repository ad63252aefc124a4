"""Drawn pictures: as SVG for pages, as PNG for mails, kept for good at addresses that name all that they show."""

from __future__ import annotations

from app.blueprints.storefront.assets import PNGS_PER_MINUTE
from tests.blueprints.storefront.conftest import Get


def test_a_drawing_is_had_as_png_and_kept_for_good(site_id: int, get: Get) -> None:
    found = get("/picture/tent/4f7942-13.png?v=2")
    assert (found.status_code, found.mimetype) == (200, "image/png")
    assert found.data.startswith(b"\x89PNG")
    assert "immutable" in found.headers["Cache-Control"]
    assert found.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert found.headers["Content-Security-Policy"].endswith("sandbox")
    assert get("/picture/tent/4f7942-13.png?v=2", If_None_Match=found.headers["ETag"]).status_code == 304


def test_what_is_not_drawn_is_not_found(site_id: int, get: Get) -> None:
    for path in ("sofa/4f7942-1", "tent/red-1", "tent/4f7942-60", "sign/sofa"):
        assert get(f"/picture/{path}.png").status_code == 404


def test_no_client_has_the_shop_draw_without_end(site_id: int, get: Get) -> None:
    answers = [get("/picture/sign/parcel.png") for _ in range(PNGS_PER_MINUTE + 1)]
    assert {answer.status_code for answer in answers[:-1]} == {200}
    assert answers[-1].status_code == 429 and answers[-1].headers["Retry-After"]
    assert get("/picture/sign/parcel.svg").status_code == 200

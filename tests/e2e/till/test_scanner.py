"""Codes come from a scanner that types as a keyboard, and from the camera."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import segno
from PIL import Image, ImageFilter
from playwright.sync_api import Browser, Page

from tests.e2e.till.barcodes import HEIGHT, WIDTH, ean13_picture, write_film
from tests.processes import RunningShop
from tests.surroundings import chromium
from tests.waiting import until

CODE = "5012345678900"
MODULES = "/static/till/scanner"
# A page with a field, a button, a password and a keypad of its own, beside which a scanner is followed.
FOLLOW = f"""
async () => {{
  document.body.innerHTML = '<input id="name"><input id="secret" type="password"><button id="press">Press</button>';
  Object.assign(window, {{ scanned: [], keys: [], presses: 0 }});
  document.getElementById("press").addEventListener("click", () => {{ window.presses += 1; }});
  document.addEventListener("keydown", ({{ target, key }}) => {{ if (target === document.body) keys.push(key); }});
  const {{ followScanner }} = await import("{MODULES}/wedge.js");
  window.leave = followScanner((code) => window.scanned.push(code));
}}"""
# Keys as a keyboard sends them: what the page does not prevent is typed or pressed. `pace` is in milliseconds.
TYPE = """
async ([text, pace]) => {
  let at = performance.now();
  for (const key of [...text]) {
    const place = document.activeElement;
    const name = key === "\\n" ? "Enter" : key;
    const event = new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true });
    Object.defineProperty(event, "timeStamp", { value: at += pace });
    if (!place.dispatchEvent(event)) continue;
    if (name === "Enter") place.click();
    else if ("value" in place) {
      place.setRangeText(key, place.selectionStart, place.selectionEnd, "end");
      place.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }
}"""


@pytest.fixture
def window(page: Page) -> Page:
    page.goto("/till/display")
    page.evaluate(FOLLOW)
    return page


def type_keys(window: Page, text: str, pace: int) -> None:
    window.evaluate(TYPE, [text, pace])


def outcome(window: Page) -> dict[str, Any]:
    found: dict[str, Any] = window.evaluate(
        "({ scanned, keys, presses, name: document.getElementById('name').value,"
        " secret: document.getElementById('secret').value })"
    )
    return found


def test_a_scan_goes_to_the_till_and_not_into_the_field_with_the_focus(window: Page) -> None:
    window.locator("#name").fill("mug")
    type_keys(window, f"{CODE}\n", 8)
    assert (outcome(window)["scanned"], outcome(window)["name"]) == ([CODE], "mug")


def test_a_scan_presses_no_button_and_no_key_of_a_keypad(window: Page) -> None:
    window.locator("#press").focus()
    type_keys(window, f"{CODE}\n", 8)
    window.evaluate("document.activeElement.blur()")
    type_keys(window, f"MUG-1\n{CODE}\n", 20)
    assert outcome(window)["scanned"] == [CODE, "MUG-1", CODE]
    assert (outcome(window)["presses"], outcome(window)["keys"]) == (0, [])


@pytest.mark.parametrize("pace", [70, 150])
def test_what_a_person_types_arrives_as_typed(window: Page, pace: int) -> None:
    window.locator("#name").focus()
    type_keys(window, "enamel mug 12", pace)
    window.locator("#press").focus()
    type_keys(window, "\n", pace)
    window.evaluate("document.activeElement.blur()")
    type_keys(window, "1250", pace)
    until(lambda: outcome(window)["keys"] == ["1", "2", "5", "0"])
    assert (outcome(window)["name"], outcome(window)["presses"], outcome(window)["scanned"]) == ("enamel mug 12", 1, [])


def test_a_burst_without_enter_or_of_three_keys_is_of_a_person(window: Page) -> None:
    window.evaluate("document.activeElement.blur()")
    type_keys(window, "12\n", 5)
    type_keys(window, "123456", 5)
    until(lambda: outcome(window)["keys"] == ["1", "2", "Enter", *"123456"])
    assert outcome(window)["scanned"] == []


def test_passwords_are_not_looked_at(window: Page) -> None:
    window.locator("#secret").focus()
    type_keys(window, "correct-horse\n", 5)
    assert (outcome(window)["secret"], outcome(window)["scanned"]) == ("correct-horse", [])


def test_a_scanner_is_no_longer_followed_once_left(window: Page) -> None:
    window.evaluate("leave()")
    window.locator("#name").focus()
    type_keys(window, f"{CODE}\n", 5)
    assert (outcome(window)["name"], outcome(window)["scanned"]) == (CODE, [])


def test_the_keys_of_a_real_keyboard_are_understood(window: Page) -> None:
    window.locator("#name").focus()
    window.keyboard.type("mug")
    window.evaluate("document.activeElement.blur()")

    def is_scanned() -> bool:
        """The driver is as fast as a scanner, unless the machine is busy."""
        window.keyboard.type("ABCD")
        window.keyboard.press("Enter")
        return outcome(window)["scanned"] == ["ABCD"]

    until(is_scanned)
    assert (outcome(window)["name"], outcome(window)["presses"]) == ("mug", 0)


# A picture stands in for the video of a camera.
DECODE = f"""
async (address) => {{
  const {{ chooseDecoder }} = await import("{MODULES}/decoder.js");
  const picture = Object.assign(new Image(), {{ src: address }});
  await picture.decode();
  Object.assign(picture, {{ videoWidth: picture.width, videoHeight: picture.height }});
  const decode = await chooseDecoder();
  let code = null;
  for (let turn = 0; turn < 3 && !code; turn += 1) code = await decode(picture);
  return code;
}}"""
SCAN = f"""
async () => {{
  Object.assign(window, {{ scanned: [], video: document.createElement("video") }});
  document.body.append(window.video);
  const {{ openCamera }} = await import("{MODULES}/camera.js");
  try {{
    window.camera = await openCamera(window.video, (code) => window.scanned.push(code));
    return null;
  }} catch (problem) {{
    return [problem.code, problem.message, problem.isForPeople];
  }}
}}"""


def film_of(picture: Image.Image) -> Image.Image:
    """A picture as cheap cameras take it: turned a little, blurred, and with noise."""
    turned = picture.rotate(3, Image.Resampling.BICUBIC, fillcolor=120).filter(ImageFilter.GaussianBlur(0.9))
    noise = Image.effect_noise((WIDTH, HEIGHT), 18)
    return Image.blend(turned, noise, 0.12)


@pytest.fixture(scope="module")
def camera(shop: RunningShop, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page in a browser whose camera shows a bar code. It is a second browser of the same driver."""
    film = tmp_path_factory.mktemp("film") / "ean13.y4m"
    write_film(film, film_of(ean13_picture(CODE)))
    arguments = [
        "--disable-gpu",
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-video-capture={film}",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
    ]
    opened = browser.browser_type.launch(executable_path=chromium(), args=arguments)
    page = opened.new_context(base_url=shop.address).new_page()
    yield page
    opened.close()


def test_the_camera_reads_a_bar_code_once_while_it_is_in_sight(camera: Page) -> None:
    requests: list[str] = []
    camera.on("request", lambda request: requests.append(request.url))
    camera.goto("/till/display")
    assert camera.evaluate(SCAN) is None
    until(lambda: camera.evaluate("scanned.length"))
    frames = camera.evaluate("video.getVideoPlaybackQuality().totalVideoFrames")
    until(lambda: camera.evaluate("video.getVideoPlaybackQuality().totalVideoFrames") > frames + 10)
    assert camera.evaluate("scanned") == [CODE]
    assert any("zxing" in address for address in requests) == (not camera.evaluate("'BarcodeDetector' in window"))
    assert camera.evaluate("camera.hasTorch") is False
    camera.evaluate("camera.close()")
    assert camera.evaluate("video.srcObject") is None


def test_where_the_browser_reads_codes_nothing_is_loaded(camera: Page) -> None:
    camera.goto("/till/display")
    camera.evaluate(
        "window.BarcodeDetector = class {"
        " static async getSupportedFormats() { return ['ean_13']; }"
        " async detect() { return [{ rawValue: '4006381333931' }]; } }; 0"
    )
    assert camera.evaluate(SCAN) is None
    until(lambda: camera.evaluate("scanned.length"))
    loaded = "performance.getEntriesByType('resource').some(({ name }) => name.includes('zxing'))"
    assert camera.evaluate(f"[scanned, {loaded}]") == [["4006381333931"], False]
    camera.evaluate("camera.close()")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        ("NotFoundError", "no_camera", "no camera"),
        ("NotAllowedError", "not_allowed", "Allow it in the browser"),
        ("NotReadableError", "in_use", "another app"),
    ],
)
def test_why_there_is_no_picture_is_said_in_words(page: Page, error: str, code: str, words: str) -> None:
    page.goto("/till/display")
    page.evaluate(f"navigator.mediaDevices.getUserMedia = async () => {{ throw new DOMException('', '{error}'); }}; 0")
    failed = page.evaluate(SCAN)
    assert failed[0] == code and words in failed[1] and failed[2] is True


def test_a_page_without_cameras_says_so(page: Page) -> None:
    page.goto("/till/display")
    page.evaluate("Object.defineProperty(navigator, 'mediaDevices', { value: undefined })")
    assert page.evaluate(SCAN)[0] == "not_supported"


def test_the_vendored_decoder_reads_the_code_of_a_receipt(page: Page) -> None:
    page.goto("/till/display")
    drawn = segno.make(f"https://shop.example/r/{'a1B2' * 12}", error="m")
    read = page.evaluate(DECODE, drawn.png_data_uri(scale=7, border=4))
    assert read == f"https://shop.example/r/{'a1B2' * 12}"

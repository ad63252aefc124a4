"""Receipts and reports on paper: the bytes are those of the golden files, and a printer gets exactly these.

Each golden file has a twin that a person reads. SHOP_TEST_GOLDEN=write writes both anew."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.test_pos_sale import AGENT, TILL
from tests.e2e.till.receipt_paper import readable
from tests.processes import RunningShop
from tests.waiting import until

GOLDEN = Path(__file__).parent / "golden"
MODULES = "/static/till/printing"
URL = "https://shop.example/r/eyJzIjoxLCJ0IjoiM2YyYTljMTAifQ.N0tAS1gn3d"
RECEIPT: dict[str, Any] = {
    "shop": "Demo shop",
    "location": "Stall at the fair",
    "address": ["1 Market Street", "Leeds LS1 1AA", "GB"],
    "number": "3F2A9C10",
    "orderNumber": None,
    "paidAt": "2026-11-20T21:04:05Z",
    "timeZone": "Europe/London",
    "currency": "gbp",
    "lines": [],
    "subtotal": 0,
    "discount": 0,
    "tax": 0,
    "otherPayments": [],
    "tender": "CASH",
    "paid": 0,
    "tip": 0,
    "handedOver": None,
    "change": None,
    "rounding": None,
    "card": [],
    "refunds": [],
}
MUG = {"name": "Enamel mug", "detail": "Colour: Blue", "quantity": 2, "unitPrice": 1250, "lineTotal": 2500}
LONG = {
    "name": "Waxed cotton jacket with a removable lining, for long walks in the rain",
    "detail": "",
    "quantity": 1,
    "unitPrice": 18900,
    "lineTotal": 18900,
}
CASH = RECEIPT | {"paid": 1252, "handedOver": 2000, "change": 750, "rounding": -2}
SPLIT = RECEIPT | {
    "orderNumber": "1042",
    "lines": [MUG, LONG],
    "subtotal": 21400,
    "discount": 1400,
    "tax": 3333,
    "otherPayments": [{"tender": "CASH", "amount": 3333}, {"tender": "CARD", "amount": 10000}],
    "tender": "CARD",
    "paid": 10000,
    "tip": 1000,
    "card": [{"label": "Card", "value": "Visa •••• 4242"}, {"label": "Read by", "value": "Contactless EMV"}],
    "refunds": [
        {"at": "2026-11-21T10:30:00Z", "tender": "CARD", "amount": 2500, "rounding": 0},
        {"at": "2026-11-22T11:00:00Z", "tender": "CASH", "amount": 1252, "rounding": -2},
    ],
}
CARD = RECEIPT | {
    "orderNumber": "1043",
    "lines": [MUG],
    "subtotal": 2500,
    "tax": 417,
    "tender": "CARD",
    "paid": 2917,
    "card": [
        {"label": "Card", "value": "Visa •••• 4242"},
        {"label": "Read by", "value": "Contactless EMV"},
        {"label": "Application", "value": "Visa Credit"},
        {"label": "AID", "value": "A0000000031010"},
        {"label": "Authorisation code", "value": "042871"},
        {"label": "Verified by", "value": "Online PIN"},
        {"label": "Account type", "value": "Credit"},
    ],
}
LETTERS = RECEIPT | {
    "shop": "Café Ørsted",
    "location": "Łódź, stoisko 5",
    "address": ["Ελληνικός καφές", "Кофейня «Уют»"],
    "currency": "eur",
    "lines": [
        {"name": name, "detail": "", "quantity": 1, "unitPrice": 250, "lineTotal": 250}
        for name in (
            "Pączek z różą",
            "Ελληνικός καφές",
            "Чай чёрный",
            "“Crème” – brûlée…",
            "緑茶 ☕",
            "Wine\x1bp\x00 red",
        )
    ],
    "subtotal": 1500,
    "paid": 1500,
    "handedOver": 2000,
    "change": 500,
    "rounding": 0,
}
Z_REPORT: dict[str, Any] = {
    "type": "Z",
    "generatedAt": "2026-11-20T18:05:00Z",
    "session": {
        "startedAt": "2026-11-20T08:58:00Z",
        "closedAt": "2026-11-20T18:05:00Z",
        "deviceName": "Counter",
        "closingNote": "One note was torn",
    },
    "currency": "gbp",
    "cards": [],
    "total": {"count": 9, "gross": 15412, "refundCount": 2, "refunds": 1750, "net": 13662},
    "unresolved": {"count": 1, "amount": 999},
    "unresolvedRefunds": {"count": 0, "amount": 0},
    "tenders": {
        "cash": {"sales": 5412, "refunds": 500, "count": 4},
        "card": {
            "sales": 10000,
            "refunds": 1250,
            "count": 5,
            "byBrand": [
                {"brand": "visa", "sales": 7500, "refunds": 1250, "count": 4},
                {"brand": "eftpos_au", "sales": 2500, "refunds": 0, "count": 1},
            ],
        },
    },
    "tips": 750,
    "tipsRefunded": 100,
    "rounding": 3,
    "movements": {"payIn": 2000, "payOut": 350, "drop": 10000},
    "openingFloat": 10000,
    "expectedCash": 6565,
    "countedCash": 6500,
    "difference": -65,
    "otherLocations": [
        {
            "locationId": "tml_market",
            "displayName": "Market",
            "cash": {"sales": 1200, "count": 1},
            "card": {"sales": 0, "count": 0},
        }
    ],
    "zNumber": 12,
    "journalHead": "9f2c" * 16,
}
X_REPORT = Z_REPORT | {
    "type": "X",
    "session": Z_REPORT["session"] | {"closedAt": None, "closingNote": ""},
    "unresolved": {"count": 0, "amount": 0},
    "tips": 0,
    "tipsRefunded": 0,
    "countedCash": None,
    "difference": None,
    "otherLocations": [],
    "zNumber": None,
    "journalHead": None,
}
PLACE = {"shop": "Demo shop", "location": "Stall at the fair", "timeZone": "Europe/London"}
RECEIPTS: dict[str, tuple[dict[str, Any], str | None, dict[str, Any]]] = {
    "cash-sale": (CASH, URL, {"columns": 42}),
    "cash-sale-on-star": (CASH, URL, {"columns": 48, "language": "star-prnt"}),
    "cash-sale-without-network": (CASH | {"number": "Not sent yet"}, None, {"columns": 32}),
    "split-sale-with-tip-and-refund": (SPLIT, URL, {"columns": 48}),
    "card-sale-on-narrow-paper": (CARD, URL, {"columns": 32}),
    "letters": (LETTERS, None, {"columns": 48}),
    "letters-of-one-code-page": (LETTERS, None, {"columns": 48, "codepage": "cp852"}),
}
REPORTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "z-report": (Z_REPORT, {"columns": 42}),
    "x-report-on-narrow-paper": (X_REPORT, {"columns": 32}),
}


@pytest.fixture
def window(shop: RunningShop, page: Page) -> Page:
    """A page at the shop's address in which modules of the till are imported."""
    page.goto("/till/display")
    return page


@pytest.fixture
def devices(window: Page) -> Page:
    window.add_init_script(path=Path(__file__).parent / "fake_printers.js")
    window.reload()
    return window


def encode(window: Page, call: str, given: list[Any]) -> bytes:
    """Call a function of receipt_bytes.js with these arguments."""
    script = f"async (given) => [...(await import('{MODULES}/receipt_bytes.js')).{call}(...given)]"
    return bytes(window.evaluate(script, given))


def assert_golden(name: str, job: bytes, language: str = "esc-pos") -> None:
    golden, twin = GOLDEN / f"{name}.bin", GOLDEN / f"{name}.txt"
    text = readable(job, language) + "\n"
    if os.environ.get("SHOP_TEST_GOLDEN") == "write":
        golden.write_bytes(job)
        twin.write_text(text, encoding="utf-8")
    assert text == twin.read_text(encoding="utf-8")
    assert job == golden.read_bytes()


@pytest.mark.parametrize("name", RECEIPTS)
def test_a_receipt_is_as_on_the_golden_paper(window: Page, name: str) -> None:
    receipt, url, options = RECEIPTS[name]
    job = encode(window, "receiptBytes", [{"receipt": receipt, "url": url}, options])
    assert_golden(name, job, options.get("language", "esc-pos"))


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_as_on_the_golden_paper(window: Page, name: str) -> None:
    report, options = REPORTS[name]
    assert_golden(name, encode(window, "reportBytes", [report, PLACE, options]))


@pytest.mark.parametrize(
    ("language", "pulse"), [("esc-pos", b"\x1bp\x00\x3c\x78"), ("star-prnt", b"\x1b\x07\x0c\x18\x07")]
)
def test_the_drawer_opens_without_a_letter_on_paper(window: Page, language: str, pulse: bytes) -> None:
    job = encode(window, "drawerBytes", [{"language": language}])
    assert job.endswith(pulse)
    assert "\n" not in readable(job, language)


def test_a_name_sends_no_command_to_the_printer(window: Page) -> None:
    """A product's name is text, whatever stands in it: this one would open the drawer."""
    receipt, _, options = RECEIPTS["letters"]
    job = encode(window, "receiptBytes", [{"receipt": receipt, "url": None}, options])
    assert b"\x1bp" not in job
    assert "Wine p red" in readable(job)


def test_what_the_shop_answers_is_printed(window: Page) -> None:
    """A sale in cash at the demo shop, as an agent's app makes it."""
    token = window.request.post("/v1/auth/login", data=AGENT).json()["token"]
    agent = {"Authorization": f"Bearer {token}"}
    cash = {"amountInPence": 1_250, "tenderedInPence": 2_000}
    sold = window.request.post(f"{TILL}/cashPayments", headers=agent, data=cash).json()["id"]
    shown = window.request.get(f"{TILL}/transactions/{sold}/receipt", headers=agent).json()
    text = readable(encode(window, "receiptBytes", [shown, {"columns": 42}]))
    assert "Demo shop" in text
    assert all(
        row in text for row in ("£12.50", "£20.00", "£7.50", shown["receipt"]["number"], f"[QR P {shown['url']}]")
    )
    report = window.request.get("/v1/pos/sessions/current/report", headers=agent).json()
    assert "X report" in readable(encode(window, "reportBytes", [report, PLACE, {"columns": 42}]))


PRINT = """
async ([modules, kind, job]) => {
  const { choosePrinter, printerInUse } = await import(`${modules}/printers.js`);
  if (kind) await choosePrinter(kind);
  const printer = await printerInUse();
  await printer.print(new Uint8Array(job));
  return { kind: printer.kind, label: printer.label, paper: printer.paper };
}"""
FAILED = """
async ([modules, kind]) => {
  const { choosePrinter } = await import(`${modules}/printers.js`);
  try {
    await (await choosePrinter(kind)).print(new Uint8Array([1]));
    return null;
  } catch (problem) {
    return [problem.code, problem.message, problem.isForPeople];
  }
}"""


def printed(window: Page, kind: str | None, job: bytes) -> dict[str, Any]:
    """Print in the browser; return kind, label and paper of the printer that did it."""
    used: dict[str, Any] = window.evaluate(PRINT, [MODULES, kind, list(job)])
    return used


def test_a_printer_at_usb_gets_the_receipt_and_is_remembered(devices: Page) -> None:
    job = (GOLDEN / "cash-sale.bin").read_bytes()
    devices.evaluate("fakeUsb(window.device = usbDevice())")
    used = printed(devices, "usb", job)
    assert (used["kind"], used["label"], used["paper"]["language"]) == ("usb", "TM-T88V", "esc-pos")
    assert used["paper"]["codepageMapping"] == "epson"
    printed(devices, None, job)
    assert devices.evaluate("device.jobs") == [list(job), list(job)]
    devices.reload()
    devices.evaluate("fakeUsb(usbDevice({ serialNumber: 'B2' }), window.device = usbDevice())")
    printed(devices, None, job)
    assert devices.evaluate("device.jobs") == [list(job)]


def test_a_printer_of_an_unknown_maker_prints_as_well(devices: Page) -> None:
    devices.evaluate("fakeUsb(window.device = usbDevice({ vendorId: 0x6868, productName: 'POS58' }))")
    assert printed(devices, "usb", b"receipt")["label"] == "POS58"
    assert devices.evaluate("device.jobs") == [list(b"receipt")]
    assert {"classCode": 7} in devices.evaluate("navigator.usb.filters")


def test_a_printer_of_star_speaks_its_own_language(devices: Page) -> None:
    star = "{ vendorId: 0x0519, productId: 3, productName: 'mC-Print3' }"
    devices.evaluate(f"fakeUsb(window.device = usbDevice({star}))")
    assert printed(devices, "usb", b"receipt")["paper"]["language"] == "star-prnt"


def test_a_printer_at_a_serial_port_gets_the_receipt(devices: Page) -> None:
    devices.evaluate("fakeSerial(window.port = {})")
    used = printed(devices, "serial", b"receipt")
    printed(devices, None, b"another")
    assert used["label"] == "Serial printer"
    assert devices.evaluate("[port.jobs, port.options]") == [[list(b"receipt"), list(b"another")], {"baudRate": 9600}]


def test_the_only_printer_that_the_page_may_use_needs_no_choice(devices: Page) -> None:
    devices.evaluate("fakeUsb(window.device = usbDevice())")
    assert printed(devices, None, b"receipt")["kind"] == "usb"
    assert devices.evaluate("device.jobs") == [list(b"receipt")]


def test_without_a_printer_there_is_none(devices: Page) -> None:
    devices.evaluate("fakeUsb()")
    script = f"(async () => (await import('{MODULES}/printers.js')).printerInUse())()"
    assert devices.evaluate(script) is None


def test_a_network_printer_gets_the_receipt_by_the_shop(devices: Page) -> None:
    sent = []

    def take(route: Route) -> None:
        sent.append(base64.b64decode(json.loads(route.request.post_data or "")["data"]))
        route.fulfill(status=204)

    devices.route("**/v1/pos/tml_demo_market/printJobs", take)
    devices.evaluate(
        "(async () => (await import('/static/till/state.js')).update({ location: { id: 'tml_demo_market' } }))()"
    )
    job = (GOLDEN / "letters.bin").read_bytes()
    assert printed(devices, "network", job)["label"] == "Network printer"
    assert sent == [job]


def test_training_sends_nothing_to_the_printer_of_the_shop(devices: Page) -> None:
    devices.evaluate("(async () => (await import('/static/till/state.js')).update({ isTraining: true }))()")
    failed = devices.evaluate(FAILED, [MODULES, "network"])
    assert failed == ["not_allowed", "Training sends nothing to the shop’s printer.", True]


@pytest.mark.parametrize(
    ("fake", "code", "words"),
    [
        ("fakeUsb()", "not_chosen", "No printer was chosen."),
        (
            "fakeUsb(usbDevice({ claimInterface: refuse('NetworkError') }))",
            "in_use",
            "does no other program or tab use it",
        ),
        ("fakeUsb(usbDevice({ transferOut: refuse('NetworkError') }))", "not_connected", "Check its cable"),
        ("fakeUsb(usbDevice({ transferOut: async () => ({ status: 'stall' }) }))", "not_connected", "Check its cable"),
        (
            "fakeUsb(usbDevice({ vendorId: 0x0519, productName: 'TSP143III' }))",
            "pictures_only",
            "prints pictures only",
        ),
        (
            "Object.defineProperty(navigator, 'usb', { value: new EventTarget() }); "
            "navigator.usb.requestDevice = refuse('SecurityError')",
            "not_allowed",
            "does not let this page",
        ),
    ],
)
def test_what_goes_wrong_is_said_in_words(devices: Page, fake: str, code: str, words: str) -> None:
    devices.evaluate(f"{fake}; undefined")
    failed = devices.evaluate(FAILED, [MODULES, "usb"])
    assert failed[0] == code and words in failed[1] and failed[2] is True


def test_a_printer_that_takes_nothing_is_no_silence(devices: Page) -> None:
    devices.clock.install()
    waits = "{ transferOut: () => { device.isBusy = true; return new Promise(() => {}); } }"
    devices.evaluate(f"fakeUsb(window.device = usbDevice({waits}))")
    devices.evaluate(f"({FAILED})(['{MODULES}', 'usb']).then((failed) => {{ window.failed = failed; }}); undefined")
    until(lambda: devices.evaluate("device.isBusy"))
    devices.clock.run_for(16_000)
    until(lambda: devices.evaluate("window.failed?.[0]") == "no_answer")
    assert "Is there paper" in devices.evaluate("window.failed[1]")


SETTINGS = f"""
async () => {{
  const {{ html, render }} = await import("/static/vendor/htm-preact-3.1.1.module.js");
  const {{ default: Settings }} = await import("{MODULES}/_printer_settings.js");
  const place = document.createElement("main");
  document.body.replaceChildren(place);
  render(html`<${{Settings}} />`, place);
}}"""


def test_a_printer_is_chosen_tried_and_changed_in_the_settings(devices: Page) -> None:
    devices.evaluate("fakeSerial(window.port = {}); navigator.serial.getPorts = async () => []; 0")
    devices.evaluate(SETTINGS)
    devices.get_by_role("button", name="Serial or Bluetooth").click()
    expect(devices.get_by_text("Serial printer")).to_be_visible()
    devices.get_by_role("button", name="Print a test page").click()
    until(lambda: len(devices.evaluate("port.jobs")) == 1)
    devices.get_by_label("58 mm, 32 letters").check()
    devices.get_by_role("button", name="Print a test page").click()
    until(lambda: len(devices.evaluate("port.jobs")) == 2)
    wide, narrow = (readable(bytes(job)) for job in devices.evaluate("port.jobs"))
    assert "1234567890" * 4 + "12\n" in wide
    assert "1234567890" * 3 + "12\n" in narrow
    assert "ж [code page cp437]Ω" in narrow
    devices.get_by_role("button", name="Open the drawer").click()
    until(lambda: len(devices.evaluate("port.jobs")) == 3)
    devices.get_by_role("button", name="Use another printer").click()
    expect(devices.get_by_role("button", name="Serial or Bluetooth")).to_be_visible()


def test_a_receipt_is_printed_with_the_paper_of_the_printer(devices: Page) -> None:
    devices.evaluate("fakeUsb(window.device = usbDevice())")
    script = f"""async (shown) => {{
      const {{ choosePrinter }} = await import("{MODULES}/printers.js");
      const {{ openDrawer, printReceipt }} = await import("{MODULES}/receipt_printing.js");
      await choosePrinter("usb", {{ columns: 42 }});
      return [await printReceipt(shown), await openDrawer()];
    }}"""
    assert devices.evaluate(script, {"receipt": CASH, "url": URL}) == [True, True]
    receipt, drawer = (bytes(job) for job in devices.evaluate("device.jobs"))
    assert receipt == (GOLDEN / "cash-sale.bin").read_bytes()
    assert drawer == encode(devices, "drawerBytes", [{}])

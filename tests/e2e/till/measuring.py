"""How smoothly the till scrolls a long list of products."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import cast

from playwright.sync_api import Page, expect

STORE = """
async (count) => {
  const opened = indexedDB.open("till");
  const db = await new Promise((resolve) => { opened.onsuccess = () => resolve(opened.result); });
  const writing = db.transaction(["products", "catalogue"], "readwrite");
  for (let place = 0; place < count; place += 1) {
    const number = String(place).padStart(4, "0");
    writing.objectStore("products").put({
      skuCode: `MEASURED-${number}`, name: `Measured product ${number}`, manufacturer: "Coldwell Iron", upc: null,
      price: 100 + place, currency: "gbp", inStock: place % 9 > 0, quantity: place % 9, variants: [],
      image: `/picture/mug/${(place * 4099 % 0xffffff).toString(16).padStart(6, "0")}-${place % 6}.svg`,
    });
  }
  writing.objectStore("catalogue").put({ at: Date.now(), asOf: new Date().toUTCString() }, "loaded");
  await new Promise((resolve) => { writing.oncomplete = resolve; });
  db.close();
}
"""
SCROLL = """
async (pixels) => {
  const longTasks = [];
  const observer = new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((one) => one.duration)));
  observer.observe({ entryTypes: ["longtask"] });
  const frames = [];
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  let before = await frame();
  while (scrollY + innerHeight < document.documentElement.scrollHeight - 1) {
    scrollBy(0, pixels);
    const now = await frame();
    frames.push(now - before);
    before = now;
  }
  observer.disconnect();
  return { frames, longTasks };
}
"""


@dataclass(frozen=True, slots=True)
class Scrolling:
    """The frames of a scroll from the top of a list to its end, tasks above 50 ms meanwhile, and the processor time of
    the page, which other programs on the machine hardly lengthen; milliseconds."""

    frames: list[float]
    long_tasks: list[float]
    processor: float

    @property
    def processor_of_a_frame(self) -> float:
        return self.processor / len(self.frames)

    @property
    def median(self) -> float:
        return median(self.frames)

    @property
    def on_time(self) -> float:
        """The share of frames that kept to 60 a second, give or take half a frame."""
        return sum(frame < 25 for frame in self.frames) / len(self.frames)


def store_products(page: Page, count: int) -> None:
    """Put products into the stored catalogue, as if they had just been loaded. The till shows its sign-in screen: it
    has its database by then, and has not read its products yet."""
    expect(page.get_by_role("textbox", name="E-mail")).to_be_visible()
    page.evaluate(STORE, count)


def scroll_all_products(page: Page, count: int, pixels: int = 120, slowdown: int = 1) -> Scrolling:
    """Open, from the start screen, the list of all stored products, and scroll it to its end, so many pixels a frame:
    120 is a fast flick of 7,200 a second. `slowdown` divides the speed of the processor."""
    page.get_by_role("button", name="New order").click()
    page.get_by_role("button", name="All products").click()
    expect(page.get_by_role("list", name="All products").get_by_role("button")).to_have_count(count, timeout=60_000)
    devtools = page.context.new_cdp_session(page)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
    before = _processor_time(page)
    measured = cast(dict[str, list[float]], page.evaluate(SCROLL, pixels))
    processor = _processor_time(page) - before
    devtools.detach()
    return Scrolling(measured["frames"], measured["longTasks"], processor)


def _processor_time(page: Page) -> float:
    """What all pages of the browser have used so far, drawing included."""
    assert page.context.browser is not None
    devtools = page.context.browser.new_browser_cdp_session()
    processes = devtools.send("SystemInfo.getProcessInfo")["processInfo"]
    devtools.detach()
    return sum(1000 * float(process["cpuTime"]) for process in processes if process["type"] == "renderer")

// Loads the catalogue in the background, so that the till can browse without a network: page by page, slowly enough to
// leave the shop and the rate limit to the seller.

import { loadListing, loadPage, sections } from "./catalogue.js";
import { app, onUpdate } from "./state.js";
import { beginLoad, forgetOthers } from "./stored_products.js";
import { read, write } from "./store.js";

const HOUR = 3_600_000;
const RETRY = 5 * 60_000;
const BETWEEN = 2_000; // Milliseconds between two pages.
const PAGE = 100;
const MOST = 2_000; // Products.
const MOST_SECTIONS = 100; // Categories and collections whose products are noted.

let isLoading = false;
let steps = null; // What is left of a load that was interrupted.
let restUntil = 0; // By performance.now(): after a load, or one that failed.

/** Load the catalogue now where that is due, and again whenever it is: at most once an hour, in one tab, while the app
    is seen. */
export function keepLoaded() {
  document.addEventListener("visibilitychange", load);
  onUpdate(load);
  setInterval(load, RETRY);
  load();
}

function mayLoad() { return app().phase === "ready" && app().isOnline && !document.hidden; }

async function load() {
  if (isLoading || performance.now() < restUntil || !mayLoad()) return;
  isLoading = true;
  try {
    await navigator.locks.request("till-catalogue", { ifAvailable: true }, (lock) => lock && loadIfDue());
    if (!steps) restUntil = performance.now() + RETRY;
  } catch (error) {
    steps = null;
    restUntil = performance.now() + Math.max(RETRY, 1_000 * (error.retryAfter ?? 0));
    console.info("The catalogue was not loaded to its end.", error);
  } finally {
    isLoading = false;
  }
}

async function loadIfDue() {
  const loaded = await read("catalogue", "loaded");
  // By this device's clock, which may have been set meanwhile: then it is loaded once too often.
  const age = loaded?.at ? Date.now() - loaded.at : HOUR;
  if (!steps && age >= 0 && age < HOUR) return;
  steps ??= stepsOfLoad(loaded);
  while (mayLoad()) {
    if ((await steps.next()).done) {
      steps = null;
      return;
    }
    await new Promise((resolve) => { setTimeout(resolve, BETWEEN); });
  }
}

/** Each step is a request or two. One that fails ends the load; the next one begins anew. */
async function* stepsOfLoad(loaded) {
  beginLoad();
  let asOf = null;
  let isWhole = false;
  for (let page = 1; page <= MOST / PAGE && !isWhole; page += 1) {
    const { answer, date } = await loadPage(`/v1/product?pageSize=${PAGE}&pageNumber=${page}`);
    asOf ??= date;
    if (!loaded) await write("catalogue", { at: null, asOf }, "loaded");
    isWhole = page >= answer.totalPages;
    yield;
  }
  if (isWhole) await forgetOthers();
  await write("catalogue", { at: Date.now(), asOf }, "loaded");
  yield* stepsOfSections();
}

async function* stepsOfSections() {
  const { categories, collections } = await sections();
  yield;
  const addresses = [
    ...collections.map(({ seoName }) => `collection/${seoName}`),
    ...categories.map(({ path }) => `category/${path}`),
  ];
  for (const address of addresses.slice(0, MOST_SECTIONS)) {
    await loadListing(address, 1, PAGE);
    yield;
  }
}

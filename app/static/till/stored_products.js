// The products that this till has loaded, in IndexedDB and in memory: by name, by SKU, and as they are searched without
// the shop.

import { dateOf, momentOf, timeOf } from "./moments.js";
import { onUpdate } from "./state.js";
import { read, readAll, writeTogether } from "./store.js";

const MOST_FOUND = 40;

let products = null; // By SKU.
let texts = null; // What is searched: [{product, text}].
let reading = null;
let seen = new Set(); // The SKUs that were kept since `beginLoad`.

// Signing out clears the stores.
onUpdate(({ phase, user }) => { if (phase === "signIn" && !user) reading = null; });

/** The products that were loaded, by SKU. */
export async function kept() {
  reading ??= readAll("products").then((found) => {
    products = new Map(found.map((one) => [one.skuCode, one]));
    texts = null;
  });
  await reading;
  return products;
}

/** Keep products as they are now. */
export async function keep(found) {
  if (!found.length) return;
  await kept();
  for (const product of found) {
    products.set(product.skuCode, product);
    seen.add(product.skuCode);
  }
  texts = null;
  await writeTogether(found.map((product) => ["products", product]));
}

/** Begin to load all products anew. */
export function beginLoad() { seen = new Set(); }

/** Forget what was not kept since `beginLoad`: the shop sells it no more. */
export async function forgetOthers() {
  const gone = [...(await kept()).keys()].filter((sku) => !seen.has(sku));
  if (!gone.length) return;
  for (const sku of gone) products.delete(sku);
  texts = null;
  await writeTogether(gone.map((sku) => ["products", undefined, sku]));
}

/** All products that were loaded, by name. */
export async function allStored() {
  return [...(await kept()).values()].sort(byName);
}

/** Search what was loaded: every word must occur in name, manufacturer, SKU or code, whatever its case and accents. */
export async function searchStored(words) {
  const parts = fold(words).split(/\s+/).filter(Boolean);
  const all = [...(await kept()).values()];
  texts ??= all.map((product) => ({ product, text: textOf(product) }));
  const rank = ({ text }) => (text.startsWith(parts[0]) ? 0 : text.includes(` ${parts[0]}`) ? 1 : 2);
  const found = texts.filter(({ text }) => parts.every((part) => text.includes(part)));
  found.sort((a, b) => rank(a) - rank(b) || byName(a.product, b.product));
  return found.slice(0, MOST_FOUND).map(({ product }) => product);
}

function textOf({ name, manufacturer, skuCode, upc, variants }) {
  const codes = (variants ?? []).flatMap((one) => [one.skuCode, one.upc]);
  return fold([name, manufacturer, skuCode, upc, ...codes].filter(Boolean).join(" "));
}

/** Text without case, accents and typographic marks, as it is compared. */
function fold(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[’‘]/g, "'").toLowerCase();
}

const collator = new Intl.Collator("en");

function byName(a, b) { return collator.compare(a.name, b.name); }

/** When the oldest of the stored prices was read, as the clock at the location says; null before any were. */
export async function pricesAsOf() {
  const loaded = await read("catalogue", "loaded");
  if (!loaded?.asOf) return null;
  return dateOf(loaded.asOf) === dateOf(new Date()) ? timeOf(loaded.asOf) : momentOf(loaded.asOf);
}

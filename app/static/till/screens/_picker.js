// What can be added to the order: what is found as words are typed, else what there is to browse.

import { search, suggest } from "../catalogue.js";
import { searchStored } from "../stored_products.js";
import { app, useApp } from "../state.js";
import { html, Loading, Note, useEffect, useState } from "../ui.js";
import { Browse } from "./_browse.js";
import { ProductList } from "./_product_list.js";

const PAUSE = 150; // Milliseconds without a key before the shop is asked for suggestions,
const LONGER_PAUSE = 350; // and then for all that it finds.
const NOTHING = { products: null, isStored: false, isWhole: false };

export function Picker({ words, onPick, onFound }) {
  const found = useSearch(words.trim());
  useEffect(() => onFound(found.products ?? []), [found]);
  if (!words.trim()) return html`<${Browse} onPick=${onPick} />`;
  return html`
    ${found.isStored && html`<${Note} kind="warn">Found among what this till has loaded.<//>`}
    <p class="unseen" role="status">${found.products && found.isWhole && counted(found.products.length)}</p>
    ${!found.products && html`<${Loading}>Searching…<//>`}
    ${found.products?.length === 0 && found.isWhole && html`
      <p class="nothing">Nothing found for “${words.trim()}”.</p>`}
    ${found.products?.length > 0 && html`
      <${ProductList} label="Products found" products=${found.products} onPick=${onPick} />`}`;
}

function counted(many) { return many === 1 ? "1 product found" : `${many} products found`; }

/** What is found for the words as they are now; answers for words that were typed before are ignored. */
function useSearch(words) {
  const { isOnline } = useApp();
  const [found, show] = useState(NOTHING);
  useEffect(() => {
    if (!words) {
      show(NOTHING);
      return undefined;
    }
    const left = new AbortController();
    lookFor(words, left.signal, (more) => left.signal.aborted || show(more));
    return () => left.abort();
  }, [words, isOnline]);
  return found;
}

async function lookFor(words, signal, show) {
  try {
    if (!app().isOnline) {
      show({ products: await searchStored(words), isStored: true, isWhole: true });
      return;
    }
    await pause(PAUSE, signal);
    const suggested = words.length > 1 ? await suggest(words, signal) : [];
    if (suggested.length) show({ products: suggested, isStored: false, isWhole: false });
    await pause(LONGER_PAUSE, signal);
    show({ products: joined(suggested, await search(words, signal)), isStored: false, isWhole: true });
  } catch (error) {
    if (signal.aborted) return;
    console.info("The shop did not answer the search.", error);
    show({ products: await searchStored(words), isStored: true, isWhole: true });
  }
}

/** The suggestions stay where they are, under a finger perhaps; what else was found comes after them. */
function joined(suggested, found) {
  const bySku = new Map(found.map((product) => [product.skuCode, product]));
  const first = suggested.map((product) => bySku.get(product.skuCode) ?? product);
  const known = new Set(suggested.map((product) => product.skuCode));
  return [...first, ...found.filter((product) => !known.has(product.skuCode))];
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}

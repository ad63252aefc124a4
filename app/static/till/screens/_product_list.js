// Products to choose from. The list may be a thousand long: it consists of chunks, of which those off the screen are
// not laid out (content-visibility) and those without a change not compared again.

import { stockOf } from "../catalogue.js";
import { Amount, html, useEffect, useMemo, useRef, useState } from "../ui.js";
import { usePictures } from "./_list_pictures.js";

const CHUNK = 10;
const AT_ONCE = 40; // Products that are put on the page in one go.

/** `onPick(product, event)`. */
export function ProductList({ label, products, onPick }) {
  const pick = useRef(onPick);
  pick.current = onPick;
  const pictures = usePictures();
  const shown = useGrowing(products);
  const chunks = [];
  for (let first = 0; first < shown; first += CHUNK) chunks.push(products.slice(first, Math.min(first + CHUNK, shown)));
  return html`<div role="list" class="products" aria-label=${label}>
    ${chunks.map((chunk, place) => html`<${Chunk} key=${place} products=${chunk} pick=${pick} pictures=${pictures} />`)}
  </div>`;
}

/** How many of the products are there already: all in the end, some at a time, so that the screen stays responsive. */
function useGrowing(products) {
  const [shown, show] = useState(AT_ONCE);
  useEffect(() => {
    if (shown >= products.length) return undefined;
    const timer = setTimeout(() => show(shown + AT_ONCE), 16);
    return () => clearTimeout(timer);
  }, [shown, products]);
  return Math.min(shown, products.length);
}

function Chunk({ products, pick, pictures }) {
  const chunk = useRef(null);
  useEffect(() => pictures.current.observe(chunk.current), products);
  const row = (product) => html`<${Row} key=${product.skuCode} product=${product} pick=${pick} />`;
  return useMemo(() => html`<div class="chunk" ref=${chunk}>${products.map(row)}</div>`, products);
}

function Row({ product, pick }) {
  const stock = stockOf(product);
  return html`<div role="listitem" class="product">
    <button type="button" class="product-button" disabled=${!product.inStock}
      onClick=${(event) => pick.current(product, event)}>
      ${product.image
        ? html`<img class="thumb" key=${product.image} data-src=${product.image} alt="" width="48" height="48"
          onError=${showPlace} />`
        : html`<span class="thumb"></span>`}
      <span class="product-name"><span class="strong">${product.name}</span>
        <span class="muted small">${[product.manufacturer, variantsOf(product)].filter(Boolean).join(" · ")}</span>
      </span>
      <span class="product-price"><${Price} product=${product} />
        ${stock && html`<span class=${`small stock ${stock.kind}`}>${stock.words}</span>`}</span>
    </button></div>`;
}

function variantsOf({ variants }) {
  const names = new Set((variants ?? []).flatMap((variant) => Object.keys(variant.options)));
  return [...names].join(", ");
}

function Price({ product }) {
  const prices = product.variants?.length ? product.variants.map((variant) => variant.price) : [product.price];
  const least = Math.min(...prices);
  const varies = prices.some((price) => price !== least);
  return html`<span class="strong n">${varies && html`<span class="small">from </span>`}
    <${Amount} of=${least} currency=${product.currency} /></span>`;
}

/** Of a picture that cannot be had now, only the place is shown. */
function showPlace(event) { event.target.removeAttribute("src"); }

/** A small picture of a product, or its place. */
export function Picture({ of }) {
  return of
    ? html`<img class="thumb" src=${of} alt="" width="48" height="48" loading="lazy" decoding="async"
      onError=${showPlace} />`
    : html`<span class="thumb"></span>`;
}

// The products of the shop: found by the shop while it answers, else among those that this till has loaded. Prices and
// stock of the latter are the last known ones; every order is checked by the shop.

import { get, request } from "./api.js";
import { keep, kept } from "./stored_products.js";
import { read, write } from "./store.js";

const PAGE = 40; // Products of a page of results or of a category.
const TINY = 240; // Pixels: the longer side of the smallest form of a larger photograph.
const FEW = 5; // Left in stock, which is said more loudly.
const id = encodeURIComponent;

/* A product: {skuCode, name, manufacturer, upc, price, currency, inStock, quantity, image (an address, or null),
     variants: [{skuCode, upc, options, price, inStock, quantity, image}]}; `variants` is null where it is not known
     whether there are any. `quantity` null: the stock is not counted, or not known. */

/** Products that are likely meant by what is typed so far, at most five. */
export async function suggest(words, signal) {
  const { products } = await get(`/v1/product/suggest?${new URLSearchParams({ q: words })}`, { signal });
  const known = await kept();
  return products.map(({ skuCode, name, manufacturer, price, currency, inStock, image }) => {
    const more = known.get(skuCode) ?? { upc: null, quantity: null, variants: null };
    return { ...more, skuCode, name, manufacturer, price, currency, inStock, image: localAddress(image) };
  });
}

/** Products by words as shoppers search, the best match first. */
export async function search(words, signal) {
  return (await loadPage(`/v1/product?${new URLSearchParams({ q: words, pageSize: PAGE })}`, { signal })).products;
}

/** A product by its SKU or that of a variant. Raises ApiError. */
export async function readProduct(skuCode) {
  const product = productOf(await get(`/v1/product/${skuCode.split("/").map(id).join("/")}`));
  await keep([product]);
  return product;
}

/** What a scanned code stands for: `{product, variant}`, the variant null where the code is of the whole product; null
    where the shop sells nothing under it. Without an answer of the shop what was loaded decides. Raises ApiError where
    that is not enough. */
export async function findCode(code) {
  let failure = null;
  try {
    const query = new URLSearchParams({ upc: code, pageSize: 1 });
    const { products } = await loadPage(`/v1/product?${query}`, { seconds: 4 });
    if (products.length) return partOf(products[0], code);
    return partOf(await readProduct(code), code);
  } catch (error) {
    if (error.status === 404) return null;
    failure = error;
  }
  const found = [...(await kept()).values()].find((product) => partOf(product, code, true));
  if (!found) throw failure;
  return partOf(found, code);
}

function partOf(product, code, isStrict = false) {
  const isMeant = (one) => one.skuCode === code || (one.upc && spellings(code).includes(one.upc));
  const variant = (product.variants ?? []).find(isMeant) ?? null;
  return variant || !isStrict || isMeant(product) ? { product, variant } : null;
}

/** Scanners read a UPC of 12 digits as an EAN of 13 that begins with 0, or the other way round. */
function spellings(code) {
  if (/^\d{12}$/.test(code)) return [code, `0${code}`];
  return /^0\d{12}$/.test(code) ? [code, code.slice(1)] : [code];
}

/** The categories (`{id, name, path, parentId, depth, products}`) and collections (`{seoName, name, products}`) to
    browse; those loaded last without an answer of the shop. */
export async function sections() {
  try {
    const [categories, collections] = await Promise.all([get("/v1/category"), get("/v1/collection?pageSize=100")]);
    const found = { categories: categories.items, collections: collections.items };
    await write("catalogue", found, "sections");
    return found;
  } catch (error) {
    return await read("catalogue", "sections") ?? { categories: [], collections: [] };
  }
}

/** A page of the products of a category or collection: `address` is "category/…" or "collection/…". Returns
    `{products, hasMore, isStored}`; without an answer of the shop those of it that were loaded. Raises ApiError where
    none were. */
export async function productsOf(address, page = 1) {
  try {
    return { ...await loadListing(address, page), isStored: false };
  } catch (error) {
    const skus = await read("catalogue", address);
    if (page > 1 || !skus) throw error;
    const known = await kept();
    return { products: skus.map((sku) => known.get(sku)).filter(Boolean), hasMore: false, isStored: true };
  }
}

/** Load such a page, and note what belongs to it. Raises ApiError. */
export async function loadListing(address, page = 1, size = PAGE) {
  const path = address.split("/").map(id).join("/");
  const { products, answer } = await loadPage(`/v1/${path}/products?pageSize=${size}&pageNumber=${page}`);
  const skus = products.map((one) => one.skuCode);
  const before = page === 1 && answer.totalPages <= 1 ? [] : await read("catalogue", address) ?? [];
  await write("catalogue", [...new Set(page === 1 ? [...skus, ...before] : [...before, ...skus])], address);
  return { products, hasMore: page < answer.totalPages };
}

/** Load a page of products and keep them. Returns `{products, answer, date}`; `date` is the shop's time. */
export async function loadPage(path, options) {
  const { body, headers } = await request("GET", path, options);
  const products = body.items.map(productOf);
  await keep(products);
  return { products, answer: body, date: headers.get("Date") };
}

/** What is left of a product or variant, in words: `{words, kind}`; null where nothing is known of it. */
export function stockOf({ inStock, quantity }) {
  if (!inStock) return { words: "Sold out", kind: "bad" };
  if (quantity === null) return null;
  return { words: `${quantity} left`, kind: quantity <= FEW ? "warn" : "" };
}

function productOf({ skuCode, name, manufacturer, upc, price, currency, inStock, quantity, images, variants }) {
  return {
    skuCode, name, manufacturer, upc, price, currency, inStock, quantity, image: thumbnail(images[0]),
    variants: variants.map((one) => ({ ...one, image: one.image ? thumbnail(one.image) : null })),
  };
}

/** The smallest form of a photograph; a drawing has one form alone. */
function thumbnail(picture) {
  if (!picture) return null;
  const address = localAddress(picture.url);
  const form = Math.max(picture.width, picture.height) > TINY ? "tiny" : "small";
  return address.startsWith("/media/") ? address.replace(/(\.\w+)$/, `-${form}$1`) : address;
}

function localAddress(address) {
  const { pathname, search: query } = new URL(address, location.href);
  return pathname + query;
}

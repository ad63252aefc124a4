// Categories and collections, and the products of each; or all that this till has loaded.

import { productsOf, sections } from "../catalogue.js";
import { allStored } from "../stored_products.js";
import { useApp } from "../state.js";
import { Button, html, Icon, Loading, Note, Problem, useAction, useEffect, useState } from "../ui.js";
import { ProductList } from "./_product_list.js";

const ALL = { name: "All products", address: "all", hint: "By name" };

export function Browse({ onPick }) {
  const { isOnline } = useApp();
  const [found, show] = useState(null);
  const [trail, setTrail] = useState([]); // The sections that were opened, each {name, address, id?}.
  useEffect(() => { sections().then(show); }, [isOnline]);
  if (!found) return html`<${Loading} />`;
  const open = trail.at(-1);
  const below = found.categories.filter((one) => one.parentId === (open ? open.id ?? "" : null));
  const into = (section) => setTrail([...trail, section]);
  if (!open) {
    const all = [ALL, ...below.map(ofCategory), ...found.collections.map(ofCollection)];
    return html`<${Sections} sections=${all.filter((one) => one.many !== 0)} onOpen=${into} />`;
  }
  return html`
    <div class="trail">
      <${Button} kind="quiet" icon="left" onPress=${() => setTrail(trail.slice(0, -1))}>
        ${trail.at(-2)?.name ?? "All sections"}<//>
      <h2>${open.name}</h2>
    </div>
    ${below.length > 0 && html`<div class="chips">${below.map(ofCategory).map((one) => html`
      <button type="button" key=${one.address} class="chip" onClick=${() => into(one)}>${one.name}</button>`)}</div>`}
    <${Listing} key=${open.address} section=${open} onPick=${onPick} />`;
}

function ofCategory({ id, name, path, products }) { return { id, name, address: `category/${path}`, many: products }; }

function ofCollection({ seoName, name, products }) {
  return { name, address: `collection/${seoName}`, many: products, hint: "Collection" };
}

function Sections({ sections: shown, onOpen }) {
  return html`<ul class="sections" aria-label="Sections">
    ${shown.map((one) => html`<li key=${one.address}>
      <button type="button" class="section" onClick=${() => onOpen(one)}>
        <span class="strong">${one.name}</span>
        <span class="muted small">${one.hint ?? counted(one.many)}</span>
        <${Icon} name="right" />
      </button></li>`)}
  </ul>`;
}

function counted(many) {
  if (many === null) return "";
  return many === 1 ? "1 product" : `${many} products`;
}

function Listing({ section, onPick }) {
  const [shown, show] = useState({ products: null, page: 0, hasMore: false, isStored: false });
  const [more, isBusy, error] = useAction(async () => {
    if (section.address === ALL.address) {
      show({ products: await allStored(), hasMore: false });
      return;
    }
    const page = shown.page + 1;
    const found = await productsOf(section.address, page);
    show({ ...found, page, products: [...shown.products ?? [], ...found.products] });
  });
  useEffect(() => { more(); }, []);
  const { products, hasMore, isStored } = shown;
  const none = section.address === ALL.address ? "No products were loaded yet." : "Nothing is for sale here.";
  return html`
    <${Problem}>${error}<//>
    ${isStored && html`<${Note} kind="warn">These were loaded before; there may be more.<//>`}
    ${!products && !error && html`<${Loading} />`}
    ${products?.length === 0 && html`<p class="nothing">${none}</p>`}
    ${products?.length > 0 && html`<${ProductList} label=${section.name} products=${products} onPick=${onPick} />`}
    ${(hasMore || (error && products === null)) && html`
      <${Button} kind="wide" isBusy=${isBusy} busy="Loading…" onPress=${more}>
        ${error ? "Try again" : "Show more"}<//>`}`;
}

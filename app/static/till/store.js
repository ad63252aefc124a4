// What the till keeps on this device: the IndexedDB database "till". Nothing is kept anywhere else.

import { openDB } from "../vendor/idb-8.0.4.js";

const VERSION = 1;
const UPGRADES = [
  (db) => {
    db.createObjectStore("device"); // By name: the device's id, the location, settings, what the shop configured.
    db.createObjectStore("vault"); // By name: the sealed refresh token and what opens it.
    db.createObjectStore("sales", { keyPath: "id" }); // The sale under way and parked ones.
    db.createObjectStore("payments", { keyPath: "id" }); // Payments that are not final yet.
    db.createObjectStore("offline", { keyPath: "clientSaleId" }); // The log of sales made without a network.
    db.createObjectStore("products", { keyPath: "skuCode" });
    db.createObjectStore("catalogue"); // By name: categories, collections, when the products were loaded.
  },
];
export const STORES = ["device", "vault", "sales", "payments", "offline", "products", "catalogue"];

let opened = null;

function open() {
  opened ??= openDB("till", VERSION, {
    upgrade: (db, from) => UPGRADES.slice(from).forEach((upgrade) => upgrade(db)),
    // Another tab has a newer version of the app: this connection would keep it waiting.
    blocking: (_current, _blocked, event) => { event.target.close(); opened = null; },
    terminated: () => { opened = null; },
  });
  return opened;
}

export async function read(store, key) { return (await open()).get(store, key); }

export async function readAll(store) { return (await open()).getAll(store); }

export async function readKeys(store) { return (await open()).getAllKeys(store); }

export async function write(store, value, key) { return (await open()).put(store, value, key); }

export async function remove(store, key) { return (await open()).delete(store, key); }

/** Change one record: `change` gets what is stored and returns what is to be, undefined to remove it. No other tab
    comes between. Returns the new record. */
export async function change(store, key, change, isNamed = true) {
  const transaction = (await open()).transaction(store, "readwrite", { durability: "strict" });
  const before = await transaction.store.get(key);
  const after = change(before);
  if (after === undefined) await transaction.store.delete(key);
  else await transaction.store.put(after, ...(isNamed ? [key] : []));
  await transaction.done;
  return after;
}

/** Write records to one or several stores, all of them or none: `[store, record, key?]`, or `[store, undefined, key]`
    to remove one. On the disk once it returns. */
export async function writeTogether(entries) {
  const stores = [...new Set(entries.map(([store]) => store))];
  const transaction = (await open()).transaction(stores, "readwrite", { durability: "strict" });
  for (const [store, record, key] of entries) {
    const objects = transaction.objectStore(store);
    if (record === undefined) objects.delete(key);
    else objects.put(record, ...(key === undefined ? [] : [key]));
  }
  await transaction.done;
}

export async function clear(...stores) {
  const transaction = (await open()).transaction(stores, "readwrite");
  for (const store of stores) transaction.objectStore(store).clear();
  await transaction.done;
}

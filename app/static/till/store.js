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

const channel = new BroadcastChannel("till-sales");

let opened = null;

/** Hear that another tab changed a sale, or which one is under way. */
export function onSalesElsewhere(follow) { channel.addEventListener("message", follow); }

function tellOthers(...stores) { if (stores.includes("sales")) channel.postMessage(null); }

function open() {
  opened ??= openDB("till", VERSION, {
    upgrade: (db, from) => UPGRADES.slice(from).forEach((upgrade) => upgrade(db)),
    // Another tab has a newer version of the app: this connection would keep it waiting.
    blocking: (_current, _blocked, event) => { event.target.close(); opened = null; },
    terminated: () => { opened = null; },
  }).catch((error) => {
    opened = null; // The next one tries again.
    throw error;
  });
  return opened;
}

export async function read(store, key) { return (await open()).get(store, key); }

export async function readAll(store, keys) { return (await open()).getAll(store, keys); }

export async function write(store, value, key) {
  await (await open()).put(store, value, key);
  tellOthers(store);
}

export async function remove(store, key) {
  await (await open()).delete(store, key);
  tellOthers(store);
}

/** Read and change several stores as one: `work` gets the transaction, and awaits nothing but its answers. What it
    raises undoes all. Returns what it returns, once that is on the disk. */
export async function inOne(stores, work) {
  const transaction = (await open()).transaction(stores, "readwrite", { durability: "strict" });
  transaction.done.catch(() => {}); // What went wrong is raised below.
  let result;
  try {
    result = await work(transaction);
  } catch (error) {
    transaction.abort();
    throw error;
  }
  await transaction.done;
  tellOthers(...stores);
  return result;
}

/** Change one record: `change` gets what is stored and returns what is to be, undefined to remove it. No other tab
    comes between. Returns the new record. */
export async function change(store, key, change, isNamed = true) {
  return inOne([store], async (transaction) => {
    const after = change(await transaction.store.get(key));
    if (after === undefined) await transaction.store.delete(key);
    else await transaction.store.put(after, ...(isNamed ? [key] : []));
    return after;
  });
}

/** Write records to one or several stores, all of them or none: `[store, record, key?]`, or `[store, undefined, key]`
    to remove one. On the disk once it returns. */
export async function writeTogether(entries) {
  await inOne([...new Set(entries.map(([store]) => store))], async (transaction) => {
    for (const [store, record, key] of entries) {
      const objects = transaction.objectStore(store);
      if (record === undefined) objects.delete(key);
      else objects.put(record, ...(key === undefined ? [] : [key]));
    }
  });
}

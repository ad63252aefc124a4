// Which sale is under way, on the disk. All tabs of a browser share it, so none takes it from another.

import { ApiError } from "./api.js";
import { read, writeTogether } from "./store.js";
import { update } from "./state.js";

const NAME = "current"; // In the store `device`: the id of the sale under way.
const LOCK = "till-current-sale";

/** The sale under way as it is on the disk, null where there is none. */
export async function readCurrent() {
  const id = await read("device", NAME);
  return (id && await read("sales", id)) ?? null;
}

/** Write a sale and make it the one under way. Raises ApiError where another tab has one that would be lost: then that
    one is shown. */
export async function makeCurrent(sale) {
  await navigator.locks.request(LOCK, async () => {
    const other = await readCurrent();
    if (other && other.id !== sale.id && isWorthKeeping(other)) {
      update({ sale: other });
      throw new ApiError(0, "other_sale", "A sale is under way in another tab. Finish or park it first.");
    }
    await writeTogether([["sales", sale], ["device", sale.id, NAME]]);
  });
}

function isWorthKeeping({ isFinished, paid, lines, unresolved }) {
  return !isFinished && Boolean(paid.length || lines?.length || unresolved?.length);
}

/** Write what stays of a sale that is no longer under way; nothing where `sale` is undefined. What another tab began
    meanwhile stays under way. */
export async function leaveCurrent(id, sale) {
  await navigator.locks.request(LOCK, async () => {
    const left = sale ? ["sales", sale] : ["sales", undefined, id];
    const isCurrent = await read("device", NAME) === id;
    await writeTogether([left, ...(isCurrent ? [["device", undefined, NAME]] : [])]);
  });
}

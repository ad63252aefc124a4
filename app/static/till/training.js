// Training: the till works as always, but a desk on this device stands in for the shop, so that nothing reaches the
// shop's account. Every tab of the browser is in training, or none. What was sold in training is removed with it.

import { forPeople } from "./failure.js";
import { useTrainingDesk } from "./desk.js";
import { hasUnansweredRefund } from "./refunds.js";
import { change, read, readAll, writeTogether } from "./store.js";
import { app, update } from "./state.js";
import { CARDS } from "./training_cards.js";

export const BOOKS = "training"; // In the store `device`: what training_desk.js keeps; there while training is on.
const EMPTY = { intents: {}, baskets: {}, transactions: [], keys: {}, number: 0 };
const channel = new BroadcastChannel("till-training");

channel.addEventListener("message", follow);

/** Take over what this device says about training, at the start of the app and when another tab switched it. */
export async function follow() {
  const isTraining = Boolean(await read("device", BOOKS));
  if (isTraining) useTrainingDesk((await import("./training_desk.js")).trainingDesk);
  update({ isTraining });
  const configuration = await read("device", "configuration");
  if (app().configuration && configuration) update({ configuration: shownConfiguration(configuration) });
}

/** Switch training on or off. Raises an Error for people while a sale, a payment or a refund is under way. */
export async function switchTraining(isOn) {
  await refuseInMidSale();
  if (isOn) await change("device", BOOKS, (books) => books ?? EMPTY);
  else await removeTraining();
  await follow();
  channel.postMessage(null);
}

/** The configuration as the till shows it: in training, cards are simulated and payments are taken. */
export function shownConfiguration(configuration) {
  if (!app().isTraining || !configuration) return configuration;
  return {
    ...configuration, processor: "simulator", simulatedCards: Object.keys(CARDS), live: false, takesPayments: true,
  };
}

async function refuseInMidSale() {
  const isSelling = app().sale || await read("device", "current") || (await readAll("payments")).length;
  if (isSelling) throw forPeople("Finish the sale under way first.");
  if (await hasUnansweredRefund()) {
    throw forPeople("A refund is not answered yet. Open its payment under Transactions first.");
  }
}

async function removeTraining() {
  const sales = (await readAll("sales")).filter((sale) => sale.isTraining);
  await writeTogether([["device", undefined, BOOKS], ...sales.map((sale) => ["sales", undefined, sale.id])]);
}

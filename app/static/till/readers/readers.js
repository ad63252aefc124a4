// The port to a card reader. A reader has
//   collect(payment, onState)  have the reader take a card for the payment, once. Returns true after an attempt, false
//                              where it was stopped; what became of the money only the shop says. `onState` gets
//                              changes of the payment to show: {state, notice, readers}. Raises ApiError: nobody knows.
//   cancel(payment)            let the reader wait for no card any longer, as far as it can be reached.

import { simulatedReader } from "./simulated.js";
import { smartReader } from "./smart.js";

/** The reader of the shop's processor. */
export function readerOf(configuration) {
  return configuration?.processor === "stripe" ? smartReader : simulatedReader;
}

// What was under way when the app was closed or the session ended, other than card payments: payments.js has those.

import { findRecord, resumeCash } from "./cash.js";
import { go } from "./navigation.js";
import { startSending } from "./offline.js";
import { read } from "./store.js";
import { update } from "./state.js";
import { REPORT, resumeClosing } from "./work_session.js";

/** Go on with it, once a user is in. */
export async function resumePendingWork() {
  await startSending();
  resumeClosing().then((report) => report && update({ report }), () => {}); // Without an answer, at the next start.
  if (!await findRecord()) return;
  go("/till/pay", { replaces: true });
  resumeCash().catch((error) => update({ notice: error.message }));
}

/** Show the Z report that was not seen to its end, before anybody is in. */
export async function showPendingReport() {
  const report = await read("device", REPORT);
  if (report) update({ report, configuration: await read("device", "configuration") ?? null });
}

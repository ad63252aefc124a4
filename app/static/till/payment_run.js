// How a card payment comes to its end: created, collected by the reader, captured, or cancelled. Each step first finds
// out from the shop how the payment stands, and may be made again.

import { ApiError } from "./api.js";
import { serverNow } from "./clock.js";
import { desk } from "./desk.js";
import { leadTo } from "./navigation.js";
import { settle } from "./order_check.js";
import { forgetStop, send, wait } from "./readers/hand.js";
import { keepPaid } from "./sale.js";
import { app, update } from "./state.js";

const WAITS = ["requires_payment_method", "requires_confirmation", "requires_action"];
const PAUSES = [1_000, 2_000, 3_000, 5_000, 8_000, 10_000]; // Milliseconds between tries; the last one from then on.
const COMES_LATER = ["idempotency_in_progress", "outcome_unknown", "payment_changed"];
const LOOK = 5_000; // Milliseconds between two looks at a payment whose reader stopped.
const UNBEGUN = 30 * 60_000; // Milliseconds that a payment of which no reader heard waits for its agent.
const NOT_FOUND = "The shop has no such payment. Nothing was charged.";
const BEGUN_BY_OTHER = "Another agent began this payment. No card was asked for yet, so nothing was charged. " +
  "It goes on if they sign in here, and is given up after half an hour.";
const NOT_HERE = "A payment was made whose sale is not on this device. Find it under Transactions.";
const FORSAKEN = "The payment that another agent began was given up. Nothing was charged.";

/** Bring the payment on the screen to its end. `run`: {note, forget, reader, hasBegun} of payments.js. Raises ApiError
    where the shop refuses to begin it: then it is forgotten. */
export async function bringToEnd(run) {
  forgetStop();
  let found = await unlessHandedOver(() => begin(run));
  run.hasBegun();
  while (found) found = await unlessHandedOver(() => next(run, found));
}

/** While a request waited to be sent again, another agent signed in, or another location was chosen. */
class HandedOver extends Error {}

/** Take a step, which looks anew who is in where what it was about to send is no longer theirs to send. */
async function unlessHandedOver(step) {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof HandedOver)) throw error;
    return { status: "processing", isUnknown: true };
  }
}

/* What is found: {status (of the intent), declineCode?, transaction?, isUnknown?} */
async function next(run, found) {
  if (found.status === "succeeded") return approve(run, found.transaction);
  if (found.status === "canceled") return drop(run, found.notice);
  const waits = WAITS.includes(found.status);
  if (isForsaken(app().payment)) return waitForBeginner(run);
  if (isOfOtherPlace()) return waitForPlace(run);
  if (isOfOther()) return waitForOther(run);
  if (app().payment.isGivenUp && !found.isUnknown) return giveUp(run);
  if (waits && await collect(run, found)) return capture(run);
  if (waits) return lookAgain(run);
  await run.note({ state: found.isUnknown ? "unknown" : "processing" });
  await pause(run.looks = (run.looks ?? -1) + 1);
  return app().payment.isGivenUp ? giveUp(run) : capture(run);
}

async function begin(run) {
  const { payment } = app();
  if (isOfOther() || isOfOtherPlace()) return { status: "processing", isUnknown: true };
  if (payment.intentId) return look(run);
  try {
    const intent = await order(run, () => create(payment));
    const { id: intentId, transactionId, clientSecret } = intent;
    await run.note({ intentId, transactionId, clientSecret, state: "waiting", notice: null });
    return intent;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const adopted = error.problem.paymentIntentId && await adopt(run, error.problem.paymentIntentId);
    if (adopted) return adopted;
    await run.forget();
    update({ payment: null, refusal: error.message });
    throw error;
  }
}

/** Have the shop create the payment; again under the same key it is the same one. Raises ApiError, with a status below
    500 where there certainly is none. */
async function create(payment) {
  try {
    return await desk().createIntent(payment, payment.key);
  } catch (error) {
    const { transactionId, paymentIntentId } = error.problem ?? {};
    if (error.code === "outcome_unknown" && paymentIntentId) error.isOfOrder = true;
    if (error.status < 500 || !transactionId) throw error;
    const { status } = await desk().readTransaction(transactionId);
    if (status !== "FAILED") throw error;
    throw new ApiError(422, error.code, error.message);
  }
}

/** Go on with a payment of this order that is under way already. Returns null where it is somebody else's. */
async function adopt(run, intentId) {
  const intent = await ask(run, () => desk().readIntent(intentId));
  const paid = await ask(run, () => desk().readTransaction(intent.transactionId));
  if (!intent.clientSecret && paid.agentId !== String(app().agent?.id)) return null;
  await run.note({
    intentId, transactionId: intent.transactionId, clientSecret: intent.clientSecret,
    amount: paid.amountInPence, tip: paid.tipInPence, state: "unknown",
  });
  return stateOf(intent);
}

async function look(run) {
  try {
    const intent = await ask(run, () => desk().readIntent(app().payment.intentId));
    await run.note({ clientSecret: intent.clientSecret });
    return stateOf(intent);
  } catch (error) {
    return outcomeOf(run, error);
  }
}

/** Look while the screen stays as it is; nobody is heard meanwhile. */
async function lookAgain(run) {
  update({ payment: { ...app().payment, isAsking: true } });
  return look(run);
}

function stateOf({ status, lastError }) {
  return { status, declineCode: lastError ? lastError.declineCode ?? lastError.code : undefined };
}

/** Have the reader take a card. Returns whether that was tried, so that the payment has to be captured. */
async function collect(run, { declineCode }) {
  run.looks = -1;
  // After a try without an answer the shop names the refusal before it, which is known already.
  const isKnown = run.isRetried || (run.notice && declineCode === app().payment.declineCode);
  if ((declineCode && !isKnown) || app().payment.isStopped) {
    await run.note({ state: "declined", declineCode: app().payment.isStopped ? null : declineCode });
    if ((await waitForAgent())?.kind !== "again") return false;
    await run.note({ isStopped: false, notice: null });
    run.isRetried = true;
  }
  try {
    const isTried = await run.reader.collect({ ...app().payment, notice: run.notice ?? null }, run.note);
    if (isTried) Object.assign(run, { isRetried: false, notice: null });
    return isTried;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    run.isRetried = false;
    run.notice = error.isUncertain || !error.status ? "The reader did not answer. No card was charged." : error.message;
    await run.note({ state: "unknown", notice: null, isStopped: run.reader.stopsAfterFailure });
    return true;
  }
}

/** Wait for what the agent does next. A reader that was out of reach may still take a card meanwhile: then that is a
    stop. */
async function waitForAgent() {
  const { intentId } = app().payment;
  let isOver = false;
  const timer = setInterval(async () => {
    const intent = await desk().readIntent(intentId).catch(() => null); // It is looked at again.
    if (intent && !WAITS.includes(intent.status) && !isOver) send({ kind: "stop" });
  }, LOOK);
  try {
    return await wait();
  } finally {
    isOver = true;
    clearInterval(timer);
  }
}

async function capture(run) {
  try {
    const { status, body } = await order(run, () => desk().captureIntent(app().payment.intentId));
    if (status === 202) return { status: "processing", isUnknown: body.transaction.status === "UNKNOWN" };
    return { status: body.status, transaction: body.transaction };
  } catch (error) {
    return outcomeOf(run, error);
  }
}

async function giveUp(run) {
  try {
    const cancel = () => desk().cancelIntent(app().payment.intentId, "requested_by_customer");
    const { status, body } = await order(run, cancel);
    return status === 202 ? { status: "processing", isUnknown: true } : { status: body.status };
  } catch (error) {
    if (error.code === "payment_processing") await run.note({ isGivenUp: false });
    return outcomeOf(run, error);
  }
}

/** What a refusal says about the payment. Raises what is no answer of the shop. */
async function outcomeOf(run, error) {
  if (!(error instanceof ApiError)) throw error;
  const { declineCode, transaction } = error.problem;
  switch (error.code) {
    case "card_declined": return { status: WAITS[0], declineCode };
    case "payment_not_collected": return { status: WAITS[0] };
    case "payment_canceled": return { status: "canceled" };
    case "already_captured": return { status: "succeeded", transaction };
    case "payment_processing": return { status: "processing" };
    case "payment_intent_not_found": return { status: "canceled", notice: NOT_FOUND };
    default:
      await run.note({ state: "unknown", notice: error.message });
      await pause(PAUSES.length);
      return { status: "processing", isUnknown: true };
  }
}

/** Have the shop do something with the payment, until it answers: the agent who began it, at its location, and nobody
    else, or a second intent would be made under the same key. Raises the ApiError of an answer, and HandedOver. */
function order(run, call) {
  return ask(run, () => {
    if (isOfOther() || isOfOtherPlace()) throw new HandedOver();
    return call();
  });
}

/** Ask the shop until it answers. Raises the ApiError of an answer. */
async function ask(run, call) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ApiError) || !comesLater(error)) throw error;
      run.hasBegun();
      await run.note({ state: "unknown", notice: error.message });
      // Without a session the till is locked or signed out: it is resumed once somebody is in again.
      if (error.status === 401) await wait();
      else await pause(tries, error.retryAfter);
    }
  }
}

function comesLater(error) {
  if (error.isOfOrder) return false;
  return error.isUncertain || !error.status || [401, 429].includes(error.status) || COMES_LATER.includes(error.code);
}

function pause(tries, seconds) {
  return wait(Math.max(PAUSES[Math.min(tries, PAUSES.length - 1)], (seconds ?? 0) * 1_000));
}

/** The payment was begun by another agent, who alone may capture or cancel it: how it ends is awaited. */
function isOfOther() { return app().payment.userId !== app().user?.id; }

/** At another location the shop does not know the payment, which would look as if there was none. */
function isOfOtherPlace() { return app().payment.locationId !== app().location?.id; }

async function waitForPlace(run) {
  const notice = "This payment was begun at another location. Choose that one to go on with it.";
  await run.note({ state: "unknown", notice });
  await wait();
  return begin(run);
}

async function waitForOther(run) {
  const notice = "Another agent began this payment. It ends by itself within half an hour, or once they sign in here.";
  await run.note({ state: "unknown", notice });
  await wait(PAUSES.at(-1));
  return look(run);
}

/** Whether nobody here can find out whether the shop has a payment: another agent began it, and its answer was lost. No
    reader ever heard of it, so no card can have paid. */
export function isForsaken({ userId, intentId }) { return !intentId && userId !== app().user?.id; }

/** Wait for its agent, half an hour at most: by then the shop gives it up as well. */
async function waitForBeginner(run) {
  await run.note({ state: "unknown", notice: BEGUN_BY_OTHER });
  const left = app().payment.createdAt + UNBEGUN - serverNow();
  const isOver = !(left > 0) || (await wait(left))?.kind === "forsake";
  return isOver ? drop(run, FORSAKEN) : begin(run);
}

/** Note the payment with its sale and forget it, at once; then finish the sale, or go on with the rest of it. */
async function approve(run, known) {
  const { payment } = app();
  const transaction = known ?? await ask(run, () => desk().readTransaction(payment.transactionId));
  await run.note({ state: "approved", notice: null });
  if (!await keepPaid(payment, transaction, 0)) {
    update({ payment: null, notice: NOT_HERE });
    return null;
  }
  const isFinished = await settle(payment.saleId).catch((error) => {
    if (!(error instanceof ApiError)) throw error;
    return false; // The payment screen tries again.
  });
  update({ payment: null });
  leadTo(isFinished ? "/till/done" : "/till/pay");
  return null;
}

async function drop(run, notice = "The payment was cancelled. Nothing was charged.") {
  await run.forget();
  update({ payment: null, notice });
  return null;
}

// Requests to /v1. Every failure is an ApiError with words for a person and a code for the program.

import { learnTime } from "./clock.js";
import { app, update } from "./state.js";

const SECONDS = 20; // More than the shop gives its payment processor would keep a customer waiting.

export class ApiError extends Error {
  /** `status` is 0 where no answer came: `code` is then "offline" for what was not sent or only reads, or "no_answer",
      and whether the request was carried out is not known. */
  constructor(status, code, detail, problem = {}) {
    super(detail);
    Object.assign(this, { status, code, detail, problem, retryAfter: null });
  }

  /** Whether the request may have been carried out although no answer says so. */
  get isUncertain() { return this.code === "no_answer" || this.status >= 500; }
}

// Set by session.js, which knows the tokens: `token()` gives the access token, fresh enough; `refused(error, token)`
// hears of a 401 to one and says whether another try makes sense.
let tokens = { token: async () => null, refused: async () => false };

export function useTokens(source) { tokens = source; }

/** Call the API. `options`: body, key (Idempotency-Key), isOpen (without a token), token (instead of the session's),
    seconds, signal (an AbortSignal). Returns `{status, body, headers}`. Raises ApiError, and AbortError by `signal`. */
export async function request(method, path, options = {}) {
  const token = options.isOpen ? null : options.token ?? await tokens.token();
  const answer = await send(method, path, options, token);
  if (answer.status !== 401 || options.isOpen || options.token) return read(answer);
  const error = await errorOf(answer);
  if (!await tokens.refused(error, token)) throw error;
  return read(await send(method, path, options, await tokens.token()));
}

export async function get(path, options) { return (await request("GET", path, options)).body; }

export async function post(path, body, options) { return (await request("POST", path, { body, ...options })).body; }

export async function put(path, body, options) { return (await request("PUT", path, { body, ...options })).body; }

export async function del(path, options) { return (await request("DELETE", path, options)).body; }

/** The path of a location's resource: `at("transactions")` is /v1/pos/{locationId}/transactions. */
export function at(path) { return `/v1/pos/${encodeURIComponent(app().location.id)}/${path}`; }

async function send(method, path, { body, key, seconds = SECONDS, signal, isOpen }, token) {
  // What changes something is not sent while the shop cannot be reached: then it certainly was not carried out.
  if (method !== "GET" && !isOpen && !app().isOnline) throw unreachable();
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  if (token) headers.Authorization = `Bearer ${token}`;
  const sent = { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: "omit" };
  const timeout = AbortSignal.timeout(seconds * 1000);
  const ended = signal ? AbortSignal.any([signal, timeout]) : timeout;
  try {
    const answer = await fetch(path, { ...sent, cache: "no-cache", signal: ended });
    learnTime(answer.headers.get("Date"));
    if (!app().isOnline) update({ isOnline: true });
    return answer;
  } catch (error) {
    if (signal?.aborted) throw error;
    if (error.name !== "TimeoutError" && error.name !== "TypeError" && error.name !== "AbortError") throw error;
    update({ isOnline: false });
    if (method === "GET" && !navigator.onLine) throw unreachable();
    throw new ApiError(0, "no_answer", "The shop did not answer.");
  }
}

function unreachable() {
  return new ApiError(0, "offline", navigator.onLine ? "The shop cannot be reached now." : "There is no network.");
}

async function read(answer) {
  if (!answer.ok) throw await errorOf(answer);
  try {
    const body = answer.status === 204 ? null : await answer.json();
    return { status: answer.status, body, headers: answer.headers };
  } catch {
    throw new ApiError(0, "no_answer", "The answer of the shop broke off.");
  }
}

async function errorOf(answer) {
  let problem = {};
  try {
    problem = await answer.json();
  } catch { /* A proxy's page, or an answer that broke off. */ }
  const said = problem.errors?.map((one) => one.message).join(" ") || problem.detail;
  const code = problem.code ?? `status_${answer.status}`;
  const error = new ApiError(answer.status, code, said ?? words(answer.status), problem);
  error.retryAfter = Number(answer.headers.get("Retry-After")) || null;
  return error;
}

function words(status) {
  if (status >= 500) return "The shop is in trouble. Try again in a moment.";
  return "The shop refused this.";
}

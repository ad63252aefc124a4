// What a person does while a payment is under way, and what else ends a pause of it: one place waits at a time.

let waiting = null;
let isStopped = false; // While nobody waited.

/** Wait until something is sent, `milliseconds` at most where they are given. Returns what was sent, null where nothing
    was. */
export function wait(milliseconds) {
  if (isStopped) {
    isStopped = false;
    return Promise.resolve({ kind: "stop" });
  }
  return new Promise((resolve) => {
    const timer = milliseconds === undefined ? null : setTimeout(() => finish(null), milliseconds);
    const finish = (sent) => {
      clearTimeout(timer);
      if (waiting === finish) waiting = null;
      resolve(sent);
    };
    waiting = finish;
  });
}

/** Hand something to who waits for it: `{kind: "card" | "pin" | "reader" | "again" | "stop", …}`. Nobody waits while a
    request is under way: then a second press does no more than the first, and "stop" is for who waits next. */
export function send(message) {
  if (waiting) waiting(message);
  else if (message.kind === "stop") isStopped = true;
}

/** Forget a stop that nobody waited for: it was meant for the payment before. */
export function forgetStop() { isStopped = false; }

// What a person does while a payment is under way, and what else ends a pause of it: one place waits at a time.

let waiting = null;

/** Wait until something is sent, `milliseconds` at most where they are given. Returns what was sent, null where nothing
    was. */
export function wait(milliseconds) {
  return new Promise((resolve) => {
    const timer = milliseconds === undefined ? null : setTimeout(() => finish(null), milliseconds);
    const finish = (sent) => {
      clearTimeout(timer);
      waiting = null;
      resolve(sent);
    };
    waiting = finish;
  });
}

/** Hand something to who waits for it: `{kind: "card" | "pin" | "reader" | "again" | "stop", …}`. Nobody waits while a
    request is under way: then nothing happens, so that a second press does no more than the first. */
export function send(message) { waiting?.(message); }

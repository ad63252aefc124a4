// Failures that the user can do something about.

/** An error whose message is a sentence that the screen shows. */
export function forPeople(message) { return Object.assign(new Error(message), { isForPeople: true }); }

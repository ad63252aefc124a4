// What went wrong with a printer, in words for the person at the till.

const PATIENCE = 15_000; // Milliseconds for one job: a printer without paper takes nothing and says nothing.

export class PrinterProblem extends Error {
  isForPeople = true;

  /** `code`: not_supported, not_chosen, in_use, not_allowed, not_connected, no_answer or unknown_language. */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Connect, and turn the browser's errors into words. */
export async function connecting(connect) {
  try {
    return await connect();
  } catch (error) {
    if (error instanceof PrinterProblem) throw error;
    if (error.name === "NotFoundError") throw new PrinterProblem("not_chosen", "No printer was chosen.");
    if (error.name === "SecurityError") {
      throw new PrinterProblem("not_allowed", "The browser does not let this page use the printer. Press the button again, or look into the site’s settings.");
    }
    throw new PrinterProblem("in_use", "The printer could not be opened. Is it switched on, and does no other program or tab use it?");
  }
}

/** Send a job, and turn the browser's errors into words. */
export async function sending(send) {
  let timer;
  const tooLate = new Promise((_, reject) => {
    const problem = new PrinterProblem("no_answer", "The printer does not take the receipt. Is there paper, and is the cover closed?");
    timer = setTimeout(() => reject(problem), PATIENCE);
  });
  try {
    await Promise.race([send(), tooLate]);
  } catch (error) {
    if (error instanceof PrinterProblem) throw error;
    throw new PrinterProblem("not_connected", "The printer is not connected. Check its cable and that it is switched on, then print again.");
  } finally {
    clearTimeout(timer);
  }
}

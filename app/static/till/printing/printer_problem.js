// What went wrong with a printer, in words for the person at the till.

const PATIENCE = 15_000; // Milliseconds for one job: a printer without paper takes nothing and says nothing.
const WORDS = {
  not_supported: "This browser cannot use such printers. Chrome and Edge on computers and Android can.",
  not_chosen: "No printer was chosen.",
  not_allowed: "The browser does not let this page use the printer. Look into the browser’s settings of this site.",
  in_use: "The printer could not be opened. Is it switched on, and does no other program or tab use it?",
  not_connected: "The printer is not connected. Check its cable and that it is switched on, then print again.",
  no_answer: "The printer does not take the receipt. Is there paper, and is the cover closed?",
  no_printer: "This device is not a receipt printer.",
  pictures_only: "This printer prints pictures only. Use one that speaks ESC/POS or StarPRNT.",
};

export class PrinterProblem extends Error {
  isForPeople = true;

  /** `code`: one of WORDS, which says it unless `words` do. */
  constructor(code, words = WORDS[code]) {
    super(words);
    this.code = code;
  }
}

/** Connect, and turn the browser's errors into words. */
export async function connecting(connect) {
  try {
    return await connect();
  } catch (error) {
    if (error instanceof PrinterProblem) throw error;
    throw new PrinterProblem({ NotFoundError: "not_chosen", SecurityError: "not_allowed" }[error.name] ?? "in_use");
  }
}

/** Send a job, and turn the browser's errors into words. */
export async function sending(send) {
  let timer;
  const tooLate = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new PrinterProblem("no_answer")), PATIENCE);
  });
  try {
    await Promise.race([send(), tooLate]);
  } catch (error) {
    throw error instanceof PrinterProblem ? error : new PrinterProblem("not_connected");
  } finally {
    clearTimeout(timer);
  }
}

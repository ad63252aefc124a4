// The receipt printer of this device: at USB, at a serial port, or at the shop's network, to which the shop sends. Each
// is `{kind, label, paper, print(bytes)}`; `paper` are the options of receiptBytes, reportBytes and drawerBytes.

import { at, post } from "../api.js";
import { app } from "../state.js";
import { read, remove, write } from "../store.js";
import { ESC_POS } from "./paper.js";
import { PrinterProblem } from "./printer_problem.js";
import * as serial from "./serial_printer.js";
import * as usb from "./usb_printer.js";

export { COLUMNS } from "./paper.js";

const USB = "usb";
export const SERIAL = "serial";
export const NETWORK = "network";
const CHOICE = "printer"; // In the store `device`.
const DEFAULTS = { columns: 42, baudRate: 9600, language: null, codepage: "auto" }; // No language: the printer's.

let inUse = null;

/** The kinds of printers that this browser and location offer, as `{kind, label}`. */
export function kindsOfPrinters() {
  return [
    { kind: USB, label: "USB", isThere: usb.isSupported() },
    { kind: SERIAL, label: "Serial or Bluetooth", isThere: serial.isSupported() },
    { kind: NETWORK, label: "Network printer of the location", isThere: Boolean(app().configuration?.hasPrinter) },
  ].filter(({ isThere }) => isThere).map(({ kind, label }) => ({ kind, label }));
}

/** Choose a printer, which this device then remembers; call it while a press is handled, since the browser shows its
    own list. `options`: columns (32, 42 or 48), language ("esc-pos" or "star-prnt"), codepage, baudRate. Returns the
    printer. Raises PrinterProblem. */
export async function choosePrinter(kind, options = {}) {
  const choice = { kind, ...DEFAULTS, ...options };
  if ((kind === USB && !usb.isSupported()) || (kind === SERIAL && !serial.isSupported())) {
    throw new PrinterProblem("not_supported");
  }
  const line = kind === USB ? await usb.choose() : kind === SERIAL ? await serial.choose(choice) : network();
  await write("device", { ...choice, known: line.known }, CHOICE);
  return use(choice, line);
}

/** The printer of this device, opened without a question: the one that was chosen, else the only one that the browser
    lets this page use. null where there is none. Raises PrinterProblem. */
export async function printerInUse() {
  if (inUse?.isOpen()) return inUse;
  const choice = await read("device", CHOICE) ?? null;
  if (choice?.kind === NETWORK) return use(choice, network());
  const found = await reopened(choice);
  if (!found && choice) throw new PrinterProblem("not_connected");
  return found;
}

async function reopened(choice) {
  for (const [kind, maker] of [[USB, usb], [SERIAL, serial]]) {
    if (choice && choice.kind !== kind) continue;
    const line = await maker.reopen(choice?.known, choice ?? DEFAULTS);
    if (line) return use(choice ?? { kind, ...DEFAULTS }, line);
  }
  return null;
}

/** Change the paper of the printer in use: columns, language or codepage. */
export async function changePrinter(options) {
  const found = inUse && { kind: inUse.kind, ...DEFAULTS, known: inUse.line.known };
  const choice = { ...found, ...await read("device", CHOICE), ...options };
  await write("device", choice, CHOICE);
  if (inUse) Object.assign(inUse.paper, paperOf(choice, inUse.line));
}

export async function forgetPrinter() {
  await remove("device", CHOICE);
  const line = inUse?.line;
  inUse = null;
  try {
    await line?.close();
  } catch { /* It is unplugged. */ }
}

function use(choice, line) {
  let last = Promise.resolve(); // One job after the other.
  const print = (bytes) => {
    const job = last.then(() => line.send(bytes));
    last = job.catch(() => {});
    return job;
  };
  inUse = { kind: choice.kind, label: line.label, paper: paperOf(choice, line), line, isOpen: line.isOpen, print };
  return inUse;
}

function paperOf({ columns, language, codepage }, line) {
  return { columns, language: language ?? line.language, codepage, codepageMapping: line.codepageMapping };
}

function network() {
  const send = async (bytes) => {
    if (app().isTraining) throw new PrinterProblem("not_allowed", "Training sends nothing to the shop’s printer.");
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    return post(at("printJobs"), { data: btoa(text) });
  };
  return { label: "Network printer", language: ESC_POS, known: null, isOpen: () => true, send, close: async () => {} };
}

// Paper of a receipt printer: rows, rules and headings in a fixed number of columns, as bytes for the printer.

import ReceiptPrinterEncoder from "../../vendor/receipt-printer-encoder-4.0.1.esm.js";

export const ESC_POS = "esc-pos";
export const COLUMNS = [32, 42, 48];
const MAPPINGS = ["bixolon", "citizen", "epson", "fujitsu", "hp", "star", "xprinter"]; // Of code pages, by maker.
// Of Epson's code pages, those first that most printers have which speak its language.
const EPSON = [
  "cp437", "cp858", "cp852", "cp866", "cp737", "cp857", "windows1252", "windows1250", "windows1251", "windows1253",
  "windows1254", "windows1255", "windows1256", "windows1257", "windows1258", "epson/katakana", "thai42",
];
const PLAIN = {
  "•": "*", "×": "x", "…": "...", "−": "-", "–": "-", "—": "-", "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'",
};
// Code pages have these where others have control characters.
const NOT_PRINTED = /[☺☻♥♦♣♠◘○◙♂♀♪♫☼►◄↕‼¶§▬↨↑↓→←∟↔▲▼⌂]/gu;

/** Text as printers print it: no control characters, which would be commands, and plain signs for typographic ones. */
export function printable(text) {
  const composed = String(text).normalize("NFC").replace(/[\p{Cc}\p{Zs}\p{Zl}\p{Zp}]+/gu, " ").replace(/\p{Cf}/gu, "");
  return composed.replace(/[•×…−–—“”„‘’]/gu, (sign) => PLAIN[sign]).replace(NOT_PRINTED, "?").trim();
}

/** A date and time in a time zone: "20 Nov 2026, 21:04". */
export function moment(time, timeZone) {
  const parts = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" };
  return new Intl.DateTimeFormat("en-GB", { ...parts, hourCycle: "h23", timeZone }).format(new Date(time));
}

export class Paper {
  #encoder;
  #columns;

  /** `language`: "esc-pos" or "star-prnt"; `columns`: 32 (58 mm), 42 or 48 (80 mm); `codepage`: the only one that the
      printer has, else the one of each letter; `codepageMapping`: the maker whose numbers of code pages hold. Letters
      that no code page has become "?". */
  constructor({ language = ESC_POS, columns = 42, codepage = "auto", codepageMapping } = {}) {
    const pages = language === ESC_POS ? pagesOf(codepageMapping) : {};
    this.#columns = columns;
    const feedBeforeCut = language === ESC_POS ? 4 : 3; // The cutter is some lines beyond the print head.
    this.#encoder = new ReceiptPrinterEncoder({ language, columns, feedBeforeCut, ...pages });
    this.#encoder.initialize().codepage(codepage);
  }

  /** Open the drawer at the printer's first connector. */
  openDrawer() {
    this.#encoder.pulse(0, 120, 240);
    return this;
  }

  heading(text) {
    const line = printable(text);
    const factor = line.length * 2 <= this.#columns ? 2 : 1;
    this.#encoder.align("center").bold(true).size(factor, factor).text(line);
    this.#encoder.size(1, 1).bold(false).newline().align("left");
    return this;
  }

  centered(...lines) {
    this.#encoder.align("center");
    for (const line of lines.map(printable).filter(Boolean)) this.#encoder.line(line);
    this.#encoder.align("left");
    return this;
  }

  line(text) {
    this.#encoder.line(printable(text));
    return this;
  }

  rule() {
    this.#encoder.rule();
    return this;
  }

  gap() {
    this.#encoder.newline();
    return this;
  }

  /** A label and its value at the right. A long label wraps; a long value stands below it. */
  row(label, value, { isStrong = false } = {}) {
    const [left, right] = [printable(label), printable(value)];
    const fits = left.length + right.length < this.#columns;
    if (!fits && right.length > this.#columns / 2) {
      return this.line(left).#table([this.#columns], [right], ["right"], isStrong);
    }
    const width = Math.max(right.length, 1);
    return this.#table([this.#columns - width - 1, width], [left, right], ["left", "right"], isStrong);
  }

  rows(pairs) {
    for (const [label, value, options] of pairs) this.row(label, value, options);
    return this;
  }

  qrCode(address) {
    this.#encoder.align("center").qrcode(address, { size: this.#columns < 42 ? 4 : 5, errorlevel: "m" }).align("left");
    return this;
  }

  cut() {
    this.#encoder.cut("partial");
    return this;
  }

  /** The job as bytes. */
  bytes() { return this.#encoder.encode(); }

  #table(widths, cells, aligns, isStrong) {
    const columns = widths.map((width, place) => ({ width, align: aligns[place], marginLeft: place ? 1 : 0 }));
    this.#encoder.bold(isStrong).table(columns, [cells]).bold(false);
    return this;
  }
}

function pagesOf(mapping) {
  const isKnown = MAPPINGS.includes(mapping) && mapping !== "epson";
  return isKnown ? { codepageMapping: mapping } : { codepageMapping: "epson", codepageCandidates: EPSON };
}

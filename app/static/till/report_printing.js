// Reports on paper: by the receipt printer of this device, else by the browser.

import { app } from "./state.js";

const SIGNED_IN = "network"; // The kind of printer that the shop prints on, for those who are signed in.

/** Print an X or Z report. Raises what the printer says. */
export async function printReport(report) {
  const printer = await findPrinter();
  if (!printer || printer.kind === SIGNED_IN) {
    print();
    return;
  }
  const { reportBytes } = await import("./printing/report_bytes.js");
  const { shopName, displayName, timeZone } = app().configuration;
  await printer.print(reportBytes(report, { shop: shopName, location: displayName, timeZone }, printer.paper));
}

async function findPrinter() {
  let printers;
  try {
    printers = await import("./printing/printers.js");
  } catch {
    return null; // It could not be loaded.
  }
  return printers.printerInUse();
}

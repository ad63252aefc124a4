// Receipts and the drawer, by the printer of this device.

import { printerInUse } from "./printers.js";
import { drawerBytes, receiptBytes } from "./receipt_bytes.js";

/** Print what the shop answers at …/transactions/{id}/receipt. Returns whether there is a printer. Raises
    PrinterProblem, or ApiError for a network printer. */
export async function printReceipt(shown) {
  const printer = await printerInUse();
  await printer?.print(receiptBytes(shown, printer.paper));
  return Boolean(printer);
}

/** Print a receipt; where this device has no printer, open its page for the browser to print. As `printReceipt`. */
export async function printOrOpen(shown) {
  if (!await printReceipt(shown)) open(shown.url, "_blank", "noopener");
}

/** Open the drawer that hangs on the printer. Returns whether there is a printer. Raises PrinterProblem or ApiError. */
export async function openDrawer() {
  const printer = await printerInUse();
  await printer?.print(drawerBytes(printer.paper));
  return Boolean(printer);
}

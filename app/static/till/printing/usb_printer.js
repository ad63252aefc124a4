// Receipt printers at USB, by WebUSB. The library knows the makers: which interface to claim, which language to speak.
// It only logs what goes wrong while it sends, so the bytes are sent here.

import WebUSBReceiptPrinter from "../../vendor/webusb-receipt-printer-2.1.0.esm.js";
import { ESC_POS } from "./paper.js";
import { PrinterProblem, connecting, sending } from "./printer_problem.js";

const PRINTER_CLASS = 7;
const MAKERS = [0x04b8, 0x0519, 0x1d90, 0x04c5, 0x05d9]; // Epson, Star, Citizen, Fujitsu, HP: some are of no class.
const FILTERS = [{ classCode: PRINTER_CLASS }, ...MAKERS.map((vendorId) => ({ vendorId }))];
const ENCODED = [ESC_POS, "star-prnt", "star-line"];

export const isSupported = () => "usb" in navigator;

/** Let the user choose a device; call it while a press is handled. Raises PrinterProblem. */
export const choose = () => connecting(async () => open(await navigator.usb.requestDevice({ filters: FILTERS })));

/** The device that was used before, else the only one that this page may use; null where there is none. Raises
    PrinterProblem. */
export async function reopen(known) {
  const devices = isSupported() ? await navigator.usb.getDevices() : [];
  const same = devices.find((one) => known && one.vendorId === known.vendorId && one.productId === known.productId
    && (one.serialNumber ?? null) === known.serialNumber);
  const device = same ?? (known || devices.length > 1 ? null : devices[0]);
  return device ? connecting(() => open(device)) : null;
}

async function open(device) {
  const { language, codepageMapping } = await openKnown(device) ?? await openAny(device);
  if (!ENCODED.includes(language)) {
    await device.close();
    throw new PrinterProblem("pictures_only");
  }
  const { vendorId, productId, serialNumber = null } = device;
  return {
    label: device.productName || "USB printer", language, codepageMapping, known: { vendorId, productId, serialNumber },
    isOpen: () => device.opened, send: (bytes) => sending(() => transfer(device, bytes)), close: () => device.close(),
  };
}

/** Open a device of a maker that the library knows: `{language, codepageMapping}`, null for another. */
async function openKnown(device) {
  const driver = new WebUSBReceiptPrinter();
  const connected = new Promise((resolve) => { driver.addEventListener("connected", resolve); });
  try {
    await driver.reconnect(device);
  } catch (error) {
    if (error instanceof TypeError && !device.opened) return null; // It has no profile of this maker.
    throw error;
  }
  return connected;
}

async function openAny(device) {
  await device.open();
  if (!device.configuration) await device.selectConfiguration(device.configurations[0].configurationValue);
  const printing = device.configuration.interfaces.find((one) => one.alternate.interfaceClass === PRINTER_CLASS);
  if (!printing) throw new PrinterProblem("no_printer");
  await device.claimInterface(printing.interfaceNumber);
  return { language: ESC_POS };
}

async function transfer(device, bytes) {
  const claimed = device.configuration.interfaces.find((one) => one.claimed);
  const { endpointNumber } = claimed.alternate.endpoints.find((one) => one.direction === "out");
  const { status } = await device.transferOut(endpointNumber, bytes);
  if (status !== "ok") throw new Error(status);
}

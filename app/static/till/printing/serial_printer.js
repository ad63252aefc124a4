// Receipt printers at a serial port, by Web Serial, which also has those that were paired by Bluetooth.

import { ESC_POS } from "./paper.js";
import { connecting, sending } from "./printer_problem.js";

export const isSupported = () => "serial" in navigator;

/** Let the user choose a port; call it while a press is handled. Raises PrinterProblem. */
export const choose = ({ baudRate }) => connecting(async () => open(await navigator.serial.requestPort(), baudRate));

/** The port that was used before, else the only one that this page may use; null where there is none. Raises
    PrinterProblem. */
export async function reopen(known, { baudRate }) {
  const ports = isSupported() ? await navigator.serial.getPorts() : [];
  const isKnown = (one) => JSON.stringify(idsOf(one)) === JSON.stringify(known);
  const fitting = known ? ports.filter(isKnown) : ports;
  return fitting.length === 1 ? connecting(() => open(fitting[0], baudRate)) : null;
}

async function open(port, baudRate) {
  if (!port.writable) await port.open({ baudRate });
  return {
    label: "Serial printer", language: ESC_POS, codepageMapping: undefined, known: idsOf(port),
    isOpen: () => Boolean(port.writable), send: (bytes) => sending(() => write(port, bytes)), close: () => port.close(),
  };
}

async function write(port, bytes) {
  const writer = port.writable.getWriter();
  try {
    await writer.write(bytes);
  } finally {
    writer.releaseLock();
  }
}

function idsOf(port) {
  const { usbVendorId = null, usbProductId = null } = port.getInfo();
  return { vendorId: usbVendorId, productId: usbProductId };
}

// Printers as a browser shows them to a page. They note what they get in `jobs`.

const refuse = (name) => async () => { throw new DOMException("", name); };

function usbDevice(more) {
  const endpoints = [{ direction: "out", endpointNumber: 1 }];
  const printing = { interfaceNumber: 0, claimed: false, alternate: { interfaceClass: 7, endpoints } };
  const device = {
    vendorId: 0x04b8, productId: 0x0202, productName: "TM-T88V", serialNumber: "A1", manufacturerName: "EPSON",
    opened: false, configurations: [{ configurationValue: 1 }], configuration: null, jobs: [],
    async open() { device.opened = true; },
    async close() { device.opened = false; },
    async selectConfiguration() { device.configuration = { interfaces: [printing] }; },
    async claimInterface() { printing.claimed = true; },
    async reset() {},
    async transferOut(number, bytes) {
      device.jobs.push([...bytes]);
      return { status: "ok" };
    },
    ...more,
  };
  return device;
}

function fakeUsb(...devices) {
  const usb = Object.assign(new EventTarget(), {
    getDevices: async () => devices,
    requestDevice: async ({ filters }) => {
      usb.filters = filters;
      return devices[0] ?? refuse("NotFoundError")();
    },
  });
  Object.defineProperty(navigator, "usb", { value: usb, configurable: true });
}

function fakeSerial(port) {
  const jobs = [];
  const writable = new WritableStream({ write(bytes) { jobs.push([...bytes]); } });
  const open = async (options) => { Object.assign(port, { options, writable }); };
  Object.assign(port, { jobs, writable: null, getInfo: () => ({}), open, close: async () => { port.writable = null; } });
  const serial = Object.assign(new EventTarget(), { getPorts: async () => [port], requestPort: async () => port });
  Object.defineProperty(navigator, "serial", { value: serial, configurable: true });
}

Object.assign(window, { refuse, usbDevice, fakeUsb, fakeSerial });

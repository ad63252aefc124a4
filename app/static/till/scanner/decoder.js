// What reads a code from a picture: the browser's BarcodeDetector, else the vendored decoder, which is loaded then.

const BARS = ["ean_13", "ean_8", "upc_a", "upc_e", "code_128", "code_39"];
const FORMATS = [...BARS, "qr_code"];
// The vendored decoder reads each picture at one of these widths in pixels. A bar code that is a little blurred is
// misread now and then, but not in the same way at two sizes: only what was read at two of them counts.
const SIZES = [{ width: 960, isThorough: false }, { width: 640, isThorough: false }, { width: 800, isThorough: true }];

/** Return the function that reads a video element's picture: the code or null. */
export async function chooseDecoder() { return await native() ?? await vendored(); }

async function native() {
  if (!("BarcodeDetector" in window)) return null;
  const offered = await window.BarcodeDetector.getSupportedFormats();
  const formats = FORMATS.filter((format) => offered.includes(format));
  if (!formats.includes("ean_13")) return null;
  const detector = new window.BarcodeDetector({ formats });
  return async (video) => {
    try {
      return (await detector.detect(video))[0]?.rawValue ?? null;
    } catch { // No picture yet.
      return null;
    }
  };
}

async function vendored() {
  await import("../../vendor/zxing-0.23.0.min.js");
  const read = reader(window.ZXing);
  const latest = SIZES.map(() => null); // What was read at each size.
  let turn = 0;
  return async (video) => {
    turn = (turn + 1) % SIZES.length;
    const code = read(video, SIZES[turn]);
    const isSure = latest.some((other, place) => place !== turn && other !== null && other === code);
    latest[turn] = code;
    return isSure ? code : null;
  };
}

function reader(zxing) {
  const formats = BARS.map((format) => zxing.BarcodeFormat[format.toUpperCase()]);
  const quick = new Map([[zxing.DecodeHintType.POSSIBLE_FORMATS, formats]]);
  const thorough = new Map([...quick, [zxing.DecodeHintType.TRY_HARDER, true]]);
  const bars = new zxing.MultiFormatOneDReader(quick);
  const squares = new zxing.QRCodeReader();
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return (video, { width, isThorough }) => {
    const scale = Math.min(1.5, width / video.videoWidth);
    [canvas.width, canvas.height] = [Math.round(video.videoWidth * scale), Math.round(video.videoHeight * scale)];
    context.drawImage(video, 0, 0, canvas.width, canvas.height);
    const source = new zxing.RGBLuminanceSource(greys(context, canvas), canvas.width, canvas.height);
    const picture = new zxing.BinaryBitmap(new zxing.HybridBinarizer(source));
    return found(zxing, () => bars.decode(picture, isThorough ? thorough : quick))
      ?? found(zxing, () => squares.decode(picture));
  };
}

function found(zxing, decode) {
  try {
    return decode().getText();
  } catch (error) {
    if (error instanceof zxing.Exception) return null; // It says by throwing that there is no code.
    throw error;
  }
}

function greys(context, { width, height }) {
  const { data } = context.getImageData(0, 0, width, height);
  const found = new Uint8ClampedArray(width * height);
  for (let pixel = 0, place = 0; pixel < found.length; pixel += 1, place += 4) {
    found[pixel] = (data[place] * 77 + data[place + 1] * 150 + data[place + 2] * 29) >> 8;
  }
  return found;
}

// What reads a code from a picture: the browser's BarcodeDetector, else the vendored decoder, which is loaded then.

const FORMATS = ["ean_13", "ean_8", "upc_a", "upc_e", "code_128", "code_39", "qr_code"];
const WIDTH = 960; // Pixels of a picture that the vendored decoder reads: more takes longer and finds no more.

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
  const zxing = window.ZXing;
  const reader = new zxing.MultiFormatReader();
  const formats = FORMATS.map((format) => zxing.BarcodeFormat[format.toUpperCase()]);
  reader.setHints(new Map([[zxing.DecodeHintType.POSSIBLE_FORMATS, formats], [zxing.DecodeHintType.TRY_HARDER, true]]));
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return async (video) => {
    const scale = Math.min(1, WIDTH / video.videoWidth);
    [canvas.width, canvas.height] = [Math.round(video.videoWidth * scale), Math.round(video.videoHeight * scale)];
    context.drawImage(video, 0, 0, canvas.width, canvas.height);
    const source = new zxing.RGBLuminanceSource(greys(context, canvas), canvas.width, canvas.height);
    try {
      return reader.decodeWithState(new zxing.BinaryBitmap(new zxing.HybridBinarizer(source))).getText();
    } catch (error) {
      if (error instanceof zxing.Exception) return null; // It reads nothing by throwing.
      throw error;
    } finally {
      reader.reset();
    }
  };
}

function greys(context, { width, height }) {
  const { data } = context.getImageData(0, 0, width, height);
  const found = new Uint8ClampedArray(width * height);
  for (let pixel = 0, place = 0; pixel < found.length; pixel += 1, place += 4) {
    found[pixel] = (data[place] * 77 + data[place + 1] * 150 + data[place + 2] * 29) >> 8;
  }
  return found;
}

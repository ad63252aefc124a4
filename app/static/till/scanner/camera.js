// Bar codes and QR codes before the camera.

import { chooseDecoder } from "./decoder.js";

const PICTURE = { facingMode: { ideal: "environment" }, width: { ideal: 1280 }, height: { ideal: 720 } };
const PAUSE = 100; // Milliseconds between two pictures.
const OUT_OF_SIGHT = 1500; // Milliseconds after which the same code is another item.
const PROBLEMS = {
  NotFoundError: ["no_camera", "This device has no camera."],
  OverconstrainedError: ["no_camera", "This device has no camera that fits."],
  NotAllowedError: ["not_allowed", "The camera is not allowed. Allow it in the browser’s settings of this site."],
  SecurityError: ["not_allowed", "The camera is not allowed on this page."],
  NotReadableError: ["in_use", "The camera cannot be used. Does another app use it?"],
  AbortError: ["in_use", "The camera cannot be used. Does another app use it?"],
};

class CameraProblem extends Error {
  isForPeople = true;

  /** `code`: not_supported, no_camera, not_allowed or in_use. */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Show the camera's picture in a video element and call `onScan(code)` for each code, once while it is in sight.
    Returns `{hasTorch, setTorch(isOn), close()}`. Raises CameraProblem. */
export async function openCamera(video, onScan) {
  const stream = await startStream();
  let isClosed = false;
  const close = () => {
    isClosed = true;
    for (const track of stream.getTracks()) track.stop();
    video.srcObject = null;
  };
  try {
    video.srcObject = stream;
    Object.assign(video, { muted: true, playsInline: true });
    const [decode] = await Promise.all([chooseDecoder(), video.play()]);
    watch(video, decode, onScan, () => isClosed);
  } catch (error) {
    close();
    throw error;
  }
  const [track] = stream.getVideoTracks();
  const hasTorch = Boolean(track.getCapabilities?.().torch);
  return { hasTorch, setTorch: (isOn) => track.applyConstraints({ advanced: [{ torch: isOn }] }), close };
}

async function startStream() {
  if (!navigator.mediaDevices?.getUserMedia) {
    throw new CameraProblem("not_supported", "This browser lets no page use a camera, or the page came without https.");
  }
  try {
    return await navigator.mediaDevices.getUserMedia({ video: PICTURE, audio: false });
  } catch (error) {
    const [code, message] = PROBLEMS[error.name] ?? PROBLEMS.NotReadableError;
    throw new CameraProblem(code, message);
  }
}

async function watch(video, decode, onScan, isClosed) {
  let last = null;
  let seenAt = -Infinity;
  while (!isClosed()) {
    const code = video.readyState >= video.HAVE_CURRENT_DATA ? await decode(video) : null;
    if (isClosed()) return;
    if (code) {
      const isNew = code !== last || performance.now() - seenAt > OUT_OF_SIGHT;
      [last, seenAt] = [code, performance.now()];
      if (isNew) onScan(code);
    }
    await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
  }
}

// The dialog with the camera's picture; a code can be typed where there is none.

import { Button, Dialog, Field, html, Problem, sentence, useEffect, useRef, useState } from "../ui.js";

const TYPEABLE = 100; // Characters of a code.

/** `onScan(code)` for each code; `said` is what came of the last one. */
export function Scan({ said, onScan, onClose }) {
  const video = useRef(null);
  const scan = useRef(onScan);
  scan.current = onScan;
  const [camera, setCamera] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => openWhileShown(video.current, scan, setCamera, (error) => setProblem(sentence(error))), []);
  const [code, setCode] = useState("");
  const [hasLight, setLight] = useState(false);
  const type = (event) => {
    event.preventDefault();
    if (!code.trim()) return;
    scan.current(code.trim());
    setCode("");
  };
  const light = async () => {
    await camera.setTorch(!hasLight);
    setLight(!hasLight);
  };
  return html`<${Dialog} title="Scan a barcode" onClose=${onClose}>
    <video ref=${video} class=${problem ? "unseen" : "viewfinder"} aria-label="Camera"></video>
    ${problem && html`<p class="note warn" role="alert">${problem}</p>`}
    ${camera?.hasTorch && html`<${Button} onPress=${light} aria-pressed=${hasLight ? "true" : "false"}>Light<//>`}
    <p role="status" class="strong">${said}</p>
    <form class="beside" onSubmit=${type}>
      <${Field} label="Barcode" id="barcode" value=${code} onInput=${setCode} inputmode="numeric" autocomplete="off"
        maxlength=${TYPEABLE} help="Type the code where the camera cannot read it." />
      <${Button} type="submit">Add<//>
    </form>
  <//>`;
}

/** Open the camera, which is loaded first; returns what closes it. */
function openWhileShown(video, scan, onOpen, onProblem) {
  let isLeft = false;
  let camera = null;
  const open = async () => {
    const { openCamera } = await import("../scanner/camera.js");
    if (isLeft) return;
    camera = await openCamera(video, (code) => scan.current(code));
    if (isLeft) camera.close();
    else onOpen(camera);
  };
  open().catch((error) => isLeft || onProblem(error));
  return () => {
    isLeft = true;
    camera?.close();
  };
}

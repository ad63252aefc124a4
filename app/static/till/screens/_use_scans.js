// The codes that were scanned on this screen, and what came of them.

import { noteCode, resolveCode } from "../scans.js";
import { app } from "../state.js";
import { sentence, useState } from "../ui.js";

const NOTHING = "The shop sells nothing under this code.";
const CHOOSE = "Choose which one it is.";

/** `{take(code), resolve(code), reasons, looking, wanted, setWanted}`. `wanted` is the code whose product is being
    looked for by hand. `onSaid(sentence)`; `onChoose(product, code)` where one of several variants is meant. */
export function useScans({ onSaid, onChoose }) {
  const [reasons, setReasons] = useState({});
  const [looking, setLooking] = useState([]);
  const [wanted, setWanted] = useState(null);

  /** Look a code of the order up; whether the agent knows what to do next. */
  const resolve = async (code) => {
    const note = (reason) => setReasons((before) => ({ ...before, [code]: reason }));
    setLooking((before) => [...before, code]);
    try {
      const { kind, product } = await resolveCode(code);
      if (kind === "added") onSaid(`${product.name} added.`);
      if (kind === "choose") onChoose(product, code);
      if (kind === "nothing") onSaid(`Nothing is sold under ${code}.`);
      note({ added: null, choose: CHOOSE, nothing: NOTHING }[kind]);
      return kind !== "nothing";
    } catch (error) {
      note(sentence(error));
      return false;
    } finally {
      setLooking((before) => before.filter((_, place) => place !== before.indexOf(code)));
    }
  };
  const take = async (code) => {
    if (app().sale?.paid.length) {
      onSaid("A part of this order is paid, so nothing is added.");
      return;
    }
    try {
      await noteCode(code);
    } catch (error) {
      onSaid(sentence(error));
      return;
    }
    await resolve(code);
  };
  return { take, resolve, reasons, looking, wanted, setWanted };
}

// The till: read `start` top to bottom.

import { html, render, useEffect } from "../vendor/htm-preact-3.1.1.module.js";
import { loadClock } from "./clock.js";
import { followTill } from "./display/follow_till.js";
import { keepFocus } from "./focus.js";
import { install } from "./installation.js";
import { applyLook } from "./look.js";
import { go } from "./navigation.js";
import { listen, routeOf } from "./router.js";
import { SignIn } from "./screens/sign_in.js";
import { Start } from "./screens/start.js";
import { start } from "./session.js";
import { update, useApp } from "./state.js";
import { follow as followTraining } from "./training.js";
import { Loading, NOT_LOADED, Problem, Screen, useModule } from "./ui.js";

const Z_REPORT = () => import("./screens/z_report.js");
const BEFORE_SELLING = {
  setUp: () => import("./screens/quick_unlock.js"),
  locked: () => import("./screens/locked.js"),
  location: () => import("./screens/locations.js"),
  notReady: () => import("./screens/not_ready.js"),
};

const SELLS = /^\/till\/(?:quick|order|parked|done)$/; // Not while a payment is under way, however one got there.

function Till() {
  const { phase, path: wanted, notice, payment, report } = useApp();
  if (report) return html`<${Loaded} key="report" load=${Z_REPORT} parameters=${{}} />`;
  const path = payment && payment.state !== "starting" && SELLS.test(wanted) ? "/till/pay" : wanted;
  if (phase === "starting") return html`<main class="screen"><${Loading}>Starting…<//></main>`;
  if (phase === "signIn") return html`<${SignIn} notice=${notice} />`;
  if (phase in BEFORE_SELLING) return html`<${Loaded} key=${phase} load=${BEFORE_SELLING[phase]} parameters=${{}} />`;
  const route = routeOf(path);
  if (!route) return html`<${Unknown} />`;
  if (!route.load) return html`<${Start} />`;
  return html`<${Loaded} key=${path} load=${route.load} parameters=${route.parameters} />`;
}

/** A screen whose module is loaded first. Its default export is the component. */
function Loaded({ load, parameters }) {
  const [Shown, hasFailed] = useModule(load);
  if (Shown) return html`<${Shown} ...${parameters} />`;
  if (!hasFailed) return html`<main class="screen"><${Loading} /></main>`;
  return html`<${Screen} title="Not loaded" back="/till"><${Problem}>${NOT_LOADED}<//><//>`;
}

function Unknown() {
  useEffect(() => go("/till", { replaces: true }), []);
  return null;
}

async function begin() {
  update({ path: location.pathname });
  listen();
  keepFocus();
  addEventListener("online", () => update({ isOnline: true }));
  addEventListener("offline", () => update({ isOnline: false }));
  await applyLook();
  await followTraining();
  followTill();
  render(html`<${Till} />`, document.getElementById("till"));
  await install();
  await loadClock();
  await start();
  (await import("./catalogue_loading.js")).keepLoaded();
}

begin();

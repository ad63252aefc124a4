// What a device is called in the list of devices: by its browser and its system, as people know them.

const BROWSERS = [
  [/Edg/, "Edge"], [/OPR\//, "Opera"], [/SamsungBrowser/, "Samsung Internet"], [/Firefox|FxiOS/, "Firefox"],
  [/Chrome|CriOS/, "Chrome"], [/Safari/, "Safari"],
];
const SYSTEMS = [
  [/iPhone/, "iPhone"], [/iPad/, "iPad"], [/Android/, "Android"], [/CrOS/, "ChromeOS"], [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "Mac"], [/Linux/, "Linux"],
];

/** "Chrome on Android", by the User-Agent. */
export function nameOfDevice(agent) {
  const [browser, system] = [BROWSERS, SYSTEMS].map((known) => known.find(([pattern]) => pattern.test(agent))?.[1]);
  return `${browser ?? "A browser"} on ${system ?? "a device"}`;
}

// SPDX-License-Identifier: MIT
// browser.mjs - headless Chromium and TAP, shared by the tests that open reports. NODE_MODULES: folder of
// packages.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const modules = process.env.NODE_MODULES;
const { chromium } = createRequire(path.join(modules, "x.js"))("playwright-core");
let failed = 0;

// about(SUBJECT) returns ok(CLAIM, GOOD, GOT), which prints a claim as a line of TAP that begins with the
// subject.
export const about = (what) => (claim, good, got) => {
  console.log(`${good ? "ok" : "not ok"} - ${what}: ${claim}`);
  if (!good) { failed = 1; console.log(`# got: ${JSON.stringify(got)}`); }
};

export const status = () => failed; // of the process: 1 if a claim was wrong

export const launch = (...more) => chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", ...more],
});

// Opens speedscope. Returns its page and a list that collects errors and, if @warnings, warnings of its
// console.
export async function openSpeedscope(browser, warnings) {
  const page = await browser.newPage({ viewport: { width: 1300, height: 700 } });
  const complaints = [];
  page.on("pageerror", (e) => complaints.push(String(e)));
  if (warnings) page.on("console", (m) => { if (/warn|error/.test(m.type())) complaints.push(m.text()); });
  await page.goto(pathToFileURL(path.join(modules, "speedscope", "dist", "release", "index.html")).href);
  return [page, complaints];
}
export const forSpeedscope = ["--use-gl=angle", "--use-angle=swiftshader", "--allow-file-access-from-files"];

// Waits until the page shows the result of typed text or a moved pointer. A page waits 90 to 120 ms for more
// text and draws at the next frame. Timers of a page end in order, so this timer of 150 ms ends after them.
export const settle = (page) => page.evaluate(() => new Promise((r) =>
  requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(r)), 150))));

// Selects a share of the time of a report page, from its beginning.
export async function dragTimeLine(page, share) {
  const lane = await page.locator("#time").boundingBox();
  await page.mouse.move(lane.x + 195, lane.y + 30);
  await page.mouse.down();
  await page.mouse.move(lane.x + 195 + (lane.width - 200) * share, lane.y + 30, { steps: 5 });
  await page.mouse.up();
}

export async function end(browser) {
  await browser.close();
  process.exit(failed);
}

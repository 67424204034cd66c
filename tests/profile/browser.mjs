// SPDX-License-Identifier: MIT
// Headless Chromium and TAP, for whatever opens reports in it. NODE_MODULES: where packages are.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const modules = process.env.NODE_MODULES;
const { chromium } = createRequire(path.join(modules, "x.js"))("playwright-core");
let failed = 0;

// A claim and whether it holds, as a line of TAP that begins with what it is about.
export const about = (what) => (claim, good, got) => {
  console.log(`${good ? "ok" : "not ok"} - ${what}: ${claim}`);
  if (!good) { failed = 1; console.log(`# got: ${JSON.stringify(got)}`); }
};

export const launch = (...more) => chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", ...more],
});

// A page of speedscope, and what it complains of: errors, and with @warnings what it says on its console.
export async function openSpeedscope(browser, warnings) {
  const page = await browser.newPage({ viewport: { width: 1300, height: 700 } });
  const complaints = [];
  page.on("pageerror", (e) => complaints.push(String(e)));
  if (warnings) page.on("console", (m) => { if (/warn|error/.test(m.type())) complaints.push(m.text()); });
  await page.goto(pathToFileURL(path.join(modules, "speedscope", "dist", "release", "index.html")).href);
  return [page, complaints];
}
export const forSpeedscope = ["--use-gl=angle", "--use-angle=swiftshader", "--allow-file-access-from-files"];

// When what was typed or pointed at is shown. A page waits 90 to 120 ms for more typing, and draws at the next frame: its timers
// come in order, so this one of the page's own comes behind them, however busy the machine.
export const settle = (page) => page.evaluate(() => new Promise((r) =>
  requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(r)), 150))));

// Chooses that share of a report page's time, from its beginning.
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

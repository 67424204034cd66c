// SPDX-License-Identifier: MIT
// Opens a trace of begin and end events in speedscope, in headless Chromium: a viewer's own reader of the
// Chrome trace format, which complains of ends that fit no beginning. Prints TAP.
// usage: node speedscope_trace.mjs FILE SHOTS-FOLDER      NODE_MODULES: where packages are
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const [file, shots] = process.argv.slice(2);
const require = createRequire(path.join(process.env.NODE_MODULES, "x.js"));
const { chromium } = require("playwright-core");
let failed = 0;
const ok = (claim, good, got) => {
  console.log(`${good ? "ok" : "not ok"} - trace in speedscope: ${claim}`);
  if (!good) { failed = 1; console.log(`# got: ${JSON.stringify(got)}`); }
};
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--use-gl=angle", "--use-angle=swiftshader", "--allow-file-access-from-files"] });
const page = await browser.newPage({ viewport: { width: 1300, height: 700 } });
const complaints = [];
page.on("pageerror", (e) => complaints.push(String(e)));
page.on("console", (m) => { if (/warn|error/.test(m.type())) complaints.push(m.text()); });
await page.goto(pathToFileURL(path.join(process.env.NODE_MODULES, "speedscope", "dist", "release", "index.html")).href);
complaints.length = 0;
await page.locator("input[type=file]").first().setInputFiles(file);
await page.waitForFunction(() => /main \[100\]/.test(document.body.innerText), null, { timeout: 20000 }).catch(() => {});
const text = await page.evaluate(() => document.body.innerText);
ok("a thread with its name", /main \[100\]/.test(text), text.slice(0, 300));
await page.keyboard.press("3"); // the table: total and self by function
await page.waitForFunction(() => /App\.Work\.Inner/.test(document.body.innerText), null, { timeout: 20000 }).catch(() => {});
const table = await page.evaluate(() => document.body.innerText.replace(/\s+/g, " "));
await page.screenshot({ path: `${shots}/speedscope-trace.png` });
ok("Inner took 100 ms of main", /100(\.0+)?ms \(1[01]%\)[^[]*\[9\.0\.18\] App\.Work\.Inner/.test(table), table.slice(0, 600));
ok("nothing to complain of", complaints.length === 0, complaints);
await browser.close();
process.exit(failed);

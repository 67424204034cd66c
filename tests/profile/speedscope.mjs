// SPDX-License-Identifier: MIT
// Loads a speedscope file with speedscope itself, in headless Chromium, and checks it against the
// project's own JSON schema's rules that readers rely on. Prints TAP.
// usage: node speedscope.mjs FILE SHOTS-FOLDER      NODE_MODULES: where packages are
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import fs from "node:fs";
import path from "node:path";

const [file, shots] = process.argv.slice(2);
const require = createRequire(path.join(process.env.NODE_MODULES, "x.js"));
const { chromium } = require("playwright-core");
let failed = 0;
const ok = (claim, good, got) => {
  console.log(`${good ? "ok" : "not ok"} - speedscope: ${claim}`);
  if (!good) { failed = 1; console.log(`# got: ${JSON.stringify(got)}`); }
};
const data = JSON.parse(fs.readFileSync(file, "utf8"));
const weigh = (name) => data.profiles.reduce((sum, p) => sum + p.samples.reduce((s, stack, i) =>
  s + (stack.some((f) => data.shared.frames[f].name.includes(name)) ? p.weights[i] : 0), 0), 0);
ok("Hot.Spin weighs 2 s", weigh("App.Hot.Spin") === 2000000, weigh("App.Hot.Spin"));
ok("a profile per thread", data.profiles.length === 4, data.profiles.length);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--use-gl=angle", "--use-angle=swiftshader", "--allow-file-access-from-files"] });
const page = await browser.newPage({ viewport: { width: 1300, height: 700 } });
const complaints = [];
page.on("pageerror", (e) => complaints.push(String(e)));
const dist = path.join(process.env.NODE_MODULES, "speedscope", "dist", "release", "index.html");
await page.goto(pathToFileURL(dist).href);
const chooser = page.locator("input[type=file]");
await chooser.first().setInputFiles(file);
await page.waitForTimeout(2500);
const text = await page.evaluate(() => document.body.innerText);
ok("speedscope shows the first thread", /\[10\d\]/.test(text), text.slice(0, 300));
ok("speedscope does not complain", complaints.length === 0 && !/unrecognized|error/i.test(text), [complaints, text.slice(0, 300)]);
await page.screenshot({ path: `${shots}/speedscope.png` });
await browser.close();
process.exit(failed);

// SPDX-License-Identifier: MIT
// speedscope.mjs - checks a speedscope file by its numbers, and by opening it with speedscope in headless
// Chromium. Prints TAP.
// usage: node speedscope.mjs FILE SHOTS-FOLDER
// NODE_MODULES: folder of packages
import fs from "node:fs";
import { about, end, forSpeedscope, launch, openSpeedscope } from "./browser.mjs";

const [file, shots] = process.argv.slice(2);
const ok = about("speedscope");
const data = JSON.parse(fs.readFileSync(file, "utf8"));
const weigh = (name) => data.profiles.reduce((sum, p) => sum + p.samples.reduce((s, stack, i) =>
  s + (stack.some((f) => data.shared.frames[f].name.includes(name)) ? p.weights[i] : 0), 0), 0);
ok("the samples of Hot.Spin weigh 2 s", weigh("App.Hot.Spin") === 2000000000, weigh("App.Hot.Spin"));
ok("each thread has a profile", data.profiles.length === 4, data.profiles.length);

const browser = await launch(...forSpeedscope);
const [page, complaints] = await openSpeedscope(browser);
const chooser = page.locator("input[type=file]");
await chooser.first().setInputFiles(file);
await page.waitForFunction(() => /\[10\d\]/.test(document.body.innerText), null, { timeout: 100000 }).catch(() => {});
const text = await page.evaluate(() => document.body.innerText);
ok("speedscope shows the first thread", /\[10\d\]/.test(text), text.slice(0, 300));
ok("speedscope reports no error", complaints.length === 0 && !/unrecognized|error/i.test(text), [complaints, text.slice(0, 300)]);
await page.screenshot({ path: `${shots}/speedscope.png` });
await end(browser);

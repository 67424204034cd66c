// SPDX-License-Identifier: MIT
// speedscope_trace.mjs - checks a Chrome trace of begin and end events by opening it with speedscope in
// Chromium. speedscope reports an end event without its begin event. Prints TAP.
// usage: node speedscope_trace.mjs FILE SHOTS-FOLDER
// NODE_MODULES: folder of packages
import { about, end, forSpeedscope, launch, openSpeedscope } from "./browser.mjs";

const [file, shots] = process.argv.slice(2);
const ok = about("trace in speedscope");
const browser = await launch(...forSpeedscope);
const [page, complaints] = await openSpeedscope(browser, true);
complaints.length = 0;
await page.locator("input[type=file]").first().setInputFiles(file);
await page.waitForFunction(() => /main \[100\]/.test(document.body.innerText), null, { timeout: 50000 }).catch(() => {});
const text = await page.evaluate(() => document.body.innerText);
ok("a thread is shown with its name", /main \[100\]/.test(text), text.slice(0, 300));
await page.keyboard.press("3"); // the table: total and self by function
await page.waitForFunction(() => /App\.Work\.Inner/.test(document.body.innerText), null, { timeout: 50000 }).catch(() => {});
const table = await page.evaluate(() => document.body.innerText.replace(/\s+/g, " "));
await page.screenshot({ path: `${shots}/speedscope-trace.png` });
ok("Inner took 100 ms of main", /100(\.0+)?ms \(1[01]%\)[^[]*\[9\.0\.18\] App\.Work\.Inner/.test(table), table.slice(0, 600));
ok("speedscope reports no error", complaints.length === 0, complaints);
await end(browser);

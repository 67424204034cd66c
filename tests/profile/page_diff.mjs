// SPDX-License-Identifier: MIT
// page_diff.mjs - opens differences of sessions in headless Chromium: what is coloured.
// usage: page_diff.mjs SHOTS SAME.html CHANGED.html GREW SHRANK     GREW, SHRANK: functions that changed in CHANGED
import path from "node:path";
import { pathToFileURL } from "node:url";
import { about, end, launch, settle } from "./browser.mjs";

const [shots, same, changed, grew, shrank] = process.argv.slice(2);
const browser = await launch("--disable-gpu"), ok = about("difference");
async function look(file, shot) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 860 }, colorScheme: "light", reducedMotion: "reduce" }), errors = [];
  page.on("pageerror", (e) => errors.push(String(e)));
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("html[data-ready]", { timeout: 60000 });
  await settle(page);
  const of = await page.evaluate(() => ({ summary: document.querySelector("#summary").textContent, changed: document.querySelector("#graph").dataset.changed.split("\n").filter(Boolean) }));
  if (shots) await page.screenshot({ path: path.join(shots, shot) });
  await page.close();
  return { ...of, errors };
}
const a = await look(same, "diff-same.png");
ok("two sessions of one program: no box is coloured", a.changed.length === 0 && a.summary.endsWith("no box did"), [a.summary, a.changed]);
ok("the first line names both, with their samples and times", /^before, \S+: [\d,]+ samples, [\d.,]+ \S+ · now, \S+: [\d,]+ samples, [\d.,]+ \S+ · /.test(a.summary), a.summary);
ok("the legend says what is coloured", /red grew, blue shrank: changed by 0\.5 points or more and a tenth, and by more than chance explains \(\d\.\d standard errors: 1 % for all \d[\d,]* boxes together\)/.test(a.summary), a.summary);
const b = await look(changed, "diff-changed.png");
ok(`a real change: ${grew} grew`, b.changed.some((c) => c[0] === "+" && c.includes(grew)), [b.summary, b.changed]);
ok(`a real change: ${shrank} shrank`, b.changed.some((c) => c[0] === "-" && c.includes(shrank)), [b.summary, b.changed]);
ok("no errors", a.errors.length + b.errors.length === 0, [a.errors, b.errors]);
await end(browser);

// SPDX-License-Identifier: MIT
// page_costs.mjs - checks the page of costs in headless Chromium by the actions of a user. Prints TAP.
// usage: node page_costs.mjs PAGE.html DIFF.html SHOTS-FOLDER
// PAGE has the session of make_costs with samples and all costs. NODE_MODULES: folder of packages
import { pathToFileURL } from "node:url";
import { about, dragTimeLine, end, launch, settle } from "./browser.mjs";

const [page_file, diff_file, shots] = process.argv.slice(2);
const ok = about("page of costs");
const browser = await launch("--disable-gpu");
const complaints = [];
const page = await browser.newPage({ viewport: { width: 1440, height: 860 }, reducedMotion: "reduce" });
page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") complaints.push(m.text()); });
page.on("pageerror", (e) => complaints.push(String(e)));

const ready = async () => {
  await page.waitForSelector("html[data-ready]", { timeout: 60000 });
  await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
};
const open = async (file) => { await page.goto(pathToFileURL(file).href); await ready(); };
// Presses a button that loads the page again.
const press = async (selector) => { await Promise.all([page.waitForEvent("load"), page.click(selector)]); await ready(); };
const summary = () => page.textContent("#summary");
const found = async (text) => { await page.fill("#search", text); await settle(page); return page.textContent("#found"); };
const row = async (name) => (await page.locator(".row", { hasText: name }).first().locator("[role=gridcell]").allTextContents()).slice(1).join("|");

await open(page_file);
ok("samples come first", (await summary()).startsWith("10 samples"), await summary());
const parts = await page.locator("#parts button").allTextContents();
ok("a button for each kind of data", parts.join("|") === "Samples|Allocated|Alive|Native|Not freed|Locks|Lock owners", parts);
ok("samples have no choice of widths", await page.isHidden("#bycount"));

await press("#parts [data-part=alloc]");
ok("allocations: bytes, objects and how sure they are",
  (await summary()).startsWith("allocated 215.37 KiB · 525 objects · estimates from 17 samples · in 19 of 20 runs 205.81 KiB to 230.50 KiB"), await summary());
ok("a search counts objects: System.String has 500, 9 % of the bytes", (await found("System.String")) === "500 · 9.07 %", await page.textContent("#found"));
await page.screenshot({ path: `${shots}/costs-search.png` });
await page.click("#reset");
await page.click("[data-kind=native]");
ok("native frames only: the types stay", (await found("\\(type\\)$")).startsWith("525 "), await page.textContent("#found"));
await page.click("#reset");
await page.click("#legend button:has-text('9.0.18')");
ok("the filter of a runtime keeps its objects", (await found("App.Node")).endsWith("100.0 %"), await page.textContent("#found"));
await page.click("#reset");
await page.click("[data-view=functions]");
const heads = await page.locator("#tablehead button").allTextContents();
ok("the table of functions counts objects", heads.join("|") === "Function|Objects|Total %|Total|Self", heads);
ok("a function's own bytes are those of the types below it", (await row("App.Cache.Add")) === "502|99.8 %|214.84 KiB|195.31 KiB", await row("App.Cache.Add"));
ok("types are rows, too", (await row("System.String")) === "500|9.07 %|19.53 KiB|19.53 KiB", await row("System.String"));
await page.screenshot({ path: `${shots}/costs-functions.png` });
await page.click("[data-view=graph]");
await dragTimeLine(page, 0.2);
ok("dragging on the time line keeps the strings of the beginning, and no array",
  /showing 0\.0\d to 0\.4/.test(await summary()) && /^4\d\d · 100\.0 %$/.test(await found("System.String")), [await summary(), await page.textContent("#found")]);
await page.screenshot({ path: `${shots}/costs-range.png` });

await press("#bycount [data-by=count]");
ok("by objects: the widths are numbers", (await summary()).startsWith("allocated 525 objects"), await summary());
ok("by objects: System.String has 95 %", (await found("System.String")) === "500 · 95.2 %", await page.textContent("#found"));
await page.screenshot({ path: `${shots}/costs-objects.png` });
await press("#parts [data-part=live]");
ok("the choice of widths stays with other data", (await summary()).startsWith("alive 302 objects"), await summary());
await press("#bycount [data-by=bytes]");
ok("live: bytes", (await summary()).startsWith("alive 207.03 KiB · 302 objects"), await summary());
await press("#parts [data-part=locks]");
ok("locks: time and waits", (await summary()).startsWith("waited for locks 16.0 ms · 4 waits · all recorded"), await summary());
const by = await page.locator("#bycount button").allTextContents();
ok("locks: widths are time or waits", by.join("|") === "Time|Waits", by);
await page.screenshot({ path: `${shots}/costs-locks.png` });
await press("#parts [data-part=samples]");
ok("back to samples", (await summary()).startsWith("10 samples"), await summary());

await open(diff_file);
ok("difference: what there was, and what there is", /^before, \S+: 215.37 KiB · now, \S+: 234.90 KiB · red grew, blue shrank: /.test(await summary()), await summary());
ok("difference: one kind of data, no choice", await page.isHidden("#parts") && await page.isHidden("#bycount"));
const box = await page.locator("#graph").boundingBox();
await page.mouse.move(box.x + box.width * 0.2, box.y + 19 * 2.5);
await settle(page);
ok("difference: a box has its bytes before and now", /214.84 KiB before, 234.38 KiB now: \+19\.53 KiB/.test(await page.textContent("#tip")), await page.textContent("#tip"));
await page.screenshot({ path: `${shots}/costs-diff.png` });
ok("no console error", complaints.length === 0, complaints);
await end(browser);

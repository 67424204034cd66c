// SPDX-License-Identifier: MIT
// page_timeline.mjs - checks the timeline of a report page in headless Chromium against the session as JSON.
// Prints TAP.
// usage: node page_timeline.mjs PAGE.html SHOTS-FOLDER NAME SESSION.json
//            [calls=N] [left=N] [values=1] [valuesleft=N] [traced=1] [loads=1]
// NODE_MODULES: folder of packages
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import path from "node:path";
import { settle } from "./browser.mjs";

const [page_file, shots, name, json_file, ...more] = process.argv.slice(2);
const want = Object.fromEntries(more.map((m) => m.split("=")).map(([k, v]) => [k, Number(v)]));
const session = JSON.parse(readFileSync(json_file));
const require = createRequire(path.join(process.env.NODE_MODULES, "x.js"));
const { chromium } = require("playwright-core");
let failed = 0;
const ok = (claim, good, got) => {
  console.log(`${good ? "ok" : "not ok"} - timeline ${name}: ${claim}`);
  if (!good) { failed = 1; console.log(`# got: ${JSON.stringify(got)}`); }
};
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run"],
});
const complaints = [], asked = [];
async function open(scheme) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 860 }, colorScheme: scheme, reducedMotion: "reduce" });
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") complaints.push(m.text()); });
  page.on("pageerror", (e) => complaints.push(String(e.stack)));
  page.on("request", (r) => { if (!/^(file|data):/.test(r.url())) asked.push(r.url()); });
  await page.goto(pathToFileURL(page_file).href);
  await page.waitForSelector("html[data-ready]", { timeout: 60000 });
  return page;
}
const facts = (page) => page.evaluate(() => ({ ...document.querySelector("#tlcanvas").dataset }));
const windowOf = async (page) => (await facts(page)).window.split(" ").map(Number);
const tree = (page) => page.evaluate(() => document.querySelector("#graph").dataset.shown);

const page = await open("light");
const events = session.events || [], throwSites = session.exceptions || [];
const kind = (k) => events.filter((e) => e.kind === k).length;
const hasTree = !await page.isHidden("[data-view=graph]");
if (hasTree) { ok("other views exist, and the page opens at the flame graph", await tree(page) > 0, await tree(page)); await page.keyboard.press("4"); }
ok("the timeline is shown", await page.getAttribute("[data-view=timeline]", "aria-selected") === "true");
await settle(page);

// ---- the numbers of the page are those of the session ---------------------------------------------
const chips = Object.fromEntries(await page.$$eval("[data-chip]", (all) => all.map((b) => [b.dataset.chip, Number(b.dataset.n)])));
const expected = { exceptions: throwSites.reduce((n, s) => n + s.count, 0), jit: kind("jit"), gcs: kind("gc"),
  modules: kind("module load"), classes: kind("class load") };
if (session.events) expected.stops = kind("suspension");
if (want.calls !== undefined) expected.calls = want.calls;
for (const [k, n] of Object.entries(expected)) ok(`${k}: ${n}`, (chips[k] || 0) === n, chips);
const tids = new Set(events.map((e) => e.tid).filter(Boolean)), lanes = Number((await facts(page)).lanes);
ok("each thread with events has a lane", lanes >= [...tids].length - 1 && lanes > 0, [lanes, tids.size]);
ok("events are drawn", Number((await facts(page)).shown) > 0, await facts(page));
await page.screenshot({ path: `${shots}/timeline-${name}-light.png` });
const sums = async (table) => { await page.click(`[data-table=${table}]`); return page.evaluate(() => Number(document.querySelector("#tltable").dataset.sum)); };
for (const [table, n] of [["tiers", expected.jit], ["methods", expected.jit], ["pauses", expected.stops], ["gcs", expected.gcs], ["exceptions", expected.exceptions]])
  if (n) ok(`the table of ${table} adds up to ${n}`, await sums(table) === n, await sums(table));
if (throwSites.length) ok("the table of exceptions has a row for each throw site", Number(await page.getAttribute("#tltable", "data-rows")) === throwSites.length, await page.getAttribute("#tltable", "data-rows"));
if (want.left) ok("the number of calls that are left out is shown", (await page.textContent("#tlpane")).includes(`${want.left} calls are left out`), await page.textContent("#tlpane"));

// ---- window and selection -----------------------------------------------------------------------
const box = await page.locator("#tlcanvas").boundingBox(), whole = await windowOf(page);
const at = (part) => box.x + 218 + (box.width - 224) * part, y = box.y + 60;
await page.mouse.move(at(0.5), y);
for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -120);
await settle(page);
const near = await windowOf(page), mid = (whole[0] + whole[1]) / 2;
ok("the wheel zooms at the pointer", near[1] - near[0] < whole[1] * 0.5 && near[0] < mid && near[1] > mid, near);
await page.keyboard.press("d");
await settle(page);
ok("d moves the window", (await windowOf(page))[0] > near[0], await windowOf(page));
await page.keyboard.press("w");
await settle(page);
ok("w zooms", (await windowOf(page))[1] - (await windowOf(page))[0] < (near[1] - near[0]) * 0.9, await windowOf(page));
await page.screenshot({ path: `${shots}/timeline-${name}-zoom.png` });
await page.keyboard.down("Shift");
await page.mouse.move(at(0.5), y); await page.mouse.down(); await page.mouse.move(at(0.8), y, { steps: 4 }); await page.mouse.up();
await page.keyboard.up("Shift");
await settle(page);
const moved = await windowOf(page);
await page.keyboard.press("0");
await settle(page);
ok("Shift and dragging move the window; 0 shows all", moved[1] < whole[1] && (await windowOf(page)).join() === whole.join(), [moved, await windowOf(page)]);
const all = hasTree ? (await page.textContent("#summary")) : "";
await page.mouse.move(at(0.02), y); await page.mouse.down(); await page.mouse.move(at(0.25), y, { steps: 4 }); await page.mouse.up();
await settle(page);
ok("dragging selects a time, and the pane shows its sums", (await page.textContent("#tlpane h2")) === "Selected", await page.textContent("#tlpane"));
await page.screenshot({ path: `${shots}/timeline-${name}-select.png` });
if (hasTree && !await page.isHidden("[data-view=graph]")) {
  const filtered = (await page.textContent("#summary")).includes("showing");
  await page.keyboard.press("1");
  ok("the selection filters the other views", filtered, all);
  await page.screenshot({ path: `${shots}/timeline-${name}-graph.png` });
  await page.keyboard.press("4");
}
await page.keyboard.press("Escape");
await settle(page);
ok("Escape ends the selection", (await page.textContent("#tlpane h2")) !== "Selected", await page.textContent("#tlpane h2"));

// ---- pointing at narrow items -------------------------------------------------------------------
// Moves the pointer over the plot, pixel by pixel in every third row, and collects where which tip is shown.
const sweep = () => page.evaluate(() => {
  const canvas = document.querySelector("#tlcanvas"), tip = document.querySelector("#tip"), left = 218, right = Math.floor(canvas.clientWidth) - 6, found = [];
  for (let y = 1; y < canvas.clientHeight; y += 3) for (let x = left; x <= right; x++) {
    canvas.onpointermove({ offsetX: x, offsetY: y, clientX: x, clientY: y });
    const text = tip.hidden ? "" : tip.textContent, last = found.at(-1);
    if (last && last.y === y && last.text === text) last.to = x; else found.push({ y, from: x, to: x, text });
  }
  for (const f of found) f.cut = f.from === left || f.to === right;
  return found;
});
const parts = await sweep(), areas = []; // areas: what is shown without a gap
for (const p of parts) {
  const last = areas.at(-1);
  if (!p.text) continue;
  if (last && last.y === p.y && last.to + 1 === p.from) { last.to = p.to; last.cut ||= p.cut; last.n++; } else areas.push({ ...p, n: 1 });
}
ok("whatever can be pointed at is at least 6 pixels wide", areas.length > 0 && areas.every((a) => a.cut || a.to - a.from >= 5), areas.filter((a) => !a.cut && a.to - a.from < 5).slice(0, 4));
const alone = areas.find((a) => !a.cut && a.n === 1 && a.to - a.from <= 16);
if (alone) {
  const tips = [];
  for (const beside of [-2, 0, 2]) {
    await page.mouse.move(box.x + (alone.from + alone.to) / 2 + beside, box.y + alone.y);
    tips.push(await page.evaluate(() => document.querySelector("#tip").hidden ? "" : document.querySelector("#tip").textContent));
  }
  ok("the tip of a tick is shown 2 pixels beside it, too", tips.every((t) => t === alone.text), [tips, alone]);
}
if (want.loads) {
  const lost = events.filter((e) => e.kind === "class load" && !parts.some((p) => p.text.startsWith(e.name))).map((e) => e.name);
  ok("each class load can be pointed at, also one beside or above a compilation", lost.length === 0, lost);
}
await page.mouse.move(0, 0);

// ---- one event ----------------------------------------------------------------------------------
for (const table of ["exceptions", "methods", "pauses"]) {
  if (!await page.locator(`[data-table=${table}]`).count()) continue;
  await page.click(`[data-table=${table}]`);
  await page.locator("#tltable tbody tr").first().click();
  await settle(page);
  const pane = await page.textContent("#tlpane"), row = await page.locator("#tltable tbody tr").first().locator("td").nth(1).textContent();
  ok(`a row of ${table} selects an event and shows its details`, pane.includes(row) && /(took|in|for|became)/.test(pane), [row, pane]);
  await page.screenshot({ path: `${shots}/timeline-${name}-${table}.png` });
  await page.keyboard.press("Escape");
  await page.keyboard.press("0");
}
if (want.calls) {
  // The places of calls depend on what the threads did: try likely places first, then all others.
  const parts = [0.05, 0.5, 0.7, 0.01, ...Array.from({ length: 32 }, (_, i) => (i + 0.5) / 32)];
  const heights = await page.evaluate(() => { const s = document.querySelector("#tlscroll"); return [s.scrollHeight, s.clientHeight]; });
  let tip = "";
  for (let top = 0; top < heights[0] && !/depth/.test(tip); top += heights[1]) {
    await page.evaluate((top) => { document.querySelector("#tlscroll").scrollTop = top; }, top);
    for (const part of parts) for (let down = 40; down < box.height - 10 && !/depth/.test(tip); down += 4) {
      await page.mouse.move(at(part), box.y + down);
      tip = await page.evaluate(() => document.querySelector("#tip").hidden ? "" : document.querySelector("#tip").textContent);
      if (/depth/.test(tip)) await page.mouse.click(at(part), box.y + down);
    }
  }
  ok("hovering shows the duration of a call", /duration.*in itself/.test(tip), tip);
  const of = await page.getAttribute("#tlpane", "data-of");
  ok("a click shows the call in the pane", of.length > 3 && tip.startsWith(of), [of, tip]);
  if (want.traced) ok("the pane has the traced arguments of the call", /n = \d+/.test(await page.textContent("#tlpane")), await page.textContent("#tlpane"));
  if (await page.locator("[data-goto=functions]").count()) {
    await page.click("[data-goto=functions]");
    ok("the pane leads to the function of the call", (await page.getAttribute("#panel", "data-frame")) === of, await page.getAttribute("#panel", "data-frame"));
    await page.keyboard.press("4");
  }
  await page.keyboard.press("Escape");
}

// ---- arguments and results of make_calls' values --------------------------------------------------
if (want.valuesleft) ok("the number of calls whose values are left out is shown", (await page.textContent("#tlpane")).includes(`${want.valuesleft} calls' arguments or results are left out`), await page.textContent("#tlpane"));
if (want.values) {
  const find = async (text) => { await page.fill("#search", text); await settle(page); return Number.parseInt(await page.textContent("#found")); };
  const next = async () => { await page.focus("#tlcanvas"); await page.keyboard.press("n"); await settle(page); return page.textContent("#tlpane"); };
  ok("a search finds the call with an argument", await find("round <2>") === 1, await page.textContent("#found"));
  const pane = await next();
  ok("the pane has its arguments and result", pane.includes('Argumentsn = 2, what = "round <2>"') && pane.includes("Result102"), pane);
  await page.keyboard.press("f");
  await settle(page);
  let tip = "";
  for (let down = 20; down < box.height - 10 && !/round/.test(tip); down += 4) {
    await page.mouse.move(at(0.5), box.y + down);
    tip = await page.evaluate(() => document.querySelector("#tip").hidden ? "" : document.querySelector("#tip").textContent);
  }
  ok("the tip has its arguments and result", tip.includes('n = 2, what = "round <2>"') && tip.includes("= 102"), tip);
  await page.screenshot({ path: `${shots}/timeline-${name}-values.png` });
  ok("a search finds a call by its result", await find("^102$") === 1, await page.textContent("#found"));
  ok("a search finds a call that was left by an exception", await find("last = true") === 1 && (await next()).includes("left by an exception"), await page.textContent("#tlpane"));
  await page.click("#reset");
  await page.keyboard.press("Escape");
}

// ---- search, kinds of events --------------------------------------------------------------------
if (throwSites.length) {
  await page.fill("#search", throwSites[0].type.split(".").pop());
  await settle(page);
  ok("a search finds exceptions", Number.parseInt(await page.textContent("#found")) > 0, await page.textContent("#found"));
  await page.screenshot({ path: `${shots}/timeline-${name}-search.png` });
  await page.focus("#tlcanvas");
  await page.keyboard.press("n");
  await settle(page);
  ok("n selects the next event", (await page.getAttribute("#tlpane", "data-of")).length > 0, await page.getAttribute("#tlpane", "data-of"));
  await page.click("#reset");
}
await page.keyboard.press("0");
await settle(page);
const before = Number((await facts(page)).shown), first = page.locator("[data-chip]").last();
await first.click();
await settle(page);
ok("a kind of events can be hidden", Number((await facts(page)).shown) < before, [before, await facts(page)]);
await first.click();

// ---- dark ---------------------------------------------------------------------------------------
const night = await open("dark");
if (hasTree) await night.click("[data-view=timeline]");
await settle(night);
await night.screenshot({ path: `${shots}/timeline-${name}-dark.png` });
ok("the page is dark when the system is", await night.evaluate(() => document.documentElement.classList.contains("dark")));
console.log(`# drawn in ${(await facts(night)).ms} ms`);
ok("no console error", complaints.length === 0, complaints);
ok("nothing is fetched from elsewhere", asked.length === 0, asked);
await browser.close();
process.exit(failed);

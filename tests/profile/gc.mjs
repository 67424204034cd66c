// SPDX-License-Identifier: MIT
// gc.mjs - opens the page of a session with the tool "gc" in headless Chromium, and compares it with the JSON.
// usage: gc.mjs PAGE.html PAGE.json SHOTS
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { about, end, launch, settle } from "./browser.mjs";

const [file, json, shots] = process.argv.slice(2);
const gcs = JSON.parse(readFileSync(json, "utf8")).collections, ok = about("the page of collections"), browser = await launch();
const page = await browser.newPage({ viewport: { width: 1360, height: 900 }, colorScheme: "light" }), errors = [];
page.on("pageerror", (e) => errors.push(String(e)));
await page.goto(pathToFileURL(file).href);
await page.waitForSelector("html[data-ready]");
await settle(page);
await page.click("[data-table=gcs]");
const texts = (selector) => page.locator(selector).allInnerTexts();
const heads = await texts("#tltable th"), rows = (await texts("#tltable tbody tr")).map((r) => r.split("\t"));
ok("the table has pauses, and apart from them how long collections lasted", heads.slice(2).join() === "Times,Paused,Mean pause,Longest pause,Lasted", heads);
const toNs = (text) => { const m = /^([\d.,]+)\s*(ns|µs|ms|s)$/.exec(text); return m ? Number(m[1].replace(/,/g, "")) * { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 }[m[2]] : 0; };
for (const [, what, times, paused, , longest] of rows) {
  const g = gcs.filter((v) => `generation ${v.generation}${/^induced/.test(v.reason) ? ", induced" : ""}` === what);
  const of = g.filter((v) => rows.filter((r) => r[1] === what).length === 1 || v.version === rows.find((r) => r[1] === what && r[2] === times)[0].replace(/^\.NET /, ""));
  const sum = of.reduce((n, v) => n + v.pause_ns, 0), most = Math.max(...of.map((v) => v.pause_ns));
  ok(`${what}, ${times} times: the sum of its pauses, and the longest`, Math.abs(toNs(paused) - sum) <= sum / 100 && Math.abs(toNs(longest) - most) <= most / 100, [paused, sum, longest, most]);
}
await page.locator("#tltable tbody tr").first().click(); // goes to the longest of them
await settle(page);
const pane = await page.locator("#tlpane").innerText();
const longest = gcs.reduce((a, b) => b.pause_ns > a.pause_ns ? b : a), began = /began\s+([\d.,]+ \S+)/.exec(pane);
ok("time 0 is the beginning of the recording, as in the JSON, not the first collection", longest.at_ns > 0 && began && toNs(began[1]) === longest.at_ns, [pane, longest.at_ns]);
ok("a collection says how long it paused, and how long it lasted", /paused for/.test(pane) && /lasted/.test(pane), pane);
const summary = await page.locator("#summary").innerText();
ok("nothing is counted with a wrong plural", !/\b1 \w+s\b/.test(summary.replace(/\b1 (ms|µs|ns|s)\b/g, "")), summary);
if (shots) await page.screenshot({ path: path.join(shots, "gc.png") });
ok("no errors", errors.length === 0, errors);
await end(browser);

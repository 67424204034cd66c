// SPDX-License-Identifier: MIT
// access.mjs - checks every page in both themes by the rules of axe-core, and the contrast of text on canvases, which
// axe-core cannot see. Prints TAP.
// usage: node access.mjs FOLDER URL SHOTS     FOLDER has the pages, URL is that of a server. NODE_MODULES: folder of packages
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { about, end, launch, settle } from "./browser.mjs";

const [folder, url, shots] = process.argv.slice(2);
const browser = await launch("--disable-gpu");
const axe = readFileSync(path.join(process.env.NODE_MODULES, "axe-core", "axe.min.js"), "utf8");
const LEAST = 4.5; // WCAG 2.2, 1.4.3

// Runs in the page before its scripts: measures the contrast of each text when a canvas draws it.
function measureText() {
  const part = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const mix = (over, alpha, below) => over.map((v, i) => v * alpha + below[i] * (1 - alpha));
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = color;
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = probe.getImageData(0, 0, 1, 1).data;
    return [[r, g, b], a / 255];
  };
  const behind = (element) => { // the color that shows where a canvas is transparent
    for (let e = element; e; e = e.parentElement) {
      const [color, alpha] = rgba(getComputedStyle(e).backgroundColor);
      if (alpha === 1) return color;
    }
    return [255, 255, 255];
  };
  const draw = CanvasRenderingContext2D.prototype.fillText;
  window.drawnTexts = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const at = this.getTransform(), wide = this.measureText(text).width, left = this.textAlign === "right" ? x - wide : x;
    const [color, alpha] = rgba(this.fillStyle), page = behind(this.canvas);
    let least = Infinity, on;
    for (const share of [0.02, 0.3]) {
      const px = Math.round((left + wide * share) * at.a + at.e), py = Math.round(y * at.d + at.f);
      if (px < 0 || py < 0 || px >= this.canvas.width || py >= this.canvas.height) continue;
      const [r, g, b, a] = this.getImageData(px, py, 1, 1).data, back = mix([r, g, b], a / 255, page);
      const [p, q] = [luminance(mix(color, alpha * this.globalAlpha, back)), luminance(back)].sort((m, n) => n - m);
      if ((p + 0.05) / (q + 0.05) < least) { least = (p + 0.05) / (q + 0.05); on = back.map(Math.round).join(); }
    }
    if (least < Infinity) window.drawnTexts.push([Math.round(least * 100) / 100, text, this.fillStyle, on]);
    return draw.apply(this, arguments);
  };
}

async function open(address) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 860 }, colorScheme: "dark", reducedMotion: "reduce" });
  await page.addInitScript(measureText);
  await page.goto(address);
  await page.waitForSelector("html[data-ready]");
  return page;
}

// A broken rule as text: its name, the first elements that break it, and why.
const sayRule = (rule) => `${rule.id}: ${rule.nodes.slice(0, 4).map((n) =>
  `${n.target.join(" ")} (${[...n.any, ...n.all, ...n.none].map((check) => check.message).join("; ").slice(0, 160)})`).join(" | ")}, ${rule.nodes.length} in all`;

// What a view of a page looks like: the claim, the page, and what a user does before.
const key = (...keys) => async (page) => { for (const k of keys) await page.keyboard.press(k); };
const search = (text) => async (page) => { await page.fill("#search", text); await settle(page); };
const click = (...selectors) => async (page) => { for (const s of selectors) await page.click(s); };
const all = (...steps) => async (page) => { for (const s of steps) await s(page); };
const VIEWS = [
  ["profile", "flame graph", async (page) => { const b = await page.locator("#graph").boundingBox(); await page.mouse.move(b.x + b.width * 0.2, b.y + 50); }],
  ["profile", "search", search("Spin")],
  ["profile", "crossings", click("#crossings")],
  ["profile", "threads", click("#bythread")],
  ["profile", "one runtime", click("#legend button")],
  ["profile", "call tree", key("2")],
  ["profile", "functions", key("3")],
  ["profile", "timeline", key("4")],
  ["profile", "keys", key("?")],
  ["calls", "flame graph", key("1")],
  ["calls", "functions", key("3")],
  ["calls", "timeline", key("4", "e")],
  ["calls", "coverage gaps", key("5")],
  ["timeline", "flame graph", key("4", "e")],
  ["timeline", "an exception", all(key("4"), click("[data-table=exceptions]", "#tltable tbody tr"))],
  ["timeline", "search", all(key("4"), search("Work"))],
  ["timeline", "hidden kinds", all(key("4"), click("[data-chip]"))],
  ["collections", "timeline", all(key("4"), async (page) => { if (await page.locator("[data-table=gcs]").count()) await page.click("[data-table=gcs]"); })],
  ["costs", "flame graph", key("1")],
  ["costs", "functions", key("3")],
  ["difference", "flame graph", key("1")],
  ["difference", "functions", key("3")],
  ["heap", "tree", key("1")],
  ["heap", "search", search("part")],
  ["heap", "types", all(key("2"), click("#list tbody tr"))],
  ["heap", "roots", key("3")],
  ["heap-difference", "changes", async () => {}],
  ["list", "sessions", async () => {}],
  ["list", "search", search("no such session")],
  ["served", "flame graph", click("#downloads summary")],
];
const addressOf = (name) => name === "list" ? url : name === "served" ? new URL("session/costs/", url).href : pathToFileURL(path.join(folder, `${name}.html`)).href;

let unsure = 0;
for (const [name, view, use] of VIEWS) {
  const page = await open(name === "served" ? url : addressOf(name)); // the first page of a server leaves its cookie
  if (name === "served") { await page.goto(addressOf(name)); await page.waitForFunction(() => document.documentElement.dataset.updates); }
  if (name === "list") await page.waitForSelector("#sessions tbody tr");
  await use(page);
  await page.evaluate(axe);
  for (const scheme of ["light", "dark"]) {
    const ok = about(`${name}, ${view}, ${scheme}`);
    await page.emulateMedia({ colorScheme: scheme });
    await settle(page);
    await page.evaluate(() => { window.drawnTexts = []; window.dispatchEvent(new Event("resize")); }); // draws the canvases again
    await settle(page);
    const pale = (await page.evaluate(() => window.drawnTexts)).filter(([contrast]) => contrast < LEAST).sort((a, b) => a[0] - b[0]);
    ok(`text on canvases has a contrast of ${LEAST} or more`, pale.length === 0, pale.slice(0, 6));
    const { violations, incomplete } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations", "incomplete"] }));
    ok("no rule of axe-core is broken", violations.length === 0, violations.map(sayRule));
    unsure += incomplete.length;
    if (shots) await page.screenshot({ path: path.join(shots, `access-${name}-${view.replaceAll(" ", "-")}-${scheme}.png`) });
  }
  await page.close();
}
console.log(`# axe-core was not sure about ${unsure} rules`);
await end(browser);

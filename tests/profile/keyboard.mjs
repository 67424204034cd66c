// SPDX-License-Identifier: MIT
// keyboard.mjs - uses every page by keyboard only. Prints TAP.
// usage: node keyboard.mjs FOLDER URL     as for access.mjs. NODE_MODULES: folder of packages
import path from "node:path";
import { pathToFileURL } from "node:url";
import { about, end, launch, settle } from "./browser.mjs";

const [folder, url] = process.argv.slice(2);
const browser = await launch("--disable-gpu");
async function open(address) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 860 }, colorScheme: "light", reducedMotion: "reduce" });
  await page.goto(address);
  await page.waitForSelector("html[data-ready]");
  return page;
}
const fileOf = (name) => pathToFileURL(path.join(folder, `${name}.html`)).href;
const press = async (page, ...keys) => { for (const key of keys) await page.keyboard.press(key); await settle(page); };
const text = (page, selector) => page.textContent(selector);
const zoomed = (page) => page.evaluate(() => document.querySelector("#graph").dataset.zoom);

// Elements that the mouse acts on and that are no stops of Tab, with the element whose keys do the same.
const BY_OTHERS = { "#time": "#lanes", "#tltop": "#tlcanvas", "#rows .row": "#table", "#list tbody tr": "#list" };

// Goes through the page by Tab. Each stop must be seen, and whatever can be clicked must be a stop.
async function tour(page, ok) {
  await page.evaluate(() => { document.activeElement.blur(); window.stops = new Set(); });
  const unmarked = [];
  let n = 0;
  for (; n < 250; n++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      if (e === document.body || window.stops.has(e)) return null;
      window.stops.add(e);
      e.scrollIntoView({ block: "nearest" });
      const r = e.getBoundingClientRect();
      return { x: r.x - 4, y: r.y - 4, width: r.width + 8, height: r.height + 8, name: `${e.tagName} ${e.id || e.textContent.slice(0, 30)}` };
    });
    if (!at) break;
    const x = Math.max(0, at.x), y = Math.max(0, at.y);
    const clip = { x, y, width: Math.min(1440 - x, at.width), height: Math.min(860 - y, at.height) };
    if (clip.width <= 8 || clip.height <= 8) { unmarked.push(at.name); continue; }
    const focused = await page.screenshot({ clip });
    await page.evaluate(() => document.activeElement.blur());
    if (focused.equals(await page.screenshot({ clip }))) unmarked.push(at.name);
  }
  ok(`Tab stops at ${n} elements, and the focus is seen on each`, n > 3 && unmarked.length === 0, unmarked);
  const left = await page.evaluate((others) => {
    const shown = (e) => e.checkVisibility({ checkVisibilityCSS: true }) && e.getBoundingClientRect().width > 1;
    const acts = (e) => e.onclick || e.ondblclick || e.onpointerdown || e.matches("a[href], button, input, summary, canvas");
    return [...document.querySelectorAll("body *")].filter((e) => acts(e) && shown(e) && !e.disabled && !window.stops.has(e) && e.getAttribute("role") !== "tab" &&
      !Object.entries(others).some(([what, by]) => e.matches(what) && window.stops.has(document.querySelector(by)))).map((e) => e.outerHTML.slice(0, 120));
  }, BY_OTHERS);
  ok("all that can be clicked can be reached", left.length === 0, left.slice(0, 6));
}

async function tours() {
  for (const [name, ...views] of [["profile", "1", "2", "3", "4"], ["calls", "5"], ["timeline", "4"], ["costs", "1"], ["difference", "1"], ["heap", "1", "2", "3"], ["heap-difference", ""]]) {
    for (const view of views) {
      const page = await open(fileOf(name));
      if (view) await press(page, view);
      await tour(page, about(`${name}, view ${view || "changes"}`));
      await page.close();
    }
  }
  const list = await open(url);
  await list.waitForSelector("#sessions tbody tr");
  await tour(list, about("list of sessions"));
  await list.focus("#sessions tbody a");
  await list.keyboard.press("Enter");
  await list.waitForFunction(() => document.documentElement.dataset.updates);
  about("list of sessions")("Enter opens a session", list.url().includes("/session/"), list.url());
  await tour(list, about("served page"));
}

async function useGraph() {
  const ok = about("flame graph by keys"), page = await open(fileOf("profile"));
  await page.focus("#graph");
  await press(page, "ArrowDown", "ArrowDown");
  ok("arrows move, and show what the mouse shows", /total.*self/s.test(await text(page, "#tip")) && !await page.isHidden("#tip") && (await text(page, "#details")).includes("App."), await text(page, "#tip"));
  const all = await zoomed(page);
  await press(page, "Enter");
  const inside = await zoomed(page);
  await press(page, "Enter");
  ok("Enter zooms, and again goes to the caller", inside !== all && await zoomed(page) !== inside, [all, inside, await zoomed(page)]);
  await press(page, "Escape", "i");
  ok("i turns the graph around", await page.getAttribute("#direction", "aria-pressed") === "true");
  await press(page, "i", "/");
  await page.keyboard.type("Spin");
  await settle(page);
  ok("the slash searches", (await text(page, "#found")).startsWith("400 "), await text(page, "#found"));
  await press(page, "Escape");
  ok("Escape ends the search", await text(page, "#found") === "" && await page.evaluate(() => document.activeElement.id) === "graph");
  await press(page, "?");
  ok("the question mark shows the keys", await page.evaluate(() => document.querySelector("#keys").open));
  await press(page, "Escape");
  ok("Escape closes them", !await page.evaluate(() => document.querySelector("#keys").open));

  await page.focus("#lanes");
  await press(page, "ArrowDown", "Enter");
  await page.fill("#search", ".");
  await settle(page);
  ok("a thread is kept by keys: the second has 300 samples", (await text(page, "#found")).startsWith("300 "), await text(page, "#found"));
  await page.focus("#lanes");
  await press(page, "ArrowUp", "Shift+Enter");
  ok("another one, too", (await text(page, "#found")).startsWith("870 "), await text(page, "#found"));
  await press(page, "Home", "Shift+ArrowRight", "Shift+ArrowRight");
  const range = await text(page, "#summary");
  ok("time is selected by keys", /showing 0\.00 to 0\.\d+ s/.test(range), range);
  await press(page, "Escape");
  ok("and all of it again", !(await text(page, "#summary")).includes("showing"), await text(page, "#summary"));
  await page.focus("#views [aria-selected=true]");
  await press(page, "ArrowRight");
  ok("arrows go from tab to tab", await page.getAttribute("[data-view=tree]", "aria-selected") === "true");
  await page.focus("#tablehead [data-key=name] button");
  await press(page, "Enter");
  ok("headings sort, and keep the focus", await page.getAttribute("#tablehead [data-key=name]", "aria-sort") === "ascending" && await page.evaluate(() => document.activeElement.closest("[data-key]").dataset.key) === "name");
  await page.focus("#table");
  await press(page, "Home", "ArrowRight", "ArrowRight");
  ok("the call tree expands by keys, and explains the row", await page.locator(".row[aria-expanded=true]").count() > 0 && (await text(page, "#panel h2")).includes("App."), await text(page, "#panel"));
  await page.close();
}

async function useTimeline() {
  const ok = about("timeline by keys"), page = await open(fileOf("timeline"));
  const chosen = () => page.getAttribute("#tlpane", "data-of");
  await press(page, "4");
  await page.focus("#tlcanvas");
  await press(page, "Shift+ArrowDown", "Shift+ArrowDown");
  ok("a lane is chosen", (await chosen()).includes("["), await chosen());
  const names = [], before = [];
  for (let i = 0; i < 12; i++) { await press(page, "."); names.push(await chosen()); }
  for (let i = 0; i < 11; i++) { await press(page, ","); before.push(await chosen()); }
  ok("period goes from item to item, comma back", new Set(names).size > 2 && before.join() === names.slice(0, 11).reverse().join(), [names, before]);
  await press(page, "Escape", "0", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight");
  ok("time is selected", await text(page, "#tlpane h2") === "Selected", await text(page, "#tlpane"));
  await press(page, "f");
  const [a, b] = await page.evaluate(() => document.querySelector("#tlcanvas").dataset.window.split(" ").map(Number));
  ok("f shows the selection", b - a < 0.2e9, [a, b]);
  await press(page, "Escape", "0", "Shift+ArrowUp", "Shift+ArrowUp", "Shift+ArrowUp");
  const lanes = () => page.evaluate(() => Number(document.querySelector("#tlcanvas").dataset.lanes));
  const all = await lanes();
  await press(page, "Enter");
  const folded = await lanes();
  await press(page, "Enter");
  ok("Enter folds a runtime, and opens it", folded === all - 1 && await lanes() === all, [all, folded, await lanes()]);
  await page.focus("#tltable tbody tr");
  await press(page, "Enter");
  ok("a row of the tables leads to an event", (await chosen()).length > 0, await chosen());
  await page.close();
}

async function useHeap() {
  const ok = about("heap by keys"), page = await open(fileOf("heap"));
  await page.focus("#graph");
  await press(page, "ArrowDown", "ArrowDown", "Enter");
  const path_ = await text(page, "#path");
  await press(page, "Enter");
  ok("Enter zooms, and again goes back", path_.length > 0 && await text(page, "#path") !== path_, [path_, await text(page, "#path")]);
  await page.focus("#views [aria-selected=true]");
  await press(page, "ArrowRight");
  ok("arrows go from tab to tab", await page.getAttribute("[data-view=types]", "aria-selected") === "true");
  await page.focus("#list");
  await press(page, "Home");
  const first = await text(page, "#panel h2");
  await press(page, "ArrowDown", "ArrowDown", "ArrowUp");
  ok("arrows choose a type", await text(page, "#panel h2") !== first && (await text(page, "#list tr[aria-selected=true] td")) === await text(page, "#panel h2"), first);
  await page.focus("#list th button");
  await press(page, "Enter");
  ok("headings sort, and keep the focus", await page.getAttribute("#list th", "aria-sort") === "ascending" && await page.evaluate(() => document.activeElement.textContent) === "Type");
  await page.close();
}

await tours();
await useGraph();
await useTimeline();
await useHeap();
await end(browser);

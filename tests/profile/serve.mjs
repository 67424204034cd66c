// SPDX-License-Identifier: MIT
// serve.mjs - checks the pages of sxsprof serve in headless Chromium by the actions of a user. Prints TAP.
// usage: node serve.mjs URL FOLDER SHOTS known|live [PID]
// known: sessions of the programs make_*; live: the session "live" of process PID, a real program under sxsprof
// run. MAKE_SAMPLES: that program; HOLDER: the process that makes the session "known" a running one.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { about, dragTimeLine, end, launch, settle } from "./browser.mjs";

const [url, folder, shots, kind, pid] = process.argv.slice(2);
const ok = about(`served ${kind}`);
const browser = await launch("--disable-gpu");
const context = await browser.newContext({ viewport: { width: 1440, height: 860 }, colorScheme: "light", reducedMotion: "reduce", acceptDownloads: true });
const page = await context.newPage();
const complaints = [], foreign = [];
page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") complaints.push(m.text()); });
page.on("pageerror", (e) => complaints.push(String(e)));
page.on("request", (r) => { if (!r.url().startsWith(new URL(url).origin) && !/^(data|blob):/.test(r.url())) foreign.push(r.url()); });

const text = (selector) => page.textContent(selector);
const updates = () => page.evaluate(() => Number(document.documentElement.dataset.updates || 0));
// Waits until the page has taken data once more than @before.
const updated = (before) => page.waitForFunction((n) => Number(document.documentElement.dataset.updates || 0) > n, before, { timeout: 60000 });
const open = async (name) => {
  await page.goto(new URL(`session/${encodeURIComponent(name)}/`, url).href);
  await updated(0);
};
const samples = async () => Number((await text("#summary")).match(/^([\d,]+) samples/)?.[1].replaceAll(",", ""));
const zoomed = () => page.evaluate(() => document.querySelector("#graph").dataset.zoom);
const pressed = (selector) => page.getAttribute(selector, "aria-pressed");

async function checkList() {
  await page.goto(url);
  ok("the token is gone from the address", !page.url().includes("token"), page.url());
  await page.waitForSelector("#sessions tbody tr");
  const names = await page.locator("#sessions tbody tr a").allTextContents();
  ok("the list has all sessions", [...names].sort().join() === "calls,costs,heap,known", names);
  ok("and says which is running", (await page.locator("#sessions tbody tr", { hasText: "running" }).locator("a").allTextContents()).join() === "known", await text("#sessions"));
  await page.fill("#search", "alloc");
  ok("a search finds a session by its data", (await page.locator("#sessions tbody tr a").allTextContents()).join() === "costs", await text("#sessions tbody"));
  await page.fill("#search", "");
  await page.screenshot({ path: path.join(shots, "serve-list.png") });
  execFileSync(process.env.MAKE_SAMPLES, [path.join(folder, "late"), "known"]);
  await page.waitForSelector("#sessions tbody tr:has-text('late')", { timeout: 60000 });
  ok("a session that begins later is listed", true);
  await page.click("#sessions tbody tr a:text-is('known')");
  await updated(0);
  ok("a click opens its page", await samples() === 1020, await text("#summary"));
  ok("it is live", await text("#live") === "Live", await text("#live"));
}

// Everything that a user may have chosen stays while the number of samples doubles.
async function checkUpdate() {
  const box = await page.locator("#graph").boundingBox();
  await page.mouse.click(box.x + box.width * 0.2, box.y + 19 * 3.5);
  const zoom = await zoomed();
  ok("a click zooms", zoom !== "all threads", zoom);
  await page.fill("#search", "Hot.Spin");
  await page.click("[data-kind=managed]");
  await page.mouse.click(box.x + box.width * 0.2, box.y + 19 * 1.5);
  const managed = await zoomed();
  await page.click("#direction");
  await page.click("#theme");
  await page.evaluate(() => document.querySelector("#graph").focus());
  let n = await updates();
  execFileSync(process.env.MAKE_SAMPLES, [path.join(folder, "known"), "known", "4343"]);
  await updated(n);
  ok("new data come by themselves", await samples() === 2040, await text("#summary"));
  ok("the zoom stays", await zoomed() === managed && managed !== "all threads", [await zoomed(), managed]);
  await settle(page);
  ok("so does the search, with new numbers", (await text("#found")).startsWith("800 ") && await page.inputValue("#search") === "Hot.Spin", await text("#found"));
  ok("and the choice of frames, the direction, the theme and the focus", await pressed("[data-kind=managed]") === "true" && await pressed("#direction") === "true" &&
    await page.evaluate(() => document.documentElement.classList.contains("dark") && document.activeElement.id === "graph"), await pressed("#direction"));
  await page.screenshot({ path: path.join(shots, "serve-zoom.png") });
  await page.click("#theme");
  await page.click("#reset");

  await page.click("[data-view=functions]");
  await page.click("#tablehead [data-key=name]");
  await page.locator(".row", { hasText: "Loop.Run" }).first().click();
  n = await updates();
  execFileSync(process.env.MAKE_SAMPLES, [path.join(folder, "known"), "known", "4444"]);
  await updated(n);
  ok("the table of functions stays, with its order and the chosen function",
    await samples() === 3060 && await page.getAttribute("#tablehead [data-key=name]", "aria-sort") === "ascending" &&
    (await page.locator(".row[aria-selected=true]").textContent()).includes("Loop.Run") && (await text("#panel h2")).includes("Loop.Run"), await text("#panel"));
  await page.click("[data-view=tree]");
  await page.locator(".row", { hasText: "Loop.Start" }).first().dblclick();
  const open_ = await page.locator(".row[aria-expanded=true]").count(), rows = await page.getAttribute("#table", "data-rows");
  n = await updates();
  execFileSync(process.env.MAKE_SAMPLES, [path.join(folder, "known"), "known", "4545"]);
  await updated(n);
  ok("the rows of the call tree stay open", await samples() === 4080 && await page.locator(".row[aria-expanded=true]").count() === open_ && await page.getAttribute("#table", "data-rows") === rows,
    [open_, await page.locator(".row[aria-expanded=true]").count(), rows, await page.getAttribute("#table", "data-rows")]);

  await page.click("[data-view=graph]");
  await page.click("#reset");
  await dragTimeLine(page, 0.5);
  const shown = async () => (await text("#summary")).match(/showing ([\d.]+) to ([\d.]+) s/)?.slice(1).map(Number);
  const range = await shown();
  await page.click("#live");
  ok("Live can be paused", await text("#live") === "Paused", await text("#live"));
  n = await updates();
  execFileSync(process.env.MAKE_SAMPLES, [path.join(folder, "known"), "known", "4646"]);
  await page.waitForTimeout(2500);
  ok("then nothing changes", await updates() === n, await updates());
  await page.click("#live");
  await updated(n);
  const range2 = await shown();
  ok("the range of time stays", range && range2 && range[1] > range[0] && range.every((t, i) => Math.abs(t - range2[i]) < 0.02), [range, range2]);
  await page.click("#reset");

  n = await updates();
  process.kill(Number(process.env.HOLDER));
  await updated(n);
  ok("the end of the process is shown", await text("#live") === "Ended", await text("#live"));
}

// Two functions, one above the other, get their names after the user has zoomed below them.
async function checkNames() {
  const names = { late: false }, url = "**/session/late/data*";
  await page.route(url, async (route) => {
    const answer = await route.fetch({ headers: { ...route.request().headers(), "if-none-match": "" } });
    const body = await answer.text();
    await route.fulfill({ response: answer, body: names.late ? body : body.replace(/Bridge|Main/g, "?"), headers: { ...answer.headers(), etag: String(names.late) } });
  });
  await open("late");
  const box = await page.locator("#graph").boundingBox();
  await page.mouse.click(box.x + box.width * 0.2, box.y + 19 * 4.5);
  const zoom = await zoomed(), all = () => page.evaluate(() => document.body.innerHTML.includes("Bridge"));
  const n = await updates(), before = await all();
  names.late = true;
  await page.click("#live");
  await page.click("#live");
  await updated(n);
  await page.click("[data-view=functions]");
  ok("the zoom stays below functions that get their names later", await zoomed() === zoom && zoom.includes("Hot.Spin") && !before && await all(), [zoom, await zoomed(), before]);
  await page.unroute(url);
}

async function checkRest() {
  await open("costs");
  ok("a button for each kind of data", (await page.locator("#parts button").allTextContents()).join("|").startsWith("Samples|Allocated|Alive|Native"), await text("#parts"));
  let n = await updates();
  await page.click("#parts [data-part=alloc]");
  await updated(n);
  ok("another kind of data", (await text("#summary")).startsWith("allocated 17.23 KiB · 70 objects"), await text("#summary"));
  n = await updates();
  await page.click("#bycount [data-by=count]");
  await updated(n);
  ok("numbers instead of bytes", (await text("#summary")).startsWith("allocated 70 objects"), await text("#summary"));
  await page.reload();
  await updated(0);
  ok("the choice is in the address", (await text("#summary")).startsWith("allocated 70 objects") && page.url().includes("data=alloc"), page.url());
  await page.click("#downloads summary");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#files a:text-is('collapsed stacks')")]);
  const saved = readFileSync(await download.path(), "utf8");
  ok("a report can be saved", download.suggestedFilename() === "costs-alloc.collapsed" && saved.includes("System.String"), [download.suggestedFilename(), saved.slice(0, 200)]);

  await open("calls");
  await page.click("[data-view=timeline]");
  ok("the timeline of a served page", await page.locator("#tlchips button").count() > 0 && (await text("#summary")).includes("calls"), await text("#summary"));
  await page.click("#sessions");
  await page.waitForSelector("#sessions tbody tr");
  ok("the way back to the list", page.url() === new URL("/", url).href, page.url());
  await open("heap");
  ok("a session with nothing to draw says so", (await text("#waits")).includes("nothing to draw"), await text("#waits"));
  await page.click("#heap");
  await page.waitForSelector("html[data-ready]");
  ok("the page of a heap snapshot", (await text("#summary")).includes("16 objects"), await text("#summary"));
  ok("no errors, nothing from elsewhere", complaints.length === 0 && foreign.length === 0, [complaints, foreign]);
  const answer = await (await browser.newContext()).newPage().then((p) => p.goto(new URL("session/known/", url).href));
  ok("a browser without the cookie is refused", answer.status() === 403, answer.status());
}

// A real program: numbers grow, the zoom stays, and the end of the process is shown.
async function checkLive() {
  await page.goto(url);
  await page.waitForSelector("#sessions tbody tr:has-text('live'):has-text('running')", { timeout: 60000 });
  await page.click("#sessions tbody tr a:text-is('live')");
  await page.waitForSelector("#parts, #summary:not(:empty)");
  await page.waitForFunction(() => /^[1-9][\d,]+ samples/.test(document.querySelector("#summary").textContent) && document.querySelector("#legend").textContent.includes(".NET 9"), null, { timeout: 60000 });
  await page.fill("#search", "Stress\\.");
  const first = await samples(), box = await page.locator("#graph").boundingBox();
  await page.mouse.click(box.x + box.width * 0.2, box.y + 19 * 4.5);
  const zoom = await zoomed();
  await page.waitForFunction((n) => Number(document.querySelector("#summary").textContent.match(/^([\d,]+)/)[1].replaceAll(",", "")) > n * 2, Math.max(first, 300), { timeout: 60000 });
  ok("the number of samples grows", await samples() > first, [first, await samples()]);
  ok("the zoom stays on the same function", await zoomed() === zoom && zoom !== "all threads", [zoom, await zoomed()]);
  ok("two runtimes are there", (await text("#legend")).includes(".NET 8") && (await text("#legend")).includes(".NET 9"), await text("#legend"));
  await page.screenshot({ path: path.join(shots, "serve-live.png") });
  await page.keyboard.press("Escape");
  await page.click("#reset");
  await page.screenshot({ path: path.join(shots, "serve.png") });
  await page.click("[data-view=timeline]");
  await page.focus("#tlcanvas"); // a click could choose an item, and the pane would be about that
  for (let i = 0; i < 4; i++) await page.keyboard.press("w");
  await page.waitForFunction(() => / ms to /.test(document.querySelector("#tlpane").textContent) && !/window0\.000 ms/.test(document.querySelector("#tlpane").textContent));
  await settle(page); // the sums follow the window when it has stopped
  const window_ = async () => (await text("#tlpane")).match(/[\d.]+ ms to [\d.]+ ms/)[0];
  const at = await window_(), count = await samples(), n = await updates();
  await updated(n + 1);
  ok("the timeline takes new data, too, and its window stays", await window_() === at && await samples() > count, [at, await text("#tlpane")]);
  await page.screenshot({ path: path.join(shots, "serve-timeline.png") });
  process.kill(Number(pid), "SIGTERM");
  await page.waitForFunction(() => document.querySelector("#live").textContent === "Ended", null, { timeout: 60000 });
  ok("the end of the program is shown", true);
  ok("no errors, nothing from elsewhere", complaints.length === 0 && foreign.length === 0, [complaints, foreign]);
}

if (kind === "known") {
  await checkList();
  await checkUpdate();
  await checkNames();
  await checkRest();
} else await checkLive();
await end(browser);

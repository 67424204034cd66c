// SPDX-License-Identifier: MIT
// formats_agree.mjs - prints what pages of reports show in headless Chromium, as JSON, for formats_agree.py.
// usage: node formats_agree.mjs PAGE.html... NODE_MODULES: folder of packages
import { pathToFileURL } from "node:url";
import { launch } from "../profile/browser.mjs";

const browser = await launch("--disable-gpu"), all = {};
for (const file of process.argv.slice(2)) {
  const shown = all[file] = { errors: [], parts: {} };
  const page = await browser.newPage({ viewport: { width: 1440, height: 860 }, reducedMotion: "reduce" });
  page.on("pageerror", (e) => shown.errors.push(String(e)));
  page.on("console", (m) => { if (m.type() === "error") shown.errors.push(m.text()); });
  const url = pathToFileURL(file).href;
  const ready = async () => { await page.waitForFunction(() => document.documentElement.dataset.ready || document.querySelector("#summary").textContent, null, { timeout: 60000 }); };
  await page.goto(url);
  await ready();
  const names = await page.locator("#parts button").evaluateAll((all) => all.map((b) => b.dataset.part));
  for (const name of names.length ? names : [""]) {
    if (name) { await Promise.all([page.waitForEvent("load"), page.click(`#parts [data-part=${name}]`)]); await ready(); }
    const part = shown.parts[name] = { summary: await page.textContent("#summary"), missing: (await page.locator("#missing").count()) ? await page.textContent("#missing") : "" };
    const functions = page.locator("[data-view=functions]");
    if (await functions.count() && await functions.isVisible()) {
      await functions.click();
      part.heads = await page.locator("#tablehead button").allTextContents();
      part.rows = await page.locator("#rows .row").evaluateAll((all) => all.map((r) => [...r.querySelectorAll("[role=gridcell]")].map((c) => c.textContent)));
    }
  }
  await page.close();
}
await browser.close();
console.log(JSON.stringify(all));

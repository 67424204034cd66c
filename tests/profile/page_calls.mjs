// SPDX-License-Identifier: MIT
// page_calls.mjs - checks the call tree and the functions of a report page of known calls (make_calls.c).
// Called by page.mjs.
import { dragTimeLine, settle } from "./browser.mjs";

const cells = (row) => row.locator("[role=gridcell]").allTextContents();
const names = (page) => page.locator("#rows .row .name code").allTextContents();

export async function useTables(page, shots, ok) {
  const summary = await page.textContent("#summary");
  ok("every call is counted", summary.includes("366 calls"), summary);
  ok("the word sample does not occur", !/sample/i.test(await page.evaluate(() => document.body.innerText)));
  await page.click("[data-view=tree]");
  await page.screenshot({ path: `${shots}/calls-tree.png` });
  const before = await names(page);
  ok("the roots of the tree are the first functions of threads", before[0] === "App.Program.Main(System.String[])" && before.includes("App.Loop.Run()"), before);
  const outer = page.locator(".row", { hasText: "App.Work.Outer" }).first();
  const numbers = await cells(outer);
  ok("a row has calls, total and self, and durations of one call",
    numbers.slice(1).join("|") === "10|10.0 %|100 ms|50.0 ms|10.0 ms|10.0 ms|10.0 ms|10.0 ms", numbers);
  await outer.locator(".twist").click();
  const after = await names(page);
  ok("a click expands a row", after.length === before.length + 1 && after[2] === "App.Work.Inner(System.Int32)", after);
  await page.locator(".row", { hasText: "App.Work.Outer" }).first().locator(".twist").click();
  ok("a second click collapses it", (await names(page)).length === before.length, await names(page));
  await page.focus("#table");
  for (const key of ["Home", "ArrowLeft", "ArrowRight", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  ok("the keyboard expands a row", (await names(page)).length === after.length, await names(page));
  const chosen = () => page.locator(".row[aria-selected=true] .name code").textContent();
  ok("the keyboard moves the selection", (await chosen()) === "App.Work.Outer(System.Int32)", await chosen());
  const calls = async () => (await page.locator("#rows .row [role=gridcell]:nth-child(2)").allTextContents()).map(Number);
  await page.click("[data-view=functions]");
  await page.click("#tablehead [data-key=calls]");
  ok("sorting by calls: descending", (await calls()).join() === "350,10,5,1", await calls());
  await page.click("#tablehead [data-key=calls]");
  ok("sorting by calls again: ascending", (await calls()).join() === "1,5,10,350", await calls());
  await page.locator(".row", { hasText: "App.Work.Inner" }).click();
  const callers = await page.locator("#callers .neighbour").evaluateAll((all) => all.map((b) => [...b.children].map((c) => c.textContent).join(" ")));
  ok("callers of Inner, with their calls and time", callers.join("|") === "App.Work.Outer 100 50.0 ms|App.Program.Main 50 50.0 ms|App.Loop.Run 200 20.0 ms", callers);
  await page.screenshot({ path: `${shots}/calls-functions.png` });
  await page.locator("#callers .neighbour", { hasText: "App.Program.Main" }).click();
  const callees = await page.locator("#callees .neighbour").evaluateAll((all) => all.map((b) => [...b.children].map((c) => c.textContent).join(" ")));
  ok("a click on a caller selects it and shows its callees", callees.join("|") === "App.Work.Outer 10 100 ms|App.Work.Inner 50 50.0 ms", callees);
  await page.locator(".row", { hasText: "App.Work.Inner" }).click();
  const bars = await page.locator(".histogram .bar title").allTextContents();
  ok("the histogram of Inner has all calls", bars.reduce((n, t) => n + Number(/: ([\d,]+) calls/.exec(t)[1]), 0) === 350 && bars.length === 3, bars);
  await page.fill("#search", "Outer");
  await settle(page);
  ok("a search keeps matching rows", (await names(page)).join() === "App.Work.Outer(System.Int32)", await names(page));
  await page.click("#reset");
  await page.click("#legend button:has-text('10.0.11')");
  ok("the filter of a runtime applies to the tables: 205 calls", (await calls()).reduce((a, b) => a + b) === 205, await calls());
  await page.click("#reset");
  await dragTimeLine(page, 0.05);
  const early = (await calls()).reduce((a, b) => a + b);
  ok("dragging on the time line keeps the calls of that time", early > 0 && early < 150, early);
  await page.click("#reset");
  await page.click("[data-view=graph]");
}

export async function useGaps(page, shots, ok) { // checks the coverage gaps of make_calls.c's notes
  await page.focus("body");
  await page.keyboard.press("5");
  const heads = () => page.locator("#gaps .head").evaluateAll((all) => all.map((s) => [...s.children].map((c) => c.textContent).filter(Boolean).join(" | ")));
  const all = await heads();
  ok("coverage gaps: a section for each kind", all.length === 7 && all[0] === "patterns that fit nothing | 1", all);
  ok("a section has the runtime and the number of rows", all.includes(".NET 8.0.29 | functions selected by a pattern, but never compiled, as nobody called them | 1"), all);
  const rows = await page.locator("#gaps li").allTextContents();
  ok("a section has its rows, with counts and reasons", rows.includes("App.Work.Idle") && rows.includes("1lambda") && rows.includes("none:App.*no runtime of its version loaded such an assembly"), rows);
  ok("no other view is shown", await page.isHidden("#tables") && await page.isHidden("#scroll") && await page.isHidden("#empty"));
  await page.screenshot({ path: `${shots}/calls-gaps.png` });
  await page.fill("#search", "Idle");
  await settle(page);
  ok("a search keeps matching rows", (await page.locator("#gaps li").allTextContents()).join() === "App.Work.Idle" && (await page.textContent("#found")) === "1 found", await heads());
  await page.click("#reset");
  await page.click("#legend button:has-text('10.0.11')");
  ok("the filter of another runtime keeps gaps of no runtime", (await heads()).length === 1, await heads());
  await page.click("#reset");
  ok("without filters all gaps are shown again", (await heads()).length === 7, await heads());
  await page.click("[data-view=graph]");
  ok("the key hides the gaps again", await page.isHidden("#gaps") && await page.isVisible("#scroll"));
}

export async function scrollTables(page, ok) { // many rows: elements exist for visible rows only
  const start = Date.now();
  await page.click("[data-view=functions]");
  const [rows, made] = await page.evaluate(() => [Number(document.querySelector("#table").dataset.rows), document.querySelectorAll("#rows .row").length]);
  ok("thousands of functions, but few elements", rows > 1000 && made < 120, [rows, made]);
  await page.click("[data-view=tree]");
  await page.focus("#table");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("End");
  await settle(page);
  const last = await page.evaluate(() => [Number(document.querySelector("#table").dataset.rows), Boolean(document.querySelector(".row[aria-selected=true]"))]);
  ok("thousands of expanded rows, the last is visible", last[0] > 1000 && last[1], last);
  console.log(`# tables used in ${Date.now() - start} ms`);
  await page.click("[data-view=graph]");
}

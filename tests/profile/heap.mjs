// SPDX-License-Identifier: MIT
// heap.mjs - opens the pages and files of sxsprof heap in headless Chromium.
// usage: heap.mjs FOLDER SHOTS     FOLDER has known.html, known.json and diff.html, and NAME.heapsnapshot with NAME.json
// A file NAME.heapsnapshot is loaded by the parser of DevTools, which computes dominators by itself: its numbers of
// each class must be those of the JSON. The bytes kept alive are an exception: DevTools adds them up over the objects that dominate
// others, and the JSON has what all objects of the class keep together, which a search without them finds here.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { about, end, launch } from "./browser.mjs";

const [folder, shots] = process.argv.slice(2);
const browser = await launch();
const read = (name) => JSON.parse(readFileSync(path.join(folder, name), "utf8"));

async function checkPage() {
  const ok = about("the page of a heap snapshot");
  const page = await browser.newPage({ viewport: { width: 1360, height: 760 }, colorScheme: "light" });
  const errors = [];
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("request", (r) => { if (/^https?:/.test(r.url())) errors.push(r.url()); });
  await page.goto(pathToFileURL(path.join(folder, "known.html")).href);
  await page.waitForSelector("html[data-ready]");
  const textOf = (selector) => page.locator(selector).allInnerTexts();
  const rows = () => textOf("#list tbody tr");
  ok("summary of the first runtime", (await textOf("#summary"))[0].startsWith("16 objects · 1.48 KiB · no root leads to 1 (24 B)"), await textOf("#summary"));
  ok("kinds of roots with what they keep", (await textOf("#legend button"))[0] === "pinned handle\n1000 B · 66.0 %", await textOf("#legend button"));

  const box = await page.locator("#graph").boundingBox();
  await page.mouse.click(box.x + 100, box.y + 2 * 22 + 10); // the third row: System.Byte[], which a handle pins
  ok("a click on a node explains its type", (await textOf("#panel h2"))[0] === "System.Byte[]", await textOf("#panel"));
  ok("and zooms", (await textOf("#path button")).join(" ") === "pinned handle System.Byte[]", await textOf("#path"));
  await page.keyboard.press("Escape");
  ok("Escape shows all", (await textOf("#path button")).length === 0, await textOf("#path"));
  await page.locator("#graph").focus();
  for (const key of ["ArrowDown", "ArrowRight", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  ok("arrow keys walk the tree", (await textOf("#panel h2"))[0] === "App.Holder<System.Int32>", await textOf("#panel h2"));

  await page.click("[data-view=types]");
  const types = read("known.json").heap.filter((t) => t.runtime === 1);
  ok("the table has all types", (await rows()).length === types.length, await rows());
  ok("by bytes", (await rows())[0].startsWith("System.Byte[]"), await rows());
  await page.click("#list th:nth-child(4)");
  ok("a click on a heading sorts", (await rows())[1].startsWith("App.Part"), await rows());
  await page.click("#list th:nth-child(1)");
  ok("by name, too", (await rows())[0].startsWith("App.Cache"), await rows());
  await page.fill("#search", "part|string");
  ok("search keeps what fits", (await rows()).length === 2 && (await textOf("#found"))[0] === "2 types", await rows());
  await page.locator("#list tbody tr", { hasText: "App.Part" }).click();
  const ways = await page.locator("#panel ol").evaluateAll((all) => all.map((l) => [...l.children].map((i) => i.textContent).join(" ")));
  ok("a click on a type shows the paths to its roots", JSON.stringify(ways) === JSON.stringify(["← static field App.Cache.other",
    "← App.Holder<System.Int32>.first ← stack App.Program.Main(System.String[])",
    "← App.Holder<System.Int32>.rest.second ← stack App.Program.Main(System.String[])", "← strong handle"]), ways);
  ok("with the objects of each", (await textOf("#panel p.way")).join() === "3 objects · 72 B,1 object · 24 B,1 object · 24 B,1 object · 24 B", await textOf("#panel p.way"));
  await page.click("#panel li button");
  ok("a click on a step explains that type", (await textOf("#panel h2"))[0] === "App.Holder<System.Int32>", await textOf("#panel h2"));
  await page.fill("#search", "");
  await page.click("[data-view=roots]");
  ok("roots by kind", (await rows()).length === 6 && (await rows())[0].startsWith("pinned handle"), await rows());
  await page.click("#runtimes button:nth-child(2)");
  ok("the other runtime", (await textOf("#summary"))[0].startsWith("3 objects · 96 B") &&
    (await textOf("#summary"))[0].includes("not recorded: objects outside of the collected heap, generations"), await textOf("#summary"));
  await page.click("[data-view=kept]");
  if (shots) await page.screenshot({ path: path.join(shots, "heap.png") });
  ok("no errors, nothing from the network", errors.length === 0, errors);
  await page.close();
}

async function checkDifference() {
  const ok = about("the page of two snapshots");
  const page = await browser.newPage({ viewport: { width: 1360, height: 500 }, colorScheme: "light" });
  const errors = [];
  page.on("pageerror", (e) => errors.push(String(e)));
  await page.goto(pathToFileURL(path.join(folder, "diff.html")).href);
  await page.waitForSelector("html[data-ready]");
  const rows = () => page.locator("#list tbody tr").allInnerTexts();
  ok("what grew most is first", (await rows())[0] === "App.Node\t2\t2\t7\t+5\t64 B\t224 B\t+160 B", (await rows())[0]);
  ok("no type without a change", (await rows()).length === 5, await rows());
  ok("what is compared, and what all types have", (await page.locator("#summary").innerText()) ===
    "before, known/4242/heap-1: 19 objects, 1.57 KiB · now, known/4242/heap-2: 20 objects, 1.59 KiB · 5 types changed, 6 did not", await page.locator("#summary").innerText());
  ok("what shrank most is last", (await rows()).at(-1) === "System.String\t1\t1\t0\t−1\t100 B\t0 B\t−100 B", (await rows()).at(-1));
  await page.fill("#search", "holder");
  ok("search", (await rows()).length === 1 && (await rows())[0].startsWith("App.Holder<System.Int32>"), await rows());
  if (shots) await page.screenshot({ path: path.join(shots, "heap_diff.png") });
  ok("no errors", errors.length === 0, errors);
  await page.close();
}

// Loads a file as the memory panel does: a second worker computes the dominators.
const load = async (text) => {
  const worker = "devtools://devtools/bundled/entrypoints/heap_snapshot_worker/";
  const { HeapSnapshotLoader } = await import(`${worker}heap_snapshot_worker.js`);
  const second = new Worker(`${worker}heap_snapshot_worker-entrypoint.js`, { type: "module" }), channel = new MessageChannel();
  await new Promise((ready) => { second.onmessage = (e) => { if (e.data === "workerReady") ready(); }; });
  second.postMessage({ disposition: "setupForSecondaryInit", objectId: 1, callId: 1 }, [channel.port2]);
  const loader = new HeapSnapshotLoader.HeapSnapshotLoader({ sendEvent() {} });
  for (let i = 0; i < text.length; i += 1 << 20) loader.write(text.slice(i, i + (1 << 20)));
  loader.close();
  const snapshot = await loader.buildSnapshot(channel.port1);
  const classes = Object.values(snapshot.getAggregatesByClassKey(false, "all"));
  return { nodes: snapshot.nodeCount, bytes: snapshot.totalSize, classes: classes.map((c) => [c.name, c.count, c.self, c.maxRet]) };
};

// Returns, of the file's graph, a function of a class: the bytes that are reached only through its objects.
function searcher(file) {
  const { nodes, edges, strings } = file, n = nodes.length / 7, first = new Uint32Array(n + 1);
  for (let i = 0; i < n; i++) first[i + 1] = first[i] + nodes[i * 7 + 4];
  const isObject = (i) => nodes[i * 7] !== 9; // synthetic
  const reached = (without) => {
    const seen = new Uint8Array(n), todo = [0];
    let bytes = 0;
    for (seen[0] = 1; todo.length;) {
      const i = todo.pop();
      bytes += nodes[i * 7 + 3];
      for (let e = first[i]; e < first[i + 1]; e++) {
        const to = edges[e * 3 + 2] / 7;
        if (seen[to] || (isObject(to) && strings[nodes[to * 7 + 1]] === without)) continue;
        seen[to] = 1;
        todo.push(to);
      }
    }
    return bytes;
  };
  const all = reached(undefined);
  return (name, lost) => all - reached(name) + lost;
}

async function checkDevTools(name) {
  const ok = about(`DevTools read ${name}.heapsnapshot`);
  const page = await browser.newPage();
  await page.goto("devtools://devtools/bundled/inspector.html");
  const got = await page.evaluate(load, readFileSync(path.join(folder, `${name}.heapsnapshot`), "utf8"));
  const expected = new Map();
  let bytes = 0, objects = 0;
  for (const t of read(`${name}.json`).heap) {
    const sum = expected.get(t.type) ?? [0, 0, 0];
    expected.set(t.type, [sum[0] + t.objects, sum[1] + t.bytes, sum[2] + t.retained_bytes]);
    bytes += t.bytes;
    objects += t.objects;
  }
  const wrong = got.classes.filter(([type, n, own, kept]) => { const [a, b, c] = expected.get(type) ?? []; return a !== n || b !== own || c < kept; });
  const search = searcher(read(`${name}.heapsnapshot`));
  const other = [...expected].map(([type, values]) => [type, values[2], search(type, type === "App.Garbage" ? values[1] : 0)]).filter(([, ours, found]) => ours !== found);
  ok(`${objects} objects in all`, got.bytes === bytes && got.nodes > objects, [got.nodes, got.bytes]);
  ok("what a type keeps alive is what is not reached without its objects", other.length === 0, other.slice(0, 5));
  ok(`the objects and bytes of ${expected.size} types`, wrong.length === 0 && got.classes.length === expected.size,
    wrong.slice(0, 5).map((v) => [v, expected.get(v[0])]));
  await page.close();
}

await checkPage();
await checkDifference();
for (const file of readdirSync(folder).filter((name) => name.endsWith(".heapsnapshot")).sort())
  await checkDevTools(path.basename(file, ".heapsnapshot"));
await end(browser);

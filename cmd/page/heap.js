// SPDX-License-Identifier: MIT
// The script of the page of a heap snapshot, or of a comparison of two; cmd/heap/html.c describes the data.
import { hslOf, inkOn } from "./colors.js";
import { $, canvasOf, every, inputOf, keysAreOpen, markTab, patternOf, showKeys, useTabs } from "./dom.js";
import { bytesText, count, counted, percent } from "./numbers.js";
import { dark, theme, useTheme } from "./theme.js";

const data = JSON.parse($("data").textContent);
const ROW = 22, TOP = 0, KIND = 1, NAME = 2, SEVERAL = 3, NO_ROOT = 4, TYPE = 5;
const state = { at: 0, view: "kept", search: null, zoom: 0, chosen: -1, focus: 0, sort: 2, up: false };
const GENERATIONS = ["gen 0", "gen 1", "gen 2", "large", "pinned", "frozen"];
let rt, tree, hover = -1;

function element(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes || {})) if (k === "onclick") e.onclick = v; else e.setAttribute(k, v);
  e.append(...children);
  return e;
}

// A node in the data: depth, what, number, objects, bytes, objects of all below, bytes of all below; in preorder.
// In "reached" also, if known: the parent's field that has these objects, and the field by which a list goes on.
// "kept" is the tree of dominators, "reached" that of shortest paths; nodes that were left out as small are
// missing from both.
function decode(list) {
  const nodes = list.map(([depth, what, number, n, own, allN, all, field = "", next = ""]) => ({ depth, what, number, n, own, allN, all, field, next, kids: [], parent: -1 }));
  const stack = [];
  nodes.forEach((node, i) => {
    stack.length = node.depth;
    if (i) { node.parent = stack[node.depth - 1]; nodes[node.parent].kids.push(i); }
    stack[node.depth] = i;
  });
  return nodes;
}
function text(node) {
  switch (node.what) {
    case TOP: return "all objects";
    case KIND: return data.kinds[node.number];
    case NAME: return data.strings[node.number];
    case SEVERAL: return "several roots";
    case NO_ROOT: return "no root";
    default: return rt.types[node.number][0];
  }
}
const matches = (name) => state.search && state.search.test(name);

// ---- the tree of dominators ----
const canvas = canvasOf("graph"), pen = canvas.getContext("2d");
let boxes = [], width = 0;
function hue(name) {
  const end = name.split("<")[0].lastIndexOf(".");
  let h = 0x811c9dc5;
  for (const c of end > 0 ? name.slice(0, end) : name) h = Math.imul(h ^ c.charCodeAt(0), 0x01000193);
  return (h >>> 8) % 360;
}
function color(node) {
  if (node.what === TOP) return dark ? "#3a4152" : "#d9d6cf";
  if (node.what === NO_ROOT) return dark ? "#5b3640" : "#eccdd3";
  if (node.what !== TYPE) return dark ? "#3b5bdb" : "#b9c6ff";
  return dark ? hslOf(hue(text(node)), 32, 0.11) : `hsl(${hue(text(node))} 62% 78%)`;
}
function layOut() {
  boxes = [];
  const chain = [];
  for (let i = state.zoom; i >= 0; i = tree[i].parent) chain.unshift(i);
  chain.forEach((i, row) => boxes.push([i, 0, width, row]));
  const add = (i, x, w, row) => {
    for (const k of tree[i].kids) {
      const share = w * tree[k].all / tree[i].all;
      if (share < 0.6) continue;
      boxes.push([k, x, share, row]);
      add(k, x, share, row + 1);
      x += share;
    }
  };
  add(state.zoom, 0, width, chain.length);
}
function draw() {
  const scale = window.devicePixelRatio || 1;
  width = $("icicle").clientWidth - 12;
  layOut();
  const rows = boxes.reduce((n, b) => Math.max(n, b[3]), 0) + 1;
  canvas.style.height = `${rows * ROW}px`;
  canvas.width = width * scale;
  canvas.height = rows * ROW * scale;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.font = `12px ${theme.mono}`;
  pen.textBaseline = "middle";
  for (const [i, x, w, row] of boxes) {
    const node = tree[i], name = text(node), hit = !state.search || matches(name);
    pen.globalAlpha = hit ? 1 : 0.28;
    pen.fillStyle = color(node);
    pen.beginPath();
    pen.roundRect(x, row * ROW, Math.max(w - 1, 0.5), ROW - 1, Math.min(3, w / 4));
    pen.fill();
    if (i === hover || i === state.chosen || i === state.focus && document.activeElement === canvas) { pen.lineWidth = 2; pen.strokeStyle = theme.text; pen.stroke(); }
    if (w < 30) continue;
    pen.save();
    pen.beginPath();
    pen.rect(x, row * ROW, w - 5, ROW);
    pen.clip();
    pen.globalAlpha = 1;
    pen.fillStyle = hit ? inkOn(color(node), dark) : theme.faint;
    pen.fillText(node.what === TYPE ? `${name}  × ${count(node.n)}  ${bytesText(node.all)}` : `${name}  ${bytesText(node.all)}`, x + 5, row * ROW + ROW / 2);
    pen.restore();
  }
  pen.globalAlpha = 1;
}
function hitTest(x, y) {
  const row = Math.floor(y / ROW);
  const b = boxes.find((v) => v[3] === row && x >= v[1] && x < v[1] + v[2]);
  return b ? b[0] : -1;
}
function zoom(i) {
  state.zoom = i;
  draw();
  paintPath();
}
function paintPath() {
  const chain = [];
  for (let i = state.zoom; i > 0; i = tree[i].parent) chain.unshift(i);
  $("path").replaceChildren(...(state.view === "kept" ? chain : []).map((i) => element("button", { onclick: () => choose(i) }, text(tree[i]))));
}

// ---- the panel ----
function line(list, name, value) { list.append(element("dt", {}, name), element("dd", {}, value)); }
function step(node, field) {
  if (node.what !== TYPE) return element("li", { class: "root" }, text(node));
  const item = element("li", {}, "← ", element("button", { onclick: () => showType(node.number) }, text(node)));
  if (field) item.append(element("span", { class: "field" }, field));
  if (node.next) item.append(` (a list by ${node.next})`);
  return item;
}
// The path from an object to its root; after each type is its field that has the object before. The name of a root
// is one step with its kind.
function wayOf(nodes, i) {
  const list = element("ol", { class: "path" });
  let { field } = nodes[i];
  for (let at = nodes[i].parent; at > 0; at = nodes[at].parent) {
    const node = nodes[at];
    if (node.what === KIND && list.lastChild && list.lastChild.dataset.name) { list.lastChild.textContent = `← ${text(node)} ${list.lastChild.dataset.name}`; continue; }
    const item = step(node, field);
    ({ field } = node);
    if (node.what === NAME) item.dataset.name = text(node);
    if (node.what !== TYPE) item.prepend("← ");
    list.append(item);
  }
  return list;
}
function addWays(panel, type) {
  const ways = rt.reached.map((n, i) => i).filter((i) => rt.reached[i].what === TYPE && rt.reached[i].number === type && rt.reached[i].n)
    .sort((a, b) => rt.reached[b].own - rt.reached[a].own);
  panel.append(element("h3", {}, ways.length ? "Shortest paths to roots" : "No path to a root is recorded"));
  for (const i of ways.slice(0, 20)) {
    panel.append(element("p", { class: "way" }, `${counted(rt.reached[i].n, "object")} · ${bytesText(rt.reached[i].own)}`), wayOf(rt.reached, i));
  }
  if (ways.length > 20) panel.append(element("p", { class: "way" }, `and ${ways.length - 20} more`));
}
function showType(type) {
  const [name, n, own, retained, pinned, finalizable, lost, module, ...generations] = rt.types[type], panel = $("panel");
  state.type = type;
  panel.replaceChildren(element("h2", {}, name));
  const list = element("dl");
  line(list, "objects", count(n));
  line(list, "bytes", `${bytesText(own)} (${percent(own, rt.bytes)})`);
  line(list, "kept alive", `${bytesText(retained)} (${percent(retained, rt.bytes)})`);
  generations.forEach((g, i) => { if (g && !rt.noBounds) line(list, GENERATIONS[i], count(g)); });
  if (pinned) line(list, "pinned", count(pinned));
  if (finalizable) line(list, "finalizer", "yes");
  if (lost) line(list, "no root", count(lost));
  if (module) line(list, "module", module);
  panel.append(list);
  addWays(panel, type);
  markRow();
}
function showNode(i) {
  const node = tree[i], panel = $("panel");
  if (node.what === TYPE) showType(node.number);
  else { state.type = -1; panel.replaceChildren(element("h2", {}, text(node))); }
  const list = element("dl");
  line(list, node.what === TYPE ? "kept by these alone" : "below it", `${bytesText(node.all)} (${percent(node.all, rt.bytes)})`);
  line(list, "in", counted(node.allN, "object"));
  if (node.what === TYPE) line(list, "own", `${counted(node.n, "object")}, ${bytesText(node.own)}`);
  const chain = i > 0 && tree[i].parent > 0 ? [element("h3", {}, "Kept alive only by"), wayOf(tree, i)] : [];
  panel.firstChild.after(element("h3", {}, "This place in the tree"), list, ...chain, ...(node.what === TYPE ? [element("h3", {}, "All objects of the type")] : []));
}
function choose(i) {
  state.chosen = state.focus = i;
  zoom(i);
  showNode(i);
}

// ---- tables ----
const columns = {
  types: ["Type", "Objects", "Bytes", "Kept alive", "Pinned"],
  roots: ["Kind", "Roots", "Objects", "Kept alive"],
  changes: ["Type", "Runtime", "Objects before", "Objects", "More objects", "Bytes before", "Bytes", "More bytes"],
};
// The columns that show bytes, and those that show a difference, with a sign.
const inBytes = { types: [2, 3], roots: [3], changes: [5, 6, 7] }, signed = { changes: [4, 7] };
function cell(view, column, v) {
  const difference = (signed[view] || []).includes(column), size = Math.abs(v);
  const shown = inBytes[view].includes(column) ? bytesText(size) : count(size);
  if (difference) return v ? `${v < 0 ? "−" : "+"}${shown}` : "";
  return v || column < 3 || view === "changes" ? shown : "";
}
function rowsOf(view) {
  if (view === "changes") return data.changes.map(([name, runtime, n0, n1, b0, b1], i) => [i, name, runtime, n0, n1, n1 - n0, b0, b1, b1 - b0])
    .filter((r) => !state.search || matches(r[1]));
  if (view === "roots") return rt.roots.map((r, i) => [i, ...r]);
  return rt.types.map((t, i) => [i, t[0], t[1], t[2], t[3], t[4]]).filter((r) => r[2] && (!state.search || matches(r[1])));
}
function paintTable() {
  const view = state.view, rows = rowsOf(view), table = /** @type {HTMLTableElement} */ ($("list").firstElementChild), by = state.sort + 1;
  rows.sort((a, b) => (typeof a[by] === "string" ? (a[by] < b[by] ? -1 : a[by] > b[by] ? 1 : 0) : b[by] - a[by]) * (state.up ? -1 : 1));
  const sortBy = (c) => { state.up = state.sort === c && !state.up; state.sort = c; paintTable(); every("button", table.tHead)[c].focus(); };
  const heads = columns[view].map((name, c) => element("th", { scope: "col", ...(c === state.sort ? { "aria-sort": (c === 0) !== state.up ? "ascending" : "descending" } : {}) },
    element("button", { onclick: () => sortBy(c) }, name)));
  table.tHead.replaceChildren(element("tr", {}, ...heads));
  table.tBodies[0].replaceChildren(...rows.slice(0, 3000).map(([i, name, ...cells]) => {
    const row = element("tr", { "data-row": i }, element("td", { title: name }, name),
      ...cells.map((v, c) => element("td", {}, cell(view, c + 1, v))));
    if (view === "types") row.onclick = () => showType(i);
    return row;
  }));
  $("found").textContent = state.search && view !== "roots" ? counted(rows.length, "type") : "";
  markRow();
}
function markRow() {
  for (const row of every("tbody tr", $("list"))) row.setAttribute("aria-selected", String(state.view === "types" && Number(row.dataset.row) === state.type));
}

// ---- the page ----
function show(view) {
  state.view = view;
  markTab(view);
  $("icicle").hidden = view !== "kept";
  $("list").hidden = view === "kept";
  if (view === "kept") { $("found").textContent = ""; draw(); } else { state.sort = view === "types" ? 2 : 3; state.up = false; paintTable(); }
  paintPath();
}
function paintSummary() {
  const parts = [counted(rt.objects, "object"), bytesText(rt.bytes)];
  if (rt.objects > rt.reachedObjects && !rt.noRoots) parts.push(`no root leads to ${count(rt.objects - rt.reachedObjects)} (${bytesText(rt.bytes - rt.reachedBytes)})`);
  if (rt.how) parts.push(rt.how === 1 ? "after a collection" : "without a collection");
  if (rt.pauseNs) parts.push(`stopped for ${(rt.pauseNs / 1e6).toFixed(1)} ms`);
  if (rt.lacking.length) parts.push(`not recorded: ${rt.lacking.join(", ")}`);
  $("summary").textContent = parts.join(" · ");
  $("legend").replaceChildren(...tree[0].kids.slice(0, 12).map((i) => element("button", { onclick: () => { show("kept"); choose(i); } },
    element("b", {}, text(tree[i])), element("small", {}, `${bytesText(tree[i].all)} · ${percent(tree[i].all, rt.bytes)}`))));
}
// A comparison of two snapshots is one table.
function useChanges() {
  const side = (when, name, k) => `${when}, ${name}: ${counted(data.all[2 + k], "object")}, ${bytesText(data.all[4 + k])}`;
  $("summary").textContent = [side("before", data.before, 0), side("now", data.now, 1), ...data.versions,
    `${counted(data.changes.length, "type")} changed, ${count(data.unchanged)} did not`].join(" · ");
  for (const id of ["views", "panel", "legend"]) $(id).remove();
  state.view = "changes";
  state.sort = 7;
  $("icicle").hidden = true;
  $("list").hidden = false;
  paintTable();
}
function use(at) {
  state.at = at;
  rt = data.runtimes[at];
  if (!rt.decoded) { rt.kept = decode(rt.kept); rt.reached = decode(rt.reached); rt.decoded = true; }
  tree = rt.kept;
  Object.assign(state, { zoom: 0, chosen: -1, focus: 0, type: -1 });
  for (const b of every("button", $("runtimes"))) b.setAttribute("aria-pressed", String(Number(b.dataset.at) === at));
  paintSummary();
  show(state.view);
  showNode(0);
}
function search(value) {
  state.search = patternOf(value);
  if (state.view === "kept") draw(); else paintTable();
}
function move(key) {
  const node = tree[state.focus], siblings = node.parent >= 0 ? tree[node.parent].kids : [0], at = siblings.indexOf(state.focus);
  const to = { ArrowDown: node.kids[0], ArrowUp: node.parent, ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1] }[key];
  if (to === undefined || to < 0) return;
  state.focus = state.chosen = to;
  if (!boxes.some((b) => b[0] === to)) zoom(tree[to].parent < 0 ? 0 : tree[to].parent); else draw();
  showNode(to);
}
function reset() {
  inputOf("search").value = "";
  search("");
  state.chosen = -1;
  state.focus = 0;
  if (state.view === "kept") { zoom(0); showNode(0); }
}
const chooseOrBack = (i) => choose(i === state.zoom && i ? tree[i].parent : i);
$("help").onclick = showKeys;
canvas.onfocus = canvas.onblur = () => draw();
canvas.onmousemove = (e) => {
  const i = hitTest(e.offsetX, e.offsetY);
  if (i === hover) return;
  hover = i;
  draw();
  $("details").textContent = i < 0 ? "" : `${text(tree[i])} · keeps alive ${bytesText(tree[i].all)} (${percent(tree[i].all, rt.bytes)}) in ${counted(tree[i].allN, "object")}`;
};
canvas.onmouseleave = () => { hover = -1; draw(); };
canvas.onclick = (e) => { const i = hitTest(e.offsetX, e.offsetY); if (i >= 0) chooseOrBack(i); };
useTabs(show);
$("list").onkeydown = (e) => {
  if (e.target !== $("list") || state.view !== "types" || e.ctrlKey || e.metaKey || e.altKey) return;
  const rows = every("tbody tr", $("list")), at = rows.findIndex((r) => r.getAttribute("aria-selected") === "true");
  const page = Math.max(1, Math.floor($("list").clientHeight / 26) - 2), all = rows.length;
  const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -all, End: all }[e.key];
  if (by === undefined || !all) return;
  e.preventDefault();
  const row = rows[Math.max(0, Math.min(all - 1, at + by))];
  showType(Number(row.dataset.row));
  row.scrollIntoView({ block: "nearest" });
};
$("search").oninput = () => search(inputOf("search").value);
$("search").onkeydown = (e) => { if (e.key === "Escape") { inputOf("search").value = ""; search(""); } e.stopPropagation(); };
$("reset").onclick = reset;
document.onkeydown = (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (keysAreOpen()) return;
  if (e.key === "/") { e.preventDefault(); $("search").focus(); }
  else if (e.key === "?") showKeys();
  else if (e.key === "Escape") reset();
  else if (!data.changes && e.key >= "1" && e.key <= "3") show(["kept", "types", "roots"][Number(e.key) - 1]);
  else if (document.activeElement === canvas && e.key.startsWith("Arrow")) { e.preventDefault(); move(e.key); }
  else if (document.activeElement === canvas && e.key === "Enter") chooseOrBack(state.focus);
};
window.onresize = () => { if (state.view === "kept") draw(); };
$("title").textContent = data.title;
document.title = `${data.title} · sxsprof heap`;
$("missing").textContent = (data.missing || []).join("\n");
$("missing").hidden = !(data.missing || []).length;
if (data.changes) useChanges();
else if (data.runtimes.length > 1)
  $("runtimes").append(...data.runtimes.map((r, i) => element("button", { "data-at": i, onclick: () => use(i) }, `${r.number}: .NET ${r.version}`)));
useTheme(() => { if (state.view === "kept") draw(); });
if (!data.changes && data.runtimes.length) use(0);
document.documentElement.dataset.ready = "1";

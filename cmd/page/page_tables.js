// SPDX-License-Identifier: MIT
// The call tree and the functions as tables, and details of
// the chosen function: callers, callees, durations. DOM rows exist only for visible rows.
import { $, el, first, markTab, svg, useTabs } from "./dom.js";
import { count, counted, percent } from "./numbers.js";
import { paintFound } from "./page_controls.js";
import { before, duration, frameName, ownerColor, ownerOfFrame, shortName } from "./page_data.js";
import { draw, fit, showTip } from "./page_graph.js";
import { paintTime } from "./page_lanes.js";
import { TYPE, WAIT, calls, data, frames, strings, timed, unit } from "./page_model.js";
import { showTimeline } from "./page_timeline_tables.js";
import { fullName, state, view } from "./page_view.js";

// ---- durations of calls -----------------------------------------------------------------------
export let latency;
/** @type {[number, string][]} */
const NANOS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
export function nanos(ns) {
  for (const [unit, name] of NANOS) if (ns >= unit) {
    const v = ns / unit;
    return `${v.toFixed(v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2)} ${name}`;
  }
  return `${Math.round(ns)} ns`;
}

// ---- rows -------------------------------------------------------------------------------------
export const TROW = 24, table = $("table"), rowBox = $("rows");
const one = (key) => (r) => { const l = latency.get(r.frame); return l && l.max ? l[key] : -1; };
/** @typedef {{ key: string, head: string, of: (row: any) => any, text: (row: any) => string, timed?: boolean, latency?: boolean, bar?: boolean }} Column */
/** @type {Column[]} */
let COLUMNS;
export let table_;

function rowOfNode(i) {
  return { node: i, frame: view.frame[i], name: fullName(i), calls: calls && view.frame[i] >= 0 ? view.n[i] : view.count[i],
    total: view.total[i], self: view.self[i], depth: view.depth[i] };
}
export const below = (i) => Array.from(view.kids.subarray(view.first[i], view.first[i + 1]));
function sorted(rows, which) {
  const [key, way] = table_.sort[which], of = COLUMNS.find((c) => c.key === key)?.of || ((r) => r.total);
  return rows.sort((a, b) => { const x = of(a), y = of(b); return x < y ? -way : x > y ? way : a.node - b.node; });
}
function treeRows() { // depth first through the expanded rows
  const rows = [], todo = sorted(below(0).map(rowOfNode), "tree").reverse();
  while (todo.length) {
    const r = todo.pop();
    rows.push(r);
    if (table_.open[r.node]) todo.push(...sorted(below(r.node).map(rowOfNode), "tree").reverse());
  }
  return rows;
}
const isBelow = (i, same) => { for (let p = view.parent[i]; p > 0; p = view.parent[p]) if (same(p)) return true; return false; };
// By node: 1 if no node above it is of the same function.
function outermostNodes() {
  const outer = new Uint8Array(view.M), onPath = new Int32Array(frames.length), todo = new Int32Array(2 * view.M + 1);
  let n = 1; // todo: nodes to enter, and ~nodes to leave
  while (n > 0) {
    const i = todo[--n];
    if (i < 0) { onPath[view.frame[~i]]--; continue; }
    const f = view.frame[i];
    if (f >= 0) {
      outer[i] = onPath[f] ? 0 : 1;
      onPath[f]++;
      todo[n++] = ~i;
    }
    for (let k = view.first[i]; k < view.first[i + 1]; k++) todo[n++] = view.kids[k];
  }
  return outer;
}
export function functionRows() {
  if (!table_.functions) {
    const by = new Map(), outer = table_.outer = outermostNodes(), rows = new Array(frames.length);
    for (let i = 1; i < view.M; i++) {
      const f = view.frame[i];
      if (f < 0) continue;
      let r = rows[f];
      if (!r) by.set(f, r = rows[f] = { node: by.size, frame: f, name: frameName(f), calls: 0, total: 0, self: 0, nodes: [], depth: 1 });
      r.nodes.push(i);
      r.self += view.self[i];
      if (outer[i]) r.total += view.total[i];
      if (calls) r.calls += view.n[i];
      else if (outer[i]) r.calls += view.count[i];
    }
    for (const r of by.values()) { // without a call tree, a function's callees are not known
      const l = latency.get(r.frame);
      if (l && l.total) r.total = l.total;
    }
    table_.byFrame = by;
    table_.functions = [...by.values()];
  }
  return table_.functions;
}
function shownFunctions() {
  functionRows();
  return sorted(table_.functions.filter((r) => !state.search || state.search.test(r.name)), "functions");
}

// ---- the table --------------------------------------------------------------------------------
function paintHead() {
  const head = $("tablehead"), [key, way] = table_.sort[state.view];
  head.replaceChildren();
  for (const c of COLUMNS) {
    const cell = el("div", undefined, c.key === "name" ? "name" : ""), b = el("button", c.head);
    cell.setAttribute("role", "columnheader");
    cell.setAttribute("aria-sort", c.key === key ? (way < 0 ? "descending" : "ascending") : "none");
    cell.dataset.key = c.key;
    cell.append(b);
    if (c.latency) b.title = "Of one call of the function, on all paths and threads; calls that an exception left are not in it";
    b.onclick = () => {
      const s = table_.sort[state.view];
      table_.sort[state.view] = [c.key, s[0] === c.key ? -s[1] : c.key === "name" ? 1 : -1];
      rebuildRows();
      first(`[data-key=${c.key}] button`, $("tablehead")).focus();
    };
    head.append(cell);
  }
}
export function rebuildRows() {
  const chosen = table_.rows[table_.at];
  table_.rows = state.view === "tree" ? treeRows() : shownFunctions();
  table_.at = chosen ? table_.rows.findIndex((r) => r.node === chosen.node) : -1;
  rowBox.style.height = `${table_.rows.length * TROW}px`;
  table.setAttribute("aria-rowcount", table_.rows.length);
  paintHead();
  paintRows();
}
export function paintRows() {
  const from = Math.max(0, Math.floor(table.scrollTop / TROW) - 8);
  const to = Math.min(table_.rows.length, Math.ceil((table.scrollTop + table.clientHeight) / TROW) + 8);
  const made = [];
  for (let at = from; at < to; at++) made.push(rowElement(table_.rows[at], at));
  rowBox.replaceChildren(...made);
  if (table_.at >= from && table_.at < to) table.setAttribute("aria-activedescendant", `row${table_.at}`);
  else table.removeAttribute("aria-activedescendant");
  table.dataset.rows = table_.rows.length;
}
function rowElement(r, at) {
  const row = el("div", undefined, "row"), tree = state.view === "tree", kids = tree && view.first[r.node + 1] > view.first[r.node];
  row.id = `row${at}`;
  row.style.top = `${at * TROW}px`;
  row.setAttribute("role", "row");
  row.setAttribute("aria-rowindex", at + 1);
  row.setAttribute("aria-selected", String(at === table_.at));
  if (tree) row.setAttribute("aria-level", r.depth);
  if (kids) row.setAttribute("aria-expanded", String(Boolean(table_.open[r.node])));
  for (const c of COLUMNS) {
    const cell = el("span", undefined, c.key === "name" ? "name" : "");
    cell.setAttribute("role", "gridcell");
    if (c.key === "name") nameCell(cell, r, tree, kids);
    else cell.textContent = c.text(r);
    if (c.bar) cell.style.setProperty("--part", `${Math.min(100, 100 * r.total / (view.total[0] || 1))}%`);
    if (c.bar) cell.classList.add("part");
    row.append(cell);
  }
  row.onclick = (e) => { choose(at); if (kids && e.target.classList.contains("twist")) expand(at, !table_.open[r.node]); };
  row.ondblclick = () => { if (kids) expand(at, !table_.open[r.node]); };
  return row;
}
function nameCell(cell, r, tree, kids) {
  cell.title = r.name;
  if (tree) {
    const indent = Math.min(r.depth - 1, 60);
    cell.style.paddingLeft = `${6 + indent * 14}px`;
    const twist = el("span", kids ? (table_.open[r.node] ? "▾" : "▸") : "", "twist");
    twist.setAttribute("aria-hidden", "true");
    cell.append(twist);
  }
  cell.append(...named(r.frame, r.frame >= 0 ? shortName(r.frame) : r.name));
  if (r.frame >= 0 && frames[r.frame][4] & TYPE) cell.append(el("em", frames[r.frame][4] & WAIT ? "reason" : "type"));
  if (r.frame >= 0 && latency.get(r.frame)?.off) cell.append(el("em", "timed no longer"));
}
export function named(frame, text) {
  if (frame < 0) return [el("span", text, "soft")];
  const dot = el("i");
  dot.style.background = ownerColor(ownerOfFrame(frame));
  return [dot, el("code", text)];
}
function expand(at, open, all) {
  const r = table_.rows[at], todo = [r.node];
  for (let n = 0; todo.length && n < 20000; n++) {
    const i = todo.pop();
    table_.open[i] = open ? 1 : 0;
    if (all || !open) todo.push(...below(i));
  }
  rebuildRows();
}
function choose(at) {
  if (at < 0 || at >= table_.rows.length) return;
  table_.at = at;
  const y = at * TROW;
  if (y < table.scrollTop) table.scrollTop = y;
  if (y + TROW > table.scrollTop + table.clientHeight - $("tablehead").clientHeight) table.scrollTop = y + TROW - table.clientHeight + $("tablehead").clientHeight;
  paintRows();
  showFunction(table_.rows[at].frame);
}

// ---- one function: callers, callees, durations ------------------------------------------------
function neighbours(frame) { // callers and callees by function
  functionRows();
  const own = table_.byFrame.get(frame), callers = new Map(), callees = new Map();
  if (!own) return null;
  const { outer } = table_;
  const isOutermost = (i, from, to) => outer[i] || !isBelow(i, (p) => view.frame[p] === to && (view.parent[p] ? view.frame[view.parent[p]] : -1) === from);
  const take = (map, key, i, from, to) => {
    let r = map.get(key);
    if (!r) map.set(key, r = { frame: key, name: key >= 0 ? frameName(key) : "where the thread began", calls: 0, total: 0 });
    const outermost = isOutermost(i, from, to);
    if (outermost) r.total += view.total[i];
    if (calls) r.calls += view.n[i];
    else if (outermost) r.calls += view.count[i];
  };
  for (const i of own.nodes) {
    const p = view.parent[i], by = p && view.frame[p] >= 0 ? view.frame[p] : -1;
    take(callers, by, i, p ? view.frame[p] : -1, frame);
    for (let k = view.first[i]; k < view.first[i + 1]; k++) { const c = view.kids[k]; take(callees, view.frame[c], c, frame, view.frame[c]); }
  }
  const heavy = (m) => [...m.values()].sort((a, b) => b.total - a.total || b.calls - a.calls);
  return { own, callers: heavy(callers), callees: heavy(callees) };
}
export const bareName = (f) => shortName(f).replace(/\(.*\)$/, "") || shortName(f);
function neighbourTable(title, rows, all, id) {
  const box = el("section");
  box.id = id;
  box.append(el("h3", title));
  if (!rows.length) box.append(el("p", "none", "soft"));
  for (const r of rows.slice(0, 200)) {
    const b = el("button", undefined, "neighbour");
    const name = el("span", undefined, "name");
    name.append(...named(r.frame, r.frame === table_.frame ? `itself: ${bareName(r.frame)}` : r.frame >= 0 ? bareName(r.frame) : r.name));
    const share = el("span", timed ? duration(r.total) : percent(r.total, all), "part");
    share.style.setProperty("--part", `${Math.min(100, 100 * r.total / (all || 1))}%`);
    b.append(name, el("span", count(r.calls)), share);
    b.title = r.name;
    b.disabled = r.frame < 0;
    b.onclick = () => goTo(r.frame);
    box.append(b);
  }
  if (rows.length > 200) box.append(el("p", `and ${count(rows.length - 200)} more`, "soft"));
  return box;
}
export function showFunction(frame) {
  const panel = $("panel");
  table_.frame = frame;
  panel.replaceChildren();
  panel.dataset.frame = frame >= 0 ? frameName(frame) : "";
  const n = frame >= 0 ? neighbours(frame) : null;
  if (!n) { panel.append(el("p", "Choose a function to see who calls it, whom it calls, and how long its calls take.", "soft")); return; }
  const head = el("h2");
  head.append(...named(frame, frameName(frame)));
  panel.append(head);
  const facts_ = el("p", undefined, "soft"), file = strings[frames[frame][5]] || strings[frames[frame][1]];
  facts_.textContent = `${count(n.own.calls)} ${unit(n.own.calls)} · total ${percent(n.own.total, view.total[0])}`
    + (timed ? `, ${duration(n.own.total)} · self ${duration(n.own.self)}` : "");
  panel.append(facts_);
  if (file) panel.append(el("p", file, "soft file"));
  const l = latency.get(frame);
  if (l && l.max) panel.append(histogram(l));
  if (l && l.off) panel.append(el("p", "Called too often for too little: counted all the time, but timed no longer.", "soft"));
  if (data.mode !== "flat") panel.append(neighbourTable("Callers", n.callers, n.own.total, "callers"), neighbourTable("Callees", n.callees, n.own.total, "callees"));
}
export function goTo(frame) { // goes to the function in the table of functions; the tree may have many nodes of it
  if (state.view !== "functions") { showFunction(frame); return; }
  const at = table_.rows.findIndex((r) => r.frame === frame);
  if (at >= 0) choose(at); else showFunction(frame);
}

function histogram(l) { // calls by duration, both axes logarithmic
  const W = 420, H = 148, L = 44, B = 22, T = 16, R = 10, all = [];
  for (let i = 0; i < l.all.length; i += 2) all.push([Math.max(1, l.all[i]), l.all[i + 1]]);
  const lo = Math.log2(Math.max(1, Math.min(l.min, all[0][0]))) - 0.3, hi = Math.log2(Math.max(l.max, all[all.length - 1][0])) + 0.3;
  const most = Math.max(...all.map((a) => a[1])), top = Math.log10(most) + 0.3;
  const x = (ns) => L + (Math.log2(Math.max(1, ns)) - lo) / (hi - lo) * (W - L - R), y = (n) => H - B - (n < 1 ? 0 : (Math.log10(n) + 0.15) / (top + 0.15)) * (H - B - T);
  const box = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "histogram", role: "img",
    "aria-label": `Durations of calls: min ${nanos(l.min)}, median ${nanos(l.median)}, 99 % within ${nanos(l.p99)}, max ${nanos(l.max)}` });
  for (let n = 1; Math.log10(n) < top; n *= 10) {
    box.append(svg("line", { x1: L, x2: W - R, y1: y(n), y2: y(n), class: "grid" }));
    if (top < 5 || Math.log10(n) % 2 === 0) box.append(svg("text", { x: L - 6, y: y(n) + 4, "text-anchor": "end" }, n >= 1e6 ? `${n / 1e6}M` : n >= 1e3 ? `${n / 1e3}k` : n));
  }
  const step = Math.max(1, Math.ceil((hi - lo) / Math.log2(10) / 6));
  for (let e = Math.ceil(lo / Math.log2(10)); e * Math.log2(10) <= hi; e++) if (e % step === 0) {
    const at = x(10 ** e), [value, name] = nanos(10 ** e).split(" ");
    box.append(svg("line", { x1: at, x2: at, y1: T, y2: H - B, class: "grid" }), svg("text", { x: at, y: H - 6, "text-anchor": "middle" }, `${+value} ${name}`));
  }
  const wide = Math.max(2, (W - L - R) / (hi - lo) / 8 - 1);
  for (const [ns, n] of all) {
    const bar = svg("rect", { x: x(ns) - wide / 2, y: y(n), width: wide, height: Math.max(1, H - B - y(n)), class: "bar" });
    bar.append(svg("title", {}, `about ${nanos(ns)}: ${counted(n, "call")}`));
    box.append(bar);
  }
  for (const key of ["median", "p99"]) {
    const at = x(l[key]);
    box.append(svg("line", { x1: at, x2: at, y1: T - 4, y2: H - B, class: "mark" }));
  }
  const figure = el("figure"), list = el("dl");
  for (const [key, words] of [["min", "min"], ["median", "median"], ["p99", "p99"], ["max", "max"]]) {
    const d = el("div");
    d.append(el("dt", words), el("dd", nanos(l[key])));
    list.append(d);
  }
  figure.append(list, box);
  return figure;
}

// ---- choice of view ---------------------------------------------------------------------------
export function refreshTables() { // the view has changed, and with it the numbers of its nodes
  table_.open = new Uint8Array(view.M);
  table_.functions = table_.byFrame = null;
  table_.rows = []; table_.at = -1;
  for (let i = 0, n = 0; n < 30 && view.first[i + 1] > view.first[i]; n++) { // expand the heaviest path
    i = view.kids[view.first[i]];
    if (view.total[i] < view.total[0] * 0.2) break;
    table_.open[i] = 1;
  }
  if (state.view !== "tree" && state.view !== "functions") return;
  const frame = table_.frame;
  rebuildRows();
  showFunction(frame);
}
export function show(which) {
  const zoomed = state.zoom && view.frame[state.zoom] >= 0 ? view.frame[state.zoom] : -1;
  state.view = which;
  markTab(which);
  const line_ = which === "timeline", gaps_ = which === "gaps";
  $("scroll").hidden = which !== "graph";
  $("line").hidden = $("tlchips").hidden = !line_;
  $("gaps").hidden = !gaps_;
  first("[aria-label=Frames]").hidden = calls || line_ || gaps_; // all frames of calls are managed
  $("bythread").hidden = Boolean(before) || line_ || gaps_;
  $("empty").hidden = line_ || gaps_ || view.total[0] > 0;
  paintTime();
  showTip(-1);
  $("path").hidden = which !== "graph";
  $("details").hidden = which !== "graph";
  for (const id of ["direction", "crossings"]) $(id).hidden = which !== "graph";
  $("tables").hidden = which === "graph" || line_ || gaps_;
  paintFound();
  if (gaps_) return; // already painted
  if (which === "graph") { fit(); draw(); return; }
  if (line_) { showTimeline(); paintFound(); return; }
  table.setAttribute("role", which === "tree" ? "treegrid" : "grid");
  table.style.setProperty("--columns", String(COLUMNS.length - 1));
  rowBox.style.height = "";
  table.scrollTop = 0;
  table_.rows = []; table_.at = -1;
  rebuildRows();
  const wanted = which === "functions" ? table_.rows.findIndex((r) => r.frame === (zoomed >= 0 ? zoomed : table_.frame)) : -1;
  if (wanted >= 0) choose(wanted);
  else if (which === "functions") choose(0);
  else showFunction(zoomed >= 0 ? zoomed : table_.frame);
}

// Starts again with new data: drops all state of the old data.
export function startTables() {
  latency = new Map(data.latencies ? data.latencies.map((l) => [l[0], { off: l[1], total: l[2],
    min: l[3], median: l[4], p99: l[5], max: l[6], all: l.slice(7) }]) : []);
  /** @type {Column[]} */
  const columns = [
    { key: "name", head: "Function", of: (r) => r.name, text: (r) => r.name },
    { key: "calls", head: data.words[1][0].toUpperCase() + data.words[1].slice(1), of: (r) => r.calls, text: (r) => count(r.calls) },
    { key: "share", head: "Total %", of: (r) => r.total, text: (r) => percent(r.total, view.total[0]), bar: true },
    { key: "total", head: "Total", of: (r) => r.total, text: (r) => duration(r.total), timed: true },
    { key: "self", head: "Self", of: (r) => r.self, text: (r) => duration(r.self), timed: true },
    ...["min", "median", "p99", "max"].map((key) => ({ key, head: key, of: one(key), latency: true,
      text: (r) => one(key)(r) < 0 ? "–" : nanos(one(key)(r)) })),
  ];
  COLUMNS = columns.filter((c) => (!c.timed || timed) && (!c.latency || latency.size));
  table_ = { rows: [], open: null, at: -1, frame: -1, functions: null, byFrame: null,
    sort: { tree: ["total", -1], functions: ["self", -1] } };
  table.onscroll = paintRows;
  table.onkeydown = (e) => {
    if (e.target !== table || e.ctrlKey || e.metaKey || e.altKey) return;
    const r = table_.rows[table_.at], tree = state.view === "tree", page = Math.max(1, Math.floor(table.clientHeight / TROW) - 2);
    const kids = r && tree && view.first[r.node + 1] > view.first[r.node];
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -table_.rows.length, End: table_.rows.length }[e.key];
    if (step !== undefined) choose(Math.max(0, Math.min(table_.rows.length - 1, table_.at + step)));
    else if (e.key === "ArrowRight" && kids) { if (!table_.open[r.node] || e.shiftKey) expand(table_.at, true, e.shiftKey); else choose(table_.at + 1); }
    else if (e.key === "ArrowLeft" && r && tree) { if (kids && table_.open[r.node]) expand(table_.at, false); else choose(table_.rows.findIndex((o) => o.node === view.parent[r.node])); }
    else if (e.key === "Enter" && kids) expand(table_.at, !table_.open[r.node]);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  useTabs(show);
}

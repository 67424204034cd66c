// SPDX-License-Identifier: MIT
// The tables below the timeline, the choice of kinds that
// are shown, and the view as a whole. A click on a row goes to the longest of its events, each
// further click to the next one.
import { $, el } from "./dom.js";
import { count } from "./numbers.js";
import { OWNER_GC, OWNER_JIT, ownerColor, ownerName } from "./page_data.js";
import { TIERS, strings } from "./page_model.js";
import { nanos } from "./page_tables.js";
import { KINDS, L, decodeTimeline, tl } from "./page_timeline_data.js";
import { paintPane } from "./page_timeline_details.js";
import {
  drawSoon, drawTimeline, fitTimeline, ink, placeLanes, shows, tlH, tlScroll, tlW
} from "./page_timeline_draw.js";
import { reveal, searchTimeline, takeRange } from "./page_timeline_use.js";
import { state } from "./page_view.js";
import { dark, theme } from "./theme.js";

// ---- rows -------------------------------------------------------------------------------------
function sumSpans(kind, keyOf, rowOf, nsOf = (i) => tl.spans.dur[i]) { // sums over one kind of events in the selection
  const s = tl.spans, [a, b] = tl.sel || [0, L.spanNs], by = new Map();
  for (let i = 0; i < s.n && s.start[i] <= b; i++) {
    if (s.kind[i] !== kind || s.start[i] + s.dur[i] < a) continue;
    const key = keyOf(i);
    if (!by.has(key)) by.set(key, { n: 0, ns: 0, most: 0, lasted: 0, items: [], ...rowOf(i) });
    const r = by.get(key);
    const ns = nsOf(i);
    r.n++; r.ns += ns; r.lasted += s.dur[i];
    if (ns > r.most) r.most = ns;
    r.items.push(i);
  }
  return [...by.values()];
}
const timedColumns = (what, extra = []) => [["what", what], ...extra, ["n", "Times"], ["ns", "Time"], ["mean", "Mean"], ["most", "Longest"]];
// A collection in the background lasts much longer than it stops threads: the stop is what counts, if it is known.
export const pauseOf = (i) => tl.spans.pausesKnown ? tl.spans.pause[i] * 1000 : tl.spans.dur[i];
const gcColumns = () => tl.spans.pausesKnown
  ? [["what", "Generation"], ["n", "Times"], ["ns", "Paused"], ["mean", "Mean pause"], ["most", "Longest pause"], ["lasted", "Lasted"]]
  : [["what", "Generation"], ["n", "Times"], ["ns", "Lasted"], ["mean", "Mean"], ["most", "Longest"]];
const TL_TABLES = [
  { key: "tiers", title: "Compilation by tier", has: () => tl.counts.jit, columns: timedColumns("Tier", [["bytes", "Code"]]), rows: () => {
    const rows = sumSpans(KINDS.jit, (i) => tl.spans.runtime[i] * 16 + tl.spans.tier[i], (i) => ({ runtime: tl.spans.runtime[i], what: TIERS[tl.spans.tier[i]] }));
    for (const r of rows) r.bytes = r.items.reduce((n, i) => n + tl.spans.a[i], 0);
    return rows;
  } },
  { key: "methods", title: "Compilation by method", has: () => tl.counts.jit, columns: timedColumns("Method"), rows: () =>
    sumSpans(KINDS.jit, (i) => tl.spans.runtime[i] * 1e9 + tl.spans.text[i], (i) => ({ runtime: tl.spans.runtime[i], what: strings[tl.spans.text[i]], code: true })) },
  { key: "pauses", title: "Stops by reason", has: () => tl.counts.stops, columns: timedColumns("Reason"), rows: () =>
    sumSpans(KINDS.suspension, (i) => tl.spans.runtime[i] * 64 + tl.spans.a[i], (i) => ({ runtime: tl.spans.runtime[i], what: L.reasons[tl.spans.a[i]] || "unknown" })) },
  { key: "gcs", title: "Collections", has: () => tl.counts.gcs, get columns() { return gcColumns(); }, rows: () =>
    sumSpans(KINDS.gc, (i) => (tl.spans.runtime[i] * 64 + tl.spans.a[i]) * 2 + tl.spans.b[i],
      (i) => ({ runtime: tl.spans.runtime[i], what: `generation ${tl.spans.a[i]}${tl.spans.b[i] ? ", induced" : ""}` }), pauseOf) },
  { key: "exceptions", title: "Exceptions by site", has: () => L.sites.length, columns: [["what", "Type"], ["n", "Times"], ["mean", "Mean"], ["fate", "Became"], ["message", "Message"], ["thrown", "Thrown in"], ["caught", "Caught in"]], rows: () =>
    L.sites.map((v) => ({ runtime: v[1], what: strings[v[2]], message: strings[v[3]], thrown: strings[v[4]], caught: strings[v[5]], fate: strings[v[6]] + (v[7] ? ", again" : ""), n: v[8], ns: v[9], site: v, code: true })) },
  { key: "modules", title: "Modules", has: () => tl.counts.modules, columns: timedColumns("File"), rows: () =>
    sumSpans(KINDS["module load"], (i) => tl.spans.runtime[i] * 1e9 + tl.spans.text[i], (i) => ({ runtime: tl.spans.runtime[i], what: strings[tl.spans.text[i]], code: true })) },
  { key: "classes", title: "Classes", has: () => tl.counts.classes, columns: timedColumns("Class"), rows: () =>
    sumSpans(KINDS["class load"], (i) => tl.spans.runtime[i] * 1e9 + tl.spans.text[i], (i) => ({ runtime: tl.spans.runtime[i], what: strings[tl.spans.text[i]], code: true })) },
];
export let tlTable;
const NUMBERS = new Set(["n", "ns", "mean", "most", "lasted", "bytes"]);
const valueOf = (r, key) => key === "mean" ? r.ns / r.n : r[key];
function cellText(r, key) {
  if (key === "n" || key === "bytes") return count(r[key]);
  if (key === "ns" || key === "most" || key === "lasted") return r[key] ? nanos(r[key]) : "–";
  if (key === "mean") return r.ns ? nanos(r.ns / r.n) : "–";
  return r[key] || "";
}

// ---- the table --------------------------------------------------------------------------------
function paintTableTabs() {
  const bar = $("tltabs"), all = TL_TABLES.filter((t) => t.has());
  bar.replaceChildren();
  if (!all.some((t) => t.key === tlTable.key)) tlTable.key = all.length ? all[0].key : "";
  for (const t of all) {
    const b = el("button", t.title);
    b.dataset.table = t.key;
    b.setAttribute("role", "tab");
    b.setAttribute("aria-selected", String(t.key === tlTable.key));
    b.onclick = () => { tlTable.key = t.key; paintTableTabs(); paintTimelineTable(); };
    bar.append(b);
  }
  $("tlbelow").hidden = !all.length;
}
export function paintTimelineTable() {
  const t = TL_TABLES.find((v) => v.key === tlTable.key), box = $("tltable");
  box.replaceChildren();
  if (!t) return;
  const [key, way] = tlTable.sort[t.key] || [t.key === "exceptions" ? "n" : "ns", -1];
  const rows = t.rows().filter((r) => state.owner === null || state.owner <= 0 || r.runtime === state.owner);
  rows.sort((x, y) => { const p = valueOf(x, key), q = valueOf(y, key); return p < q ? -way : p > q ? way : 0; });
  tlTable.rows = rows;
  const grid = el("table", undefined, t.key === "exceptions" ? "sites" : ""), head = el("tr"), most = Math.max(...rows.map((r) => r.ns || 0), 1);
  for (const [k, title] of [["runtime", "Runtime"], ...t.columns]) {
    const cell = el("th"), b = el("button", title);
    cell.setAttribute("aria-sort", k === key ? (way < 0 ? "descending" : "ascending") : "none");
    if (NUMBERS.has(k)) cell.className = "number";
    b.onclick = () => { tlTable.sort[t.key] = [k, k === key ? -way : NUMBERS.has(k) ? -1 : 1]; paintTimelineTable(); };
    cell.append(b);
    head.append(cell);
  }
  grid.append(el("thead"), el("tbody"));
  grid.firstChild.append(head);
  for (const r of rows.slice(0, 500)) grid.lastChild.append(tableRow(t, r, most));
  box.append(grid);
  const note = [rows.length > 500 ? `and ${count(rows.length - 500)} more` : "", t.key === "exceptions" && tl.sel ? "Sites are counted over the whole recording, not in the selection." : ""].filter(Boolean).join(" · ");
  if (note) box.append(el("p", note, "soft note"));
  box.dataset.rows = rows.length;
  box.dataset.sum = rows.reduce((n, r) => n + r.n, 0);
}
function tableRow(t, r, most) {
  const row = el("tr"), cell = el("td"), dot = el("i");
  dot.style.background = ownerColor(r.runtime);
  cell.append(dot, r.runtime ? ownerName(r.runtime) : "?");
  row.append(cell);
  for (const [k] of t.columns) {
    const c = el("td", undefined, NUMBERS.has(k) ? "number" : "text");
    if (r.code && (k === "what" || k === "thrown" || k === "caught")) c.append(el("code", cellText(r, k)));
    else c.textContent = cellText(r, k);
    if (k === "ns") { c.classList.add("part"); c.style.setProperty("--part", `${100 * r.ns / most}%`); }
    if (!NUMBERS.has(k)) c.title = cellText(r, k);
    row.append(c);
  }
  row.tabIndex = 0;
  row.onclick = () => nextOfRow(r);
  row.onkeydown = (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); nextOfRow(r); } };
  return row;
}
function itemsOf(r) {
  if (r.site) return L.exceptions.map((x, k) => [x, k]).filter(([x]) => x[2] && x[3] === r.site[1] && x[4] === r.site[2] && x[6] === r.site[4] && x[7] === r.site[5] && x[8] === r.site[6] && x[9] === r.site[7])
    .map(([x, k]) => ({ lane: tl.threads[x[2] - 1], thrown: k }));
  return r.items.slice().sort((x, y) => tl.spans.dur[y] - tl.spans.dur[x]).map((i) => {
    const k = tl.spans.kind[i], group = k === KINDS.gc || k === KINDS.suspension || !tl.spans.thread[i];
    return { lane: group ? tl.groups.find((g) => g.stops.includes(i) || g.gcs.includes(i) || g.loads.includes(i)) || tl.groups[0] : tl.threads[tl.spans.thread[i] - 1], span: i };
  });
}
function nextOfRow(r) {
  r.all = r.all || itemsOf(r);
  if (!r.all.length) return;
  r.next = ((r.next ?? -1) + 1) % r.all.length;
  reveal(r.all[r.next]);
}

// ---- which kinds are shown --------------------------------------------------------------------
function paintChips() {
  const bar = $("tlchips"), c = tl.counts, sample = L.sampleStep || 1;
  bar.replaceChildren();
  for (const [key, name, n, color] of [["calls", "Calls", c.calls, theme.accent], ["samples", "Samples", c.samples * sample, theme.soft], ["exceptions", "Exceptions", L.sites.reduce((s, v) => s + v[8], 0) || c.exceptions, ink.thrown()],
    ["jit", "Compilation", c.jit, ownerColor(OWNER_JIT)], ["stops", "Stops", c.stops, ownerColor(OWNER_GC)], ["gcs", "Collections", c.gcs, ownerColor(OWNER_GC, dark ? 2 : -2.4)],
    ["modules", "Modules", c.modules, ink.load()], ["classes", "Classes", c.classes, ink.classes()], ["pool", "Thread pool", c.pool, ink.pool()]]) {
    if (!n) continue;
    const b = el("button"), dot = el("i");
    dot.style.background = color;
    if (key === "exceptions") dot.className = "diamond";
    const left = key === "calls" ? L.left.calls[0] : 0; // left out of the page
    b.append(dot, name, el("small", left ? `${count(n)} of ${count(n + left)}` : count(n)));
    b.dataset.chip = key;
    b.dataset.n = Math.round(n);
    b.setAttribute("aria-pressed", String(shows(key)));
    b.title = `Show or hide: ${name.toLowerCase()}`;
    b.onclick = () => { if (!tl.hide.delete(key)) tl.hide.add(key); paintChips(); placeLanes(); drawSoon(); };
    bar.append(b);
  }
}

// ---- the view ---------------------------------------------------------------------------------
export function showTimeline() {
  decodeTimeline();
  takeRange();
  searchTimeline();
  paintTableTabs();
  fitTimeline();
  placeLanes();
  paintChips();
  paintPane();
  paintTimelineTable();
  drawTimeline();
}
export function repaintTimeline() { // after a change of theme, filter or size
  if (!tl || state.view !== "timeline") return;
  fitTimeline(); placeLanes(); paintChips(); paintPane(); paintTimelineTable(); drawTimeline();
}
export let resized;

// Starts again with new data: drops all state of the old data.
export function startTimelineTables() {
  tlTable = { key: "", sort: {}, rows: [] };
  resized = new ResizeObserver(() => { // also called when the view is first laid out, or when the bar above it wraps
    if (tl && state.view === "timeline" && (tlScroll.clientWidth !== tlW || tlScroll.clientHeight !== tlH)) { fitTimeline(); placeLanes(); drawTimeline(); }
  });
  resized.observe(tlScroll);
}

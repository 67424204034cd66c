// SPDX-License-Identifier: MIT
// Details of one item of the timeline, in the tip and in the
// pane beside the timeline, and sums over the window or the selection when no item is chosen.
import { callAt, covered, lower, rowRange } from "./columns.js";
import { $, el } from "./dom.js";
import { count } from "./numbers.js";
import { bareName, functionRows, goTo, named, nanos, show, table_ } from "./page_tables.js";
import { OWNER_GC, frameColor, frameName, frameOf, ownerColor, ownerName, ownerOfNode, parent } from "./page_data.js";
import { height, placeTip, rowTop, scroller, zoom } from "./page_graph.js";
import { TIERS, strings } from "./page_model.js";
import { KINDS, L, frameNamed, groupsOfLane, tl } from "./page_timeline_data.js";
import { groupName, ink, jitColor, stopColor } from "./page_timeline_draw.js";
import { factsOfPool } from "./page_timeline_pool.js";
import { pauseOf } from "./page_timeline_tables.js";
import { select, setWindow } from "./page_timeline_use.js";
import { view } from "./page_view.js";
import { dark } from "./theme.js";

// ---- one item: { lane, call }, { lane, span }, { lane, thrown }, { lane, tick } or { lane } ----------
const laneText = (lane) => lane.type === "runtime" ? groupName(lane) : `${lane.name} [${lane.tid}]`;
export const when = (ns) => `${(ns / 1e6).toFixed(3)} ms`;
const typeName = (s) => strings[s] || "?";
export function factsOf(it) { // { name, color, frame, rows: [[what, text]...], from, to }
  if (it.call !== undefined) return factsOfCall(it);
  if (it.thrown !== undefined) return factsOfThrown(it);
  if (it.pool !== undefined) return factsOfPool(it);
  if (it.tick !== undefined) return factsOfTick(it);
  if (it.span !== undefined) return factsOfSpan(it);
  const lane = it.lane, life = (lane.lives || [])[0];
  return { name: laneText(lane), frame: -1, color: ownerColor(lane.runtime || lane.home || 0), from: life ? life[0] : 0, to: life ? life[1] : L.spanNs,
    rows: lane.type === "runtime" ? [["stops", count(lane.stops.length)], ["collections", count(lane.gcs.length)], ["threads", count(lane.threads.length)]]
      : lifeRows(lane) };
}
function lifeRows(lane) {
  const rows = lane.lives.map(([a, b, ended]) => ["lived", `${when(a)} to ${ended ? when(b) : "the end"}, ${nanos(b - a)}`]).slice(0, 5);
  const busy = (n, name) => { if (n) rows.push([name, count(n)]); };
  busy(lane.calls && lane.calls.n, "calls"); busy(lane.ticks && lane.ticks.n, "samples");
  busy(lane.thrown.length, "exceptions"); busy(lane.jit.length, "compilations");
  const known = groupsOfLane(lane).map((g) => ownerName(g.runtime));
  if (known.length) rows.push([known.length > 1 ? "runtimes" : "runtime", known.join(", ")]);
  return rows;
}
function factsOfCall({ lane, call }) {
  const c = lane.calls, frame = c.frame[call];
  let d = 0, own = c.dur[call];
  while (c.first[d + 1] <= call) d++;
  if (d + 1 < c.rows) own -= covered(c, c.first[d + 1], c.first[d + 2], c.start[call], c.start[call] + c.dur[call]);
  const stack = [];
  for (let k = d - 1; k >= 0; k--) { const p = callAt(c, k, c.start[call]); if (p >= 0) stack.push(c.frame[p]); }
  return { name: frameName(frame), frame, color: frameColor(frame), from: c.start[call], to: c.start[call] + c.dur[call], stack,
    values: valuesOf(c, call),
    rows: [["duration", nanos(c.dur[call])], ["in itself", nanos(Math.max(0, own))], ["began", when(c.start[call])], ["thread", laneText(lane)], ["depth", d + 1]] };
}
function valuesOf(c, call) { // [[what, text]...]; empty for calls without values, or whose values are not on the page
  if (!c.args || !c.args[call] && !c.result[call]) return [];
  const ended = c.result[call] ? [[c.unwound[call] ? "Exception" : "Result", L.texts[c.result[call]]]] : c.unwound[call] ? [["Result", "none: left by an exception"]] : [];
  return c.args[call] ? [["Arguments", L.texts[c.args[call]]], ...ended] : ended;
}
function factsOfThrown({ lane, thrown }) {
  const x = L.exceptions[thrown], rows = [["became", strings[x[8]] + (x[9] ? ", thrown again" : "")], ["thrown in", strings[x[6]]], ["caught in", strings[x[7]]],
    ["to its handler", x[1] ? nanos(x[1]) : ""], ["thrown", when(x[0])], ["thread", laneText(lane)], ["runtime", x[3] ? `.NET ${ownerName(x[3])}` : ""]];
  return { name: typeName(x[4]), color: ink.thrown(), frame: frameNamed(x[3], strings[x[6]]), rows, from: x[0], to: x[0] + x[1],
    message: strings[x[5]] ? `${strings[x[5]]}${x[10] ? "…" : ""}` : "", frames: [["Where it was thrown", frameNamed(x[3], strings[x[6]])], ["Where it was caught", frameNamed(x[3], strings[x[7]])]] };
}
function factsOfTick({ lane, tick }) {
  const node = lane.ticks.node[tick] >> 1, stack = [];
  for (let i = node; parent[i] >= 0; i = parent[i]) stack.push(frameOf[i]);
  return { name: stack.length ? frameName(stack[0]) : lane.name, frame: stack.length ? stack[0] : -1, color: ownerColor(ownerOfNode(node)), stack: stack.slice(1),
    from: lane.ticks.time[tick], to: lane.ticks.time[tick],
    rows: [["sample", lane.ticks.node[tick] & 1 ? "waiting" : "running"], ["taken", when(lane.ticks.time[tick])], ["thread", laneText(lane)]] };
}
function factsOfSpan({ lane, span }) {
  const s = tl.spans, k = s.kind[span], text = strings[s.text[span]], rows = [], r = s.runtime[span];
  const out = { name: text || L.kinds[k], frame: -1, rows, from: s.start[span], to: s.start[span] + s.dur[span], color: ink.load() };
  const took = (name) => rows.push([name, nanos(s.dur[span])]);
  if (k === KINDS.jit) {
    took("compiled in"); rows.push(["tier", TIERS[s.tier[span]]], ["code", s.a[span] ? `${count(s.a[span])} bytes` : ""], ["ReJIT version", s.b[span] || ""]);
    out.frame = frameNamed(r, text); out.color = jitColor(s.tier[span]);
  } else if (k === KINDS.gc) {
    out.name = `Garbage collection, generation ${s.a[span]}`; out.color = ownerColor(OWNER_GC, dark ? 2 : -2.4);
    if (s.pausesKnown) rows.push(["paused for", nanos(s.pause[span] * 1000)]);
    took(s.pausesKnown ? "lasted" : "collected in"); rows.push(["induced", s.b[span] ? "yes, the program asked for it" : "no"], ["reason", text]);
  } else if (k === KINDS.suspension) {
    out.name = `Runtime stopped: ${L.reasons[s.a[span]] || "unknown"}`; out.color = stopColor(span);
    took("stopped for"); rows.push(["until all stood still", s.b[span] ? nanos(s.b[span] * 1000) : ""]);
  } else { took("loaded in"); out.color = k === KINDS["module load"] ? ink.load() : ink.classes(); rows.push(["what", L.kinds[k]]); }
  if (s.failed[span]) rows.push(["failed", "yes"]);
  rows.push(["began", when(s.start[span])], [lane.type === "runtime" && s.thread[span] ? "stopped by" : "thread", s.thread[span] ? laneText(tl.threads[s.thread[span] - 1]) : ""],
    ["runtime", r ? `.NET ${ownerName(r)}` : ""]);
  return out;
}

// ---- the tip ----------------------------------------------------------------------------------
export function tipOf(it, x, y) {
  const tip = $("tip");
  if (!it) { tip.hidden = true; return; }
  const f = factsOf(it), name = el("code"), dot = el("i");
  dot.style.background = f.color;
  name.append(dot, f.name);
  tip.replaceChildren(name);
  if (f.message) tip.append(el("p", `“${f.message}”`, "big"));
  for (const [what, text] of f.values || []) tip.append(el("p", `${what === "Result" ? "= " : ""}${text.length > 160 ? `${text.slice(0, 159)}…` : text}`, "values"));
  f.rows.filter(([, t]) => t !== "" && t !== undefined).slice(0, 5).forEach(([k, t], n) => tip.append(el("p", `${k} ${t}`, n ? "" : "big")));
  placeTip(x, y);
}

// ---- the pane ---------------------------------------------------------------------------------
const linkTo = (frame, text) => {
  const b = el("button", undefined, "neighbour link"), name = el("span", undefined, "name");
  name.append(...named(frame, text || bareName(frame)));
  b.append(name);
  b.title = `${frameName(frame)}\nShow it in the functions`;
  b.onclick = () => { show("functions"); goTo(frame); };
  return b;
};
const inTree = (frame) => { functionRows(); return frame >= 0 && table_.byFrame.has(frame); };
export function paintPane() {
  const pane = $("tlpane");
  pane.replaceChildren();
  pane.dataset.of = tl.chosen ? factsOf(tl.chosen).name : "";
  if (!tl.chosen) { paintSums(pane); return; }
  const f = factsOf(tl.chosen), head = el("h2"), dot = el("i");
  dot.style.background = f.color;
  head.append(dot, el("code", f.name));
  pane.append(head);
  if (f.message) pane.append(el("p", `“${f.message}”`, "message"));
  pane.append(factList(f.rows));
  for (const [what, text] of f.values || []) pane.append(el("h3", what), el("pre", text, "values"));
  const bar = el("p", undefined, "actions"), zoomTo = el("button", "Zoom to it");
  zoomTo.onclick = () => { const pad = Math.max(f.to - f.from, L.spanNs / 1e6, 1000) * 0.3; setWindow(f.from - pad, f.to + pad); };
  bar.append(zoomTo);
  if (inTree(f.frame)) for (const [which, text] of [["functions", "Functions"], ["graph", "Flame graph"]]) {
    const b = el("button", text);
    b.dataset.goto = which;
    b.onclick = () => showFrame(which, f.frame);
    bar.append(b);
  }
  pane.append(bar);
  for (const [title, frame] of f.frames || []) if (inTree(frame)) pane.append(el("h3", title), linkTo(frame));
  if (f.stack && f.stack.length) {
    pane.append(el("h3", "Called by"));
    for (const frame of f.stack.slice(0, 60)) pane.append(inTree(frame) ? linkTo(frame) : plainFrame(frame));
    if (f.stack.length > 60) pane.append(el("p", `and ${count(f.stack.length - 60)} more`, "soft"));
  }
}
function plainFrame(frame) { const p = el("p", undefined, "frame"); p.append(...named(frame, bareName(frame))); return p; }
function factList(rows) {
  const list = el("dl", undefined, "facts");
  for (const [k, t] of rows) if (t !== "" && t !== undefined) list.append(el("dt", k), el("dd", `${t}`));
  return list;
}
function showFrame(which, frame) { // shows a function in another view; in the graph: its heaviest box
  show(which);
  if (which === "functions") { goTo(frame); return; }
  let best = 0;
  for (let i = 1; i < view.M; i++) if (view.frame[i] === frame && (!best || view.total[i] > view.total[best])) best = i;
  if (best) { zoom(best); scroller.scrollTop = Math.max(0, rowTop(view.depth[best]) - height / 2); }
}

// ---- sums of the window or of the selection ---------------------------------------------------
const currentRange = () => tl.sel || [tl.a, tl.b];
function paintSums(pane) {
  const [a, b] = currentRange(), s = sumsOf(a, b);
  pane.append(el("h2", tl.sel ? "Selected" : b - a >= L.spanNs ? "The whole recording" : "In the window"),
    el("p", `${when(a)} to ${when(b)}, ${nanos(b - a)}`, "soft"), factList(s));
  if (tl.sel) {
    const bar = el("p", undefined, "actions"), inIt = el("button", "Zoom to it"), none = el("button", "Clear");
    inIt.onclick = () => setWindow(...tl.sel);
    none.onclick = () => select(null);
    bar.append(inIt, none);
    pane.append(bar);
  }
  for (const t of missing()) pane.append(el("p", t, "warning"));
  pane.append(el("p", "Drag to select, wheel to zoom, Shift and drag to move; W A S D or arrows. Click for details.", "soft hint"));
}
function sumsOf(a, b) {
  const s = tl.spans, ns = { jit: 0, stops: 0, gcs: 0 }, n = { jit: 0, stops: 0, gcs: 0, modules: 0, classes: 0 };
  const key = { [KINDS.jit]: "jit", [KINDS.suspension]: "stops", [KINDS.gc]: "gcs", [KINDS["module load"]]: "modules", [KINDS["class load"]]: "classes" };
  for (let i = 0; i < s.n && s.start[i] <= b; i++) {
    const k = key[s.kind[i]];
    if (!k || s.start[i] + s.dur[i] < a) continue;
    n[k]++;
    if (k in ns) ns[k] += k === "gcs" ? pauseOf(i) : s.dur[i];
  }
  const thrown = L.exceptions.filter((x) => x[0] <= b && x[0] + x[1] >= a).length;
  let callsIn = 0, ticksIn = 0;
  for (const lane of tl.threads) {
    if (lane.calls) for (let d = 0; d < lane.calls.rows; d++) {
      const [from, to] = rowRange(lane.calls, d), first = lower(lane.calls.start, a, from, to);
      callsIn += lower(lane.calls.start, b + 1e-3, first, to) - first;
    }
    if (lane.ticks) ticksIn += lower(lane.ticks.time, b + 1) - lower(lane.ticks.time, a);
  }
  const timed = (k) => n[k] ? `${count(n[k])}, ${nanos(ns[k])}` : "";
  return [["calls begun", callsIn ? count(callsIn) : ""], ["samples", ticksIn ? count(ticksIn * (L.sampleStep || 1)) : ""], ["exceptions shown", thrown ? count(thrown) : ""],
    ["compilations", timed("jit")], ["stops", timed("stops")], [tl.spans.pausesKnown ? "collections, paused" : "collections", timed("gcs")], ["modules", n.modules || ""], ["classes", n.classes ? count(n.classes) : ""]];
}
function missing() { // what the page or the recording does not contain
  const out = [], kept = L.exceptions.length, sites = L.sites.reduce((n, v) => n + v[8], 0);
  const left = (v, what) => { if (v[0]) out.push(`${count(v[0])} ${what} are left out of this page: the shortest, none over ${nanos(v[1])}.`); };
  left(L.left.calls, "calls"); left(L.left.events, "compilations and loads"); left(L.left.values, "calls' arguments or results");
  if (L.sampleStep > 1) out.push(`Of ${count(L.sampleStep)} samples one is shown.`);
  if (sites > kept) out.push(`${count(sites)} ${sites === 1 ? "exception was" : "exceptions were"} thrown; ${count(kept)} of them, the first of each site, are on the lanes.`);
  if (L.lost.calls) out.push(`Beginnings and ends of calls that found no room while recording: ${count(L.lost.calls)}.`);
  if (L.lost.events + L.lost.exceptions) out.push(`Events that found no room while recording: ${count(L.lost.events + L.lost.exceptions)}.`);
  return out;
}

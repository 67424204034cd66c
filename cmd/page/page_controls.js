// SPDX-License-Identifier: MIT
// All views together: painting, buttons and keys.
import { $, every, first, inputOf, keysAreOpen, patternOf, showKeys } from "./dom.js";
import { count, counted, percent } from "./numbers.js";
import { nanos, paintRows, rebuildRows, refreshTables, show, showFunction, table_ } from "./page_tables.js";
import { changeSummary } from "./page_change.js";
import { costSummary, showChoices } from "./page_costs.js";
import { before, duration } from "./page_data.js";
import { gaps, paintGaps } from "./page_gaps.js";
import { canvas, draw, fit, move, scroller, showAll, showDetails, showTip, zoom, zoomOrBack } from "./page_graph.js";
import { putBack } from "./page_keep.js";
import { paintLegend, paintTime } from "./page_lanes.js";
import { calls, costs, data, threads, timed } from "./page_model.js";
import { L, decodeTimeline, tl } from "./page_timeline_data.js";
import { drawSoon } from "./page_timeline_draw.js";
import { repaintTimeline } from "./page_timeline_tables.js";
import { searchTimeline, takeRange, timelineEscape, timelineKey } from "./page_timeline_use.js";
import { buildView, crossingsOf, matchSearch, state, view } from "./page_view.js";
import { useTheme } from "./theme.js";

export let hasTree = false, hasLine = false; // there are stacks, there is a timeline
export function paintSummary() {
  const ends = Object.entries(data.ends), whole = data.ends["bottom of the stack"] || 0;
  const sum = ends.reduce((a, [, n]) => a + n, 0), parts = [];
  for (const [what, value] of data.selection || []) parts.push(`only ${what} ${value}`);
  const threadsText = counted(threads.filter((t) => t[3]).length, "thread");
  if (!before && !data.samples && tl) {
    parts.push(nanos(L.spanNs), counted(L.threads.length, "thread"));
    for (const [k, name] of [["jit", "compilation"], ["stops", "stop"], ["gcs", "collection"]]) if (tl.counts[k]) parts.push(counted(tl.counts[k], name));
    const thrown = L.sites.reduce((n, v) => n + v[8], 0);
    if (thrown) parts.push(counted(thrown, "exception"));
  } else if (costs) parts.push(...costSummary(), ...before ? [] : [threadsText]);
  else if (before) parts.push(...changeSummary());
  else if (calls) parts.push(`${counted(data.samples, "call")}, every one counted`, `${nanos(data.spanNs)}`,
    threadsText, timed ? "elapsed time" : "counted without time");
  else parts.push(counted(data.samples, "sample"), ...data.spanNs ? [duration(data.spanNs / data.unitNs)] : [],
    threadsText, `${data.mode === "wall" ? "wall" : "CPU"} time${data.hz ? ` at ${data.hz} Hz` : ""}`);
  if (data.processes > 1) parts.push(counted(data.processes, "process"));
  if (data.lost && data.buckets) parts.push(`the time line lacks ${count(data.lost / 2)} of them`);
  if (data.waitingShare) parts.push(`${percent(data.waitingShare, 1)} waiting`);
  if (sum > whole) parts.push(`${percent(sum - whole, sum)} of stacks incomplete`);
  if (data.pauseSums[0]) parts.push(`${counted(data.pauseSums[0], "pause")} of ${nanos(data.pauseSums[1])} in all`);
  if (data.unsampled[0]) parts.push(`${counted(data.unsampled[0], "thread")}, ${nanos(data.unsampled[1])} of their ${data.mode === "wall" ? "life" : "CPU time"} not sampled`);
  if (data.dropped) parts.push(`${count(data.dropped)} dropped`);
  if (state.range) parts.push(`showing ${(state.range[0] * data.bucketNs / 1e9).toFixed(2)} to ${((state.range[1] + 1) * data.bucketNs / 1e9).toFixed(2)} s`);
  $("summary").textContent = parts.join(" · ");
  $("missing").textContent = (data.missing || []).join("\n");
  $("missing").hidden = !(data.missing || []).length;
  $("summary").title = ends.map(([k, n]) => `${k}: ${count(n)}`).join("\n");
}
export function paintFound() {
  if (state.view === "gaps") { paintGaps(); return; }
  if (state.view === "timeline" && tl) { $("found").textContent = state.search ? `${count(tl.foundN)} found   n` : ""; return; }
  $("found").textContent = state.search ? `${count(view.hitCount)} · ${percent(view.hitWeight, view.total[0])}` : "";
}
export function refresh() {
  buildView();
  view.pairs = crossingsOf();
  $("empty").hidden = view.total[0] > 0 || state.view === "timeline" || state.view === "gaps";
  fit();
  if (state.flame) scroller.scrollTop = scroller.scrollHeight;
  showAll();
  refreshTables();
  takeRange();
  paintLegend(); paintTime(); paintSummary(); paintFound(); showDetails(-1); showTip(-1);
  repaintTimeline();
  for (const b of every("[data-kind]")) b.setAttribute("aria-pressed", String(b.dataset.kind === state.kind));
  $("bythread").setAttribute("aria-pressed", String(state.byThread));
}
function search(text) {
  state.search = patternOf(text);
  $("search").classList.remove("bad");
  matchSearch();
  searchTimeline();
  $("search").classList.toggle("bad", Boolean(text) && view.hitWeight === 0 && !(tl && tl.foundN));
  paintFound();
  if (state.view === "timeline") drawSoon(); else draw();
  if (state.view === "functions") rebuildRows();
}
function toggle(id, key, rebuild) {
  state[key] = !state[key];
  $(id).setAttribute("aria-pressed", String(state[key]));
  if (rebuild) refresh();
  else { fit(); scroller.scrollTop = state.flame ? scroller.scrollHeight : 0; draw(); }
}
function reset() {
  Object.assign(state, { kind: "all", threads: null, owner: null, range: null, search: null });
  if (state.crossings) toggle("crossings", "crossings");
  inputOf("search").value = "";
  if (tl) { tl.sel = tl.chosen = null; searchTimeline(); tl.a = 0; tl.b = L.spanNs; }
  refresh();
}
export let typing;
const press = (which) => { const b = first(`[data-view=${which}]`); if (!b.hidden) show(which); };
function repaint() {
  paintLegend(); paintTime();
  if (state.view === "graph") draw();
  else if (state.view === "timeline") repaintTimeline();
  else if (state.view === "gaps") paintGaps();
  else { paintRows(); showFunction(table_.frame); }
}
// Shows the page, with what the user chose before.
export function showPage(kept) {
  showChoices();
  $("title").textContent = before ? `Difference: ${data.title}` : data.title;
  hasLine = Boolean(L) && (L.nSpans || L.nCalls || L.exceptions.length || L.sites.length || L.sampleStep || L.pools.length);
  hasTree = Boolean(before) || data.samples > 0;
  first("[data-view=timeline]").hidden = !hasLine;
  first("[data-view=gaps]").hidden = !gaps.length;
  for (const which of ["graph", "tree", "functions"]) first(`[data-view=${which}]`).hidden = !hasTree && hasLine;
  document.title = `${(data.selection || []).map(([what, value]) => `${what} ${value} · `).join("")}${data.title} · sxsprof`;
  useTheme(repaint, kept ? kept.dark : undefined);
  if (hasLine && (!hasTree || kept && kept.tl)) decodeTimeline();
  if (kept) putBack(kept);
  else { refresh(); show(hasLine && !hasTree ? "timeline" : "graph"); }
}

// Starts again with new data: drops all state of the old data.
export function startControls() {
  for (const b of every("[data-kind]")) b.onclick = () => { state.kind = b.dataset.kind; refresh(); };
  $("direction").onclick = () => toggle("direction", "flame");
  $("bythread").onclick = () => toggle("bythread", "byThread", true);
  $("crossings").onclick = () => toggle("crossings", "crossings");
  $("reset").onclick = reset;
  $("unfilter").onclick = reset;
  $("help").onclick = showKeys;
  typing = 0;
  $("search").oninput = () => { clearTimeout(typing); typing = setTimeout(() => search(inputOf("search").value), 90); };
  $("search").onkeydown = (e) => { if (e.key === "Escape") { inputOf("search").value = ""; search(""); canvas.focus(); } e.stopPropagation(); };
  document.onkeydown = (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (keysAreOpen()) return;
    if (e.key === "/") { e.preventDefault(); $("search").focus(); }
    else if (e.key === "?") showKeys();
    else if (e.key === "Escape") { showTip(-1); if (state.view === "timeline" ? !timelineEscape() : !state.zoom) reset(); else if (state.view !== "timeline") zoom(0); }
    else if (state.view === "timeline" && timelineKey(e)) e.preventDefault();
    else if (e.key === "i") $("direction").click();
    else if (e.key === "t") $("bythread").click();
    else if (e.key === "x") $("crossings").click();
    else if (e.key >= "1" && e.key <= "5") press(["graph", "tree", "functions", "timeline", "gaps"][Number(e.key) - 1]);
    else if (document.activeElement === canvas && e.key.startsWith("Arrow")) { e.preventDefault(); move(e.key); }
    else if (document.activeElement === canvas && e.key === "Enter") zoomOrBack(state.focus);
  };
  window.onresize = () => { paintTime(); if (state.view === "graph") { fit(); draw(); } else if (state.view === "timeline") repaintTimeline(); else if (state.view !== "gaps") paintRows(); };
}

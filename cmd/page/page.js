// SPDX-License-Identifier: MIT
// The script of the HTML page. The data are JSON in #data; cmd/report/format_html.c describes the
// encoding.
"use strict";
(() => {
const $ = (id) => document.getElementById(id);
/*FILE page_numbers.js*/
/*FILE page_choice.js*/

// Shows data. The page of a server does so again when there are more: everything is made anew, and
// what the user has chosen is put back from @kept, which is what keep() returned before.
function open(data, kept) {
/*FILE page_costs.js*/
const { strings, frames, threads, runtimes } = data;
const calls = data.data === "calls"; // calls are counted exactly
const costs = data.units !== undefined; // allocations, native memory, waits: sums, most of them estimates
const timed = data.unit !== "count"; // there is a weight beside the number
const unit = (n) => data.words[n === 1 ? 0 : 1];
const ROW = 19, MIN_PX = 0.35, GC = 1, JIT = 2, OWN = 8, TYPE = 16, WAIT = 32;
const TIERS = ["unknown tier", "tier 0", "tier 1", "OSR", "R2R", "stub", "dynamic", "optimized"];

/*FILE page_data.js*/
/*FILE page_view.js*/
/*FILE page_change.js*/
/*FILE page_graph.js*/
/*FILE page_lanes.js*/
/*FILE page_tables.js*/
/*FILE page_timeline_data.js*/
/*FILE page_timeline_draw.js*/
/*FILE page_timeline_pool.js*/
/*FILE page_timeline_top.js*/
/*FILE page_timeline_details.js*/
/*FILE page_timeline_use.js*/
/*FILE page_timeline_tables.js*/
/*FILE page_gaps.js*/
/*FILE page_keep.js*/

// ---- all views: painting, controls, start -----------------------------------------------------
function paintTheme() {
  document.documentElement.classList.toggle("dark", dark);
  const css = getComputedStyle(document.documentElement), get = (n) => css.getPropertyValue(n).trim();
  theme = { text: get("--text"), soft: get("--soft"), line: get("--line"), accent: get("--accent"), select: get("--select"), mono: get("--mono"), sans: get("--sans"),
    panel: get("--panel"), band: get("--band") };
  colorCache = [];
}
function paintSummary() {
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
function paintFound() {
  if (state.view === "gaps") { paintGaps(); return; }
  if (state.view === "timeline" && tl) { $("found").textContent = state.search ? `${count(tl.foundN)} found   n` : ""; return; }
  $("found").textContent = state.search ? `${count(view.hitCount)} · ${percent(view.hitWeight, view.total[0])}` : "";
}
function refresh() {
  buildView();
  view.everything = selfWeight.reduce((a, b) => a + b, 0);
  pairs = crossingsOf();
  $("empty").hidden = view.total[0] > 0 || state.view === "timeline" || state.view === "gaps";
  fit();
  if (state.flame) scroller.scrollTop = scroller.scrollHeight;
  win = windowOf(0);
  zoom(0, true);
  refreshTables();
  takeRange();
  paintLegend(); paintTime(); paintSummary(); paintFound(); showDetails(-1); showTip(-1);
  repaintTimeline();
  for (const b of document.querySelectorAll("[data-kind]")) b.setAttribute("aria-pressed", b.dataset.kind === state.kind);
  $("bythread").setAttribute("aria-pressed", state.byThread);
}
function patternOf(text) {
  if (!text) return null;
  try { return new RegExp(text, "i"); }
  catch { return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i"); }
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
  $(id).setAttribute("aria-pressed", state[key]);
  if (rebuild) refresh();
  else { fit(); scroller.scrollTop = state.flame ? scroller.scrollHeight : 0; draw(); }
}
function reset() {
  Object.assign(state, { kind: "all", threads: null, owner: null, range: null, search: null });
  if (state.crossings) toggle("crossings", "crossings");
  $("search").value = "";
  if (tl) { tl.sel = tl.chosen = null; searchTimeline(); tl.a = 0; tl.b = L.spanNs; }
  refresh();
}
for (const b of document.querySelectorAll("[data-kind]")) b.onclick = () => { state.kind = b.dataset.kind; refresh(); };
$("direction").onclick = () => toggle("direction", "flame");
$("bythread").onclick = () => toggle("bythread", "byThread", true);
$("crossings").onclick = () => toggle("crossings", "crossings");
$("reset").onclick = reset;
$("unfilter").onclick = reset;
$("theme").onclick = () => { dark = !dark; repaint(); };
let typing = 0, pointer = null;
$("search").oninput = (e) => { clearTimeout(typing); typing = setTimeout(() => search(e.target.value), 90); };
$("search").onkeydown = (e) => { if (e.key === "Escape") { e.target.value = ""; search(""); canvas.focus(); } e.stopPropagation(); };
canvas.onmousemove = (e) => {
  const i = hitTest(e.offsetX, e.offsetY);
  if (i !== hover) { hover = i; draw(); showDetails(i); }
  showTip(i, e.clientX, e.clientY);
  pointer = { offsetX: e.offsetX, offsetY: e.offsetY, clientX: e.clientX, clientY: e.clientY };
};
canvas.onmouseleave = () => { pointer = null; hover = -1; draw(); showTip(-1); showDetails(-1); };
canvas.onclick = (e) => { const i = hitTest(e.offsetX, e.offsetY); if (i >= 0) { showTip(-1); zoom(i === state.zoom && i ? view.parent[i] : i); } };
canvas.onfocus = canvas.onblur = () => draw();
scroller.onscroll = () => draw();

function move(key) {
  const i = state.focus, kids = (n) => view.kids.subarray(view.first[n], view.first[n + 1]);
  const sideways = (by) => {
    if (!i) return 0;
    const all = kids(view.parent[i]), at = all.indexOf(i);
    return all[Math.max(0, Math.min(all.length - 1, at + by))];
  };
  const child = kids(i).length ? kids(i)[0] : i, up = i ? view.parent[i] : 0;
  const to = { ArrowLeft: () => sideways(-1), ArrowRight: () => sideways(1),
    ArrowDown: () => state.flame ? up : child, ArrowUp: () => state.flame ? child : up }[key]();
  state.focus = to;
  const y = rowTop(view.depth[to]);
  if (y < scroller.scrollTop) scroller.scrollTop = y;
  if (y + ROW > scroller.scrollTop + height) scroller.scrollTop = y + ROW - height;
  draw();
  showDetails(to);
}
const press = (which) => { const b = document.querySelector(`[data-view=${which}]`); if (!b.hidden) show(which); };
document.onkeydown = (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "/") { e.preventDefault(); $("search").focus(); }
  else if (e.key === "Escape") { if (state.view === "timeline" ? !timelineEscape() : !state.zoom) reset(); else if (state.view !== "timeline") zoom(0); }
  else if (state.view === "timeline" && timelineKey(e)) return;
  else if (e.key === "i") $("direction").click();
  else if (e.key === "t") $("bythread").click();
  else if (e.key === "x") $("crossings").click();
  else if (e.key >= "1" && e.key <= "5") press(["graph", "tree", "functions", "timeline", "gaps"][e.key - 1]);
  else if (document.activeElement === canvas && e.key.startsWith("Arrow")) { e.preventDefault(); move(e.key); }
  else if (document.activeElement === canvas && e.key === "Enter") zoom(state.focus);
};
window.onresize = () => { paintTime(); if (state.view === "graph") { fit(); draw(); } else if (state.view === "timeline") repaintTimeline(); else if (state.view !== "gaps") paintRows(); };

const preferred = matchMedia("(prefers-color-scheme: dark)");
dark = kept ? kept.dark : preferred.matches;
preferred.onchange = () => { dark = preferred.matches; repaint(); };
function repaint() {
  paintTheme(); paintLegend(); paintTime();
  if (state.view === "graph") draw();
  else if (state.view === "timeline") repaintTimeline();
  else if (state.view === "gaps") paintGaps();
  else { paintRows(); showFunction(table_.frame); }
}
showChoices();
$("title").textContent = before ? `Difference: ${data.title}` : data.title;
const hasLine = L && (L.nSpans || L.nCalls || L.exceptions.length || L.sites.length || L.sampleStep || L.pools.length), hasTree = before || data.samples > 0;
document.querySelector("[data-view=timeline]").hidden = !hasLine;
document.querySelector("[data-view=gaps]").hidden = !gaps.length;
for (const which of ["graph", "tree", "functions"]) document.querySelector(`[data-view=${which}]`).hidden = !hasTree && hasLine;
document.title = `${(data.selection || []).map(([what, value]) => `${what} ${value} · `).join("")}${data.title} · sxsprof`;
paintTheme();
if (hasLine && (!hasTree || kept && kept.tl)) decodeTimeline();
if (kept) putBack(kept);
else { refresh(); show(hasLine && !hasTree ? "timeline" : "graph"); }
return { keep, close, busy };
}
/*FILE page_live.js*/
document.documentElement.dataset.ready = "1";
})();

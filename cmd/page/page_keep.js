// SPDX-License-Identifier: MIT
// What the user has chosen, kept while a served page takes new
// data. Numbers of nodes, frames, threads and runtimes change then: names and times are kept.
import { $, first, inputOf, patternOf } from "./dom.js";
import { below, paintRows, rebuildRows, show, showFunction, table, table_ } from "./page_tables.js";
import { hasLine, hasTree, refresh, typing } from "./page_controls.js";
import { frameName } from "./page_data.js";
import { anim, canvas, draw, pointer, scroller, zoom } from "./page_graph.js";
import { drag } from "./page_lanes.js";
import { data, frames, runtimes, threads } from "./page_model.js";
import { L, tl } from "./page_timeline_data.js";
import { tlAnim, tlScroll } from "./page_timeline_draw.js";
import { repaintTimeline, resized, tlTable } from "./page_timeline_tables.js";
import { grab, mapGrab, paneTimer } from "./page_timeline_use.js";
import { state, view } from "./page_view.js";
import { dark } from "./theme.js";

// ---- keeping ----------------------------------------------------------------------------------
const keyOf = (i) => view.frame[i] < 0 ? `thread ${threads[-2 - view.frame[i]][2]}` : frameName(view.frame[i]);
function pathOf(i) { // from the root to a node of the view
  const path = [];
  for (; i > 0; i = view.parent[i]) path.unshift(keyOf(i));
  return path;
}
// How many levels two paths share at their beginning and at their end, less how far their lengths differ.
function likeness(path, other) {
  const n = Math.min(path.length, other.length);
  let first = 0, last = 0;
  while (first < n && path[first] === other[first]) first++;
  while (last < n - first && path.at(-1 - last) === other.at(-1 - last)) last++;
  return first + last - Math.abs(path.length - other.length);
}
// The node of the same function as the last of the path whose own path is most like it, or -1. Functions above
// it may have had no name yet when the path was kept, or may have been no levels of their own.
function likeliestNode(path) {
  const wanted = path.at(-1), isWanted = new Map();
  let best = -1, most = -Infinity;
  for (let i = 1; i < view.M; i++) {
    const f = view.frame[i];
    if (!isWanted.has(f)) isWanted.set(f, keyOf(i) === wanted);
    if (!isWanted.get(f)) continue;
    const like = likeness(path, pathOf(i));
    if (like > most) { most = like; best = i; }
  }
  return best;
}
function nodeAt(path) { // the node, or the one of the last function on its path that there is
  for (let n = path.length; n > 0; n--) {
    const found = likeliestNode(path.slice(0, n));
    if (found >= 0) return found;
  }
  return 0;
}
function openNodes(i) { // the expanded rows of the call tree, as maps in maps
  const all = new Map();
  for (const k of below(i)) if (table_.open[k]) all.set(keyOf(k), openNodes(k));
  return all;
}
function expandNodes(i, all) {
  for (const k of below(i)) {
    const more = all.get(keyOf(k));
    if (more) { table_.open[k] = 1; expandNodes(k, more); }
  }
}
const runtimeKey = (o) => o > 0 ? `${runtimes[o - 1][0]} ${runtimes[o - 1][1]}` : o;
const groupKey = (g) => `${L.processes[g.process][0]} ${g.runtime ? runtimes[g.runtime - 1][0] : 0}`;
const laneKey = (l) => l.type === "runtime" ? groupKey(l) : `${L.processes[l.process][0]} ${l.tid}`;

function keepChosen(it) { // an item of the timeline, by its lane and its beginning
  if (!it) return null;
  const kept = { lane: laneKey(it.lane), type: it.lane.type, pinned: it.pinned };
  if (it.call !== undefined) Object.assign(kept, { call: it.lane.calls.start[it.call], name: frameName(it.lane.calls.frame[it.call]) });
  if (it.span !== undefined) Object.assign(kept, { span: tl.spans.start[it.span], kind: tl.spans.kind[it.span] });
  if (it.thrown !== undefined) kept.thrown = L.exceptions[it.thrown][0];
  if (it.tick !== undefined) kept.tick = it.lane.ticks.time[it.tick];
  return kept;
}
function keepTimeline() {
  return { whole: tl.a <= 0 && tl.b >= L.spanNs, a: tl.a, b: tl.b, sel: tl.sel, hide: tl.hide, chosen: keepChosen(tl.chosen),
    folded: new Set(tl.groups.filter((g) => g.folded).map(groupKey)), open: new Map(tl.threads.map((l) => [laneKey(l), l.open])),
    top: tlScroll.scrollTop, tab: tlTable.key, sort: tlTable.sort, tableTop: $("tltable").scrollTop };
}
export function keep() {
  const row = table_.rows[table_.at];
  return { dark, kind: state.kind, byThread: state.byThread, flame: state.flame, crossings: state.crossings, view: state.view,
    threads: state.threads && new Set([...state.threads].map((t) => threads[t][2])), owner: state.owner === null ? null : runtimeKey(state.owner),
    range: state.range && [state.range[0] * data.bucketNs, (state.range[1] + 1) * data.bucketNs],
    search: inputOf("search").value, zoom: pathOf(state.zoom), focus: pathOf(state.focus), pointer,
    top: state.flame ? scroller.scrollTop - scroller.scrollHeight : scroller.scrollTop, gapsTop: $("gaps").scrollTop, lanesTop: $("lanes").scrollTop,
    table: { sort: table_.sort, open: openNodes(0), frame: table_.frame >= 0 ? frameName(table_.frame) : null,
      row: !row ? null : state.view === "tree" ? pathOf(row.node) : row.name, top: table.scrollTop, panelTop: $("panel").scrollTop },
    tl: tl && keepTimeline() };
}
export const busy = () => Boolean(drag || grab || mapGrab); // the user is dragging
export function close() { // nothing of this page paints any more
  cancelAnimationFrame(anim);
  cancelAnimationFrame(tlAnim);
  clearTimeout(typing);
  clearTimeout(paneTimer);
  resized.disconnect();
}

// ---- putting back -----------------------------------------------------------------------------
function putBackChosen(was) {
  const lane = was && tl.lanes.find((l) => l.type === was.type && laneKey(l) === was.lane);
  if (!lane) return null;
  const it = { lane, pinned: was.pinned };
  if (was.call !== undefined) it.call = lane.calls ? lane.calls.start.findIndex((t, i) => t === was.call && frameName(lane.calls.frame[i]) === was.name) : -1;
  if (was.span !== undefined) it.span = tl.spans.start.findIndex((t, i) => t === was.span && tl.spans.kind[i] === was.kind);
  if (was.thrown !== undefined) it.thrown = L.exceptions.findIndex((x) => x[0] === was.thrown);
  if (was.tick !== undefined) it.tick = lane.ticks ? lane.ticks.time.indexOf(was.tick) : -1;
  return [it.call, it.span, it.thrown, it.tick].includes(-1) ? null : it;
}
function putBackTimeline(was) {
  if (!was.whole) { tl.a = Math.max(0, Math.min(was.a, L.spanNs)); tl.b = Math.max(tl.a + 50, Math.min(was.b, L.spanNs)); }
  Object.assign(tl, { sel: was.sel, hide: was.hide, chosen: putBackChosen(was.chosen) });
  for (const g of tl.groups) g.folded = was.folded.has(groupKey(g));
  for (const l of tl.threads) l.open = was.open.get(laneKey(l)) ?? l.open;
  Object.assign(tlTable, { key: was.tab, sort: was.sort });
}
function putBackTable(was) {
  table_.open = new Uint8Array(view.M);
  expandNodes(0, was.open);
  table_.frame = was.frame === null ? -1 : frames.findIndex((_, f) => frameName(f) === was.frame);
  rebuildRows();
  const path = JSON.stringify(was.row);
  table_.at = was.row === null ? -1 : table_.rows.findIndex((r) => state.view === "tree" ? JSON.stringify(pathOf(r.node)) === path : r.name === was.row);
  table.scrollTop = was.top;
  paintRows();
  showFunction(table_.frame);
  $("panel").scrollTop = was.panelTop;
}
function putBackFilters(was) {
  const ofThreads = was.threads && threads.map((_, i) => i).filter((i) => was.threads.has(threads[i][2]));
  const owner = typeof was.owner === "string" ? runtimes.findIndex((_, r) => runtimeKey(r + 1) === was.owner) + 1 || null : was.owner;
  const last = data.buckets - 1, bucket = (ns) => Math.max(0, Math.min(last, ns));
  Object.assign(state, { kind: was.kind, byThread: was.byThread, flame: was.flame, crossings: was.crossings, owner, search: patternOf(was.search),
    threads: ofThreads && ofThreads.length ? new Set(ofThreads) : null,
    range: was.range && data.buckets ? [bucket(Math.floor(was.range[0] / data.bucketNs)), bucket(Math.ceil(was.range[1] / data.bucketNs) - 1)] : null });
  const button = first(`[data-view=${was.view}]`);
  state.view = button.hidden ? hasTree || !hasLine ? "graph" : "timeline" : was.view;
}
export function putBack(was) {
  putBackFilters(was);
  if (tl && was.tl) putBackTimeline(was.tl);
  table_.sort = was.table.sort;
  const chosen = tl && tl.chosen;
  refresh();
  zoom(nodeAt(was.zoom), true);
  state.focus = nodeAt(was.focus);
  show(state.view);
  if (tl) tl.chosen = chosen;
  if (state.view === "tree" || state.view === "functions") putBackTable(was.table);
  else if (state.view === "timeline") { tlScroll.scrollTop = was.tl ? was.tl.top : 0; repaintTimeline(); if (was.tl) $("tltable").scrollTop = was.tl.tableTop; }
  else if (state.view === "graph") { scroller.scrollTop = was.flame ? scroller.scrollHeight + was.top : was.top; draw(); }
  $("gaps").scrollTop = was.gapsTop;
  $("lanes").scrollTop = was.lanesTop;
  if (was.pointer && state.view === "graph") canvas.onmousemove(was.pointer);
}

// SPDX-License-Identifier: MIT
// Mouse and keyboard in the timeline.
import { lower, rowRange } from "./columns.js";
import { paintSummary, refresh } from "./page_controls.js";
import { frameName, frameOf, parent } from "./page_data.js";
import { data, frames, strings } from "./page_model.js";
import { KINDS, L, groupsOfLane, tl } from "./page_timeline_data.js";
import { factsOf, paintPane, tipOf } from "./page_timeline_details.js";
import {
  CALL_H, EVENT_H, FLAT_H, HEAD_H, LABEL, drawSoon, placeLanes, plotW, shows, thrownHit, timeAt, tlCanvas, tlH,
  tlScroll, tlTop, xOf
} from "./page_timeline_draw.js";
import { paintTimelineTable } from "./page_timeline_tables.js";
import { MAP_H, MAP_Y, mapTime } from "./page_timeline_top.js";
import { state } from "./page_view.js";

// ---- window and selection ---------------------------------------------------------------------
export function setWindow(a, b) {
  const least = 50, span = Math.min(L.spanNs, Math.max(least, b - a)), mid = (a + b) / 2;
  tl.a = Math.max(0, Math.min(L.spanNs - span, mid - span / 2));
  tl.b = tl.a + span;
  drawSoon();
  paneSoon();
}
function zoomAt(time, factor) {
  const span = (tl.b - tl.a) * factor;
  if (factor < 1 && tl.b - tl.a <= 50) return;
  const part = (time - tl.a) / (tl.b - tl.a), a = Math.max(0, time - part * Math.min(span, L.spanNs));
  setWindow(a, a + Math.min(span, L.spanNs));
}
const pan = (part) => { const by = (tl.b - tl.a) * part; setWindow(tl.a + by, tl.b + by); };
export let paneTimer;
function paneSoon() { // updates sums and tables when the window has stopped moving
  clearTimeout(paneTimer);
  paneTimer = setTimeout(() => { if (state.view === "timeline" && !tl.chosen) paintPane(); }, 120);
}
// The range filter of the other views counts in buckets of the samples' or calls' time. Selection
// and filter are kept equal.
const bucketOf = (ns) => Math.max(0, Math.min(data.buckets - 1, Math.floor((ns - L.firstNs) / data.bucketNs)));
export function select(range) {
  tl.sel = range;
  if (data.buckets && data.samples) {
    const touches = range && range[1] >= L.firstNs && range[0] <= L.firstNs + data.spanNs;
    state.range = touches ? [bucketOf(range[0]), bucketOf(range[1])] : null;
    refresh();
  } else { drawSoon(); paintPane(); paintTimelineTable(); paintSummary(); }
}
export function takeRange() { // the other direction: takes over the range selected in another view
  if (!tl) return;
  if (!state.range) { if (data.buckets && data.samples) tl.sel = null; return; }
  const [a, b] = state.range;
  const same = tl.sel && bucketOf(tl.sel[0]) === a && bucketOf(tl.sel[1]) === b;
  if (!same) tl.sel = [L.firstNs + a * data.bucketNs, Math.min(L.spanNs, L.firstNs + (b + 1) * data.bucketNs)];
}

// ---- items at a point -------------------------------------------------------------------------
function laneAt(y) { const at = y + tlScroll.scrollTop; return tl.lanes.find((l) => l.h && at >= l.y && at < l.y + l.h) || null; }
const REACH = 4; // pixels: what is drawn is pointed at also so far beside it
// Returns the item that the point x means, one of several lists: { of: numbers, from, dur: functions of a number, as: the
// name of the number in the item }. Items that are hardly wider than the pointer are ticks: the nearest tick is
// meant, even above a wide item; otherwise the shortest item that is there, otherwise the wide one beside the point.
function itemNear(lane, x, lists) {
  let best = null, least = Infinity, shortest = Infinity;
  for (const { of, from, dur, as, shown, reach = REACH } of lists) for (const k of of) {
    const x0 = xOf(from(k));
    if (x0 > x + reach) continue;
    const long = dur(k), x1 = xOf(from(k) + long), away = Math.max(0, x0 - x, x - x1);
    if (away > reach || shown && !shown(k)) continue;
    const rank = x1 - x0 < 2 * reach ? away : away ? 3e3 + away : 2e3; // ticks are before all others
    if (rank < least || rank === least && long < shortest) { best = { lane, [as]: k }; least = rank; shortest = long; }
  }
  return best;
}
const spansOf = (of, shown) => ({ of, as: "span", from: (i) => tl.spans.start[i], dur: (i) => tl.spans.dur[i], shown });
const loadsOf = (lane) => spansOf(lane.loads, (i) => shows(tl.spans.kind[i] === KINDS["module load"] ? "modules" : "classes"));
const around = (k, from, to) => [k - 1, k].filter((i) => i >= from && i < to); // what begins before a time and after it
/**
 * An item of a lane: one of a call, a span, a thrown exception and a tick by its number, a time in the pool, or none.
 * @typedef {{ lane: any, call?: number, span?: number, thrown?: number, tick?: number, pool?: number, pinned?: boolean }} Item
 */
/** @returns {Item | null} */
function itemAt(x, y) {
  const lane = laneAt(y);
  if (!lane || x < LABEL) return lane ? { lane } : null;
  const at = y + tlScroll.scrollTop - lane.y, of = (...lists) => itemNear(lane, x, lists);
  if (lane.type === "runtime") {
    if (at >= HEAD_H) return { lane, pool: timeAt(x) };
    return at < 17 && shows("stops") && of(spansOf(lane.stops)) || of(spansOf(shows("gcs") && at >= 16 ? lane.gcs : []), loadsOf(lane)) || { lane };
  }
  let it = null;
  if (at < lane.events + EVENT_H + 2) {
    it = of({ of: shows("exceptions") ? lane.thrown : [], as: "thrown", from: (k) => L.exceptions[k][0], dur: () => 0, reach: 7 }, // a large mark
      spansOf(shows("jit") ? lane.jit : []), loadsOf(lane));
  } else if (lane.ticks && shows("samples") && at < lane.callY) {
    const { n, time } = lane.ticks;
    it = of({ of: around(lower(time, timeAt(x)), 0, n), as: "tick", from: (k) => time[k], dur: () => 0 });
  } else if (lane.callRows && at >= lane.callY) {
    const d = Math.floor((at - lane.callY) / (lane.open ? CALL_H : FLAT_H)), { start, dur } = lane.calls;
    if (d < lane.callRows) {
      const [from, to] = rowRange(lane.calls, d);
      it = of({ of: around(lower(start, timeAt(x), from, to), from, to), as: "call", from: (k) => start[k], dur: (k) => dur[k] });
    }
  }
  return it || shows("stops") && of(...groupsOfLane(lane).map((g) => spansOf(g.stops))) || { lane };
}
function chooseItem(it) {
  tl.chosen = it && (it.call ?? it.span ?? it.thrown ?? it.tick) === undefined && !it.pinned ? null : it;
  drawSoon();
  paintPane();
}
export function reveal(it) { // moves the window and scrolls so that the item is visible
  const f = factsOf(it), span = tl.b - tl.a;
  if (f.from < tl.a || f.to > tl.b || f.to - f.from < span / 400) {
    const width = Math.max((f.to - f.from) * 3, Math.min(span, L.spanNs / 40));
    setWindow((f.from + f.to - width) / 2, (f.from + f.to + width) / 2);
  }
  if (it.lane.group && it.lane.group.folded) { it.lane.group.folded = false; placeLanes(); }
  if (it.lane.y < tlScroll.scrollTop || it.lane.y + Math.min(it.lane.h, 60) > tlScroll.scrollTop + tlH) tlScroll.scrollTop = Math.max(0, it.lane.y - 60);
  chooseItem(it);
}

// ---- mouse ------------------------------------------------------------------------------------
export let grab;
function clickLabel(e) {
  const lane = laneAt(e.offsetY);
  if (!lane) return;
  if (lane.type === "runtime") lane.folded = !lane.folded;
  else if (lane.more && e.offsetY + tlScroll.scrollTop > lane.y + lane.h - 22) lane.open = 2;
  else if (e.offsetX < 34 && lane.calls) lane.open = lane.open ? 0 : 1;
  else { chooseItem({ lane, pinned: true }); return; }
  placeLanes();
  drawSoon();
}
function hoverAt(e) {
  const it = itemAt(e.offsetX, e.offsetY);
  tl.hover = it;
  tl.mouse = e.offsetX < LABEL ? null : timeAt(e.offsetX);
  tlCanvas.style.cursor = e.offsetX < LABEL ? "pointer" : it && (it.call ?? it.span ?? it.thrown ?? it.tick) !== undefined ? "default" : "crosshair";
  const empty = !it || e.offsetX >= LABEL && (it.call ?? it.span ?? it.thrown ?? it.tick) === undefined;
  tipOf(empty ? null : it, e.clientX, e.clientY);
  drawSoon();
}
export let mapGrab;

// ---- keys -------------------------------------------------------------------------------------
export function timelineKey(e) {
  const mid = tl.mouse >= tl.a && tl.mouse <= tl.b ? tl.mouse : (tl.a + tl.b) / 2, page = tlH * 0.8;
  const by = { w: () => zoomAt(mid, 0.7), "+": () => zoomAt(mid, 0.7), "=": () => zoomAt(mid, 0.7), s: () => zoomAt(mid, 1 / 0.7), "-": () => zoomAt(mid, 1 / 0.7),
    a: () => pan(-0.15), d: () => pan(0.15), ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1),
    ArrowUp: () => { tlScroll.scrollTop -= 40; }, ArrowDown: () => { tlScroll.scrollTop += 40; }, PageUp: () => { tlScroll.scrollTop -= page; }, PageDown: () => { tlScroll.scrollTop += page; },
    0: () => setWindow(0, L.spanNs), Home: () => setWindow(0, L.spanNs), f: () => { if (tl.chosen) { const f = factsOf(tl.chosen), pad = Math.max(f.to - f.from, 1000) * 0.3; setWindow(f.from - pad, f.to + pad); } else if (tl.sel) setWindow(...tl.sel); },
    n: () => nextHit(1), p: () => nextHit(-1), e: () => openAll(), ",": () => nextItem(-1), ".": () => nextItem(1) };
  if (e.shiftKey) Object.assign(by, { ArrowLeft: () => selectBy(-1), ArrowRight: () => selectBy(1), ArrowUp: () => nextLane(-1), ArrowDown: () => nextLane(1) });
  if (document.activeElement === tlCanvas) by.Enter = () => openLane(laneOfKeys());
  return does(e, by[e.key]);
}
function does(e, by) {
  if (!by) return false;
  e.preventDefault();
  by();
  return true;
}
// ---- a lane and its items by keys -------------------------------------------------------------
const laneOfKeys = () => { // the lane that keys are about: that of the chosen item, or the first one
  const lane = tl.chosen ? tl.chosen.lane : tl.lane;
  return lane && lane.h ? lane : tl.lanes.find((l) => l.h);
};
function nextLane(by) {
  const all = tl.lanes.filter((l) => l.h), at = all.indexOf(laneOfKeys());
  const lane = all[Math.max(0, Math.min(all.length - 1, tl.lane ? at + by : at))];
  if (!lane) return;
  tl.lane = lane;
  if (lane.y < tlScroll.scrollTop || lane.y + Math.min(lane.h, tlH) > tlScroll.scrollTop + tlH) tlScroll.scrollTop = Math.max(0, lane.y - 20);
  chooseItem({ lane, pinned: true });
}
function openLane(lane) { // folds a runtime, or shows more and more levels of a thread's calls
  if (!lane) return;
  if (lane.type === "runtime") lane.folded = !lane.folded;
  else if (lane.calls) lane.open = lane.open === 1 && !lane.more ? 0 : (lane.open + 1) % 3;
  placeLanes();
  drawSoon();
}
// Lists of the items of a lane that are shown, each in order of time: { as, n, of: the number of the item at a place,
// from: when an item begins }.
function listsOf(lane) {
  const spans = (of) => ({ as: "span", n: of.length, of: (p) => of[p], from: (i) => tl.spans.start[i] }), lists = [];
  if (lane.type === "runtime") {
    if (shows("stops")) lists.push(spans(lane.stops));
    if (shows("gcs")) lists.push(spans(lane.gcs));
  } else {
    if (shows("exceptions")) lists.push({ as: "thrown", n: lane.thrown.length, of: (p) => lane.thrown[p], from: (k) => L.exceptions[k][0] });
    if (shows("jit")) lists.push(spans(lane.jit));
    if (lane.ticks && shows("samples")) lists.push({ as: "tick", n: lane.ticks.n, of: (p) => p, from: (k) => lane.ticks.time[k] });
    for (let d = 0; d < (lane.callRows || 0); d++) {
      const [from, to] = rowRange(lane.calls, d);
      lists.push({ as: "call", n: to - from, of: (p) => from + p, from: (k) => lane.calls.start[k] });
    }
  }
  lists.push(spans(lane.loads.filter((i) => shows(tl.spans.kind[i] === KINDS["module load"] ? "modules" : "classes"))));
  return lists;
}
function nextItem(by) { // the item of the lane that begins next, or before
  const lane = laneOfKeys();
  if (!lane) return;
  const it = tl.chosen && tl.chosen.lane === lane ? tl.chosen : {}, lists = listsOf(lane);
  const at = lists.findIndex((l) => it[l.as] !== undefined && holds(l, it[l.as]));
  const time = at >= 0 ? lists[at].from(it[lists[at].as]) : by > 0 ? tl.a : tl.b;
  let best = null, bestTime = 0;
  lists.forEach((l, n) => {
    let p = placeOf(l, time); // items that begin at the same time are in the order of the lists
    if (n === at) p = places(l, it[l.as], p) + by;
    else if (by > 0) { while (n < at && p < l.n && l.from(l.of(p)) === time) p++; }
    else { while (n < at && p < l.n && l.from(l.of(p)) === time) p++; p--; }
    if (p < 0 || p >= l.n) return;
    const from = l.from(l.of(p));
    if (!best || (by > 0 ? from < bestTime : from >= bestTime)) { best = { lane, [l.as]: l.of(p) }; bestTime = from; }
  });
  if (!best) return;
  tl.lane = lane;
  reveal(best);
}
function placeOf(list, time) { // of the first item that does not begin before
  let from = 0, to = list.n;
  while (from < to) { const mid = (from + to) >> 1; if (list.from(list.of(mid)) < time) from = mid + 1; else to = mid; }
  return from;
}
const places = (list, item, p) => { while (p < list.n && list.of(p) !== item) p++; return p; };
const holds = (list, item) => places(list, item, placeOf(list, list.from(item))) < list.n;
function selectBy(by) { // selects time from where the mouse, the chosen item or the middle of the window is
  const step = (tl.b - tl.a) / 40, inside = (t) => Math.max(0, Math.min(L.spanNs, t));
  if (!tl.sel || tl.selFrom === undefined) {
    const it = tl.chosen && !tl.chosen.pinned ? factsOf(tl.chosen) : null;
    tl.selFrom = tl.selTo = inside(it ? it.from : tl.mouse >= tl.a && tl.mouse <= tl.b ? tl.mouse : (tl.a + tl.b) / 2);
  }
  tl.selTo = inside(tl.selTo + by * step);
  const from = tl.selFrom, to = tl.selTo;
  tl.chosen = null;
  select([Math.min(from, to), Math.max(from, to)]);
}
function openAll() { // expands all lanes, or folds all
  const some = tl.threads.some((l) => l.calls && l.open < 2);
  for (const lane of tl.threads) if (lane.calls) lane.open = some ? 2 : 0;
  placeLanes();
  drawSoon();
}
export function timelineEscape() {
  if (tl.chosen) chooseItem(null);
  else if (tl.sel) { tl.selFrom = undefined; select(null); }
  else if (tl.b - tl.a < L.spanNs) setWindow(0, L.spanNs);
  else return false;
  return true;
}

// ---- search -----------------------------------------------------------------------------------
export function searchTimeline() { // finds and counts the calls, events and exceptions that match
  if (!tl) return;
  const re = state.search, s = tl.spans;
  tl.hitText = tl.hitNode = null;
  tl.found = [];
  for (const lane of tl.threads) if (lane.calls) lane.calls.hits = null;
  if (!re) return;
  const byFrame = frames.map((_, f) => re.test(frameName(f)));
  tl.hitText = strings.map((t) => t !== "" && re.test(t));
  const byValue = (L.texts || []).map((t) => t !== "" && re.test(t));
  tl.hitNode = (node) => parent[node] >= 0 && byFrame[frameOf[node]];
  for (const lane of tl.threads) if (lane.calls) {
    const hits = [];
    const { n, frame, args, result } = lane.calls;
    for (let i = 0; i < n; i++) if (byFrame[frame[i]] || args && (byValue[args[i]] || byValue[result[i]])) hits.push(i);
    lane.calls.hits = Uint32Array.from(hits);
    for (const i of hits.slice(0, 5000)) tl.found.push([lane.calls.start[i], { lane, call: i }]);
  }
  const group = (r, process) => tl.groups.find((g) => g.runtime === r && g.process === process) || tl.groups[0];
  for (let i = 0; i < s.n; i++) if (s.kind[i] !== KINDS.thread && tl.hitText[s.text[i]]) {
    const lane = s.thread[i] ? tl.threads[s.thread[i] - 1] : group(s.runtime[i], s.process[i]);
    tl.found.push([s.start[i], { lane, span: i }]);
  }
  L.exceptions.forEach((x, k) => { if (x[2] && thrownHit(x)) tl.found.push([x[0], { lane: tl.threads[x[2] - 1], thrown: k }]); });
  tl.found.sort((x, y) => x[0] - y[0]);
  tl.foundN = tl.found.length + tl.threads.reduce((n, l) => n + (l.calls ? Math.max(0, l.calls.hits.length - 5000) : 0), 0);
  tl.at = -1;
}
function nextHit(by) {
  if (!tl.found || !tl.found.length) return;
  tl.at = (tl.at + by + tl.found.length) % tl.found.length;
  reveal(tl.found[tl.at][1]);
}

// Starts again with new data: drops all state of the old data.
export function startTimelineUse() {
  paneTimer = 0;
  grab = null;
  tlCanvas.onpointerdown = (e) => {
    tlCanvas.focus({ preventScroll: true });
    if (e.offsetX < LABEL) { clickLabel(e); return; }
    grab = { x: e.offsetX, y: e.offsetY, a: tl.a, b: tl.b, time: timeAt(e.offsetX), top: tlScroll.scrollTop,
      move: e.shiftKey || e.button === 1, moved: false };
    if (e.button === 1) e.preventDefault();
    tlCanvas.setPointerCapture(e.pointerId);
  };
  tlCanvas.onpointermove = (e) => {
    if (!tl) return;
    if (!grab) { hoverAt(e); return; }
    if (Math.abs(e.offsetX - grab.x) > 3 || grab.move && Math.abs(e.offsetY - grab.y) > 3) grab.moved = true;
    if (!grab.moved) return;
    if (grab.move) {
      const by = (grab.x - e.offsetX) / plotW() * (grab.b - grab.a);
      setWindow(grab.a + by, grab.b + by);
      tlScroll.scrollTop = grab.top + grab.y - e.offsetY;
      return;
    }
    tl.selFrom = undefined;
    const t = Math.max(0, Math.min(L.spanNs, timeAt(Math.max(LABEL, e.offsetX))));
    tl.sel = [Math.min(grab.time, t), Math.max(grab.time, t)];
    tipOf(null);
    drawSoon();
  };
  tlCanvas.onpointerup = (e) => {
    if (!grab) return;
    const was = grab;
    grab = null;
    if (was.moved && !was.move) { tl.chosen = null; select(tl.sel); return; }
    if (!was.moved) {
      const it = itemAt(e.offsetX, e.offsetY), onNothing = !it || (it.call ?? it.span ?? it.thrown ?? it.tick) === undefined;
      if (onNothing && !tl.chosen && tl.sel) select(null); else chooseItem(it);
    }
  };
  tlCanvas.onpointerleave = () => { if (tl) { tl.hover = tl.mouse = null; tipOf(null); drawSoon(); } };
  tlCanvas.ondblclick = (e) => { const it = itemAt(e.offsetX, e.offsetY); if (it && e.offsetX > LABEL) { const f = factsOf(it); if (f.to > f.from) setWindow(f.from - (f.to - f.from) * 0.1, f.to + (f.to - f.from) * 0.1); } };
  tlScroll.onwheel = (e) => {
    if (e.shiftKey && !e.ctrlKey || e.offsetX < LABEL && e.target === tlCanvas) { tlScroll.scrollTop += e.deltaY || e.deltaX; e.preventDefault(); return; }
    e.preventDefault();
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) { pan(e.deltaX / plotW()); return; }
    zoomAt(timeAt(Math.max(LABEL, e.offsetX)), Math.exp(Math.max(-60, Math.min(60, e.deltaY * (e.deltaMode ? 20 : 1))) * 0.004));
  };
  tlScroll.onscroll = () => drawSoon();
  tlCanvas.onfocus = tlCanvas.onblur = () => drawSoon();
  mapGrab = null;
  tlTop.onpointerdown = (e) => {
    if (e.offsetX < LABEL) return;
    const t = mapTime(e.offsetX), inside = tl.b - tl.a < L.spanNs * 0.999 && t >= tl.a && t <= tl.b;
    mapGrab = { t, a: tl.a, b: tl.b, inside, axis: e.offsetY > MAP_Y + MAP_H + 4, x: e.offsetX };
    tlTop.setPointerCapture(e.pointerId);
  };
  tlTop.onpointermove = (e) => {
    if (!mapGrab) return;
    if (mapGrab.axis) { const by = (mapGrab.x - e.offsetX) / plotW() * (mapGrab.b - mapGrab.a); setWindow(mapGrab.a + by, mapGrab.b + by); return; }
    const t = mapTime(e.offsetX);
    if (mapGrab.inside) setWindow(mapGrab.a + t - mapGrab.t, mapGrab.b + t - mapGrab.t);
    else if (Math.abs(e.offsetX - mapGrab.x) > 3) setWindow(Math.min(t, mapGrab.t), Math.max(t, mapGrab.t));
  };
  tlTop.onpointerup = (e) => {
    if (mapGrab && !mapGrab.axis && !mapGrab.inside && Math.abs(e.offsetX - mapGrab.x) <= 3) { const half = (tl.b - tl.a) / 2; setWindow(mapGrab.t - half, mapGrab.t + half); }
    mapGrab = null;
  };
  tlTop.ondblclick = () => setWindow(0, L.spanNs);
}

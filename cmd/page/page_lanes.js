// SPDX-License-Identifier: MIT
// Shares by owner, and samples or calls over time, one lane
// per thread.
import { fitMiddle } from "./clip.js";
import { ownerBit } from "./decode.js";
import { $, canvasOf, el } from "./dom.js";
import { percent } from "./numbers.js";
import { refresh } from "./page_controls.js";
import {
  N, OWNER_GC, OWNER_JIT, OWNER_SELF, line, mask, ownerColor, ownerName, ownerOfNode, selfWeight, threadOf, timeline,
  weightOfAll
} from "./page_data.js";
import { calls, costs, data, runtimes, threads } from "./page_model.js";
import { tl } from "./page_timeline_data.js";
import { state, view } from "./page_view.js";
import { dark, theme } from "./theme.js";

// ---- legend -----------------------------------------------------------------------------------
let shares = null; // filters do not change them
function sharesOfOwners() { // by owner: the weight of stacks that end in its code, and of those that have it
  const leaf = new Map(), inside = new Map(), byMask = new Map(), ends = new Float64Array(runtimes.length + 4);
  for (let i = 0; i < N; i++) if (selfWeight[i]) {
    ends[ownerOfNode(i) + 3] += selfWeight[i];
    byMask.set(mask[i], (byMask.get(mask[i]) || 0) + selfWeight[i]);
  }
  ends.forEach((weight, o) => { if (weight) leaf.set(o - 3, weight); });
  for (const [bits, weight] of byMask) for (let r = 1; r <= runtimes.length; r++)
    if (bits & ownerBit(r)) inside.set(r, (inside.get(r) || 0) + weight);
  return { leaf, inside };
}
export function paintLegend() {
  const bar = $("legend"), { leaf, inside } = shares || (shares = sharesOfOwners()), all = weightOfAll;
  bar.replaceChildren();
  if (!all && tl) for (const g of tl.groups) if (g.runtime) { leaf.set(g.runtime, 0); inside.set(g.runtime, 1); }
  const owners = [...runtimes.map((_, r) => r + 1).filter((r) => inside.get(r)), 0, OWNER_GC, OWNER_JIT, OWNER_SELF].filter((o) => leaf.get(o) || o > 0);
  for (const o of owners) {
    const b = el("button"), dot = el("i");
    dot.style.background = ownerColor(o);
    b.append(dot, el("b", o > 0 ? `.NET ${ownerName(o)}` : ownerName(o)), all ? el("small", percent(leaf.get(o) || 0, all)) : "");
    b.title = !all ? "Press to keep only this runtime's lanes." : o > 0 ? `${percent(leaf.get(o) || 0, all)} in its code, ${percent(inside.get(o), all)} with it on the stack. Press to keep only those stacks.\n${runtimes[o - 1][2]}`
      : `Press to keep only stacks that end in ${ownerName(o)}.`;
    b.setAttribute("aria-pressed", String(state.owner === o));
    b.onclick = () => { state.owner = state.owner === o ? null : o; refresh(); };
    bar.append(b);
  }
  const shown = [...view.pairs].sort((a, b) => b[1] - a[1]).slice(0, 6);
  for (const [key, weight] of shown) {
    const [from, to] = key.split(">").map(Number), s = el("span", undefined, "cross");
    for (const o of [from, to]) {
      const dot = el("i");
      dot.style.background = ownerColor(o);
      if (o === to) s.append("→");
      s.append(dot);
    }
    s.append(percent(weight, view.total[0]));
    s.title = `${ownerName(from)} calls ${ownerName(to)}: ${percent(weight, view.total[0])} of the ${costs ? "weight" : "time"} shown`;
    bar.append(s);
  }
}

// ---- time line --------------------------------------------------------------------------------
const time = canvasOf("time"), tctx = time.getContext("2d");
const LANE = 26, NAME = 190;
export let lanes, drag;
let cursor; // what the keyboard points at: a thread, a time, and where its selection began
function laneData() { // per thread: weight by bucket and owner, heaviest threads first
  if (lanes) return lanes;
  const t = timeline(), byThread = new Map();
  let lane = null;
  for (let i = 0; i < t.node.length; i++) {
    const th = threadOf[t.node[i]], o = ownerOfNode(t.node[i]);
    if (!lane || lane.thread !== th) {
      lane = byThread.get(th) || { thread: th, total: 0, owners: new Map() };
      byThread.set(th, lane);
    }
    let buckets = lane.owners.get(o);
    if (!buckets) lane.owners.set(o, buckets = new Float64Array(data.buckets));
    buckets[t.bucket[i]] += t.weight[i];
    lane.total += t.weight[i];
  }
  lanes = [...byThread.values()].sort((a, b) => (threads[a.thread][6] || 0) - (threads[b.thread][6] || 0) || b.total - a.total).slice(0, 200);
  return lanes;
}
export function paintTime() {
  $("timeline").hidden = state.view === "timeline" || state.view === "gaps" || !data.buckets || !data.samples || !data.timeline && !line;
  if ($("timeline").hidden) return;
  const all = laneData(), ratio = window.devicePixelRatio || 1, w = $("lanes").clientWidth, h = all.length * LANE + 18;
  time.style.height = `${h}px`;
  time.width = w * ratio; time.height = h * ratio;
  tctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  tctx.clearRect(0, 0, w, h);
  tctx.font = `11.5px ${theme.sans}`; tctx.textBaseline = "middle";
  // several samples per column; otherwise the bars show the sampling period
  const enough = calls || costs ? data.buckets : Math.max(20, (data.hz || 1000) * data.spanNs / 1e9 / 8);
  let columns = Math.max(1, Math.floor(Math.min(data.buckets, (w - NAME - 10) / 3, enough)));
  while (calls && data.buckets % columns) columns--; // each column has equally many buckets; otherwise a long call seems interrupted
  const px = (w - NAME - 10) / columns;
  const full = costs ? mostOf(all, columns) // the most of any thread in a column
    : data.bucketNs / data.unitNs * data.buckets / columns; // weight of a thread that is always running
  all.forEach((lane, row) => {
    const y = row * LANE + 16, on = !state.threads || state.threads.has(lane.thread);
    tctx.globalAlpha = on ? 1 : 0.35;
    tctx.fillStyle = theme.text;
    tctx.fillText(fitMiddle(tctx, threads[lane.thread][0], NAME - 72), 10, y + LANE / 2);
    tctx.fillStyle = theme.soft; tctx.textAlign = "right";
    tctx.fillText(percent(lane.total, weightOfAll), NAME - 8, y + LANE / 2);
    tctx.textAlign = "left";
    tctx.fillStyle = theme.line;
    tctx.fillRect(NAME, y + LANE - 1, w - NAME - 10, 1);
    const sums = new Float64Array(columns);
    for (const [o, buckets] of [...lane.owners].sort((a, b) => b[0] - a[0])) {
      const column = new Float64Array(columns);
      for (let b = 0; b < buckets.length; b++) column[Math.floor(b * columns / data.buckets)] += buckets[b];
      tctx.fillStyle = ownerColor(o, dark ? 0.6 : -0.6);
      for (let c = 0; c < columns; c++) if (column[c]) {
        const from = Math.min(1, sums[c] / full), to = Math.min(1, (sums[c] + column[c]) / full), room = LANE - 5;
        tctx.fillRect(NAME + c * px, y + LANE - 1 - to * room, Math.max(px - 0.6, 0.6), Math.max((to - from) * room, 0.5));
        sums[c] += column[c];
      }
    }
  });
  tctx.globalAlpha = 1;
  paintAxis(w, h);
  if (document.activeElement === $("lanes")) paintCursor(all, w, h);
}
function paintCursor(all, w, h) {
  tctx.strokeStyle = theme.accent; tctx.lineWidth = 2;
  tctx.strokeRect(3, Math.min(cursor.row, all.length - 1) * LANE + 17, NAME - 7, LANE - 2);
  if (cursor.bucket < 0) return;
  tctx.fillStyle = theme.accent;
  tctx.fillRect(NAME + (cursor.bucket + 0.5) / data.buckets * (w - NAME - 10), 0, 2, h);
}
function mostOf(all, columns) {
  let most = 0;
  for (const lane of all) {
    const sums = new Float64Array(columns);
    for (const buckets of lane.owners.values()) buckets.forEach((v, b) => { sums[Math.floor(b * columns / data.buckets)] += v; });
    most = Math.max(most, ...sums);
  }
  return most || 1;
}
function paintAxis(w, h) {
  const span = data.spanNs / 1e9 || 1e-9, inner = w - NAME - 10;
  let step = Math.pow(10, Math.floor(Math.log10(span / 4)));
  if (span / step > 16) step *= 5; else if (span / step > 8) step *= 2;
  tctx.fillStyle = theme.soft;
  for (let s = 0; s <= span; s += step) {
    const x = NAME + s / span * inner, text = `${+s.toFixed(6)} s`;
    tctx.fillRect(x, 12, 1, 4);
    if (x + tctx.measureText(text).width < w) tctx.fillText(text, x + 3, 8);
  }
  tctx.fillStyle = ownerColor(OWNER_GC, dark ? 1 : -1);
  for (const p of data.pauses) tctx.fillRect(NAME + p[0] * 1000 / data.spanNs * inner, 12, Math.max(1, p[1] * 1000 / data.spanNs * inner), 4);
  if (state.range) {
    const a = NAME + state.range[0] / data.buckets * inner, b = NAME + (state.range[1] + 1) / data.buckets * inner;
    tctx.fillStyle = theme.select; tctx.fillRect(a, 0, b - a, h);
    tctx.fillStyle = theme.accent; tctx.fillRect(a - 1, 0, 2, h); tctx.fillRect(b - 1, 0, 2, h);
  }
}
// Keeps only the stacks of a thread, or those of all threads again; @more: adds the thread to those that are kept, or
// takes it away.
function keepLane(lane, more) {
  const only = state.threads && state.threads.size === 1 && state.threads.has(lane.thread);
  if (more && state.threads) {
    if (!state.threads.delete(lane.thread)) state.threads.add(lane.thread);
  } else state.threads = only ? null : new Set([lane.thread]);
  if (state.threads && !state.threads.size) state.threads = null;
  refresh();
}
const bucketAt = (x) => Math.max(0, Math.min(data.buckets - 1, Math.floor((x - NAME) / (time.clientWidth - NAME - 10) * data.buckets)));

// Starts again with new data: drops all state of the old data.
export function startLanes() {
  shares = null;
  lanes = null; drag = null;
  cursor = { row: 0, bucket: -1, from: -1 };
  time.onpointerdown = (e) => {
    if (e.offsetX < NAME) {
      const lane = laneData()[Math.floor((e.offsetY - 16) / LANE)];
      if (!lane) return;
      keepLane(lane, e.ctrlKey || e.shiftKey || e.metaKey);
      return;
    }
    drag = { from: bucketAt(e.offsetX), x: e.offsetX };
    time.setPointerCapture(e.pointerId);
  };
  time.onpointermove = (e) => {
    if (!drag) { time.style.cursor = e.offsetX < NAME ? "pointer" : "crosshair"; return; }
    const to = bucketAt(e.offsetX);
    state.range = [Math.min(drag.from, to), Math.max(drag.from, to)];
    paintTime();
  };
  time.onpointerup = (e) => {
    if (!drag) return;
    if (Math.abs(e.offsetX - drag.x) < 4) state.range = null;
    drag = null;
    refresh();
  };
  $("lanes").onfocus = $("lanes").onblur = () => paintTime();
  $("lanes").onkeydown = (e) => {
    if (e.ctrlKey && e.key !== "Enter" || e.metaKey || e.altKey) return;
    const last = laneData().length - 1, step = Math.max(1, Math.round(data.buckets / 60));
    const sideways = (by) => {
      const at = cursor.bucket < 0 ? Math.floor(data.buckets / 2) : cursor.bucket;
      cursor.bucket = Math.max(0, Math.min(data.buckets - 1, at + by));
      if (!e.shiftKey) { cursor.from = -1; paintTime(); return; }
      if (cursor.from < 0) cursor.from = at;
      state.range = [Math.min(cursor.from, cursor.bucket), Math.max(cursor.from, cursor.bucket)];
      refresh();
    };
    const down = (by) => {
      cursor.row = Math.max(0, Math.min(last, cursor.row + by));
      const top = cursor.row * LANE, box = $("lanes");
      box.scrollTop = Math.max(Math.min(box.scrollTop, top), top + LANE + 18 - box.clientHeight);
      paintTime();
    };
    const does = { ArrowLeft: () => sideways(-step), ArrowRight: () => sideways(step), Home: () => sideways(-data.buckets), End: () => sideways(data.buckets),
      ArrowUp: () => down(-1), ArrowDown: () => down(1), Enter: () => keepLane(laneData()[cursor.row], e.ctrlKey || e.shiftKey),
      Escape: state.range ? () => { cursor.from = -1; state.range = null; refresh(); } : null }[e.key];
    if (!does) return;
    e.preventDefault();
    e.stopPropagation();
    does();
  };
  time.ondblclick = () => { state.range = null; refresh(); };
}

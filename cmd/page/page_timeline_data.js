// SPDX-License-Identifier: MIT
// Decodes the timeline into lanes.
// cmd/report/timeline_write.c describes the encoding. Times are ns since the timeline's zero. Items
// are stored in columns of numbers, because there may be millions.
import { covered, rowRange } from "./columns.js";
import { reader } from "./decode.js";
import { data, frames, runtimes, strings } from "./page_model.js";
import { decodePool } from "./page_timeline_pool.js";

// ---- columns ----------------------------------------------------------------------------------
export let L;
export let KINDS;
export let tl; // decoded when the timeline is first shown

function decodeSpans() {
  const n = L.nSpans, r = reader(L.spans), f64 = () => new Float64Array(n), u32 = () => new Uint32Array(n);
  const s = { n, start: f64(), dur: f64(), kind: new Uint8Array(n), thread: u32(), runtime: u32(), text: u32(),
    a: u32(), b: u32(), tier: new Uint8Array(n), failed: new Uint8Array(n), process: u32(), pause: u32(), pausesKnown: false }; // pause: of collections, in us
  for (let i = 0, t = 0; i < n; i++) {
    s.start[i] = t += r.next();
    s.dur[i] = r.next(); s.kind[i] = r.next(); s.thread[i] = r.next(); s.runtime[i] = r.next();
    s.text[i] = r.next(); s.a[i] = r.next(); s.b[i] = r.next();
    if (s.kind[i] === KINDS.gc) { s.pause[i] = s.b[i] >>> 1; s.b[i] &= 1; s.pausesKnown ||= s.pause[i] > 0; }
    const last = r.next();
    s.tier[i] = last >> 1; s.failed[i] = last & 1; s.process[i] = r.next();
  }
  L.spans = "";
  return s;
}

// A thread's calls in rows: row d contains the calls of depth d, sorted by time, from first[d] on.
// Calls of a row never overlap. So a row can be searched by bisection, and the running totals in
// sums[] give how much of any range is covered.
function decodeCalls(text, values) {
  if (!text) return null;
  const start = [], dur = [], frame = [], depth = [], r = reader(text);
  for (let t = 0; r.more();) { start.push(t += r.next()); dur.push(r.next()); frame.push(r.next()); depth.push(r.next()); }
  const n = start.length;
  let rows = 0;
  for (let i = 0; i < n; i++) if (depth[i] >= rows) rows = depth[i] + 1;
  const first = new Uint32Array(rows + 1), at = new Uint32Array(rows);
  for (let i = 0; i < n; i++) first[depth[i] + 1]++;
  for (let d = 0; d < rows; d++) { first[d + 1] += first[d]; at[d] = first[d]; }
  const c = { n, rows, first, start: new Float64Array(n), dur: new Float64Array(n), frame: new Uint32Array(n),
    sums: new Float64Array(n + 1), hits: null, args: null, result: null, unwound: null };
  const place = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    const k = place[i] = at[depth[i]]++;
    c.start[k] = start[i]; c.dur[k] = dur[i]; c.frame[k] = frame[i];
  }
  if (values) decodeValues(c, place, values);
  for (let i = 0; i < n; i++) c.sums[i + 1] = c.sums[i] + c.dur[i];
  return c;
}

function decodeValues(c, place, text) { // values are numbers of L.texts; 0: none
  const r = reader(text);
  c.args = new Uint32Array(c.n); c.result = new Uint32Array(c.n); c.unwound = new Uint8Array(c.n);
  for (let i = 0; r.more();) {
    const k = place[i += r.next()];
    c.args[k] = r.next();
    const last = r.next();
    c.result[k] = last >> 1; c.unwound[k] = last & 1;
  }
}

function decodeTicks(text) {
  if (!text) return null;
  const time = [], node = [], r = reader(text);
  for (let t = 0; r.more();) { time.push((t += r.next()) * 1000); node.push(r.next()); }
  return { n: time.length, time: Float64Array.from(time), node: Uint32Array.from(node) };
}

// ---- lanes ------------------------------------------------------------------------------------
export function decodeTimeline() {
  if (tl) return tl;
  const spans = decodeSpans(), lanes = [];
  const threadLanes = L.threads.map((t, i) => ({ type: "thread", index: i, name: t[0], tid: t[1], process: t[2],
    from: t[3], to: t[4], runtimes: t[5], lives: [], home: 0, jit: [], loads: [], thrown: [],
    calls: decodeCalls(t[6], t[8]), ticks: decodeTicks(t[7]), open: 0 }));
  const groups = new Map(), byNumber = new Map(); // by process and runtime: items of no thread
  const groupOf = (process, runtime) => {
    const key = process * 4096 + runtime;
    if (!groups.has(key)) groups.set(key, { type: "runtime", process, runtime, stops: [], gcs: [], loads: [], threads: [], folded: false });
    return groups.get(key);
  };
  for (const t of L.threads) { t[6] = t[7] = t[8] = ""; }
  for (let i = 0; i < spans.n; i++) {
    const lane = spans.thread[i] ? threadLanes[spans.thread[i] - 1] : null, r = spans.runtime[i];
    const process = spans.process[i], k = spans.kind[i];
    const group = r ? groupOf(process, r) : null;
    if (r) byNumber.set(process * 4096 + runtimes[r - 1][0], r);
    if (k === KINDS.gc || k === KINDS.suspension) { if (group) (k === KINDS.gc ? group.gcs : group.stops).push(i); }
    else if (k === KINDS.jit) { if (lane) lane.jit.push(i); }
    else if (k === KINDS.thread) {
      if (!lane) continue;
      lane.lives.push([spans.start[i], spans.dur[i] ? spans.start[i] + spans.dur[i] : L.spanNs, spans.dur[i] > 0, r]);
      lane.home = lane.home || r;
    } else if (k !== KINDS["thread name"] && (lane || group)) (lane || group).loads.push(i);
  }
  for (const [process, runtime, changes] of L.pools) groupOf(process, runtime).pool = decodePool(changes);
  L.exceptions.forEach((x, i) => { if (x[2]) threadLanes[x[2] - 1].thrown.push(i); });
  for (const lane of threadLanes) {
    const last = Math.max(lane.to, lane.ticks ? lane.ticks.time[lane.ticks.n - 1] : 0);
    if (!lane.lives.length && (lane.from || last)) lane.lives.push([lane.from || (lane.ticks ? lane.ticks.time[0] : 0), last || L.spanNs, lane.to > 0, 0]);
    if (!lane.home && lane.runtimes.length) { // the lowest number of the thread's runtimes
      lane.home = byNumber.get(lane.process * 4096 + lane.runtimes[0]) || runtimes.findIndex((r) => r[0] === lane.runtimes[0]) + 1;
    }
    if (!lane.lives.length && !lane.calls && !lane.ticks && !lane.jit.length && !lane.thrown.length && !lane.loads.length) continue;
    groupOf(lane.process, lane.home).threads.push(lane);
  }
  const number = (g) => g.runtime ? runtimes[g.runtime - 1][0] : 4096; // in order of start; no runtime: last
  const sorted = [...groups.values()].sort((x, y) => x.process - y.process || number(x) - number(y));
  for (const g of sorted) {
    g.threads.sort((x, y) => (x.lives[0] || [0])[0] - (y.lives[0] || [0])[0] || x.tid - y.tid);
    lanes.push(g, ...g.threads);
  }
  tl = { spans, lanes, groups: sorted, threads: threadLanes, a: 0, b: L.spanNs, sel: null, chosen: null, hover: null,
    hide: new Set(), counts: countKinds(spans, threadLanes), marks: null };
  const busy = (lane) => lane.calls ? covered(lane.calls, ...rowRange(lane.calls, 0), 0, L.spanNs) : 0;
  for (const g of sorted) { // expand the thread of each runtime with the longest time in calls
    const longest = g.threads.reduce((best, lane) => !best || busy(lane) > busy(best) ? lane : best, null);
    if (longest && longest.calls) longest.open = 1;
  }
  return tl;
}
function countKinds(spans, lanes) {
  const n = { calls: 0, samples: 0, exceptions: L.exceptions.length, jit: 0, stops: 0, gcs: 0, modules: 0, classes: 0, pool: L.pools.length };
  const key = { [KINDS.jit]: "jit", [KINDS.suspension]: "stops", [KINDS.gc]: "gcs", [KINDS["module load"]]: "modules", [KINDS["class load"]]: "classes" };
  for (let i = 0; i < spans.n; i++) { const k = key[spans.kind[i]]; if (k) n[k]++; }
  for (const lane of lanes) { n.calls += lane.calls ? lane.calls.n : 0; n.samples += lane.ticks ? lane.ticks.n : 0; }
  return n;
}

// Runtimes of a lane's process in which the lane's thread was: their bands are drawn across the
// lane.
export function groupsOfLane(lane) {
  return tl.groups.filter((g) => g.process === lane.process && g.runtime &&
    (lane.runtimes.includes(runtimes[g.runtime - 1][0]) || lane.home === g.runtime));
}

// ---- functions by name: names in events and exceptions are not numbers of frames --------------
let frameByName;
export function frameNamed(runtime, name) {
  if (!frameByName) {
    frameByName = new Map();
    frames.forEach((f, i) => {
      if (!f[2]) return;
      const full = `${f[2]} ${strings[f[0]]}`, bare = full.replace(/\(.*\)$/, "");
      if (!frameByName.has(full)) frameByName.set(full, i);
      if (!frameByName.has(bare)) frameByName.set(bare, i);
    });
  }
  const key = `${runtime} ${name}`, found = frameByName.get(key);
  return found !== undefined ? found : frameByName.get(key.replace(/\(.*\)$/, "")) ?? -1;
}

// Starts again with new data: drops all state of the old data.
export function startTimelineData() {
  L = data.line || null;
  KINDS = L ? Object.fromEntries(L.kinds.map((k, i) => [k, i])) : {};
  tl = null;
  frameByName = null;
}

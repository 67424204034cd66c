// SPDX-License-Identifier: MIT
// The page of the html report. Data comes in #data; its encoding is described in format_html.c.
"use strict";
(() => {
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const { strings, frames, threads, runtimes } = data;
const calls = data.data === "calls"; // exact: what is said of samples is then said of calls
const unit = (n) => calls ? (n === 1 ? "call" : "calls") : n === 1 ? "sample" : "samples";
const ROW = 19, MIN_PX = 0.35, GC = 1, JIT = 2;
const TIERS = ["unknown tier", "tier 0", "tier 1", "OSR", "R2R", "stub", "dynamic", "optimized"];

// ---- decoding ---------------------------------------------------------------------------------
const DIGIT = new Uint8Array(128);
"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".split("")
  .forEach((c, i) => { DIGIT[c.charCodeAt(0)] = i; });

function reader(text) {
  let at = 0;
  return { more: () => at < text.length, next() {
    let value = 0, unit = 1, d;
    do { d = DIGIT[text.charCodeAt(at++)]; value += (d & 31) * unit; unit *= 32; } while (d & 32);
    return value;
  } };
}

const N = data.nNodes;
const parent = new Int32Array(N), frameOf = new Uint32Array(N), threadOf = new Uint32Array(N);
const selfCount = new Float64Array(N), selfWeight = new Float64Array(N), tiersOf = new Uint8Array(N);
const mask = new Uint32Array(N), flagsOf = new Uint8Array(N);
(function decodeTree() {
  const rootThread = new Map(threads.map((t, i) => [t[1], i])), r = reader(data.nodes), stack = [];
  for (let i = 0; i < N; i++) {
    const up = r.next();
    stack.length = Math.max(0, stack.length - up);
    frameOf[i] = r.next(); selfCount[i] = r.next(); selfWeight[i] = r.next(); tiersOf[i] = r.next();
    const p = stack.length ? stack[stack.length - 1] : -1;
    parent[i] = p;
    if (p < 0) {
      threadOf[i] = rootThread.get(i);
      flagsOf[i] = threads[threadOf[i]][5];
    } else {
      const f = frames[frameOf[i]];
      threadOf[i] = threadOf[p];
      flagsOf[i] = flagsOf[p] | f[4];
      mask[i] = mask[p] | ownerBit(f[2]);
    }
    stack.push(i);
  }
  data.nodes = "";
})();
function ownerBit(runtime) { return runtime ? (1 << Math.min(runtime, 31)) >>> 0 : 1; } // bit 0: native

let line = null; // the time line, decoded when first needed
function timeline() {
  if (line) return line;
  const bucket = [], node = [], count = [], weight = [], r = reader(data.timeline);
  for (let b = 0; r.more();) {
    b += r.next(); bucket.push(b); node.push(r.next()); count.push(r.next()); weight.push(r.next());
  }
  data.timeline = "";
  line = { bucket: Uint32Array.from(bucket), node: Uint32Array.from(node),
    count: Float64Array.from(count), weight: Float64Array.from(weight) };
  return line;
}
const before = data.before ? (() => { // of a difference: each node's weight in the older session
  const r = reader(data.before), all = new Float64Array(N);
  for (let i = 0; i < N; i++) all[i] = r.next();
  return all;
})() : null;

// ---- names, owners, colours -------------------------------------------------------------------
const baseName = (p) => p.slice(p.lastIndexOf("/") + 1);
const nameCache = new Array(frames.length);
function frameName(f) {
  if (nameCache[f] === undefined) {
    const v = frames[f];
    nameCache[f] = v[2] ? `[${runtimes[v[2] - 1][1]}] ${strings[v[0]]}`
      : `[native] ${baseName(strings[v[1]])}!${strings[v[0]]}`;
  }
  return nameCache[f];
}
function shortName(f) { // for the boxes: the colour already says whose it is
  const v = frames[f], name = strings[v[0]];
  return v[2] ? name : name === "?" ? `${baseName(strings[v[1]])}` : `${name}`;
}
// Owners of frames: 0 native, 1.. runtimes, then the two classes of native work.
const HUES = [214, 158, 28, 276, 338, 186, 52, 246, 100, 6];
const OWNER_GC = -1, OWNER_JIT = -2;
function ownerOfFrame(f) {
  const v = frames[f];
  return v[2] ? v[2] : v[4] & GC ? OWNER_GC : v[4] & JIT ? OWNER_JIT : 0;
}
function ownerOfNode(i) {
  if (flagsOf[i] & GC) return OWNER_GC;
  if (flagsOf[i] & JIT) return OWNER_JIT;
  return parent[i] < 0 ? 0 : frames[frameOf[i]][2];
}
const sameVersion = (v) => runtimes.filter((r) => r[1] === v).length > 1;
function ownerName(o) {
  if (o === OWNER_GC) return "GC";
  if (o === OWNER_JIT) return "JIT";
  if (o === 0) return "native";
  const r = runtimes[o - 1];
  return sameVersion(r[1]) ? `${r[1]} (${r[0]})` : r[1];
}
let dark = false;
function ownerColor(o, shade = 0) {
  const l = (light, night) => (dark ? night : light) + shade * (dark ? 7 : 8);
  if (o === OWNER_GC) return `hsl(354 ${dark ? 58 : 74}% ${l(70, 52)}%)`;
  if (o === OWNER_JIT) return `hsl(46 ${dark ? 66 : 88}% ${l(66, 50)}%)`;
  if (o === 0) return `hsl(${dark ? 222 : 32} ${dark ? 9 : 12}% ${l(80, 37)}%)`;
  const hue = HUES[(o - 1) % HUES.length];
  return `hsl(${hue} ${dark ? 50 : 70}% ${l(71, 47)}%)`;
}
function shadeOf(f) { // -0.5..0.5, the same for a name everywhere
  const s = strings[frames[f][0]];
  let h = 7;
  for (let i = 0; i < s.length && s[i] !== "("; i++) h = (h * 31 + s.charCodeAt(i)) | 0;
  return ((h >>> 8) % 17) / 16 - 0.5;
}
let colorCache = [];
function frameColor(f) {
  return colorCache[f] || (colorCache[f] = ownerColor(ownerOfFrame(f), shadeOf(f)));
}

// ---- numbers ----------------------------------------------------------------------------------
const percent = (part, all) => all > 0 ? `${(100 * part / all).toFixed(part / all >= 0.0995 ? 1 : 2)} %` : "0 %";
const count = (n) => Math.round(n).toLocaleString("en");
function duration(units) {
  if (!data.timed) return `${count(units)} calls`;
  const s = units * data.unitNs / 1e9;
  if (!s) return "0";
  if (s < 1e-6) return `${Math.round(s * 1e9)} ns`;
  if (s < 1e-4) return `${(s * 1e6).toFixed(1)} µs`;
  return s >= 100 ? `${s.toFixed(0)} s` : s >= 1 ? `${s.toFixed(2)} s` : s >= 1e-3 ? `${(s * 1e3).toFixed(s >= 0.1 ? 0 : 1)} ms` : `${(s * 1e6).toFixed(0)} µs`;
}

// ---- the view: what passes the filters, as a tree of its own ----------------------------------
const state = { kind: "all", threads: null, owner: null, range: null, byThread: false,
  flame: false, crossings: false, search: null, zoom: 0, focus: 0, view: "graph" };
let view = null, self = selfWeight, counts = selfCount;

function passing() { // own weight and samples of each node under the filters on samples
  let w = selfWeight, c = selfCount;
  if (state.range) {
    const t = timeline();
    w = new Float64Array(N); c = new Float64Array(N);
    for (let i = 0; i < t.node.length; i++) {
      if (t.bucket[i] < state.range[0] || t.bucket[i] > state.range[1]) continue;
      w[t.node[i]] += t.weight[i]; c[t.node[i]] += t.count[i];
    }
  }
  if (state.threads || state.owner !== null) {
    w = w.slice(); c = c.slice();
    for (let i = 0; i < N; i++) {
      const o = state.owner;
      const keep = (!state.threads || state.threads.has(threadOf[i])) && (o === null ||
        (o > 0 ? (mask[i] & ownerBit(o)) !== 0 : ownerOfNode(i) === o));
      if (!keep) { w[i] = 0; c[i] = 0; }
    }
  }
  return [w, c];
}

function buildView() {
  [self, counts] = passing();
  const total = Float64Array.from(self), reach = calls ? Float64Array.from(counts) : null, old = before ? Float64Array.from(before) : null;
  for (let i = N - 1; i >= 0; i--) if (parent[i] >= 0) {
    total[parent[i]] += total[i];
    if (reach) reach[parent[i]] += reach[i];
    if (old) old[parent[i]] += old[i];
  }
  let size = 1 << 12;
  while (size < N * 2) size *= 2;
  const slots = new Int32Array(size), at = new Int32Array(N).fill(-1); // node to its place in the view
  const v = { parent: [-1], frame: [-1], total: [0], self: [0], n: [0], tiers: [0], old: [0], depth: [0] };
  const add = (p, key) => {
    let h = (Math.imul(p, 0x9e3779b1) ^ Math.imul(key + 7, 0x85ebca6b)) >>> 0;
    h = (h ^ (h >>> 15)) & (size - 1);
    for (; slots[h]; h = (h + 1) & (size - 1)) {
      const k = slots[h];
      if (v.parent[k] === p && v.frame[k] === key) return k;
    }
    const k = v.parent.length;
    slots[h] = k;
    v.parent.push(p); v.frame.push(key); v.total.push(0); v.self.push(0); v.n.push(0); v.tiers.push(0);
    v.old.push(0); v.depth.push(v.depth[p] + 1);
    return k;
  };
  for (let i = 0; i < N; i++) {
    if (total[i] <= 0 && !(reach && reach[i] > 0)) continue; // calls that were not timed weigh nothing
    let k;
    if (parent[i] < 0) k = state.byThread ? add(0, -2 - threadOf[i]) : 0;
    else {
      const managed = frames[frameOf[i]][2] > 0;
      const drop = (state.kind === "managed" && !managed) || (state.kind === "native" && managed);
      k = drop ? at[parent[i]] : add(at[parent[i]], frameOf[i]);
    }
    at[i] = k;
    v.self[k] += self[i]; v.n[k] += counts[i]; v.tiers[k] |= tiersOf[i];
    if (before) v.old[k] += before[i];
  }
  const M = v.parent.length;
  view = { M, at };
  for (const k of ["parent", "frame", "depth", "tiers"]) view[k] = Int32Array.from(v[k]);
  for (const k of ["self", "n", "old"]) view[k] = Float64Array.from(v[k]);
  view.total = Float64Array.from(v.self); view.count = Float64Array.from(v.n);
  for (let i = M - 1; i > 0; i--) {
    const p = view.parent[i];
    view.total[p] += view.total[i]; view.count[p] += view.count[i];
    if (before) view.old[p] += view.old[i];
  }
  for (let i = 1; calls && i < M; i++) if (view.frame[i] >= 0) view.count[i] = view.n[i]; // a call is of one path
  place(M);
  state.zoom = 0; state.focus = 0;
  matchSearch();
}

function place(M) { // children by weight, then where each box begins, in units of weight
  const first = new Int32Array(M + 2), kids = new Int32Array(M), x = new Float64Array(M);
  for (let i = 1; i < M; i++) first[view.parent[i] + 2]++;
  for (let i = 0; i < M + 1; i++) first[i + 1] += first[i];
  for (let i = 1; i < M; i++) kids[first[view.parent[i] + 1]++] = i;
  view.maxDepth = 0;
  for (let i = 0; i < M; i++) {
    view.maxDepth = Math.max(view.maxDepth, view.depth[i]);
    const a = first[i], b = first[i + 1];
    if (b - a > 1) kids.subarray(a, b).sort((p, q) => view.total[q] - view.total[p] || p - q);
  }
  for (let i = 0; i < M; i++) { // a parent's number is smaller than its children's
    let at = x[i];
    for (let k = first[i]; k < first[i + 1]; k++) { x[kids[k]] = at; at += view.total[kids[k]]; }
  }
  Object.assign(view, { first, kids, x });
}

function matchSearch() {
  view.hit = null; view.hitWeight = 0; view.hitCount = 0;
  if (!state.search) return;
  const byFrame = frames.map((_, f) => state.search.test(frameName(f)) ? 1 : 0);
  const hit = new Uint8Array(view.M), under = new Uint8Array(view.M);
  for (let i = 1; i < view.M; i++) {
    hit[i] = view.frame[i] >= 0 ? byFrame[view.frame[i]] : state.search.test(label(i)) ? 1 : 0;
    under[i] = under[view.parent[i]] | hit[i];
    if (hit[i] && !under[view.parent[i]]) view.hitWeight += view.total[i];
    if (hit[i] && (calls ? view.frame[i] >= 0 : !under[view.parent[i]])) view.hitCount += view.count[i];
  }
  view.hit = hit;
}

const label = (i) => i === 0 ? "all" : view.frame[i] < 0 ? threads[-2 - view.frame[i]][0] : shortName(view.frame[i]);
const fullName = (i) => i === 0 ? "all threads" : view.frame[i] < 0 ? threads[-2 - view.frame[i]][0] : frameName(view.frame[i]);
const ownerOfView = (i) => i === 0 || view.frame[i] < 0 ? null : frames[view.frame[i]][2];

// Where control passes from one runtime to another: the nearest managed frame below is another's.
function crossingsOf() {
  const nearest = new Int32Array(view.M), seen = new Int32Array(view.M), pairs = new Map(), bits = new Map();
  view.crosses = new Uint8Array(view.M);
  for (let i = 1; i < view.M; i++) {
    const o = ownerOfView(i), below = nearest[view.parent[i]];
    nearest[i] = o || below;
    seen[i] = seen[view.parent[i]];
    if (o && below && o !== below) {
      view.crosses[i] = below;
      const key = `${below}>${o}`;
      if (!bits.has(key)) bits.set(key, bits.size < 31 ? 1 << bits.size : 0);
      const bit = bits.get(key); // a stack that crosses twice counts once; past 31 pairs, none do
      if (bit && !(seen[i] & bit)) pairs.set(key, (pairs.get(key) || 0) + view.total[i]);
      seen[i] |= bit;
    }
  }
  return pairs;
}

// ---- the graph --------------------------------------------------------------------------------
const canvas = $("graph"), ctx = canvas.getContext("2d"), scroller = $("scroll");
let width = 0, height = 0, win = [0, 1], anim = 0, hover = -1, pairs = new Map(), theme = {};
const windowOf = (i) => [view.x[i], view.x[i] + Math.max(view.total[i], 1e-9)];
const rowTop = (d) => state.flame ? (view.maxDepth - d) * ROW : d * ROW;

function fit() {
  const ratio = window.devicePixelRatio || 1, space = $("space");
  width = scroller.clientWidth; height = scroller.clientHeight;
  space.style.height = `${Math.max((view.maxDepth + 1) * ROW + 4, height)}px`;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
}
function offset() { // rows begin at the bottom edge when a flame is lower than the window
  const extra = state.flame ? Math.max(0, height - (view.maxDepth + 1) * ROW - 4) : 0;
  return extra - scroller.scrollTop;
}

function draw() {
  const scale = width / (win[1] - win[0]), dy = offset();
  ctx.clearRect(0, 0, width, height);
  ctx.font = `12px ${theme.mono}`;
  ctx.textBaseline = "middle";
  const charWidth = ctx.measureText("m").width;
  view.shown = 0;
  const todo = [0];
  while (todo.length) {
    const i = todo.pop(), x = (view.x[i] - win[0]) * scale, w = view.total[i] * scale;
    if (x > width || x + w < 0) continue;
    const y = rowTop(view.depth[i]) + dy;
    if (y > -ROW && y < height) box(i, x, y, w, charWidth);
    if (!state.flame && y > height) continue;
    for (let k = view.first[i]; k < view.first[i + 1]; k++) {
      const c = view.kids[k];
      if (view.total[c] * scale < MIN_PX) break; // by weight: the rest is smaller still
      todo.push(c);
    }
  }
  canvas.dataset.shown = view.shown;
}

function colorOf(i) {
  if (i === 0 || view.frame[i] < 0) return theme.line;
  if (!before) return frameColor(view.frame[i]);
  const now = view.total[i] / (view.total[0] || 1), was = view.old[i] / (view.old[0] || 1);
  const d = Math.max(-1, Math.min(1, (now - was) / Math.max(now, was, 1e-9) * 1.4));
  const size = Math.min(1, Math.abs(now - was) * 60); // small boxes swing widely: keep them pale
  const s = Math.abs(d) * (0.35 + 0.65 * size);
  return d > 0 ? `hsl(4 ${10 + 75 * s}% ${dark ? 38 + 12 * s : 88 - 24 * s}%)`
    : `hsl(216 ${10 + 70 * s}% ${dark ? 38 + 12 * s : 88 - 22 * s}%)`;
}

function box(i, x, y, w, charWidth) {
  const left = Math.max(x, 0), right = Math.min(x + w, width), h = ROW - 1;
  const gap = w > 4 ? 1 : 0, bw = Math.max(right - left - gap, 0.5);
  const faded = (view.hit && !view.hit[i]) || (state.crossings && !view.crosses[i] && i !== 0);
  view.shown++;
  ctx.globalAlpha = faded ? 0.32 : 1;
  ctx.fillStyle = view.hit && view.hit[i] ? (dark ? "#c026d3" : "#d946ef") : colorOf(i);
  if (w > 8) { ctx.beginPath(); ctx.roundRect(left, y, bw, h, 3); ctx.fill(); }
  else ctx.fillRect(left, y, bw, h);
  if (view.crosses[i] && w > 1.5) { // the edge towards the caller wears the caller's colour
    ctx.globalAlpha = 1;
    ctx.fillStyle = theme.text;
    ctx.fillRect(left, state.flame ? y + h - 3 : y, bw, 3);
    ctx.fillStyle = ownerColor(view.crosses[i], dark ? 1 : -1.6);
    ctx.fillRect(left, state.flame ? y + h - 2 : y, bw, 2);
  }
  if (bw > charWidth * 3) {
    ctx.globalAlpha = faded ? 0.6 : 1;
    ctx.fillStyle = i === 0 || view.frame[i] < 0 ? theme.text : view.hit && view.hit[i] ? "#fff" : dark ? "#f3f5fa" : "#1a2030";
    const room = Math.floor((bw - 8) / charWidth);
    ctx.fillText(clip(label(i), room), left + 5, y + h / 2 + 0.5);
  }
  ctx.globalAlpha = 1;
  if (i === hover || i === state.focus && document.activeElement === canvas) {
    ctx.strokeStyle = theme.text; ctx.lineWidth = 1.5;
    ctx.strokeRect(left + 0.75, y + 0.75, Math.max(bw - 1.5, 0.5), h - 1.5);
  }
}

// Names get shorter where they say least: parameters first, then namespaces.
function clip(text, room) {
  if (text.length <= room) return text;
  const bare = text.replace(/\(.*\)$/, "");
  if (bare.length <= room) return bare;
  if (/\.so(\.|$)|!|::/.test(bare)) return room > 3 ? bare.slice(0, room - 1) + "…" : "";
  const parts = bare.split("."), tail = parts.slice(-2).join(".");
  if (!bare.includes("<") && tail.length <= room && tail) return tail;
  if (!bare.includes("<") && parts[parts.length - 1].length <= room && parts[parts.length - 1]) return parts[parts.length - 1];
  const last = bare.includes("<") ? bare : parts[parts.length - 1] || bare;
  return room > 3 ? last.slice(0, room - 1) + "…" : "";
}

function hitTest(px, py) {
  const scale = width / (win[1] - win[0]), y = py - offset();
  const row = Math.floor(y / ROW), depth = state.flame ? view.maxDepth - row : row, at = win[0] + px / scale;
  if (depth < 0 || depth > view.maxDepth || at >= view.total[0]) return -1;
  let i = 0;
  while (view.depth[i] < depth) {
    let next = -1;
    for (let k = view.first[i]; k < view.first[i + 1]; k++) {
      const c = view.kids[k];
      if (at >= view.x[c] && at < view.x[c] + view.total[c]) { next = c; break; }
    }
    if (next < 0) return -1;
    i = next;
  }
  return i;
}

function zoom(i, still) {
  state.zoom = i; state.focus = i;
  const from = win.slice(), to = windowOf(i), start = performance.now();
  cancelAnimationFrame(anim);
  paintPath();
  const quiet = still || matchMedia("(prefers-reduced-motion: reduce)").matches;
  const step = (now) => {
    const t = quiet ? 1 : Math.min(1, (now - start) / 220), e = 1 - Math.pow(1 - t, 3);
    win = [from[0] + (to[0] - from[0]) * e, from[1] + (to[1] - from[1]) * e];
    draw();
    if (t < 1) anim = requestAnimationFrame(step);
  };
  if (quiet) step(start); else anim = requestAnimationFrame(step);
  canvas.dataset.zoom = fullName(i);
}

function paintPath() {
  const chain = [], bar = $("path");
  for (let i = state.zoom; i >= 0; i = view.parent[i]) chain.unshift(i);
  bar.replaceChildren();
  const shown = chain.length > 7 ? [chain[0], ...chain.slice(-6)] : chain;
  shown.forEach((i, n) => {
    if (n) bar.append("›");
    const b = document.createElement("button");
    b.textContent = clip(label(i), 34);
    b.title = fullName(i);
    b.onclick = () => zoom(i);
    bar.append(b);
  });
}

// ---- details ----------------------------------------------------------------------------------
const el = (tag, text, cls) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; if (cls) e.className = cls; return e; };
const tierText = (bits) => TIERS.filter((_, t) => bits & (1 << t)).join(", ");
function facts(i) {
  const f = view.frame[i], all = view.total[0], out = { name: fullName(i) };
  out.total = `${percent(view.total[i], all)} · ${duration(view.total[i])} · ${count(view.count[i])} ${unit(view.count[i])}`;
  out.self = `${percent(view.self[i], all)} · ${duration(view.self[i])}`;
  if (f >= 0) {
    const v = frames[f];
    out.file = strings[v[1]];
    if (v[5]) out.source = `${strings[v[5]]}${v[6] ? ":" + v[6] : ""}`;
    if (v[2] && !calls) {
      const own = v.slice(7), sum = own.reduce((a, b) => a + b, 0);
      out.tier = tierText(view.tiers[i] & ~1) || "unknown tier";
      if (sum && own.filter(Boolean).length > 1)
        out.tiers = own.map((n, t) => n ? `${TIERS[t]} ${percent(n, sum)}` : "").filter(Boolean).join(", ");
    }
    const l = calls && latency.get(f);
    if (l && l.max) out.latency = `a call: min ${nanos(l.min)} · median ${nanos(l.median)} · p99 ${nanos(l.p99)} · max ${nanos(l.max)}`;
    if (l && l.off) out.latency = `${out.latency ? `${out.latency} · ` : ""}timed no longer: too many short calls`;
    if (view.crosses[i]) out.crossing = `called from ${ownerName(view.crosses[i])}`;
  }
  if (before) {
    const now = view.total[i] / (view.total[0] || 1), was = view.old[i] / (view.old[0] || 1);
    out.change = `${(was * 100).toFixed(2)} % before, ${(now * 100).toFixed(2)} % now: ${now >= was ? "+" : "−"}${Math.abs((now - was) * 100).toFixed(2)} points`;
  }
  return out;
}
function showDetails(i) {
  const bar = $("details");
  bar.replaceChildren();
  if (i < 0) { bar.append(el("span", `Point at a box for its numbers; click to zoom, / to search${data.buckets ? ", drag above to select time" : ""}`)); return; }
  const f = facts(i);
  bar.append(el("code", f.name));
  for (const [k, t] of [["total", f.total], ["self", f.self], ["", f.tier], ["", f.latency], ["", f.crossing], ["", f.change]]) if (t) {
    const s = el("span", k ? `${k} ` : "");
    s.append(el("b", t));
    bar.append(s);
  }
}
function showTip(i, x, y) {
  const tip = $("tip");
  if (i < 0) { tip.hidden = true; return; }
  const f = facts(i), o = ownerOfView(i);
  tip.replaceChildren();
  const name = el("code");
  if (o !== null && !before) { const dot = el("i"); dot.style.background = ownerColor(ownerOfFrame(view.frame[i])); name.append(dot); }
  name.append(f.name);
  tip.append(name, el("p", `total ${f.total}`, "big"), el("p", `self ${f.self}`));
  if (f.change) tip.append(el("p", f.change, "big"));
  if (f.tier) tip.append(el("p", f.tiers ? `${f.tier} here · own time: ${f.tiers}` : f.tier));
  if (f.latency) tip.append(el("p", f.latency));
  if (f.crossing) tip.append(el("p", f.crossing));
  if (f.source || f.file) tip.append(el("p", f.source || f.file));
  tip.hidden = false;
  const box_ = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(6, Math.min(x + 14, innerWidth - box_.width - 8))}px`;
  tip.style.top = `${y + 20 + box_.height > innerHeight ? Math.max(6, y - box_.height - 12) : y + 18}px`;
}

// ---- legend -----------------------------------------------------------------------------------
function paintLegend() {
  const bar = $("legend"), leaf = new Map(), inside = new Map();
  let all = 0;
  bar.replaceChildren();
  for (let i = 0; i < N; i++) if (selfWeight[i]) {
    const o = ownerOfNode(i);
    leaf.set(o, (leaf.get(o) || 0) + selfWeight[i]);
    all += selfWeight[i];
    for (let r = 1; r <= runtimes.length; r++) if (mask[i] & ownerBit(r)) inside.set(r, (inside.get(r) || 0) + selfWeight[i]);
  }
  const owners = [...runtimes.map((_, r) => r + 1).filter((r) => inside.get(r)), 0, OWNER_GC, OWNER_JIT].filter((o) => leaf.get(o) || o > 0);
  for (const o of owners) {
    const b = el("button"), dot = el("i");
    dot.style.background = ownerColor(o);
    b.append(dot, el("b", o > 0 ? `.NET ${ownerName(o)}` : ownerName(o)), el("small", percent(leaf.get(o) || 0, all)));
    b.title = o > 0 ? `${percent(leaf.get(o) || 0, all)} in its code, ${percent(inside.get(o), all)} with it on the stack. Press to keep only those stacks.\n${runtimes[o - 1][2]}`
      : `Press to keep only stacks that end in ${ownerName(o)}.`;
    b.setAttribute("aria-pressed", state.owner === o);
    b.onclick = () => { state.owner = state.owner === o ? null : o; refresh(); };
    bar.append(b);
  }
  const shown = [...pairs].sort((a, b) => b[1] - a[1]).slice(0, 6);
  for (const [key, weight] of shown) {
    const [from, to] = key.split(">").map(Number), s = el("span", undefined, "cross");
    for (const o of [from, to]) {
      const dot = el("i");
      dot.style.background = ownerColor(o);
      if (o === to) s.append("→");
      s.append(dot);
    }
    s.append(percent(weight, view.total[0]));
    s.title = `${ownerName(from)} calls ${ownerName(to)}: ${percent(weight, view.total[0])} of the time shown`;
    bar.append(s);
  }
}

// ---- time line --------------------------------------------------------------------------------
const time = $("time"), tctx = time.getContext("2d");
const LANE = 26, NAME = 190;
let lanes = null, drag = null;
function laneData() { // per thread, weight by bucket and owner, heaviest threads first
  if (lanes) return lanes;
  const t = timeline(), byThread = new Map();
  for (let i = 0; i < t.node.length; i++) {
    const th = threadOf[t.node[i]];
    if (!byThread.has(th)) byThread.set(th, { thread: th, total: 0, owners: new Map() });
    const lane = byThread.get(th), o = ownerOfNode(t.node[i]);
    if (!lane.owners.has(o)) lane.owners.set(o, new Float64Array(data.buckets));
    lane.owners.get(o)[t.bucket[i]] += t.weight[i];
    lane.total += t.weight[i];
  }
  lanes = [...byThread.values()].sort((a, b) => b.total - a.total).slice(0, 200);
  return lanes;
}
function paintTime() {
  if (!data.buckets || !data.samples || !data.timeline && !line) { $("timeline").hidden = true; return; }
  const all = laneData(), ratio = window.devicePixelRatio || 1, w = $("lanes").clientWidth, h = all.length * LANE + 18;
  time.style.height = `${h}px`;
  time.width = w * ratio; time.height = h * ratio;
  tctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  tctx.clearRect(0, 0, w, h);
  tctx.font = `11.5px ${theme.sans}`; tctx.textBaseline = "middle";
  // several samples a column, or the bars show the clock's beat instead of the program's
  const enough = calls ? data.buckets : Math.max(20, (data.hz || 1000) * data.spanNs / 1e9 / 8);
  let columns = Math.max(1, Math.floor(Math.min(data.buckets, (w - NAME - 10) / 3, enough)));
  while (calls && data.buckets % columns) columns--; // as many buckets in each, or a call that lasts looks torn
  const px = (w - NAME - 10) / columns;
  const full = data.bucketNs / data.unitNs * data.buckets / columns; // weight of a thread that never stops
  all.forEach((lane, row) => {
    const y = row * LANE + 16, on = !state.threads || state.threads.has(lane.thread);
    tctx.globalAlpha = on ? 1 : 0.35;
    tctx.fillStyle = theme.text;
    tctx.fillText(fitText(tctx, threads[lane.thread][0], NAME - 72), 10, y + LANE / 2);
    tctx.fillStyle = theme.soft; tctx.textAlign = "right";
    tctx.fillText(percent(lane.total, view.everything), NAME - 8, y + LANE / 2);
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
function fitText(c, text, room) {
  if (c.measureText(text).width <= room) return text;
  while (text.length > 1 && c.measureText(text + "…").width > room) text = text.slice(0, -1);
  return text + "…";
}
const bucketAt = (x) => Math.max(0, Math.min(data.buckets - 1, Math.floor((x - NAME) / (time.clientWidth - NAME - 10) * data.buckets)));
time.onpointerdown = (e) => {
  if (e.offsetX < NAME) {
    const lane = laneData()[Math.floor((e.offsetY - 16) / LANE)];
    if (!lane) return;
    const only = state.threads && state.threads.size === 1 && state.threads.has(lane.thread);
    if ((e.ctrlKey || e.shiftKey || e.metaKey) && state.threads) {
      if (!state.threads.delete(lane.thread)) state.threads.add(lane.thread);
    } else state.threads = only ? null : new Set([lane.thread]);
    if (state.threads && !state.threads.size) state.threads = null;
    refresh();
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
time.ondblclick = () => { state.range = null; refresh(); };

/*TABLES*/

// ---- everything together ----------------------------------------------------------------------
function paintTheme() {
  document.documentElement.classList.toggle("dark", dark);
  const css = getComputedStyle(document.documentElement), get = (n) => css.getPropertyValue(n).trim();
  theme = { text: get("--text"), soft: get("--soft"), line: get("--line"), accent: get("--accent"), select: get("--select"), mono: get("--mono"), sans: get("--sans") };
  colorCache = [];
}
function paintSummary() {
  const ends = Object.entries(data.ends), whole = data.ends["bottom of the stack"] || 0;
  const sum = ends.reduce((a, [, n]) => a + n, 0), parts = [];
  if (before) parts.push("red grew, blue shrank", `${count(data.samples)} ${unit(data.samples)} now`);
  else if (calls) parts.push(`${count(data.samples)} calls, every one counted`, `${nanos(data.spanNs)}`,
    `${threads.length} thread${threads.length === 1 ? "" : "s"}`, data.timed ? "elapsed time" : "counted without time");
  else parts.push(`${count(data.samples)} samples`, `${duration(data.spanNs / data.unitNs)}`,
    `${threads.length} thread${threads.length === 1 ? "" : "s"}`, `${data.mode === "wall" ? "wall" : "CPU"} time${data.hz ? ` at ${data.hz} Hz` : ""}`);
  if (data.processes > 1) parts.push(`${data.processes} processes`);
  if (data.lost && data.buckets) parts.push(`the time line lacks ${count(data.lost / 2)} of them`);
  if (data.waiting) parts.push(`${percent(data.waiting, data.samples)} waiting`);
  if (sum > whole) parts.push(`${percent(sum - whole, sum)} of stacks incomplete`);
  if (data.pauses.length) parts.push(`${count(data.pauses.length)} pauses of ${duration(data.pauses.reduce((a, p) => a + p[1], 0) * 1000 / data.unitNs)} in all`);
  if (data.dropped) parts.push(`${count(data.dropped)} dropped`);
  if (state.range) parts.push(`showing ${(state.range[0] * data.bucketNs / 1e9).toFixed(2)} to ${((state.range[1] + 1) * data.bucketNs / 1e9).toFixed(2)} s`);
  $("summary").textContent = parts.join(" · ");
  $("summary").title = ends.map(([k, n]) => `${k}: ${count(n)}`).join("\n");
}
function paintFound() {
  $("found").textContent = state.search ? `${count(view.hitCount)} · ${percent(view.hitWeight, view.total[0])}` : "";
}
function refresh() {
  buildView();
  view.everything = selfWeight.reduce((a, b) => a + b, 0);
  pairs = crossingsOf();
  $("empty").hidden = view.total[0] > 0;
  fit();
  if (state.flame) scroller.scrollTop = scroller.scrollHeight;
  win = windowOf(0);
  zoom(0, true);
  refreshTables();
  paintLegend(); paintTime(); paintSummary(); paintFound(); showDetails(-1); showTip(-1);
  for (const b of document.querySelectorAll("[data-kind]")) b.setAttribute("aria-pressed", b.dataset.kind === state.kind);
  $("bythread").setAttribute("aria-pressed", state.byThread);
}
function search(text) {
  state.search = null;
  $("search").classList.remove("bad");
  if (text) {
    try { state.search = new RegExp(text, "i"); }
    catch { state.search = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i"); }
  }
  matchSearch();
  $("search").classList.toggle("bad", Boolean(text) && view.hitWeight === 0);
  paintFound();
  draw();
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
  refresh();
}
for (const b of document.querySelectorAll("[data-kind]")) b.onclick = () => { state.kind = b.dataset.kind; refresh(); };
$("direction").onclick = () => toggle("direction", "flame");
$("bythread").onclick = () => toggle("bythread", "byThread", true);
$("crossings").onclick = () => toggle("crossings", "crossings");
$("reset").onclick = reset;
$("unfilter").onclick = reset;
$("theme").onclick = () => { dark = !dark; repaint(); };
let typing = 0;
$("search").oninput = (e) => { clearTimeout(typing); typing = setTimeout(() => search(e.target.value), 90); };
$("search").onkeydown = (e) => { if (e.key === "Escape") { e.target.value = ""; search(""); canvas.focus(); } e.stopPropagation(); };
canvas.onmousemove = (e) => {
  const i = hitTest(e.offsetX, e.offsetY);
  if (i !== hover) { hover = i; draw(); showDetails(i); }
  showTip(i, e.clientX, e.clientY);
};
canvas.onmouseleave = () => { hover = -1; draw(); showTip(-1); showDetails(-1); };
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
document.onkeydown = (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "/") { e.preventDefault(); $("search").focus(); }
  else if (e.key === "Escape") { if (state.zoom) zoom(0); else reset(); }
  else if (e.key === "i") $("direction").click();
  else if (e.key === "t") $("bythread").click();
  else if (e.key === "x") $("crossings").click();
  else if (e.key >= "1" && e.key <= "3") show(["graph", "tree", "functions"][e.key - 1]);
  else if (document.activeElement === canvas && e.key.startsWith("Arrow")) { e.preventDefault(); move(e.key); }
  else if (document.activeElement === canvas && e.key === "Enter") zoom(state.focus);
};
window.onresize = () => { paintTime(); if (state.view === "graph") { fit(); draw(); } else paintRows(); };

const preferred = matchMedia("(prefers-color-scheme: dark)");
dark = preferred.matches;
preferred.onchange = () => { dark = preferred.matches; repaint(); };
function repaint() {
  paintTheme(); paintLegend(); paintTime();
  if (state.view === "graph") draw();
  else { paintRows(); showFunction(table_.frame); }
}
$("title").textContent = before ? `Difference: ${data.title}` : data.title;
$("bythread").hidden = Boolean(before);
document.querySelector("[aria-label=Frames]").hidden = calls; // all of them are managed
document.title = `${data.title} · sxsprof`;
paintTheme();
refresh();
document.documentElement.dataset.ready = "1";
})();

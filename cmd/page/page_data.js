// SPDX-License-Identifier: MIT
// Part of page.js, inserted by embed.py: decodes the data; names, colours and numbers as text.

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
    if (costs && !timed) selfWeight[i] = selfCount[i];
    if (p < 0) {
      threadOf[i] = rootThread.get(i);
      flagsOf[i] = threads[threadOf[i]][5];
    } else {
      const f = frames[frameOf[i]];
      threadOf[i] = threadOf[p];
      flagsOf[i] = flagsOf[p] | f[4];
      mask[i] = flagsOf[i] & OWN ? 0 : mask[p] | ownerBit(f[2]);
    }
    stack.push(i);
  }
  data.nodes = "";
})();
function ownerBit(runtime) { return runtime ? (1 << Math.min(runtime, 31)) >>> 0 : 1; } // bit 0: native

let line = null; // the time line, decoded at its first use
function timeline() {
  if (line) return line;
  const bucket = [], node = [], count = [], weight = [], r = reader(data.timeline);
  for (let b = 0; r.more();) {
    b += r.next(); bucket.push(b); node.push(r.next());
    const n = r.next(), w = r.next();
    count.push(n); weight.push(costs && !timed ? n : w);
  }
  data.timeline = "";
  line = { bucket: Uint32Array.from(bucket), node: Uint32Array.from(node),
    count: Float64Array.from(count), weight: Float64Array.from(weight) };
  return line;
}
const before = data.before ? (() => { // in a difference: each node's weight in the older session
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
    nameCache[f] = v[4] & WAIT ? strings[v[0]] : v[4] & TYPE ? `[${v[2] ? runtimes[v[2] - 1][1] : "native"}] ${strings[v[0]]} (type)` : v[4] & OWN ? strings[v[0]] : v[2] ? `[${runtimes[v[2] - 1][1]}] ${strings[v[0]]}`
      : `[native] ${baseName(strings[v[1]])}!${strings[v[0]]}`;
  }
  return nameCache[f];
}
function shortName(f) { // for boxes: the colour already shows the owner
  const v = frames[f], name = strings[v[0]];
  return v[2] ? name : name === "?" ? `${baseName(strings[v[1]])}` : `${name}`;
}
// Owners of frames: 0 native, from 1 on runtimes, then GC and JIT code, and the profiler's own
// work.
const HUES = [214, 158, 28, 276, 338, 186, 52, 246, 100, 6];
const OWNER_GC = -1, OWNER_JIT = -2, OWNER_SELF = -3;
function ownerOfFrame(f) {
  const v = frames[f];
  return v[4] & OWN ? OWNER_SELF : v[2] ? v[2] : v[4] & GC ? OWNER_GC : v[4] & JIT ? OWNER_JIT : 0;
}
function ownerOfNode(i) {
  if (flagsOf[i] & OWN) return OWNER_SELF;
  if (flagsOf[i] & GC) return OWNER_GC;
  if (flagsOf[i] & JIT) return OWNER_JIT;
  return parent[i] < 0 ? 0 : frames[frameOf[i]][2];
}
const sameVersion = (v) => runtimes.filter((r) => r[1] === v).length > 1;
function ownerName(o) {
  if (o === OWNER_GC) return "GC";
  if (o === OWNER_JIT) return "JIT";
  if (o === OWNER_SELF) return "sxsprof itself";
  if (o === 0) return "native";
  const r = runtimes[o - 1];
  return sameVersion(r[1]) ? `${r[1]} (${r[0]})` : r[1];
}
let dark = false;
function ownerColor(o, shade = 0) {
  const l = (light, night) => (dark ? night : light) + shade * (dark ? 7 : 8);
  if (o === OWNER_GC) return `hsl(354 ${dark ? 58 : 74}% ${l(70, 52)}%)`;
  if (o === OWNER_JIT) return `hsl(46 ${dark ? 66 : 88}% ${l(66, 50)}%)`;
  if (o === OWNER_SELF) return `hsl(200 4% ${l(60, 46)}%)`;
  if (o === 0) return `hsl(${dark ? 222 : 32} ${dark ? 9 : 12}% ${l(80, 37)}%)`;
  const hue = HUES[(o - 1) % HUES.length];
  return `hsl(${hue} ${dark ? 50 : 70}% ${l(71, 47)}%)`;
}
function shadeOf(f) { // -0.5..0.5, always the same for a name; types of objects are lighter than functions
  const s = strings[frames[f][0]];
  if (frames[f][4] & TYPE) return 1.4;
  let h = 7;
  for (let i = 0; i < s.length && s[i] !== "("; i++) h = (h * 31 + s.charCodeAt(i)) | 0;
  return ((h >>> 8) % 17) / 16 - 0.5;
}
let colorCache = [];
function frameColor(f) {
  return colorCache[f] || (colorCache[f] = ownerColor(ownerOfFrame(f), shadeOf(f)));
}

// ---- numbers ----------------------------------------------------------------------------------
function duration(units) {
  if (!timed) return `${count(units)} ${unit(units)}`;
  if (data.unit === "bytes") return bytesText(units);
  if (costs) return units ? nanos(units) : "0";
  const s = units * data.unitNs / 1e9;
  if (!s) return "0";
  if (s < 1e-6) return `${Math.round(s * 1e9)} ns`;
  if (s < 1e-4) return `${(s * 1e6).toFixed(1)} µs`;
  return s >= 100 ? `${s.toFixed(0)} s` : s >= 1 ? `${s.toFixed(2)} s` : s >= 1e-3 ? `${(s * 1e3).toFixed(s >= 0.1 ? 0 : 1)} ms` : `${(s * 1e6).toFixed(0)} µs`;
}

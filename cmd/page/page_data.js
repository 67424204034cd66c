// SPDX-License-Identifier: MIT
// The tree of stacks; names, colors and numbers as text.
import { hslOf } from "./colors.js";
import { decodeColumn, decodeLine, decodeTree } from "./decode.js";
import { bytesText, count } from "./numbers.js";
import { GC, JIT, OWN, TYPE, WAIT, costs, data, frames, runtimes, strings, timed, unit } from "./page_model.js";
import { nanos } from "./page_tables.js";
import { dark } from "./theme.js";

export let N = 0; // nodes; and columns by node:
export let after, parent, frameOf, threadOf, selfCount, selfWeight, tiersOf, mask, flagsOf;
export let weightOfAll = 0;
export let before = null; // in a difference: each node's weight in the older session
export let line = null; // the time line, decoded at its first use
export function useTree() {
  N = data.nNodes;
  ({ after, parent, frameOf, threadOf, selfCount, selfWeight, tiersOf, mask, flagsOf } = decodeTree(data, costs && !timed));
  weightOfAll = selfWeight.reduce((a, b) => a + b, 0);
  before = data.before ? decodeColumn(data.before, N) : null;
  data.nodes = "";
  line = null;
  nameCache = [];
  colorCache = { light: [], dark: [] };
}
export function timeline() {
  if (line) return line;
  line = decodeLine(data.timeline, costs && !timed);
  data.timeline = "";
  return line;
}

// ---- names, owners, colors -------------------------------------------------------------------
const baseName = (p) => p.slice(p.lastIndexOf("/") + 1);
let nameCache = [];
export function frameName(f) {
  if (nameCache[f] === undefined) {
    const v = frames[f];
    nameCache[f] = v[4] & WAIT ? strings[v[0]] : v[4] & TYPE ? `[${v[2] ? runtimes[v[2] - 1][1] : "native"}] ${strings[v[0]]} (type)` : v[4] & OWN ? strings[v[0]] : v[2] ? `[${runtimes[v[2] - 1][1]}] ${strings[v[0]]}`
      : `[native] ${baseName(strings[v[1]])}!${strings[v[0]]}`;
  }
  return nameCache[f];
}
export function shortName(f) { // for boxes: the colour already shows the owner
  const v = frames[f], name = strings[v[0]];
  return v[2] ? name : name === "?" ? `${baseName(strings[v[1]])}` : `${name}`;
}
// Owners of frames: 0 native, from 1 on runtimes, then GC and JIT code, and the profiler's own
// work.
const HUES = [214, 158, 28, 276, 338, 186, 52, 246, 100, 6];
export const OWNER_GC = -1, OWNER_JIT = -2, OWNER_SELF = -3;
export function ownerOfFrame(f) {
  const v = frames[f];
  return v[4] & OWN ? OWNER_SELF : v[2] ? v[2] : v[4] & GC ? OWNER_GC : v[4] & JIT ? OWNER_JIT : 0;
}
export function ownerOfNode(i) {
  if (flagsOf[i] & OWN) return OWNER_SELF;
  if (flagsOf[i] & GC) return OWNER_GC;
  if (flagsOf[i] & JIT) return OWNER_JIT;
  return parent[i] < 0 ? 0 : frames[frameOf[i]][2];
}
const sameVersion = (v) => runtimes.filter((r) => r[1] === v).length > 1;
export function ownerName(o) {
  if (o === OWNER_GC) return "GC";
  if (o === OWNER_JIT) return "JIT";
  if (o === OWNER_SELF) return "sxsprof itself";
  if (o === 0) return "native";
  const r = runtimes[o - 1];
  return sameVersion(r[1]) ? `${r[1]} (${r[0]})` : r[1];
}
export function ownerColor(o, shade = 0) {
  return dark ? nightColor(o, shade) : dayColor(o, shade);
}
function dayColor(o, shade) {
  const hsl = (hue, saturation, lightness) => `hsl(${hue} ${saturation}% ${lightness + shade * 8}%)`;
  if (o === OWNER_GC) return hsl(354, 74, 70);
  if (o === OWNER_JIT) return hsl(46, 88, 66);
  if (o === OWNER_SELF) return hsl(200, 4, 60);
  return o === 0 ? hsl(32, 12, 80) : hsl(HUES[(o - 1) % HUES.length], 70, 71);
}
function nightColor(o, shade) { // all about equally bright: dark enough for white text, and brighter than the page
  const hsl = (hue, saturation) => hslOf(hue, saturation, Math.min(0.18, 0.14 * (1 + 0.28 * shade)));
  if (o === OWNER_GC) return hsl(354, 58);
  if (o === OWNER_JIT) return hsl(46, 72);
  if (o === OWNER_SELF) return hsl(200, 4);
  return o === 0 ? hsl(222, 9) : hsl(HUES[(o - 1) % HUES.length], 50);
}
function shadeOf(f) { // -0.5..0.5, always the same for a name; types of objects are lighter than functions
  const s = strings[frames[f][0]];
  if (frames[f][4] & TYPE) return 1.4;
  let h = 7;
  for (let i = 0; i < s.length && s[i] !== "("; i++) h = (h * 31 + s.charCodeAt(i)) | 0;
  return ((h >>> 8) % 17) / 16 - 0.5;
}
let colorCache = { light: [], dark: [] };
export function frameColor(f) {
  const known = dark ? colorCache.dark : colorCache.light;
  return known[f] || (known[f] = ownerColor(ownerOfFrame(f), shadeOf(f)));
}

// ---- numbers ----------------------------------------------------------------------------------
export function duration(units) {
  if (!timed) return `${count(units)} ${unit(units)}`;
  if (data.unit === "bytes") return bytesText(units);
  if (costs) return units ? nanos(units) : "0";
  const s = units * data.unitNs / 1e9;
  if (!s) return "0";
  if (s < 1e-6) return `${Math.round(s * 1e9)} ns`;
  if (s < 1e-4) return `${(s * 1e6).toFixed(1)} µs`;
  return s >= 100 ? `${s.toFixed(0)} s` : s >= 1 ? `${s.toFixed(2)} s` : s >= 1e-3 ? `${(s * 1e3).toFixed(s >= 0.1 ? 0 : 1)} ms` : `${(s * 1e6).toFixed(0)} µs`;
}

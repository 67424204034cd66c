// SPDX-License-Identifier: MIT
// The strip that shows the whole recording with the window
// in it, and the axis.
import { covered, rowRange } from "./columns.js";
import { strings } from "./page_model.js";
import { nanos } from "./page_tables.js";
import { L, tl } from "./page_timeline_data.js";
import { LABEL, TOP_H, ink, ox, plotW, shows, stopColor, tlW, xOf } from "./page_timeline_draw.js";
import { theme } from "./theme.js";

function niceStep(span, most) { // 1, 2 or 5 times a power of ten
  const raw = span / most, ten = Math.pow(10, Math.floor(Math.log10(raw)));
  return (raw <= ten ? 1 : raw <= 2 * ten ? 2 : raw <= 5 * ten ? 5 : 10) * ten;
}
function axisText(ns, step) { // as many digits as the step needs
  const [unit, name] = tl.b >= 1e9 && step >= 1e6 ? [1e9, "s"] : step >= 1e5 || tl.b >= 1e8 ? [1e6, "ms"] : [1e3, "µs"];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  return `${(ns / unit).toFixed(Math.min(digits, 9))} ${name}`;
}
function eachGrid(f) {
  const step = Math.max(1, niceStep(tl.b - tl.a, plotW() / 110));
  for (let t = Math.ceil(tl.a / step) * step; t <= tl.b; t += step) f(t, step);
}
export function gridLines(c, y, h) {
  c.fillStyle = theme.line;
  c.globalAlpha = 0.6;
  eachGrid((t) => c.fillRect(Math.round(xOf(t)), y, 1, h));
  c.globalAlpha = 1;
}

// How busy each part of the recording was: time in calls, else samples, else compilations and
// lifetimes of threads.
export const MAP_Y = 4, MAP_H = 32;
const mapX = (t) => LABEL + t / L.spanNs * plotW();
export const mapTime = (x) => Math.max(0, Math.min(L.spanNs, (x - LABEL) / plotW() * L.spanNs));
let busyCache;
function busyness(columns) {
  if (busyCache && busyCache.length === columns) return busyCache;
  const sum = new Float64Array(columns), cell = L.spanNs / columns;
  const add = (from, to, weight) => {
    for (let c = Math.max(0, Math.floor(from / cell)); c < columns && c * cell < to; c++)
      sum[c] += weight * (Math.min(to, (c + 1) * cell) - Math.max(from, c * cell)) / cell;
  };
  const anyCalls = tl.counts.calls > 0;
  for (const lane of tl.threads) {
    if (lane.calls) for (let c = 0, [from, to] = rowRange(lane.calls, 0); c < columns; c++) sum[c] += covered(lane.calls, from, to, c * cell, (c + 1) * cell) / cell;
    if (!anyCalls && lane.ticks) for (let i = 0; i < lane.ticks.n; i++) sum[Math.min(columns - 1, Math.floor(lane.ticks.time[i] / cell))] += 1;
    if (!anyCalls && !tl.counts.samples) {
      for (const i of lane.jit) add(tl.spans.start[i], tl.spans.start[i] + tl.spans.dur[i], 1);
      for (const [from, to] of lane.lives) add(from, to, 0.08);
    }
  }
  for (let c = 0; !anyCalls && c < columns; c += 5) { // average out the sampling period
    const part = sum.subarray(c, c + 5), mean = part.reduce((a, b) => a + b, 0) / part.length;
    part.fill(mean);
  }
  const most = Math.max(...sum, 1e-9);
  busyCache = sum.map((v) => Math.sqrt(v / most));
  return busyCache;
}

export function drawTop() {
  ox.clearRect(0, 0, tlW, TOP_H);
  ox.fillStyle = theme.panel; ox.fillRect(0, 0, tlW, TOP_H);
  const w = Math.round(plotW()), busy = busyness(w), base = MAP_Y + MAP_H;
  ox.fillStyle = theme.accent;
  ox.globalAlpha = 0.35;
  for (let c = 0; c < w; c++) if (busy[c]) ox.fillRect(LABEL + c, base - busy[c] * (MAP_H - 8), 1, busy[c] * (MAP_H - 8));
  ox.globalAlpha = 1;
  let last = -1; // draw only one mark per pixel
  if (shows("stops")) for (const g of tl.groups) for (const i of g.stops) {
    const x = mapX(tl.spans.start[i]), wide = tl.spans.dur[i] / L.spanNs * w;
    if (wide < 1 && (x | 0) === last) continue;
    last = x | 0;
    ox.fillStyle = stopColor(i);
    ox.fillRect(x, base - 4, Math.max(1, wide), 4);
  }
  if (shows("exceptions")) {
    ox.fillStyle = ink.thrown();
    for (const x of L.exceptions) ox.fillRect(mapX(x[0]) - 0.5, MAP_Y, strings[x[8]] === "unhandled" ? 3 : 1.2, 5);
  }
  if (tl.sel) {
    ox.fillStyle = theme.select;
    ox.fillRect(mapX(tl.sel[0]), MAP_Y, Math.max(2, mapX(tl.sel[1]) - mapX(tl.sel[0])), MAP_H);
  }
  const a = mapX(tl.a), b = mapX(tl.b); // the window: the parts outside it are dimmed
  ox.fillStyle = theme.panel; ox.globalAlpha = 0.62;
  ox.fillRect(LABEL, MAP_Y, a - LABEL, MAP_H); ox.fillRect(b, MAP_Y, LABEL + w - b, MAP_H);
  ox.globalAlpha = 1;
  ox.strokeStyle = theme.soft; ox.lineWidth = 1;
  ox.strokeRect(a + 0.5, MAP_Y + 0.5, Math.max(2, b - a - 1), MAP_H - 1);
  ox.font = `11px ${theme.sans}`; ox.textBaseline = "middle";
  eachGrid((t, step) => {
    const x = Math.round(xOf(t)), text = axisText(t, step);
    ox.fillStyle = theme.line; ox.fillRect(x, base + 6, 1, TOP_H - base - 6);
    ox.fillStyle = theme.soft;
    if (x + 4 + ox.measureText(text).width < tlW) ox.fillText(text, x + 4, base + 15);
  });
  ox.fillStyle = theme.soft;
  ox.fillText(tl.b - tl.a >= L.spanNs ? `${nanos(L.spanNs)} in all` : `${nanos(tl.b - tl.a)} of ${nanos(L.spanNs)}`, 12, base + 15);
  ox.fillStyle = theme.line; ox.fillRect(0, TOP_H - 1, tlW, 1); ox.fillRect(LABEL - 1, 0, 1, TOP_H);
}

// Starts again with new data: drops all state of the old data.
export function startTimelineTop() {
  busyCache = null;
}

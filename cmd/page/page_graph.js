// SPDX-License-Identifier: MIT
// The flame graph, and the details of a box.
import { clip } from "./clip.js";
import { HIT_COLOR, inkOn } from "./colors.js";
import { $, canvasOf, el } from "./dom.js";
import { count, percent } from "./numbers.js";
import { both } from "./page_costs.js";
import { before, duration, frameColor, ownerColor, ownerName, ownerOfFrame } from "./page_data.js";
import { TIERS, calls, costs, data, frames, strings, unit } from "./page_model.js";
import { latency, nanos } from "./page_tables.js";
import { fullName, label, ownerOfView, state, view } from "./page_view.js";
import { dark, theme } from "./theme.js";

const ROW = 19, MIN_PX = 0.35;
// ---- the graph --------------------------------------------------------------------------------
export const canvas = canvasOf("graph"), ctx = canvas.getContext("2d"), scroller = $("scroll");
export let width, height, win, anim, hover;
const windowOf = (i) => [view.x[i], view.x[i] + Math.max(view.total[i], 1e-9)];
export const rowTop = (d) => state.flame ? (view.maxDepth - d) * ROW : d * ROW;

export function fit() {
  const ratio = window.devicePixelRatio || 1, space = $("space");
  width = scroller.clientWidth; height = scroller.clientHeight;
  space.style.height = `${Math.max((view.maxDepth + 1) * ROW + 4, height)}px`;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
}
function offset() { // the bottom row is at the bottom edge when a flame is lower than the window
  const extra = state.flame ? Math.max(0, height - (view.maxDepth + 1) * ROW - 4) : 0;
  return extra - scroller.scrollTop;
}

export function draw() {
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
      if (view.total[c] * scale < MIN_PX) break; // children are sorted by weight: the rest is smaller
      todo.push(c);
    }
  }
  canvas.dataset.shown = String(view.shown);
  if (before) canvas.dataset.changed = Array.from(view.change, (v, i) => v ? `${v > 0 ? "+" : "-"}${label(i)}` : "").filter(Boolean).slice(0, 100).join("\n");
}

function sharesOf(i) { // in a difference: of time by shares of each session; of bytes and waits by what they are
  const most = Math.max(view.total[0], view.old[0]) || 1;
  return costs ? [view.total[i] / most, view.old[i] / most] : [view.total[i] / (view.total[0] || 1), view.old[i] / (view.old[0] || 1)];
}
function colorOf(i) {
  if (i === 0 || view.frame[i] < 0) return theme.line;
  if (!before) return frameColor(view.frame[i]);
  const [now, was] = sharesOf(i);
  if (!view.change[i]) return `hsl(40 8% ${dark ? 33 : 88}%)`;
  const d = Math.max(-1, Math.min(1, (now - was) / Math.max(now, was, 1e-9) * 1.4));
  const size = Math.min(1, Math.abs(now - was) * 60); // keep small boxes pale, because their shares vary most
  const s = Math.abs(d) * (0.35 + 0.65 * size);
  return d > 0 ? `hsl(4 ${Math.round(10 + 75 * s)}% ${Math.round(dark ? 33 + 15 * s : 88 - 24 * s)}%)`
    : `hsl(216 ${Math.round(10 + 70 * s)}% ${Math.round(dark ? 33 + 19 * s : 88 - 22 * s)}%)`;
}

function box(i, x, y, w, charWidth) {
  const left = Math.max(x, 0), right = Math.min(x + w, width), h = ROW - 1;
  const gap = w > 4 ? 1 : 0, bw = Math.max(right - left - gap, 0.5);
  const faded = (view.hit && !view.hit[i]) || (state.crossings && !view.crosses[i] && i !== 0);
  view.shown++;
  const color = view.hit && view.hit[i] ? HIT_COLOR : colorOf(i);
  ctx.globalAlpha = faded ? 0.28 : 1;
  ctx.fillStyle = color;
  if (w > 8) { ctx.beginPath(); ctx.roundRect(left, y, bw, h, 3); ctx.fill(); }
  else ctx.fillRect(left, y, bw, h);
  if (view.crosses[i] && w > 1.5) { // the edge towards the caller has the caller's colour
    ctx.globalAlpha = 1;
    ctx.fillStyle = theme.text;
    ctx.fillRect(left, state.flame ? y + h - 3 : y, bw, 3);
    ctx.fillStyle = ownerColor(view.crosses[i], dark ? 1 : -1.6);
    ctx.fillRect(left, state.flame ? y + h - 2 : y, bw, 2);
  }
  if (bw > charWidth * 3) {
    ctx.globalAlpha = 1;
    ctx.fillStyle = faded ? theme.faint : i === 0 || view.frame[i] < 0 ? theme.text : inkOn(color, dark);
    const room = Math.floor((bw - 8) / charWidth);
    ctx.fillText(clip(label(i), room), left + 5, y + h / 2 + 0.5);
  }
  ctx.globalAlpha = 1;
  if (i === hover || i === state.focus && document.activeElement === canvas) {
    ctx.strokeStyle = theme.text; ctx.lineWidth = 1.5;
    ctx.strokeRect(left + 0.75, y + 0.75, Math.max(bw - 1.5, 0.5), h - 1.5);
  }
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

export function zoom(i, still) {
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

export function showAll() {
  win = windowOf(0);
  zoom(0, true);
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
const tierText = (bits) => TIERS.filter((_, t) => bits & (1 << t)).join(", ");
function facts(i) {
  const f = view.frame[i], all = view.total[0], out = { name: fullName(i) };
  out.total = `${percent(view.total[i], all)} · ${costs ? both(view.total[i], view.count[i]) : `${duration(view.total[i])} · ${count(view.count[i])} ${unit(view.count[i])}`}`;
  out.self = `${percent(view.self[i], all)} · ${duration(view.self[i])}`;
  if (f >= 0) {
    const v = frames[f];
    out.file = strings[v[1]];
    if (v[5]) out.source = `${strings[v[5]]}${v[6] ? ":" + v[6] : ""}`;
    if (v[2] && !calls && !costs) {
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
    const [now, was] = sharesOf(i);
    out.change = costs ? `${duration(view.old[i])} before, ${duration(view.total[i])} now: ${now >= was ? "+" : "−"}${duration(Math.abs(view.total[i] - view.old[i]))}`
      : `${(was * 100).toFixed(2)} % before, ${(now * 100).toFixed(2)} % now: ${now >= was ? "+" : "−"}${Math.abs((now - was) * 100).toFixed(2)} points`;
  }
  return out;
}
export function showDetails(i) {
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
export function showTip(i, x, y) {
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
  placeTip(x, y);
}
export function placeTip(x, y) {
  const tip = $("tip");
  tip.hidden = false;
  const box_ = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(6, Math.min(x + 14, innerWidth - box_.width - 8))}px`;
  tip.style.top = `${y + 20 + box_.height > innerHeight ? Math.max(6, y - box_.height - 12) : y + 18}px`;
}

// ---- mouse and keys ----------------------------------------------------------------------------
export let pointer;
export const zoomOrBack = (i) => { showTip(-1); zoom(i === state.zoom && i ? view.parent[i] : i); };
export function move(key) {
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
  const box = canvas.getBoundingClientRect(), x = (view.x[to] - win[0]) / (win[1] - win[0]) * width;
  showTip(to, box.left + Math.max(0, Math.min(width, x)), box.top + y + offset());
}

// Starts again with new data: drops all state of the old data.
export function startGraph() {
  width = 0; height = 0; win = [0, 1]; anim = 0; hover = -1;
  pointer = null;
  canvas.onmousemove = (e) => {
    const i = hitTest(e.offsetX, e.offsetY);
    if (i !== hover) { hover = i; draw(); showDetails(i); }
    showTip(i, e.clientX, e.clientY);
    pointer = { offsetX: e.offsetX, offsetY: e.offsetY, clientX: e.clientX, clientY: e.clientY };
  };
  canvas.onmouseleave = () => { pointer = null; hover = -1; draw(); showTip(-1); showDetails(-1); };
  canvas.onclick = (e) => { const i = hitTest(e.offsetX, e.offsetY); if (i >= 0) zoomOrBack(i); };
  canvas.onfocus = () => draw();
  canvas.onblur = () => { showTip(-1); draw(); };
  scroller.onscroll = () => draw();
}

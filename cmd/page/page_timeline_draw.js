// SPDX-License-Identifier: MIT
// Draws the timeline. Items narrower than a pixel are joined
// with their neighbours, so that the cost of a redraw depends on the number of pixels, not of
// events.
import { clip, fitMiddle } from "./clip.js";
import { HIT_COLOR, inkOn } from "./colors.js";
import { covered, lower, rowRange } from "./columns.js";
import { $, canvasOf } from "./dom.js";
import { counted } from "./numbers.js";
import { OWNER_GC, OWNER_JIT, frameColor, ownerColor, ownerName, ownerOfNode, shortName } from "./page_data.js";
import { frames, strings } from "./page_model.js";
import { KINDS, L, groupsOfLane, tl } from "./page_timeline_data.js";
import { POOL_H, drawPool, labelPool } from "./page_timeline_pool.js";
import { drawTop, gridLines } from "./page_timeline_top.js";
import { state } from "./page_view.js";
import { dark, theme } from "./theme.js";

// ---- positions --------------------------------------------------------------------------------
export const tlCanvas = canvasOf("tlcanvas"), tx = tlCanvas.getContext("2d"), tlScroll = $("tlscroll");
export const tlTop = canvasOf("tltop"), ox = tlTop.getContext("2d");
export const LABEL = 218, CALL_H = 15, FLAT_H = 3, FLAT_ROWS = 6, SOME_ROWS = 8, EVENT_H = 12, TICK_H = 8, PAD = 4, HEAD_H = 34, TOP_H = 62;
export let tlW, tlH, tlHeight;
export const plotW = () => Math.max(10, tlW - LABEL - 6);
export const xOf = (t) => LABEL + (t - tl.a) / (tl.b - tl.a) * plotW();
export const timeAt = (x) => tl.a + (x - LABEL) / plotW() * (tl.b - tl.a);
export const shows = (kind) => !tl.hide.has(kind);

function laneShown(lane) {
  if (lane.type === "runtime") return state.owner === null || state.owner <= 0 || lane.runtime === state.owner;
  return !(lane.group || {}).folded && (!state.threads || state.threads.has(lane.index)) &&
    (state.owner === null || state.owner <= 0 || groupsOfLane(lane).some((g) => g.runtime === state.owner));
}
export function placeLanes() { // tops and heights; order of rows in a lane: events, samples, calls
  let y = 0;
  for (const g of tl.groups) for (const lane of g.threads) lane.group = g;
  for (const lane of tl.lanes) {
    lane.y = y;
    lane.h = 0;
    if (!laneShown(lane)) continue;
    if (lane.type === "runtime") { lane.h = HEAD_H + (lane.pool && shows("pool") ? POOL_H : 0); y += lane.h; continue; }
    let at = PAD;
    lane.events = at;
    at += EVENT_H + 2;
    lane.tickY = at;
    if (lane.ticks && shows("samples")) at += TICK_H + 2;
    lane.callY = at;
    lane.callRows = lane.calls && shows("calls") ? Math.min(lane.calls.rows, [FLAT_ROWS, SOME_ROWS, Infinity][lane.open]) : 0;
    at += lane.callRows * (lane.open ? CALL_H : FLAT_H);
    lane.more = lane.callRows > 0 && lane.open === 1 && lane.calls.rows > SOME_ROWS;
    lane.h = Math.max(at + PAD, 22);
    y += lane.h;
  }
  tlHeight = y;
  $("tlspace").style.height = `${Math.max(y, tlScroll.clientHeight)}px`;
}
function sizeCanvas(canvas, c, w, h) {
  const ratio = window.devicePixelRatio || 1;
  canvas.style.height = `${h}px`;
  canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
}
export function fitTimeline() {
  tlW = tlScroll.clientWidth; tlH = tlScroll.clientHeight;
  sizeCanvas(tlCanvas, tx, tlW, tlH);
  sizeCanvas(tlTop, ox, tlW, TOP_H);
}

// ---- colours ----------------------------------------------------------------------------------
export const ink = { thrown: () => dark ? "#ff6369" : "#c51f35", load: () => dark ? "#5bb8c9" : "#2b8a9d",
  classes: () => dark ? "#64748b" : "#94a3b8", other: () => dark ? "#9a8cc9" : "#8b7bc4",
  pool: () => dark ? "#4ade80" : "#166e35", queue: () => dark ? "#fbbf24" : "#984506" };
const gcReason = (a) => a === 1 || a === 7; // COR_PRF_SUSPEND_FOR_GC and COR_PRF_SUSPEND_FOR_GC_PREP
export const jitColor = (tier) => ownerColor(OWNER_JIT, dark ? [0, -1, 1.4, 1][tier] ?? 0 : [0, 0.6, -1.8, -1][tier] ?? 0);
export const stopColor = (i) => gcReason(tl.spans.a[i]) ? ownerColor(OWNER_GC, dark ? 1 : -1) : ink.other();
const spanHit = (i) => tl.hitText && tl.hitText[tl.spans.text[i]];
export const thrownHit = (x) => tl.hitText && (tl.hitText[x[4]] || tl.hitText[x[5]] || tl.hitText[x[6]] || tl.hitText[x[7]]);

// ---- the whole timeline -----------------------------------------------------------------------
export let tlAnim;
export function drawSoon() { if (!tlAnim) tlAnim = requestAnimationFrame(() => { tlAnim = 0; drawTimeline(); }); }
export function drawTimeline() {
  if (!tl || state.view !== "timeline") return;
  const began = performance.now();
  tl.shown = 0;
  tx.clearRect(0, 0, tlW, tlH);
  tx.textBaseline = "middle";
  const top = tlScroll.scrollTop;
  gridLines(tx, 0, tlH);
  for (const lane of tl.lanes) {
    if (!lane.h || lane.y + lane.h < top || lane.y > top + tlH) continue;
    const y = lane.y - top;
    tx.save();
    tx.beginPath(); tx.rect(LABEL, y, plotW() + 6, lane.h); tx.clip();
    if (lane.type === "runtime") drawRuntime(lane, y); else drawThread(lane, y);
    tx.restore();
    drawLabel(lane, y);
    tx.fillStyle = theme.line;
    tx.fillRect(0, y + lane.h - 1, tlW, 1);
  }
  drawSelection(tx, 0, tlH);
  drawTop();
  tlCanvas.dataset.shown = tl.shown;
  tlCanvas.dataset.lanes = tl.lanes.filter((l) => l.type === "thread" && l.h).length;
  tlCanvas.dataset.ms = (performance.now() - began).toFixed(1);
  tlCanvas.dataset.window = `${tl.a} ${tl.b}`;
}
function drawSelection(c, y, h) {
  if (!tl.sel) return;
  const a = xOf(tl.sel[0]), b = xOf(tl.sel[1]);
  c.save();
  c.beginPath(); c.rect(LABEL, y, plotW() + 6, h); c.clip();
  c.fillStyle = theme.select; c.fillRect(a, y, Math.max(1, b - a), h);
  c.fillStyle = theme.accent; c.fillRect(a - 1, y, 2, h); c.fillRect(b - 1, y, 2, h);
  c.restore();
}
function drawLabel(lane, y) {
  const group = lane.type === "runtime", mid = group ? y + HEAD_H / 2 : y + 12;
  tx.fillStyle = group ? theme.band : theme.panel;
  tx.fillRect(0, y, LABEL - 1, lane.h);
  tx.fillStyle = theme.line; tx.fillRect(LABEL - 1, y, 1, lane.h);
  tx.font = group ? `600 12.5px ${theme.sans}` : `12px ${theme.sans}`;
  tx.fillStyle = theme.soft;
  const twist = group ? (lane.folded ? "▸" : "▾") : lane.calls && shows("calls") ? ["▸", "▾", "▾"][lane.open] : "";
  if (twist) tx.fillText(twist, group ? 8 : 20, mid);
  if (group) {
    tx.fillStyle = ownerColor(lane.runtime || 0, dark ? 0.5 : -0.5);
    tx.beginPath(); tx.roundRect(23, mid - 5, 10, 10, 3); tx.fill();
  }
  if (document.activeElement === tlCanvas && (tl.chosen ? tl.chosen.lane : tl.lane) === lane) {
    tx.strokeStyle = theme.accent; tx.lineWidth = 2;
    tx.strokeRect(2, y + 1, LABEL - 5, lane.h - 3);
  }
  const side = group ? (L.processes.length > 1 ? `pid ${L.processes[lane.process][0]}` : counted(lane.threads.length, "thread")) : `${lane.tid}`;
  tx.font = `11px ${theme.sans}`;
  const room = tx.measureText(side).width;
  tx.textAlign = "right"; tx.fillStyle = theme.soft; tx.fillText(side, LABEL - 9, mid); tx.textAlign = "left";
  tx.font = group ? `600 12.5px ${theme.sans}` : `12px ${theme.sans}`;
  tx.fillStyle = theme.text;
  tx.fillText(fitMiddle(tx, group ? groupName(lane) : lane.name, LABEL - 54 - room), group ? 39 : 36, mid);
  if (group && lane.h > HEAD_H) labelPool(lane.pool, y + HEAD_H);
  if (lane.more) {
    tx.font = `11px ${theme.sans}`; tx.fillStyle = theme.soft;
    tx.fillText(`${SOME_ROWS} of ${lane.calls.rows} levels ▸`, 36, y + lane.h - 12);
  }
}
export const groupName = (g) => g.runtime ? `.NET ${ownerName(g.runtime)}` : "no runtime";

// ---- a runtime: suspensions and collections ---------------------------------------------------
function drawRuntime(g, y) {
  tx.fillStyle = theme.band;
  tx.fillRect(LABEL, y, plotW() + 6, g.h);
  if (shows("stops")) spanRow(g.stops, y + 5, 11, stopColor, (i) => L.reasons[tl.spans.a[i]] || "stopped");
  if (shows("gcs")) spanRow(g.gcs, y + 17, 11, () => ownerColor(OWNER_GC, dark ? 2 : -2.4), (i) => `gen ${tl.spans.a[i]}${tl.spans.b[i] ? ", induced" : ""}`);
  loadMarks(g.loads, y + 17);
  if (g.h > HEAD_H) drawPool(g.pool, y + HEAD_H);
}
function spanRow(list, y, h, color, text) { // spans are sorted by start; narrow ones are drawn once per pixel
  const s = tl.spans;
  let last = -1;
  for (const i of list) {
    if (s.start[i] > tl.b) break;
    const end = s.start[i] + s.dur[i];
    if (end < tl.a) continue;
    const x0 = Math.max(xOf(s.start[i]), LABEL - 2), x1 = Math.min(xOf(end), tlW + 2), w = x1 - x0, hit = spanHit(i);
    if (w < 1 && (x0 | 0) === last && !hit) continue;
    if (w < 1) last = x0 | 0;
    tl.shown++;
    tx.globalAlpha = tl.hitText && !hit ? 0.3 : 1;
    const box = hit ? HIT_COLOR : color(i);
    tx.fillStyle = box;
    if (w > 5) { tx.beginPath(); tx.roundRect(x0, y, w - 0.5, h, 2.5); tx.fill(); } else tx.fillRect(x0, y, Math.max(w, 1.2), h);
    if (w > 34) inside(text(i), x0, x1, y, h, tl.hitText && !hit ? theme.faint : inkOn(box, dark));
    if (tl.chosen && tl.chosen.span === i) outline(x0, y, w, h);
  }
  tx.globalAlpha = 1;
}
function inside(text, x0, x1, y, h, color) {
  tx.globalAlpha = 1;
  tx.font = `10.5px ${theme.sans}`;
  tx.fillStyle = color;
  const t = clip(text, Math.floor((x1 - x0 - 8) / 5.6));
  if (t) tx.fillText(t, x0 + 4, y + h / 2 + 0.5);
}
function outline(x, y, w, h) {
  tx.globalAlpha = 1;
  tx.strokeStyle = theme.text; tx.lineWidth = 1.6;
  tx.strokeRect(x - 0.8, y - 0.8, Math.max(w, 1.2) + 1.6, h + 1.6);
}

// ---- a thread ---------------------------------------------------------------------------------
function drawThread(lane, y) {
  lane.lives.forEach(([from, to, ended, r], n) => { // the lifetime of the thread; for runtimes other than its own: a line below
    const x0 = xOf(from), x1 = xOf(to), own = !r || r === lane.home;
    if (x1 < LABEL || x0 > tlW) return;
    tx.fillStyle = ownerColor(r || lane.home || 0, dark ? 0 : 0.4);
    tx.globalAlpha = own ? (dark ? 0.2 : 0.22) : 0.9;
    if (!own) { tx.fillRect(x0, y + lane.h - 3 - 2 * (n & 3), Math.max(1.5, x1 - x0), 2); return; }
    tx.fillRect(x0, y + 2, Math.max(1.5, x1 - x0), lane.h - 5);
    tx.globalAlpha = 0.9;
    tx.fillRect(x0, y + 2, 1.5, lane.h - 5);
    if (ended) tx.fillRect(x1 - 1.5, y + 2, 1.5, lane.h - 5);
  });
  tx.globalAlpha = 1;
  if (shows("stops")) drawStops(lane, y);
  if (lane.calls && shows("calls")) for (let d = 0; d < lane.callRows; d++)
    drawCallRow(lane, d, y + lane.callY + d * (lane.open ? CALL_H : FLAT_H));
  if (lane.ticks && shows("samples")) drawTicks(lane.ticks, y + lane.tickY);
  if (shows("jit")) spanRow(lane.jit, y + lane.events + 1, EVENT_H - 3, (i) => jitColor(tl.spans.tier[i]), (i) => strings[tl.spans.text[i]]);
  loadMarks(lane.loads, y + lane.events);
  if (shows("exceptions")) for (const k of lane.thrown) drawThrown(L.exceptions[k], k, y + lane.events);
  tx.globalAlpha = 1;
}
function drawStops(lane, y) { // suspensions of the runtime: across the lanes of its threads, while these exist
  tx.save();
  tx.beginPath();
  for (const [from, to] of lane.lives) tx.rect(xOf(from), y, Math.max(1.5, xOf(to) - xOf(from)), lane.h);
  if (lane.lives.length) tx.clip();
  for (const g of groupsOfLane(lane)) drawBands(g, y, lane.h);
  tx.restore();
}
function drawBands(g, y, h) {
  const s = tl.spans;
  let last = -1;
  for (const i of g.stops) {
    if (s.start[i] > tl.b) break;
    const x0 = xOf(s.start[i]), w = xOf(s.start[i] + s.dur[i]) - x0;
    if (x0 + w < LABEL || (w < 1 && (x0 | 0) === last)) continue;
    last = x0 | 0;
    tx.globalAlpha = w < 1.5 ? 0.2 : dark ? 0.3 : 0.34;
    tx.fillStyle = stopColor(i);
    tx.fillRect(x0, y, Math.max(w, 1), h - 1);
  }
  tx.globalAlpha = 1;
}
function drawTicks(k, y) {
  const px = (tl.b - tl.a) / plotW();
  for (let i = lower(k.time, tl.a - px), n = lower(k.time, tl.b + px); i < n;) {
    const x = xOf(k.time[i]), node = k.node[i] >> 1;
    tl.shown++;
    tx.globalAlpha = k.node[i] & 1 ? 0.45 : 1;
    tx.fillStyle = tl.hitNode && tl.hitNode(node) ? HIT_COLOR : ownerColor(ownerOfNode(node), dark ? 1 : -1.2);
    tx.fillRect(x, y, Math.max(1, Math.min(2, 2 / px * 1e3)), TICK_H);
    i = Math.max(i + 1, lower(k.time, k.time[i] + px * 0.9, i, n));
  }
  tx.globalAlpha = 1;
}
function loadMarks(list, y) {
  const s = tl.spans;
  let last = -9;
  for (const i of list) {
    if (s.start[i] > tl.b) break;
    const module = s.kind[i] === KINDS["module load"];
    if (s.start[i] + s.dur[i] < tl.a || !shows(module ? "modules" : "classes")) continue;
    const x = xOf(s.start[i]), hit = spanHit(i), w = xOf(s.start[i] + s.dur[i]) - x;
    if (!module && x - last < 1.5 && w < 1.5 && !hit) continue;
    last = x;
    tl.shown++;
    tx.globalAlpha = tl.hitText && !hit ? 0.3 : 1;
    tx.fillStyle = hit ? HIT_COLOR : module ? ink.load() : ink.classes();
    tx.fillRect(x, y + EVENT_H - 2, Math.max(w, 1), 2);
    if (module) { tx.beginPath(); tx.moveTo(x, y + EVENT_H); tx.lineTo(x - 4, y + EVENT_H - 8); tx.lineTo(x + 4, y + EVENT_H - 8); tx.fill(); }
    else tx.fillRect(x, y + 6, 1, EVENT_H - 6);
    if (tl.chosen && tl.chosen.span === i) outline(x - 4, y + 3, 8, EVENT_H - 3);
  }
  tx.globalAlpha = 1;
}
function drawThrown(x, k, y) { // a mark at the throw, a line to the handler
  const x0 = xOf(x[0]), x1 = xOf(x[0] + x[1]), hit = thrownHit(x), fatal = strings[x[8]] === "unhandled";
  if (x1 < LABEL - 6 || x0 > tlW + 6) return;
  tl.shown++;
  tx.globalAlpha = tl.hitText && !hit ? 0.3 : 1;
  tx.fillStyle = tx.strokeStyle = hit ? HIT_COLOR : ink.thrown();
  if (x1 - x0 > 2) tx.fillRect(x0, y, x1 - x0, 2);
  const r = fatal ? 6.5 : 4.2, cy = y + 5;
  tx.beginPath(); tx.moveTo(x0, cy - r); tx.lineTo(x0 + r, cy); tx.lineTo(x0, cy + r); tx.lineTo(x0 - r, cy); tx.closePath(); tx.fill();
  tx.strokeStyle = theme.panel; tx.lineWidth = 0.8; tx.stroke();
  if (tl.chosen && tl.chosen.thrown === k) outline(x0 - r, cy - r, 2 * r, 2 * r);
}

// ---- calls ------------------------------------------------------------------------------------
function drawCallRow(lane, d, y) {
  const c = lane.calls, [from, to] = rowRange(c, d), px = (tl.b - tl.a) / plotW(), h = lane.open ? CALL_H - 1 : FLAT_H - 0.6;
  const faded = Boolean(c.hits);
  let i = lower(c.start, tl.a, from, to);
  if (i > from && c.start[i - 1] + c.dur[i - 1] >= tl.a) i--;
  while (i < to && c.start[i] <= tl.b) {
    const wide = c.dur[i] >= px;
    tl.shown++;
    if (wide) { callBox(lane, i, y, h, faded); i++; continue; }
    const cell = Math.floor((c.start[i] - tl.a) / px), a = tl.a + cell * px, next = lower(c.start, a + px, i, to);
    const part = Math.min(1, covered(c, from, to, a, a + px) / px);
    tx.globalAlpha = (faded ? 0.3 : 1) * (0.25 + 0.75 * part);
    tx.fillStyle = frameColor(c.frame[(i + next - 1) >> 1]);
    tx.fillRect(LABEL + cell, y, 1, h);
    // only the last call of this pixel can be longer than the pixel
    i = next - 1 > i && c.dur[next - 1] >= px ? next - 1 : Math.max(next, i + 1);
  }
  if (c.hits) drawHits(lane, c, from, to, y, h, px);
  tx.globalAlpha = 1;
}
function callBox(lane, i, y, h, faded) {
  const c = lane.calls, x0 = Math.max(xOf(c.start[i]), LABEL - 2), x1 = Math.min(xOf(c.start[i] + c.dur[i]), tlW + 2), w = x1 - x0;
  const owner = state.owner !== null && state.owner > 0 && frames[c.frame[i]][2] !== state.owner;
  tx.globalAlpha = faded || owner ? 0.3 : 1;
  tx.fillStyle = frameColor(c.frame[i]);
  if (w > 6 && h > 8) { tx.beginPath(); tx.roundRect(x0, y, w - 0.7, h, 2.5); tx.fill(); } else tx.fillRect(x0, y, Math.max(1, w - 0.3), h);
  if (w > 26 && h > 8) callText(c.frame[i], x0, w, y, h, faded || owner ? theme.faint : inkOn(frameColor(c.frame[i]), dark));
  if (tl.chosen && tl.chosen.lane === lane && tl.chosen.call === i || tl.hover && tl.hover.lane === lane && tl.hover.call === i) outline(x0, y, w, h);
}
function callText(frame, x, w, y, h, color) {
  tx.globalAlpha = 1;
  tx.font = `11px ${theme.mono}`;
  tx.fillStyle = color;
  const text = clip(shortName(frame), Math.floor((w - 7) / 6.65));
  if (text) tx.fillText(text, x + 4, y + h / 2 + 0.5);
}
function drawHits(lane, c, from, to, y, h, px) { // draws the calls that the search found on top of the others
  const hits = c.hits;
  let k = lower(hits, from), last = -1;
  for (; k < hits.length && hits[k] < to; k++) {
    const i = hits[k];
    if (c.start[i] > tl.b) break;
    const x0 = xOf(c.start[i]), w = c.dur[i] / px;
    if (x0 + w < LABEL || (w < 1 && (x0 | 0) === last)) continue;
    last = x0 | 0;
    tx.globalAlpha = 1;
    tx.fillStyle = HIT_COLOR;
    tx.fillRect(Math.max(x0, LABEL), y, Math.max(1, Math.min(x0 + w, tlW) - Math.max(x0, LABEL) - 0.4), h);
    if (w > 26 && h > 8) callText(c.frame[i], Math.max(x0, LABEL), Math.min(x0 + w, tlW) - Math.max(x0, LABEL), y, h, inkOn(HIT_COLOR, dark));
  }
}

// Starts again with new data: drops all state of the old data.
export function startTimelineDraw() {
  tlW = 0; tlH = 0; tlHeight = 0;
  tlAnim = 0;
}

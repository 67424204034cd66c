// SPDX-License-Identifier: MIT
// The thread pool of a runtime, below its head: the number
// of threads as steps, the length of the queue as a line, and a mark where the pool adds a thread
// because work waits and no thread ends any (starvation).
import { reader } from "./decode.js";
import { count, counted } from "./numbers.js";
import { L, tl } from "./page_timeline_data.js";
import { when } from "./page_timeline_details.js";
import { LABEL, groupName, ink, plotW, tlW, tx, xOf } from "./page_timeline_draw.js";
import { theme } from "./theme.js";
export const POOL_H = 44, POOL_TEXT = 13;
const POOL = { started: 1, stopped: 2, adjusted: 3, queued: 4 }, STARVATION = 6;

// Points are [time, value]; of the pool's changes of the number of threads wanted, only starvation
// and blocking are marked.
export function decodePool(text) {
  const pool = { threads: [], queue: [], marks: [], mostThreads: 0, mostQueued: 0, starved: 0 }, r = reader(text);
  for (let t = 0; r.more();) {
    const time = t += r.next() * 1000, change = r.next(), value = r.next(), reason = r.next();
    if (change === POOL.queued) { pool.queue.push([time, value]); pool.mostQueued = Math.max(pool.mostQueued, value); }
    else if (change !== POOL.adjusted) { pool.threads.push([time, value]); pool.mostThreads = Math.max(pool.mostThreads, value); }
    else if (reason >= STARVATION && L.poolReasons[reason]) { pool.marks.push([time, value, reason]); pool.starved += Number(reason === STARVATION); }
  }
  return pool;
}
function valueAt(points, time) { // of the last point not after it
  let from = 0, to = points.length;
  while (from < to) { const mid = (from + to) >> 1; if (points[mid][0] <= time) from = mid + 1; else to = mid; }
  return from ? points[from - 1][1] : 0;
}
export function labelPool(pool, y) {
  tx.font = `11px ${theme.sans}`; tx.fillStyle = theme.soft;
  tx.fillText("thread pool", 39, y + 7);
  tx.fillStyle = ink.pool();
  tx.fillText(`up to ${counted(pool.mostThreads, "thread")}`, 39, y + 20);
  tx.fillStyle = pool.starved ? ink.thrown() : ink.queue();
  tx.fillText(`up to ${count(pool.mostQueued)} queued${pool.starved ? `, starved ${count(pool.starved)}×` : ""}`, 39, y + 33);
}
// One column per pixel: the highest value within it.
function poolLine(points, most, y, h, color, filled) {
  const px = (tl.b - tl.a) / plotW();
  let i = 0, value = valueAt(points, tl.a);
  while (i < points.length && points[i][0] <= tl.a) i++;
  tx.fillStyle = color;
  for (let c = 0; c < plotW(); c++) {
    let high = value;
    for (; i < points.length && points[i][0] < tl.a + (c + 1) * px; i++) high = Math.max(high, value = points[i][1]);
    const top = high / Math.max(1, most) * h;
    if (filled) { tx.globalAlpha = 0.3; tx.fillRect(LABEL + c, y + h - top, 1, top); tx.globalAlpha = 1; }
    if (high) tx.fillRect(LABEL + c, y + h - top - 0.5, 1, 1.5);
    tl.shown += high > 0;
  }
}
export function drawPool(pool, y) {
  const h = POOL_H - POOL_TEXT;
  poolLine(pool.threads, pool.mostThreads, y + 6, h, ink.pool(), true);
  poolLine(pool.queue, pool.mostQueued, y + 6, h, ink.queue(), false);
  tx.fillStyle = ink.thrown();
  for (const [time] of pool.marks) {
    const x = xOf(time);
    if (x < LABEL - 4 || x > tlW + 4) continue;
    tl.shown++;
    tx.beginPath(); tx.moveTo(x, y + h + 7); tx.lineTo(x - 3.5, y + h + 13); tx.lineTo(x + 3.5, y + h + 13); tx.fill();
  }
}
export function factsOfPool({ lane, pool: time }) {
  const pool = lane.pool, slack = 5 * (tl.b - tl.a) / plotW();
  const mark = pool.marks.find((m) => Math.abs(m[0] - time) <= slack);
  return { name: `Thread pool of ${groupName(lane)}`, frame: -1, color: ink.pool(), from: time, to: time,
    rows: [["threads", count(valueAt(pool.threads, time))], ["queued, at the last look", count(valueAt(pool.queue, time))],
      ["adds a thread", mark ? `${L.poolReasons[mark[2]]}, wants ${count(mark[1])}` : ""], ["at", when(time)]] };
}

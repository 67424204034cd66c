// SPDX-License-Identifier: MIT
// Searches in sorted columns, and in the calls of a thread in rows (page_timeline_data.js). Needs no document.

export function lower(column, value, from = 0, to = column.length) { // the first element that is not less
  while (from < to) { const mid = (from + to) >> 1; if (column[mid] < value) from = mid + 1; else to = mid; }
  return from;
}
export const rowRange = (c, d) => [c.first[d], c.first[d + 1]];
export function callAt(c, d, time) { // the call of row d at that time, or the last one before it
  const [from, to] = rowRange(c, d), i = lower(c.start, time + 1e-6, from, to) - 1;
  return i >= from ? i : -1;
}
export function covered(c, from, to, a, b) { // how much of [a, b] is covered by calls from..to of a row, ns
  const i = lower(c.start, a, from, to), k = lower(c.start, b, from, to);
  let sum = c.sums[k] - c.sums[i];
  if (i > from && c.start[i - 1] + c.dur[i - 1] > a) sum += Math.min(b, c.start[i - 1] + c.dur[i - 1]) - a;
  if (k > i && c.start[k - 1] + c.dur[k - 1] > b) sum -= c.start[k - 1] + c.dur[k - 1] - b;
  return Math.max(0, sum);
}

// SPDX-License-Identifier: MIT
// Which boxes of a difference have changed. A change is coloured
// only if chance does not explain it: samples are counts, and two runs of one program never have the same.
import { count, counted, percent } from "./numbers.js";
import { before, duration, selfWeight } from "./page_data.js";
import { calls, costs, data } from "./page_model.js";
import { label, view } from "./page_view.js";

const CHANCE = 0.01; // of one coloured box or more on the page, if nothing has changed
const LEAST_SHARE = 0.005, LEAST_PART = 0.1; // smaller changes are not coloured: half a point, a tenth of the larger side

// The value that a normal distribution exceeds with the probability p (Abramowitz and Stegun, 26.2.23).
function normalLimit(p) {
  const t = Math.sqrt(-2 * Math.log(p));
  return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}
// How many records stand after a weight of costs, on average; 0: every event was recorded.
const recordsPerWeight = () => data.every > 1 ? data.records / (selfWeight.reduce((a, b) => a + b, 0) || 1) : 0;
function isChange(now, was, limit) {
  if (costs) {
    const d = Math.abs(now - was), most = Math.max(view.total[0], view.old[0]) || 1;
    if (d < LEAST_SHARE * most || d < LEAST_PART * Math.max(now, was)) return false;
    return !view.perWeight || d * view.perWeight > limit * Math.sqrt((now + was) * view.perWeight);
  }
  const n1 = view.total[0] || 1, n2 = view.old[0] || 1, p1 = now / n1, p2 = was / n2, d = Math.abs(p1 - p2);
  if (d < LEAST_SHARE || d < LEAST_PART * Math.max(p1, p2)) return false;
  if (calls) return true;
  const N1 = data.samples || 1, N2 = data.beforeSamples || 1, p = (p1 * N1 + p2 * N2) / (N1 + N2);
  return d > limit * Math.sqrt(p * (1 - p) * (1 / N1 + 1 / N2));
}

// Sets view.change by box: 1: grew, -1: shrank, 0: not changed.
// The compiler inlines a function, or turns a call into a jump, in one run and not in the other. Then its box is on one
// side only, and what it and its callees have used is found at its caller: no change, as long as the sum is the same.
export function findChanges() {
  const M = view.M, change = view.change = new Int8Array(M), limit = view.limit = normalLimit(CHANCE / 2 / Math.max(1, M - 1));
  view.perWeight = costs ? recordsPerWeight() : 0;
  const share = costs ? [1, 1] : [1 / (view.total[0] || 1), 1 / (view.old[0] || 1)];
  const now = (i) => view.total[i] * share[0], was = (i) => view.old[i] * share[1];
  for (let i = 1; i < M; i++) if (isChange(view.total[i], view.old[i], limit)) change[i] = now(i) > was(i) ? 1 : -1;
  const kidsOf = (i) => view.kids.subarray(view.first[i], view.first[i + 1]);
  const ownGrowth = (i) => view.self[i] * share[0] - view.selfOld[i] * share[1];
  const oneSided = (i) => Math.min(now(i), was(i)) < LEAST_PART * Math.max(now(i), was(i));
  for (let i = 0; i < M; i++) { // from the top
    if (view.first[i + 1] === view.first[i]) continue;
    const byFrame = new Map();
    for (const k of kidsOf(i)) byFrame.set(view.frame[k], k);
    for (const k of kidsOf(i)) {
      if (!change[k] || !oneSided(k) || view.frame[k] < 0) continue;
      const sign = change[k], moved = new Set();
      let rest = Math.abs(now(k) - was(k));
      rest -= Math.max(0, -sign * ownGrowth(i)); // the caller's own
      for (const below = [k]; below.length;) { // callees that are now, or were, the caller's
        for (const c of kidsOf(below.pop())) {
          const twin = byFrame.get(view.frame[c]);
          if (twin !== undefined && twin !== k && -sign * (now(twin) - was(twin)) > 0) moved.add(twin);
          else if (oneSided(c)) below.push(c);
        }
      }
      for (const twin of moved) rest -= -sign * (now(twin) - was(twin));
      if (rest > LEAST_SHARE && isChange(rest / share[0], 0, limit)) continue;
      for (const t of [k, ...moved]) clear(t);
    }
  }
  function clear(top) {
    for (const all = [top]; all.length;) {
      const i = all.pop();
      change[i] = 0;
      all.push(...kidsOf(i));
    }
  }
}
function changeLegend() {
  const rule = `changed by ${100 * LEAST_SHARE} points or more and a tenth`;
  const test = calls || (costs && !(data.every > 1)) ? "" : `, and by more than chance explains (${view.limit.toFixed(1)} standard errors: ${100 * CHANCE} % for all ${count(view.M - 1)} boxes together)`;
  const changed = view.change.reduce((n, v) => n + (v ? 1 : 0), 0);
  return `red grew, blue shrank: ${costs ? rule.replace("points", "% of all") : rule}${test}; ${changed ? `${counted(changed, "box")} did` : "no box did"}`;
}
// The functions that have no box any more: where a stack is gone from on.
function goneText() {
  const gone = [];
  for (let i = 1; i < view.M; i++) if (view.change[i] < 0 && view.total[i] <= 0 && view.total[view.parent[i]] > 0) gone.push(i);
  gone.sort((a, b) => view.old[b] - view.old[a]);
  const some = gone.slice(0, 3).map((i) => `${label(i)} (${costs ? duration(view.old[i]) : percent(view.old[i], view.old[0])})`);
  return some.length ? [`gone: ${some.join(", ")}${gone.length > 3 ? ` and ${gone.length - 3} more` : ""}`] : [];
}
export function changeSummary() {
  const side = (name, samples, weight) => `${name}: ${calls || costs ? duration(weight) : `${counted(samples, "sample")}, ${duration(weight)}`}`;
  const all = before.reduce((a, b) => a + b, 0);
  return [side(`before, ${data.beforeName}`, data.beforeSamples, all), side(`now, ${data.nowName}`, data.samples, selfWeight.reduce((a, b) => a + b, 0)), ...goneText(), changeLegend()];
}

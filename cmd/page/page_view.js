// SPDX-License-Identifier: MIT
// The parts of the tree that pass the filters, as a tree of
// their own.
import { ownerBit } from "./decode.js";
import { findChanges } from "./page_change.js";
import {
  N, after, before, frameName, frameOf, mask, ownerOfNode, parent, selfCount, selfWeight, shortName, threadOf,
  tiersOf, timeline
} from "./page_data.js";
import { TYPE, calls, costs, data, frames, threads } from "./page_model.js";

// ---- the view ---------------------------------------------------------------------------------
export let state;
/** @type {View} */
export let view;
let space, sums, unfiltered; // memory for views; sums of nodes with all below, and those without filters
let self, counts, older; // by node, after filters: own weight, own number, own weight in the older session of a difference

function passing() { // own weight and number of samples of each node, after the filters on samples
  let w = selfWeight, c = selfCount, b = before;
  if (state.range) {
    const t = timeline();
    w = new Float64Array(N); c = new Float64Array(N);
    for (let i = 0; i < t.node.length; i++) {
      if (t.bucket[i] < state.range[0] || t.bucket[i] > state.range[1]) continue;
      w[t.node[i]] += t.weight[i]; c[t.node[i]] += t.count[i];
    }
  }
  if (state.threads || state.owner !== null) {
    w = w.slice(); c = c.slice(); b = b && b.slice();
    for (let i = 0; i < N; i++) {
      const o = state.owner;
      const keep = (!state.threads || state.threads.has(threadOf[i])) && (o === null ||
        (o > 0 ? (mask[i] & ownerBit(o)) !== 0 : ownerOfNode(i) === o));
      if (!keep) { w[i] = 0; c[i] = 0; if (b) b[i] = 0; }
    }
  }
  return [w, c, b];
}

/**
 * The tree that is shown, in columns by node: 0 is the root, parents come before their children. frame is -1 for the root,
 * and -2 less the thread for a box of a thread. Children of i are kids[first[i]] to kids[first[i + 1] - 1], heaviest first.
 * @typedef {{ M: number, parent: Int32Array, frame: Int32Array, depth: Int32Array, tiers: Int32Array,
 *   self: Float64Array, n: Float64Array, old: Float64Array, total: Float64Array, count: Float64Array, selfOld: Float64Array, x: Float64Array,
 *   first: Int32Array, kids: Int32Array, maxDepth: number, shown: number, pairs: Map<string, number>, crosses: Int32Array,
 *   hit: Uint8Array | null, hitWeight: number, hitCount: number, change: Int8Array, limit: number, perWeight: number }} View
 */

// Makes the view of the nodes with a weight. Nodes of one frame below one node of the view are one node there: the
// children of all nodes that became one are gone through together, and `made` has the one of each frame. That reads the
// tree in its order; a table by parent and frame takes several times as long. Children of a node that is filtered out
// become children of the node above it.
function merge() {
  const v = space, { kind, byThread } = state;
  const { next, head, tail, todo, parent: above, frame, depth, tiers, self: ownWeight, n: number, old, total, count } = v;
  const made = new Int32Array(frames.length + threads.length), madeFor = new Int32Array(made.length).fill(-1);
  const isDropped = kind === "all" ? null : frames.map((f) => !(f[4] & TYPE) && (kind === "managed" ? !(f[2] > 0) : f[2] > 0));
  const { weight, reach, before: past } = sums;
  let M = 0;
  const add = (p, f) => {
    above[M] = p; frame[M] = f; depth[M] = p < 0 ? 0 : depth[p] + 1;
    tiers[M] = ownWeight[M] = number[M] = old[M] = total[M] = count[M] = 0;
    head[M] = -1;
    return M++;
  };
  const put = (i, k, dropped) => { // the tree's node i is part of the view's node k
    ownWeight[k] += self[i]; number[k] += counts[i]; tiers[k] |= tiersOf[i];
    if (!dropped) { total[k] += weight[i]; count[k] += reach[i]; if (past) old[k] += past[i]; }
    next[i] = -1;
    if (head[k] < 0) head[k] = i; else next[tail[k]] = i;
    tail[k] = i;
  };
  // Calls that were not timed have no weight; what is gone in a difference has no width.
  const isShown = (i) => weight[i] > 0 || calls && reach[i] > 0 || past && past[i] > 0;
  const child = (k, key, f) => {
    if (madeFor[key] === k) return made[key];
    madeFor[key] = k;
    return made[key] = add(k, f);
  };
  add(-1, -1);
  for (let i = 0; i < N; i = after[i]) if (isShown(i)) {
    if (byThread) { total[0] += weight[i]; count[0] += reach[i]; if (past) old[0] += past[i]; }
    put(i, byThread ? child(0, frames.length + threadOf[i], -2 - threadOf[i]) : 0, false);
  }
  let n = 0;
  if (byThread) for (let k = M - 1; k > 0; k--) todo[n++] = k; else todo[n++] = 0;
  while (n > 0) {
    const k = todo[--n], from = M;
    for (let i = head[k]; i >= 0; i = next[i]) for (let c = i + 1; c < after[i]; c = after[c]) {
      if (!isShown(c)) continue;
      const f = frameOf[c], dropped = isDropped !== null && isDropped[f];
      put(c, dropped ? k : child(k, f, f), dropped);
    }
    for (let c = M - 1; c >= from; c--) todo[n++] = c;
  }
  view = /** @type {View} */ ({ M });
  for (const key of ["parent", "frame", "depth", "tiers", "self", "n", "old", "total", "count"]) view[key] = v[key].subarray(0, M);
}
function newSpace() { // for views, used again by each of them: new memory costs more than the work
  const numbers = () => new Int32Array(N + 1), weights = () => new Float64Array(N + 1);
  return { first: new Int32Array(N + 3), kids: numbers(), x: weights(), nearest: numbers(), seen: numbers(), crosses: numbers(), next: numbers(), head: numbers(), tail: numbers(), todo: numbers(), parent: numbers(), frame: numbers(), depth: numbers(), tiers: numbers(),
    self: weights(), n: weights(), old: weights(), total: weights(), count: weights() };
}
function sumBelow(own) { // of each node with all that are below
  const sum = own.slice();
  for (let i = N - 1; i >= 0; i--) if (parent[i] >= 0) sum[parent[i]] += sum[i];
  return sum;
}
function sumsOf() {
  if (self === selfWeight && counts === selfCount) return unfiltered || (unfiltered = { weight: sumBelow(self), reach: sumBelow(counts), before: older && sumBelow(older) });
  return { weight: sumBelow(self), reach: sumBelow(counts), before: older && sumBelow(older) };
}

export function buildView() {
  [self, counts, older] = passing();
  sums = sumsOf();
  merge();
  const M = view.M;
  if (before) { // what a node had itself in the older session
    view.selfOld = view.old.slice();
    for (let i = M - 1; i > 0; i--) view.selfOld[view.parent[i]] -= view.old[i];
  }
  for (let i = 1; (costs || data.data === "wait") && i < M; i++) // a function's own costs are those of the types directly below it
    if (view.frame[i] >= 0 && frames[view.frame[i]][4] & TYPE) view.self[view.parent[i]] += view.self[i];
  for (let i = 1; calls && i < M; i++) if (view.frame[i] >= 0) view.count[i] = view.n[i]; // a call counts only at its own path
  place(M);
  if (before) findChanges();
  state.zoom = 0; state.focus = 0;
  matchSearch();
}

// Sorts children by weight, and sets where each box begins, in units of weight.
function place(M) {
  const { parent: above, total, depth } = view, first = space.first.subarray(0, M + 2), kids = space.kids.subarray(0, M), x = space.x.subarray(0, M);
  first.fill(0);
  for (let i = 1; i < M; i++) first[above[i] + 2]++;
  for (let i = 0; i < M + 1; i++) first[i + 1] += first[i];
  for (let i = 1; i < M; i++) kids[first[above[i] + 1]++] = i;
  const heavier = (p, q) => total[q] - total[p] || p - q;
  // Threads of a runtime that wait all the time come after the others.
  const idles = (i) => view.frame[i] < 0 ? threads[-2 - view.frame[i]][6] || 0 : 0;
  let deepest = 0;
  x[0] = 0;
  for (let i = 0; i < M; i++) { // a parent has a smaller index than its children
    if (depth[i] > deepest) deepest = depth[i];
    const a = first[i], b = first[i + 1];
    if (b - a === 2 && i > 0) {
      const p = kids[a];
      if (heavier(p, kids[a + 1]) > 0) { kids[a] = kids[a + 1]; kids[a + 1] = p; }
    } else if (b - a > 1) kids.subarray(a, b).sort(i > 0 ? heavier : (p, q) => idles(p) - idles(q) || heavier(p, q));
    for (let k = a, at = x[i]; k < b; k++) { x[kids[k]] = at; at += total[kids[k]]; }
  }
  view.maxDepth = deepest;
  Object.assign(view, { first, kids, x });
}

export function matchSearch() {
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

export const label = (i) => i === 0 ? "all" : view.frame[i] < 0 ? threads[-2 - view.frame[i]][0] : shortName(view.frame[i]);
export const fullName = (i) => i === 0 ? "all threads" : view.frame[i] < 0 ? threads[-2 - view.frame[i]][0] : frameName(view.frame[i]);
export const ownerOfView = (i) => i === 0 || view.frame[i] < 0 ? null : frames[view.frame[i]][2];

// Finds the nodes where control passes from one runtime to another: the nearest managed caller is
// code of another runtime.
export function crossingsOf() {
  const { M, parent: above, frame } = view, { nearest, seen } = space, pairs = new Map(), bits = new Map();
  const crosses = view.crosses = space.crosses.subarray(0, M), owners = Int32Array.from(frames, (f) => f[2]);
  nearest[0] = seen[0] = crosses[0] = 0;
  for (let i = 1; i < M; i++) {
    const o = frame[i] < 0 ? 0 : owners[frame[i]], below = nearest[above[i]];
    nearest[i] = o || below;
    seen[i] = seen[above[i]];
    crosses[i] = 0;
    if (o && below && o !== below) {
      crosses[i] = below;
      const key = below * 4096 + o;
      if (!bits.has(key)) bits.set(key, bits.size < 31 ? 1 << bits.size : 0);
      const bit = bits.get(key); // a stack that crosses twice counts once; pairs after the first 31 are not counted
      if (bit && !(seen[i] & bit)) pairs.set(key, (pairs.get(key) || 0) + view.total[i]);
      seen[i] |= bit;
    }
  }
  return new Map([...pairs].map(([key, weight]) => [`${key >> 12}>${key & 4095}`, weight]));
}

// Starts again with new data: drops all state of the old data.
export function startView() {
  state = { kind: "all", threads: null, owner: null, range: null, byThread: false,
    flame: false, crossings: false, search: null, zoom: 0, focus: 0, view: "graph" };
  view = null; self = selfWeight; counts = selfCount; older = before;
  space = newSpace();
  sums = unfiltered = null;
}

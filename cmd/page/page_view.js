// SPDX-License-Identifier: MIT
// Part of page.js, inserted by embed.py: the parts of the tree that pass the filters, as a tree of
// their own.

// ---- the view ---------------------------------------------------------------------------------
const state = { kind: "all", threads: null, owner: null, range: null, byThread: false,
  flame: false, crossings: false, search: null, zoom: 0, focus: 0, view: "graph" };
let view = null, self = selfWeight, counts = selfCount, older = before; // older: of the other session in a difference

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

function buildView() {
  [self, counts, older] = passing();
  const total = Float64Array.from(self), reach = calls ? Float64Array.from(counts) : null, old = older ? Float64Array.from(older) : null;
  for (let i = N - 1; i >= 0; i--) if (parent[i] >= 0) {
    total[parent[i]] += total[i];
    if (reach) reach[parent[i]] += reach[i];
    if (old) old[parent[i]] += old[i];
  }
  let size = 1 << 12;
  while (size < N * 2) size *= 2;
  const slots = new Int32Array(size), at = new Int32Array(N).fill(-1); // by node: its index in the view
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
    // Calls that were not timed have no weight; what is gone in a difference has no width.
    if (total[i] <= 0 && !(reach && reach[i] > 0) && !(old && old[i] > 0)) continue;
    let k;
    if (parent[i] < 0) k = state.byThread ? add(0, -2 - threadOf[i]) : 0;
    else {
      const managed = frames[frameOf[i]][2] > 0;
      const drop = !(frames[frameOf[i]][4] & TYPE) && ((state.kind === "managed" && !managed) || (state.kind === "native" && managed));
      k = drop ? at[parent[i]] : add(at[parent[i]], frameOf[i]);
    }
    at[i] = k;
    v.self[k] += self[i]; v.n[k] += counts[i]; v.tiers[k] |= tiersOf[i];
    if (older) v.old[k] += older[i];
  }
  const M = v.parent.length;
  view = { M, at };
  for (const k of ["parent", "frame", "depth", "tiers"]) view[k] = Int32Array.from(v[k]);
  for (const k of ["self", "n", "old"]) view[k] = Float64Array.from(v[k]);
  view.total = Float64Array.from(v.self); view.count = Float64Array.from(v.n);
  view.selfOld = view.old.slice();
  for (let i = M - 1; i > 0; i--) {
    const p = view.parent[i];
    view.total[p] += view.total[i]; view.count[p] += view.count[i];
    if (before) view.old[p] += view.old[i];
  }
  for (let i = 1; (costs || data.data === "wait") && i < M; i++) // a function's own costs are those of the types directly below it
    if (view.frame[i] >= 0 && frames[view.frame[i]][4] & TYPE) view.self[view.parent[i]] += view.self[i];
  for (let i = 1; calls && i < M; i++) if (view.frame[i] >= 0) view.count[i] = view.n[i]; // a call counts only at its own path
  place(M);
  if (before) findChanges();
  state.zoom = 0; state.focus = 0;
  matchSearch();
}

// Threads of a runtime that wait all the time come behind the others.
const idles = (i) => view.frame[i] < 0 && i > 0 ? threads[-2 - view.frame[i]][6] || 0 : 0;
function place(M) { // sorts children by weight, then sets where each box begins, in units of weight
  const first = new Int32Array(M + 2), kids = new Int32Array(M), x = new Float64Array(M);
  for (let i = 1; i < M; i++) first[view.parent[i] + 2]++;
  for (let i = 0; i < M + 1; i++) first[i + 1] += first[i];
  for (let i = 1; i < M; i++) kids[first[view.parent[i] + 1]++] = i;
  view.maxDepth = 0;
  for (let i = 0; i < M; i++) {
    view.maxDepth = Math.max(view.maxDepth, view.depth[i]);
    const a = first[i], b = first[i + 1];
    if (b - a > 1) kids.subarray(a, b).sort((p, q) => idles(p) - idles(q) || view.total[q] - view.total[p] || p - q);
  }
  for (let i = 0; i < M; i++) { // a parent has a smaller index than its children
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

// Finds the nodes where control passes from one runtime to another: the nearest managed caller is
// code of another runtime.
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
      const bit = bits.get(key); // a stack that crosses twice counts once; pairs after the first 31 are not counted
      if (bit && !(seen[i] & bit)) pairs.set(key, (pairs.get(key) || 0) + view.total[i]);
      seen[i] |= bit;
    }
  }
  return pairs;
}

// SPDX-License-Identifier: MIT
// Decodes the tree of stacks and the time line; cmd/report/format_html.c describes the encoding. Needs no document.
import { OWN } from "./page_model.js";

const DIGIT = new Uint8Array(128);
"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".split("")
  .forEach((c, i) => { DIGIT[c.charCodeAt(0)] = i; });

/**
 * Reads numbers of base-32 digits, lowest digit first; a digit of 32 or more says that another one follows.
 * @param {string} text
 */
export function reader(text) {
  let at = 0;
  return { more: () => at < text.length, next() {
    let value = 0, unit = 1, d;
    do { d = DIGIT[text.charCodeAt(at++)]; value += (d & 31) * unit; unit *= 32; } while (d & 32);
    return value;
  } };
}
export const ownerBit = (runtime) => runtime ? (1 << Math.min(runtime, 31)) >>> 0 : 1; // bit 0: native

/**
 * The tree in columns by node, parents before children. threadOf is the thread of a node's root, mask the owners of the
 * frames from the root on, flagsOf their flags, after the node that follows all nodes below a node.
 * @param {{ nNodes: number, nodes: string, threads: any[][], frames: any[][] }} data
 * @param {boolean} byCount numbers are the weights
 */
export function decodeTree(data, byCount) {
  const N = data.nNodes, { threads, frames } = data, r = reader(data.nodes);
  const parent = new Int32Array(N), frameOf = new Uint32Array(N), threadOf = new Uint32Array(N);
  const selfCount = new Float64Array(N), selfWeight = new Float64Array(N), tiersOf = new Uint8Array(N);
  const mask = new Uint32Array(N), flagsOf = new Uint8Array(N);
  const rootThread = new Map(threads.map((t, i) => [t[1], i])), stack = [];
  for (let i = 0; i < N; i++) {
    stack.length = Math.max(0, stack.length - r.next());
    frameOf[i] = r.next(); selfCount[i] = r.next(); selfWeight[i] = r.next(); tiersOf[i] = r.next();
    if (byCount) selfWeight[i] = selfCount[i];
    const p = stack.length ? stack[stack.length - 1] : -1;
    parent[i] = p;
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
  const after = new Uint32Array(N); // the node after all that are below
  for (let i = N - 1; i >= 0; i--) {
    after[i] = Math.max(after[i], i + 1);
    if (parent[i] >= 0) after[parent[i]] = Math.max(after[parent[i]], after[i]);
  }
  return { after, parent, frameOf, threadOf, selfCount, selfWeight, tiersOf, mask, flagsOf };
}
/** One number per node. */
export function decodeColumn(text, n) {
  const r = reader(text), all = new Float64Array(n);
  for (let i = 0; i < n; i++) all[i] = r.next();
  return all;
}
/** The time line in columns by entry. */
export function decodeLine(text, byCount) {
  const bucket = [], node = [], count = [], weight = [], r = reader(text);
  for (let b = 0; r.more();) {
    b += r.next(); bucket.push(b); node.push(r.next());
    const n = r.next(), w = r.next();
    count.push(n); weight.push(byCount ? n : w);
  }
  return { bucket: Uint32Array.from(bucket), node: Uint32Array.from(node), count: Float64Array.from(count), weight: Float64Array.from(weight) };
}

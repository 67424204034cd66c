// SPDX-License-Identifier: MIT
// What pages read from their data: numbers, the tree of stacks and the time line (cmd/page/decode.js).
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeColumn, decodeLine, decodeTree, ownerBit, reader } from "../../cmd/page/decode.js";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
function write(...numbers) { // as sxs_html_number() does
  let text = "";
  for (let n of numbers) {
    do { const low = n % 32; n = Math.floor(n / 32); text += DIGITS[low + (n ? 32 : 0)]; } while (n);
  }
  return text;
}
const all = (text) => { const r = reader(text), found = []; while (r.more()) found.push(r.next()); return found; };

test("numbers of every size are read as they were written", () => {
  const numbers = [0, 1, 31, 32, 33, 1023, 1024, 2 ** 31, 2 ** 32 + 5, 2 ** 53 - 1];
  assert.deepEqual(all(write(...numbers)), numbers);
  assert.deepEqual(all(""), []);
  assert.equal(write(0, 31, 32), "AfgB");
});

// main [Main [Inner, libc], Main], worker [Run]: up, frame, own samples, own weight, tiers
const threads = [["main", 0, 0, 0, 0, 0], ["worker", 4, 0, 0, 0, 1]];
const frames = [[0, 0, 1, 0, 0], [0, 0, 2, 0, 0], [0, 0, 0, 0, 8], [0, 0, 3, 0, 2]];
const nodes = write(0, 0, 0, 0, 0, /* Main */ 0, 0, 1, 10, 1, /* Inner */ 0, 1, 2, 20, 4, /* libc */ 1, 2, 3, 30, 0,
  /* worker: up to the roots */ 3, 0, 0, 0, 0, /* Run */ 0, 3, 4, 40, 2);

test("the tree has parents, threads, weights, and what frames from the root on are", () => {
  const t = decodeTree({ nNodes: 6, nodes, threads, frames }, false);
  assert.deepEqual([...t.parent], [-1, 0, 1, 1, -1, 4]);
  assert.deepEqual([...t.threadOf], [0, 0, 0, 0, 1, 1]);
  assert.deepEqual([...t.frameOf], [0, 0, 1, 2, 0, 3]);
  assert.deepEqual([...t.selfCount], [0, 1, 2, 3, 0, 4]);
  assert.deepEqual([...t.selfWeight], [0, 10, 20, 30, 0, 40]);
  assert.deepEqual([...t.tiersOf], [0, 1, 4, 0, 0, 2]);
  assert.deepEqual([...t.mask], [0, 2, 6, 0, 0, 8], "the profiler's own work has no owner");
  assert.deepEqual([...t.flagsOf], [0, 0, 0, 8, 1, 3], "a thread's flags are those of its frames, too");
});
test("without weights, numbers are the weights", () => {
  assert.deepEqual([...decodeTree({ nNodes: 6, nodes, threads, frames }, true).selfWeight], [0, 1, 2, 3, 0, 4]);
});
test("an empty tree is one without nodes", () => {
  assert.equal(decodeTree({ nNodes: 0, nodes: "", threads: [], frames: [] }, false).parent.length, 0);
});
test("a column has one number per node", () => assert.deepEqual([...decodeColumn(write(5, 0, 70), 3)], [5, 0, 70]));
test("buckets of the time line are differences", () => {
  const text = write(3, 1, 2, 20, 0, 2, 1, 10, 40, 1, 1, 5);
  const line = decodeLine(text, false);
  assert.deepEqual([...line.bucket], [3, 3, 43]);
  assert.deepEqual([...line.node], [1, 2, 1]);
  assert.deepEqual([...line.count], [2, 1, 1]);
  assert.deepEqual([...line.weight], [20, 10, 5]);
  assert.deepEqual([...decodeLine(text, true).weight], [2, 1, 1]);
});
test("owners after the thirty-first share a bit", () => {
  assert.equal(ownerBit(0), 1);
  assert.equal(ownerBit(1), 2);
  assert.equal(ownerBit(31), 2 ** 31);
  assert.equal(ownerBit(77), 2 ** 31);
});

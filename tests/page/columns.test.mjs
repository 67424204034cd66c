// SPDX-License-Identifier: MIT
// Searches in sorted columns and rows of calls (cmd/page/columns.js).
import assert from "node:assert/strict";
import { test } from "node:test";
import { callAt, covered, lower, rowRange } from "../../cmd/page/columns.js";

test("lower() finds the first element that is not less", () => {
  const column = Float64Array.from([1, 3, 3, 3, 7]);
  assert.deepEqual([0, 1, 2, 3, 4, 7, 8].map((v) => lower(column, v)), [0, 0, 1, 1, 4, 4, 5]);
  assert.equal(lower(new Float64Array(0), 1), 0);
});
test("lower() stays within its bounds", () => {
  const column = [1, 3, 3, 3, 7];
  assert.equal(lower(column, 0, 2, 4), 2);
  assert.equal(lower(column, 9, 2, 4), 4);
  assert.equal(lower(column, 3, 2, 4), 2);
});
test("lower() is what a search from the beginning finds", () => {
  let random = 1;
  const next = (n) => { random = (random * 48271) % 2147483647; return random % n; };
  for (let round = 0; round < 300; round++) {
    const column = Array.from({ length: next(20) }, () => next(15)).sort((a, b) => a - b), value = next(17) - 1;
    const found = column.findIndex((v) => v >= value);
    assert.equal(lower(column, value), found < 0 ? column.length : found);
  }
});

// Row 0 has calls at 0 to 10, 20 to 30 and 30 to 31; row 1 has one at 22 to 25.
const start = [0, 20, 30, 22], dur = [10, 10, 1, 3], sums = [0, 10, 20, 21, 24];
const calls = { first: [0, 3, 4], start, dur, sums };
test("a row has its calls", () => assert.deepEqual([rowRange(calls, 0), rowRange(calls, 1)], [[0, 3], [3, 4]]));
test("the call at a time is the last one that has begun", () => {
  assert.deepEqual([-1, 0, 15, 20, 30, 99].map((t) => callAt(calls, 0, t)), [-1, 0, 0, 1, 2, 2]);
  assert.deepEqual([21, 22, 40].map((t) => callAt(calls, 1, t)), [-1, 3, 3]);
});
test("covered time counts parts of calls at both ends", () => {
  const of = (a, b, row = 0) => covered(calls, ...rowRange(calls, row), a, b);
  assert.equal(of(0, 40), 21);
  assert.equal(of(5, 25), 10);
  assert.equal(of(2, 4), 2);
  assert.equal(of(12, 18), 0);
  assert.equal(of(29, 30.5), 1.5);
  assert.equal(of(0, 40, 1), 3);
  assert.equal(of(23, 24, 1), 1);
});

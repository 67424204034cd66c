// SPDX-License-Identifier: MIT
// What the page shows: the data, and what kind of data they are.

export let data = null;
export let strings = [], frames = [], threads = [], runtimes = [];
export let calls = false; // calls are counted exactly
export let costs = false; // allocations, native memory, waits: sums, most of them estimates
export let timed = false; // there is a weight beside the number
export const unit = (n) => data.words[n === 1 ? 0 : 1];
export const GC = 1, JIT = 2, OWN = 8, TYPE = 16, WAIT = 32; // flags of frames
export const TIERS = ["unknown tier", "tier 0", "tier 1", "OSR", "R2R", "stub", "dynamic", "optimized"];

export function useData(shown) {
  data = shown;
  ({ strings, frames, threads, runtimes } = data);
  calls = data.data === "calls";
  costs = data.units !== undefined;
  timed = data.unit !== "count";
}

// SPDX-License-Identifier: MIT
// How names become short enough for boxes and labels (cmd/page/clip.js).
import assert from "node:assert/strict";
import { test } from "node:test";
import { clip, fitMiddle } from "../../cmd/page/clip.js";

test("a name that fits stays", () => assert.equal(clip("App.Work.Inner(int)", 19), "App.Work.Inner(int)"));
test("parameters go first", () => assert.equal(clip("App.Work.Inner(int)", 18), "App.Work.Inner"));
test("then namespaces", () => {
  assert.equal(clip("App.Work.Inner(int)", 13), "Work.Inner");
  assert.equal(clip("App.Work.Inner(int)", 9), "Inner");
});
test("then letters", () => assert.equal(clip("App.Work.Inner(int)", 4), "Inn…"));
test("where three letters have no room, there is no text", () => {
  for (let room = 0; room <= 3; room++) assert.equal(clip("App.Work.Inner", room), "");
});
test("dots in libraries and native names part no namespaces", () => {
  assert.equal(clip("libcoreclr.so", 8), "libcore…");
  assert.equal(clip("std::vector::push.back", 8), "std::ve…");
});
test("generic types are cut behind", () => assert.equal(clip("App.List<System.Int32>.Add", 10), "App.List<…"));
test("no text is longer than its room", () => {
  for (const name of ["App.Work.Inner(int)", "a", "", "A.B", "..", "x.y.z.", "libc.so.6", "App.List<A.B>.Add(C)", "ü.ö(ä)"])
    for (let room = 0; room < 30; room++) assert.ok(clip(name, room).length <= room, `${name} in ${room}`);
});

const font = { measureText: (text) => ({ width: [...text].length }) }; // each letter is one wide
test("labels are cut in the middle, and ids stay", () => {
  assert.equal(fitMiddle(font, "worker [101]", 12), "worker [101]");
  assert.equal(fitMiddle(font, ".NET Server GC [102]", 14), ".NET… GC [102]");
  assert.equal(fitMiddle(font, "thread pool", 6), "thr…ol");
  assert.equal(fitMiddle(font, "worker [101]", 3), "… [101]");
});

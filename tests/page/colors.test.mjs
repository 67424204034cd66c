// SPDX-License-Identifier: MIT
// Colors that text can be read on (cmd/page/colors.js).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { contrast, HIT_COLOR, hslOf, inkOn, LEAST_CONTRAST, luminanceOf } from "../../cmd/page/colors.js";

test("luminance and contrast are those of WCAG", () => {
  assert.equal(luminanceOf("#ffffff"), 1);
  assert.equal(luminanceOf("#000000"), 0);
  assert.ok(Math.abs(contrast(luminanceOf("#767676"), 1) - 4.54) < 0.01);
  assert.ok(Math.abs(luminanceOf("hsl(0 100% 50%)") - 0.2126) < 1e-6);
  assert.ok(Math.abs(luminanceOf("hsl(210 100% 50%)") - luminanceOf("#0080ff")) < 0.002);
});
test("there is an ink for every color, in both themes", () => {
  for (const dark of [false, true]) for (let hue = 0; hue < 360; hue += 7) for (const saturation of [0, 10, 50, 90]) for (let lightness = 0; lightness <= 100; lightness += 2) {
    const color = `hsl(${hue} ${saturation}% ${lightness}%)`;
    assert.ok(contrast(luminanceOf(inkOn(color, dark)), luminanceOf(color)) >= LEAST_CONTRAST, color);
  }
});
test("a color is as bright as wanted", () => {
  for (let hue = 0; hue < 360; hue += 30) for (const wanted of [0.1, 0.14, 0.18]) assert.ok(Math.abs(luminanceOf(hslOf(hue, 50, wanted)) - wanted) < 0.002);
});
test("white can be read on what a search found", () => assert.ok(contrast(luminanceOf(HIT_COLOR), 1) >= LEAST_CONTRAST));
test("the colors of texts can be read on every background of the style sheet", () => {
  const css = readFileSync(new URL("../../cmd/page/shared.css", import.meta.url), "utf8");
  for (const rule of css.match(/^:root[^{]*\{[^}]*\}/gm).slice(0, 2)) {
    const color = (name) => luminanceOf(new RegExp(`${name}: (#[0-9a-f]{6})`).exec(rule)[1]);
    for (const text of ["--text", "--soft", "--faint", "--accent"]) for (const back of ["--bg", "--panel", "--band"])
      assert.ok(contrast(color(text), color(back)) >= LEAST_CONTRAST, `${text} on ${back}`);
  }
});

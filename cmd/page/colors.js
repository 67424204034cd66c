// SPDX-License-Identifier: MIT
// Part of the scripts of all pages that draw, inserted by embed.py: colors that text can be read on.

// Of WCAG 2.2: how bright a color appears, 0 to 1.
const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const luminanceOfRgb = (r, g, b) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
function luminanceOfHsl(hue, saturation, lightness) { // degrees, percent, percent
  const l = lightness / 100, a = saturation / 100 * Math.min(l, 1 - l);
  const part = (n) => { const k = (n + hue / 30) % 12; return l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1)); };
  return luminanceOfRgb(part(0), part(8), part(4));
}
// The color of a hue and a saturation that appears as bright as wanted.
export function hslOf(hue, saturation, luminance) {
  let low = 0, high = 100;
  for (let i = 0; i < 12; i++) {
    const mid = (low + high) / 2;
    if (luminanceOfHsl(hue, saturation, mid) < luminance) low = mid; else high = mid;
  }
  return `hsl(${hue} ${saturation}% ${low.toFixed(1)}%)`;
}
const luminances = new Map(); // by color
export function luminanceOf(color) { // "#rrggbb" or "hsl(degrees percent% percent%)"
  let found = luminances.get(color);
  if (found === undefined) {
    const numbers = color.startsWith("#") ? [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16) / 255) : color.match(/[\d.]+/g).map(Number);
    luminances.set(color, found = color.startsWith("#") ? luminanceOfRgb(...numbers) : luminanceOfHsl(...numbers));
  }
  return found;
}
export const contrast = (p, q) => (Math.max(p, q) + 0.05) / (Math.min(p, q) + 0.05); // of two luminances
export const LEAST_CONTRAST = 4.5; // of text and what it is on
// The color of text on a box: the theme's own if it can be read there. Otherwise black or white: one of the two has
// enough contrast on every color.
export function inkOn(color, dark) {
  const own = dark ? "#ffffff" : "#1a2030", back = luminanceOf(color);
  if (contrast(luminanceOf(own), back) >= LEAST_CONTRAST) return own;
  return contrast(0, back) >= contrast(1, back) ? "#000000" : "#ffffff";
}
export const HIT_COLOR = "#c026d3"; // what a search found, in both themes; text on it is white

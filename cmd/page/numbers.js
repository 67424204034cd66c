// SPDX-License-Identifier: MIT
// Part of the scripts of all pages, inserted by embed.py: numbers as text. cmd/output/text.c has the same functions
// for text, so that a number looks the same wherever it is shown.
export const count = (n) => Math.round(n).toLocaleString("en");
// "1 thread", "2 threads", "3 processes", "4 entries"
const plural = (one) => /[^aeou]y$/.test(one) ? `${one.slice(0, -1)}ies` : `${one}${/(s|x|ch)$/.test(one) ? "es" : "s"}`;
export const counted = (n, one) => `${count(n)} ${Math.round(n) === 1 ? one : plural(one)}`;
// As printf() has it: of a number in the middle between two texts, the one whose last digit is even. toFixed() takes the larger.
function fixed(n, digits) {
  const text = n.toFixed(digits), isMiddle = Math.abs(n) * 2 ** (digits + 1) % 2 === 1;
  return isMiddle && "13579".includes(text.at(-1)) ? (n - Math.sign(n) * 0.25 * 10 ** -digits).toFixed(digits) : text;
}
export const percent = (part, all) => all > 0 ? `${fixed(100 * part / all, part / all >= 0.0995 ? 1 : 2)} %` : "0 %";
export function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let unit = 0;
  for (let next = 1023.5; Math.abs(bytes) >= next && unit < units.length - 1; unit++, next = 1023.995) bytes /= 1024;
  return `${unit ? fixed(bytes, 2) : Math.round(bytes)} ${units[unit]}`;
}

// SPDX-License-Identifier: MIT
// Shared by all pages: the light and the dark theme.

export let dark = false;
export let theme = readTheme(); // colors and fonts for canvases, from the style sheet
function readTheme() {
  const css = getComputedStyle(document.documentElement), get = (name) => css.getPropertyValue(name).trim();
  return { text: get("--text"), soft: get("--soft"), faint: get("--faint"), line: get("--line"), accent: get("--accent"), select: get("--select"),
    mono: get("--mono"), sans: get("--sans"), panel: get("--panel"), band: get("--band") };
}
function setDark(on) {
  dark = on;
  document.documentElement.classList.toggle("dark", dark);
  theme = readTheme();
}
// Begins with the theme of the system, follows it, and changes it by the button; @repaint draws again.
export function useTheme(repaint, first) {
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  const change = (on) => { setDark(on); repaint(); };
  setDark(first === undefined ? preferred.matches : first);
  preferred.onchange = () => change(preferred.matches);
  document.getElementById("theme").onclick = () => change(!dark);
}

// SPDX-License-Identifier: MIT
// Shared by all pages: elements, tabs, and what a user searches for.

/** @param {string} id */
export const $ = (id) => document.getElementById(id);
export const canvasOf = (id) => /** @type {HTMLCanvasElement} */ ($(id));
export const inputOf = (id) => /** @type {HTMLInputElement} */ ($(id));
/** @returns {HTMLElement[]} all elements that a selector names, in order */
export const every = (selector, within = /** @type {ParentNode} */ (document)) => [...within.querySelectorAll(selector)];
/** @returns {HTMLElement} */
export const first = (selector, within = /** @type {ParentNode} */ (document)) => within.querySelector(selector);
export const el = (tag, text, cls) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; if (cls) e.className = cls; return e; };
export const svg = (tag, attrs, text) => { const e = document.createElementNS("http://www.w3.org/2000/svg", tag); for (const k in attrs) e.setAttribute(k, attrs[k]); if (text !== undefined) e.textContent = text; return e; };

// The pattern of a search: a regular expression or, if it is none, the text itself.
export function patternOf(text) {
  if (!text) return null;
  try { return new RegExp(text, "i"); }
  catch { return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i"); }
}
const tabs = () => every("[data-view]");
export function markTab(view) { // only the chosen tab is a stop of the Tab key, arrow keys go to the others
  for (const b of tabs()) {
    b.setAttribute("aria-selected", String(b.dataset.view === view));
    b.tabIndex = b.dataset.view === view ? 0 : -1;
  }
}
export function useTabs(show) {
  for (const b of tabs()) {
    b.onclick = () => show(b.dataset.view);
    b.onkeydown = (e) => {
      const all = tabs().filter((v) => !v.hidden), by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!by) return;
      const to = all[(all.indexOf(b) + by + all.length) % all.length];
      show(to.dataset.view);
      to.focus();
      e.stopPropagation();
    };
  }
}
// The dialog that lists the keys.
const keys = () => /** @type {HTMLDialogElement} */ ($("keys"));
export const keysAreOpen = () => keys().open;
export function showKeys() { keys().showModal(); }

// SPDX-License-Identifier: MIT
// The choice of data as buttons, and costs: allocations, native
// memory, waits.
import { $, el } from "./dom.js";
import { count, counted } from "./numbers.js";
import { changeSummary } from "./page_change.js";
import { PART_HELP, PART_NAMES, reopen } from "./page_choice.js";
import { before, duration, selfCount, selfWeight } from "./page_data.js";
import { costs, data, timed, unit } from "./page_model.js";

export function showChoices() {
  const bar = $("parts"), by = $("bycount"), parts = data.parts && data.parts.length > 1 ? data.parts : [];
  bar.replaceChildren();
  by.replaceChildren();
  bar.hidden = !parts.length;
  $("choices").hidden = bar.hidden && !costs;
  for (const name of parts) {
    const b = el("button", PART_NAMES[name] || name);
    b.title = PART_HELP[name] || "";
    b.dataset.part = name;
    b.setAttribute("aria-pressed", String(name === data.data));
    b.onclick = () => reopen("data", name);
    bar.append(b);
  }
  by.hidden = !costs || Boolean(data.before);
  if (by.hidden) return;
  const words = data.units === "bytes" ? ["bytes", "Bytes"] : ["ns", "Time"];
  for (const [key, name] of [words, ["count", data.words[1][0].toUpperCase() + data.words[1].slice(1)]]) {
    const b = el("button", name);
    b.title = `Widths are ${key === "count" ? `numbers of ${data.words[1]}` : key === "bytes" ? "bytes" : "time"}`;
    b.dataset.by = key;
    b.setAttribute("aria-pressed", String((key === "count") === (data.unit === "count")));
    b.onclick = () => reopen("by", key);
    by.append(b);
  }
}

// ---- numbers ----------------------------------------------------------------------------------
export const both = (weight, n) => { // "1.20 MiB · 30 objects", the unit of the widths first
  const items = `${count(n)} ${unit(n)}`;
  return data.unit === "count" ? items : `${duration(weight)} · ${items}`;
};
export function costSummary() {
  const parts = [];
  if (data.words[2]) parts.push(`${data.words[2]} ${both(selfWeight.reduce((a, b) => a + b, 0), selfCount.reduce((a, b) => a + b, 0))}`);
  if (before) return changeSummary();
  parts.push(data.every > 1 ? `estimates from ${counted(data.records, "sample")}` : data.dropped ? "not all recorded" : "all recorded");
  if (data.unchecked) parts.push(`of these may be garbage ${both(...data.unchecked)}`);
  const within = timed ? data.within : data.withinN;
  if (data.dropped) parts.push("at least: some were dropped");
  if (data.biased) parts.push("some not chosen at random: error unknown");
  else if (within) parts.push(`in 19 of 20 runs ${within.map(v => timed ? duration(v) : count(v)).join(" to ")}`);
  return parts;
}

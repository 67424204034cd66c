// SPDX-License-Identifier: MIT
// Which data the page shows. A page in a file contains one
// script element of data for each kind of data; a served page asks for the data. The choice is in the
// page's fragment, #data=alloc&by=count.

// ---- choice of data ---------------------------------------------------------------------------
import { every } from "./dom.js";

export const dataParts = every("script[type='application/json']");
export const choice = new URLSearchParams(location.hash.slice(1));
export function readData() { // all but the first element have the name of their data
  const part = dataParts.find((p) => p.dataset.name && p.dataset.name === choice.get("data")) || dataParts[0];
  return withUnit(JSON.parse(part.textContent));
}
export function withUnit(d) {
  if (d.units) d.unit = (choice.get("by") || d.by) === "count" ? "count" : d.units;
  return d;
}
export let reload = () => location.reload(); // a served page asks the server instead
export function onReload(f) { reload = f; }
export function reopen(key, value) {
  choice.set(key, value);
  history.replaceState(null, "", `#${choice}`);
  reload();
}
export const PART_NAMES = { samples: "Samples", calls: "Calls", alloc: "Allocated", live: "Alive", native: "Native", "native-live": "Not freed", locks: "Locks", "lock-owners": "Lock owners", wait: "Waiting" };
export const PART_HELP = { samples: "Where the time went", calls: "Counted calls", alloc: "Objects that were allocated", live: "Sampled objects that are still alive, by where they were allocated",
  native: "Memory from malloc and mmap", "native-live": "Memory from malloc and mmap that was not freed", locks: "Waits for monitors", "lock-owners": "Threads that held monitors, by how long others waited", wait: "Samples of threads that waited" };

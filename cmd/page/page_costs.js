// SPDX-License-Identifier: MIT
// Part of page.js, inserted by embed.py: which data the page shows, and costs: allocations, native
// memory, waits. A page contains one script element of data for each kind of data. The choice is in
// the page's fragment, #data=alloc&by=count; a change of it loads the page again.

// ---- choice of data ---------------------------------------------------------------------------
const dataParts = [...document.querySelectorAll("script[type='application/json']")];
const choice = new URLSearchParams(location.hash.slice(1));
function readData() { // all but the first element have the name of their data
  const part = dataParts.find((p) => p.dataset.name && p.dataset.name === choice.get("data")) || dataParts[0];
  const d = JSON.parse(part.textContent);
  if (d.units) d.unit = (choice.get("by") || d.by) === "count" ? "count" : d.units;
  return d;
}
function reopen(key, value) {
  choice.set(key, value);
  location.hash = choice.toString();
  location.reload();
}
const PART_NAMES = { samples: "Samples", calls: "Calls", alloc: "Allocated", live: "Alive", native: "Native", "native-live": "Not freed", locks: "Locks", "lock-owners": "Lock owners", wait: "Waiting" };
const PART_HELP = { samples: "Where the time went", calls: "Counted calls", alloc: "Objects that were allocated", live: "Sampled objects that are still alive, by where they were allocated",
  native: "Memory from malloc and mmap", "native-live": "Memory from malloc and mmap that was not freed", locks: "Waits for monitors", "lock-owners": "Threads that held monitors, by how long others waited", wait: "Samples of threads that waited" };
function showChoices() {
  const bar = $("parts"), by = $("bycount"), parts = data.parts && data.parts.length > 1 ? data.parts : [];
  bar.hidden = !parts.length;
  $("choices").hidden = bar.hidden && !costs;
  for (const name of parts) {
    const b = el("button", PART_NAMES[name] || name);
    b.title = PART_HELP[name] || "";
    b.dataset.part = name;
    b.setAttribute("aria-pressed", name === data.data);
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
    b.setAttribute("aria-pressed", (key === "count") === (data.unit === "count"));
    b.onclick = () => reopen("by", key);
    by.append(b);
  }
}

// ---- numbers ----------------------------------------------------------------------------------
function bytesText(bytes) {
  const names = ["B", "kB", "MB", "GB", "TB", "PB"];
  let n = 0;
  while (bytes >= 999.95 && n < 5) { bytes /= 1000; n++; }
  return `${n ? bytes.toFixed(bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2) : Math.round(bytes)} ${names[n]}`;
}
const both = (weight, n) => { // "1.2 MB · 30 objects", the unit of the widths first
  const items = `${count(n)} ${unit(n)}`;
  return data.unit === "count" ? items : `${duration(weight)} · ${items}`;
};
function costSummary() {
  const parts = [];
  if (data.words[2]) parts.push(`${data.words[2]} ${both(selfWeight.reduce((a, b) => a + b, 0), selfCount.reduce((a, b) => a + b, 0))}`);
  if (before) return ["red grew, blue shrank", `now ${parts[0]}`, `before ${duration(before.reduce((a, b) => a + b, 0))}`];
  parts.push(data.every > 1 ? `estimates from ${count(data.records)} samples` : "all recorded");
  const error = timed ? data.error : data.errorN;
  if (error) parts.push(`standard error ${(100 * error).toFixed(1)} %`);
  return parts;
}

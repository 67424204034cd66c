// SPDX-License-Identifier: MIT
// Coverage gaps of counted calls: functions that are not
// recorded, or in part, and why.
import { $, el } from "./dom.js";
import { count } from "./numbers.js";
import { ownerColor } from "./page_data.js";
import { data, runtimes } from "./page_model.js";
import { state } from "./page_view.js";

export let gaps; // [pid, number of the runtime, its version, why, sum, counted, rows left out, [[name, detail, count]...]]
export function paintGaps() { // a section for each kind and runtime; a search keeps the rows that match
  const box = $("gaps"), re = state.search, pids = new Set(gaps.map((g) => g[0])).size;
  let found = 0;
  box.replaceChildren();
  for (const [pid, number, version, why, sum, counted, left, all] of gaps) {
    const runtime = runtimes.findIndex((r) => r[0] === number && r[1] === version) + 1;
    if (state.owner > 0 && number && runtime !== state.owner) continue;
    const rows = re ? all.filter(([name, detail]) => re.test(name) || re.test(detail)) : all;
    if (re && !rows.length) continue;
    found += rows.length;
    const any = rows.length > 0, section = el(any ? "details" : "div", undefined, "kind"), head = el(any ? "summary" : "p", undefined, "head");
    section.open = rows.length <= 20 || Boolean(re);
    if (number) {
      const dot = el("i"), name = el("b", `.NET ${version}`);
      dot.style.background = ownerColor(runtime);
      head.append(dot, name);
    }
    head.append(el("span", why));
    if (sum) head.append(el("small", count(sum)));
    if (pids > 1) head.append(el("small", `pid ${pid}`));
    section.append(head);
    if (any) section.append(gapRows(rows, counted));
    if (left && !re) section.append(el("p", `and ${count(left)} more`, "soft"));
    box.append(section);
  }
  box.dataset.rows = String(found);
  $("found").textContent = re ? `${count(found)} found` : "";
  $("search").classList.toggle("bad", Boolean(re) && !found);
  if (!box.firstChild) box.append(el("p", "Nothing here passes the search and the filters.", "soft"));
}
function gapRows(rows, counted) {
  const list = el("ul");
  for (const [name, detail, n] of rows) {
    const row = el("li");
    if (counted) row.append(el("span", count(n), "number"));
    if (name) row.append(el("code", name));
    if (detail) row.append(el(name ? "span" : "code", detail, name ? "soft" : undefined));
    list.append(row);
  }
  return list;
}

// Starts again with new data: drops all state of the old data.
export function startGaps() {
  gaps = data.unseen || [];
}

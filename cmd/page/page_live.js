// SPDX-License-Identifier: MIT
// The page of a file opens its data; the page of a server asks
// for them, and again every two seconds while the session is running.
import { $, every } from "./dom.js";
import { counted } from "./numbers.js";
import { choice, dataParts, onReload, readData, reload, withUnit } from "./page_choice.js";

const served = dataParts[0].textContent.length < 100 && JSON.parse(dataParts[0].textContent).served === true;
const live = { page: null, tag: "", of: null, timer: 0, asking: false, again: false, on: true, running: true, waiting: null, updates: 0, left: false };
let open = null; // shows data, and returns what keeps what the user has chosen
export function start(show) {
  open = show;
  if (served) startLive(); else open(readData());
}

function startLive() {
  $("served").hidden = false;
  $("live").onclick = () => { live.on = !live.on; sayLive(live.said || ""); if (live.on) ask(); else clearTimeout(live.timer); };
  document.onvisibilitychange = () => { if (!document.hidden && !live.left) ask(); };
  window.onhashchange = () => { for (const [key, value] of new URLSearchParams(location.hash.slice(1))) choice.set(key, value); reload(); };
  onReload(() => { live.tag = ""; ask(true); });
  ask();
}
function sayLive(text) {
  live.said = text;
  $("live").setAttribute("aria-pressed", String(live.on && live.running));
  $("live").textContent = !live.on ? "Paused" : live.running ? "Live" : "Ended";
  $("livestate").textContent = text;
}
function planAsk() {
  clearTimeout(live.timer);
  if (live.on && !live.left && !document.hidden) live.timer = setTimeout(ask, live.running ? 2000 : 10000);
}
async function ask(now) {
  if (live.asking) { live.again = live.again || now === true; return; }
  live.asking = true;
  const query = choice.get("data") ? `?data=${encodeURIComponent(choice.get("data"))}` : "";
  const headers = live.tag && live.of === query ? { "If-None-Match": live.tag } : {};
  try {
    const answer = await fetch(`data${query}`, { cache: "no-store", headers });
    if (!live.on && now !== true) { // paused meanwhile
    } else if (answer.status === 200) {
      const got = await answer.json();
      live.tag = answer.headers.get("ETag") || ""; live.of = query;
      await untilIdle();
      takeData(got);
    } else if (answer.status === 304) sayLive(live.fine);
    else if (answer.status === 403) { live.left = true; live.running = false; sayLive("The server has ended and another one began: open the address that is in its terminal."); }
    else if (answer.status === 404) { live.running = false; sayLive("The session is not there any more."); }
    else sayLive((await answer.text()).trim());
  } catch { sayLive("The server does not answer."); }
  live.asking = false;
  if (live.again) { live.again = false; ask(); } else planAsk();
}
async function untilIdle() { // a page that is dragged stays until the mouse is released
  while (live.page && live.page.busy()) await new Promise((r) => setTimeout(r, 100));
}
function takeData(got) {
  live.running = got.running;
  $("sessions").hidden = !got.list;
  $("heap").hidden = !got.heaps;
  showFiles(got);
  live.fine = got.messages.length ? `${counted(got.messages.length, "problem")}: ${got.messages[0]}` : "";
  $("livestate").title = got.messages.join("\n");
  $("waits").hidden = Boolean(got.data || live.page);
  if (got.data) {
    const focus = focusOf(), kept = live.page && live.page.keep();
    if (live.page) live.page.close();
    got.data.parts = got.parts;
    live.page = open(withUnit(got.data), kept);
    if (focus) focus();
  } else if (live.page) live.fine = got.messages[0] || "There is nothing of this kind to show.";
  else $("waits").textContent = [got.running ? "Nothing is recorded yet." : "There is nothing to draw in this session; the text report has what there is.", ...got.messages].join("\n");
  sayLive(live.fine);
  document.documentElement.dataset.updates = String(++live.updates);
}
function focusOf() { // buttons without an id are replaced: the focus goes to the one in the same place
  const at = document.activeElement, box = at && !at.id && at.closest("[id]");
  if (!box) return null;
  const all = () => every("button, [tabindex]", box), n = all().indexOf(/** @type {HTMLElement} */ (at));
  return n < 0 ? null : () => { const e = all()[n]; if (e && document.activeElement === document.body) e.focus({ preventScroll: true }); };
}
function showFiles(got) {
  const box = $("files"), data = got.data ? got.data.data : "";
  const key = JSON.stringify([data, got.parts]);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren();
  const formats = [["text", "Text"], ["json", "JSON"], ...data ? [["html", "Page"], ["pprof", "pprof"], ["speedscope", "speedscope"], ["collapsed", "collapsed stacks"], ["chrome", "Chrome trace"], ["firefox", "Firefox profiler"]] : []];
  for (const [format, name] of formats) {
    const a = document.createElement("a");
    a.textContent = name;
    a.href = `report?format=${format}${data && !["text", "json", "html", "chrome"].includes(format) ? `&data=${data}` : ""}`;
    a.download = "";
    box.append(a);
  }
}

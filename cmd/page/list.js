// SPDX-License-Identifier: MIT
// The script of the list of sessions that sxsprof serve shows. Asks for the list every two seconds.
import { $, el, every, first, inputOf } from "./dom.js";
import { bytesText, counted } from "./numbers.js";
import { useTheme } from "./theme.js";

let known = null, tag = "", timer = 0;

function lasting(ms) {
  const s = Math.max(0, ms) / 1000;
  if (s < 120) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
  return s < 7200 ? `${Math.round(s / 60)} min` : `${(s / 3600).toFixed(1)} h`;
}
const pad = (n) => String(n).padStart(2, "0");
function when(ms) {
  if (!ms) return "–";
  const d = new Date(ms);
  return `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())} ${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}`;
}

function row(s) {
  const tr = el("tr"), name = el("td"), what = el("td"), runtimes = el("td"), data = el("td"), link = el("a", s.name);
  link.href = `session/${s.link}/`;
  name.append(link);
  if (s.running) name.append(el("span", "running", "live"));
  for (const p of (s.processes || []).slice(0, 4)) {
    const line = el("div");
    line.append(el("code", p.command || "?"), " ", el("small", `pid ${p.pid}`));
    what.append(line);
  }
  if (s.processes && s.processes.length > 4) what.append(el("small", `and ${s.processes.length - 4} more`));
  if (s.packed) what.append(el("small", "a packed session"));
  for (const v of new Set((s.processes || []).flatMap((p) => p.runtimes))) runtimes.append(el("div", `.NET ${v}`, "runtime"));
  for (const d of s.recorded || []) data.append(el("span", d, "tag"));
  if (s.problems) data.append(el("small", counted(s.problems, "problem")));
  const end = s.running ? Date.now() : s.ended_ns / 1e6;
  tr.append(name, what, runtimes, el("td", when((s.started_ns || s.ended_ns) / 1e6), "when"),
    el("td", s.started_ns ? lasting(end - s.started_ns / 1e6) : "–", "number"), data, el("td", bytesText(s.disk_bytes), "number"));
  tr.dataset.name = s.name;
  return tr;
}
function paint() {
  if (!known) return;
  const text = inputOf("search").value.toLowerCase();
  const shown = known.sessions.filter((s) => !text || [s.name, ...(s.processes || []).flatMap((p) => [p.command, String(p.pid), ...p.runtimes]), ...(s.recorded || [])].some((t) => t.toLowerCase().includes(text)));
  const running = known.sessions.filter((s) => s.running).length, focus = document.activeElement.closest?.("tr")?.dataset.name;
  const body = first("#sessions tbody");
  body.replaceChildren(...shown.map(row));
  if (focus !== undefined) every("tr", body).find((tr) => tr.dataset.name === focus)?.querySelector("a").focus();
  $("summary").textContent = [known.folder, counted(known.sessions.length, "session"), running ? `${running} running` : "",
    known.sessions_left_out ? `${known.sessions_left_out} more are left out` : ""].filter(Boolean).join(" · ");
  $("found").textContent = text ? `${shown.length} found` : "";
  $("none").hidden = shown.length > 0;
  $("none").textContent = text ? "No session has this text." : "No session is here yet. sxsprof sample -o DIR records one; it is listed when it begins.";
}
async function ask() {
  clearTimeout(timer);
  try {
    const answer = await fetch("sessions", { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
    if (answer.status === 200) { known = await answer.json(); tag = answer.headers.get("ETag") || ""; }
    else if (answer.status === 403) { $("summary").textContent = "The server has ended and another one began: open the address that is in its terminal."; return; }
    paint();
  } catch { $("summary").textContent = "The server does not answer."; }
  document.documentElement.dataset.ready = "1";
  if (!document.hidden) timer = setTimeout(ask, 2000);
}
document.onvisibilitychange = () => { if (!document.hidden) ask(); };
$("search").oninput = paint;
document.onkeydown = (e) => { if (e.key === "/" && document.activeElement !== $("search")) { e.preventDefault(); $("search").focus(); } };
useTheme(() => {});
ask();

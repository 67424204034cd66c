// SPDX-License-Identifier: MIT
// Shortens names so that they fit. Needs no document.

// Shortens names: first parameters are removed, then namespaces, because they matter least.
export function clip(text, room) {
  if (text.length <= room) return text;
  const bare = text.replace(/\(.*\)$/, "");
  if (bare.length <= room) return bare;
  if (/\.so(\.|$)|!|::/.test(bare)) return room > 3 ? bare.slice(0, room - 1) + "…" : "";
  const parts = bare.split("."), tail = parts.slice(-2).join(".");
  if (!bare.includes("<") && tail.length <= room && tail) return tail;
  if (!bare.includes("<") && parts[parts.length - 1].length <= room && parts[parts.length - 1]) return parts[parts.length - 1];
  const last = bare.includes("<") ? bare : parts[parts.length - 1] || bare;
  return room > 3 ? last.slice(0, room - 1) + "…" : "";
}

// Cut in the middle, because names of threads often differ at their ends; "[id]" stays whole.
export function fitMiddle(c, text, room) {
  if (c.measureText(text).width <= room) return text;
  const id = (/ \[\d+\]$/.exec(text) || [""])[0], name = [...text.slice(0, text.length - id.length)];
  for (let kept = name.length - 1; kept > 1; kept--) {
    const short = `${name.slice(0, Math.ceil(kept / 2)).join("")}…${name.slice(name.length - Math.floor(kept / 2)).join("")}${id}`;
    if (c.measureText(short).width <= room) return short;
  }
  return `…${id}`;
}

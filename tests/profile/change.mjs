// SPDX-License-Identifier: MIT
// change.mjs - checks cmd/page/page_change.js on known trees: what it takes for a change. Needs no browser.
import { readFileSync } from "node:fs";
import { about, status } from "./browser.mjs";

const ok = about("changes");
// The module without its imports, which need a document: the test gives what it takes from them.
const source = readFileSync("cmd/page/page_change.js", "utf8").replace(/^import [^;]*;\n/gm, "").replace(/^export /gm, "");

// Trees are { name: [own samples before, own samples now, { callees }] }. Returns the change of each path.
function changes(tree) {
  const v = { parent: [-1], frame: [-1], self: [0], selfOld: [0], path: [""] }, names = [];
  const add = (kids, p) => {
    for (const [name, [was, now, below]] of Object.entries(kids)) {
      if (!names.includes(name)) names.push(name);
      v.parent.push(p); v.frame.push(names.indexOf(name)); v.self.push(now); v.selfOld.push(was); v.path.push(`${v.path[p]}/${name}`);
      if (below) add(below, v.parent.length - 1);
    }
  };
  add(tree, 0);
  const M = v.parent.length, view = { ...v, M, total: v.self.slice(), old: v.selfOld.slice(), first: new Int32Array(M + 1), kids: [] };
  for (let i = M - 1; i > 0; i--) { view.total[v.parent[i]] += view.total[i]; view.old[v.parent[i]] += view.old[i]; }
  for (let i = 0; i < M; i++) { view.first[i] = view.kids.length; for (let k = 1; k < M; k++) if (v.parent[k] === i) view.kids.push(k); }
  view.first[M] = view.kids.length;
  view.kids = Int32Array.from(view.kids);
  const data = { samples: view.total[0], beforeSamples: view.old[0] };
  new Function("view", "data", "costs", "calls", "timed", `${source}; findChanges();`)(view, data, false, false, true);
  return Object.fromEntries(v.path.map((p, i) => [p, view.change[i]]).filter(([, c]) => c));
}
const is = (claim, tree, expected) => ok(claim, JSON.stringify(changes(tree)) === JSON.stringify(expected), changes(tree));

is("equal counts are no change", { Main: [0, 0, { A: [500, 500], B: [500, 500] }] }, {});
is("so are counts as chance makes them", { Main: [0, 0, { A: [500, 541], B: [500, 459] }] }, {});
is("a function that took half as much again", { Main: [0, 0, { A: [500, 750], B: [500, 250] }] }, { "/Main/A": 1, "/Main/B": -1 });
is("few samples prove nothing", { Main: [0, 0, { A: [5, 8], B: [5, 2] }] }, {});
is("a function that is new", { Main: [0, 0, { A: [1000, 700], New: [0, 300] }] }, { "/Main/A": -1, "/Main/New": 1 });
is("one that is gone", { Main: [100, 140, { A: [400, 560], B: [300, 300], Gone: [200, 0] }] }, { "/Main/A": 1, "/Main/Gone": -1 });
is("one that was inlined: its time is its caller's", { Main: [0, 0, { A: [100, 300, { B: [200, 0] }], C: [700, 700] }] }, {});
is("one whose call has become a jump: its callee is its caller's", { Main: [0, 0, { A: [100, 100, { B: [5, 0, { C: [200, 0] }], C: [0, 205] }], D: [700, 700] }] }, {});
is("two that were inlined, with a callee", { Main: [0, 0, { A: [50, 150, { B: [50, 0, { C: [50, 0, { D: [150, 0] }] }], D: [0, 150] }], E: [700, 700] }] }, {});
is("inlined, and faster", { Main: [0, 300, { A: [100, 100, { B: [400, 0] }], D: [500, 600] }] }, { "/Main/A": -1, "/Main/A/B": -1, "/Main/D": 1 });
process.exit(status());

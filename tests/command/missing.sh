#!/bin/bash
# SPDX-License-Identifier: MIT
# missing.sh - checks that everything a session lacks is in the first lines of text and page, in JSON, and on standard error
# for the other formats. Walks the table of counters in cmd/output/missing.c, which tests/lint/missing.sh compares with the
# counters that the files of a session have.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
for kind in samples calls events instrument; do
    $CC -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_$kind.c -o "$T/make_$kind" || exit 1
done
"$T/make_samples" "$T/s" known 4242 && "$T/make_calls" "$T/c" trace && "$T/make_events" "$T/e" && "$T/make_instrument" "$T/i" >/dev/null || exit 1
mkdir -p "$T/all/4242"
cp "$T"/i/4242/* "$T"/e/4242/* "$T"/c/4242/* "$T"/s/4242/* "$T/all/4242/"
"$BUILD/tests/report_main" missing >"$T/table" || exit 1

# Sets the counter of each row to its own number in a copy of the session, and prints claims and what fails.
python3 - "$T" "$SXS" >"$T/claims" 2>"$T/err" <<'P'
import json, os, re, shutil, struct, subprocess, sys
T, sxs = sys.argv[1:]
rows = [line.rstrip("\n").split("\t") for line in open(T + "/table")]
threads = next(int(r[2]) for r in rows if r[1] == "threads")
rows = [r for r in rows if r[1] != "threads"]
def plural(one): # as sxs_text_count() does
    return re.sub("y$", "ies", one) if re.search("[^aeou]y$", one) else one + ("es" if re.search("(s|x|ch)$", one) else "s")
def report(dir, *args):
    return subprocess.run([sxs, "report", *args, dir], capture_output=True, text=True, timeout=120)
def zero(dir): # no counter of the session is set
    for file, where, offset, *_ in rows:
        poke(dir, file, where, int(offset), 0)
def poke(dir, file, where, offset, n):
    path = "%s/4242/%s" % (dir, file)
    if not os.path.exists(path): # the names of threads: a file without names
        with open(path, "wb") as f:
            f.write(b"SXSTHRD\0" + struct.pack("<III", 1, 262144, 4242) + bytes(4096 - 20))
    with open(path, "r+b") as f:
        if where == "thread":
            f.seek(threads)
            offset += 4096 + 64 * struct.unpack("<I", f.read(4))[0]
        f.seek(offset)
        f.write(struct.pack("<Q", n))
def page(html):
    at = html.index('id="data">') + 10
    return json.loads(html[at:html.index("</script>", at)])
base = T + "/base"
shutil.copytree(T + "/all", base)
zero(base)
said = report(base).stdout + json.dumps(json.loads(report(base, "--format", "json").stdout).get("missing"))
print("ok" if "process 4242: " not in said.split("runtime  version")[0] and said.endswith("null") else "not ok",
      "a session that lacks nothing says nothing")
for i, (file, where, offset, key, one, what) in enumerate(rows):
    for n in (1, i + 2):
        dir = T + "/poked"
        shutil.rmtree(dir, ignore_errors=True)
        shutil.copytree(base, dir)
        poke(dir, file, where, int(offset), n)
        line = "process 4242: %d %s %s" % (n, one if n == 1 else plural(one), what)
        text = report(dir).stdout
        print("ok" if line in text.split("\n")[:3] else "not ok", "%s, %d: text, first lines" % (key, n))
        got = json.loads(report(dir, "--format", "json").stdout).get("missing") or []
        print("ok" if [(m["what"], m["count"], m["process"], m["text"]) for m in got] == [(key, n, "4242", line)] else "not ok",
              "%s, %d: JSON" % (key, n))
        if n == 1:
            continue
        html = report(dir, "--format", "html")
        print("ok" if line in page(html.stdout)["missing"] else "not ok", "%s, %d: page" % (key, n))
        other = report(dir, "--format", "collapsed")
        print("ok" if line in other.stderr else "not ok", "%s, %d: standard error for the other formats" % (key, n))
diff = subprocess.run([sxs, "diff", base, dir], capture_output=True, text=True, timeout=120).stdout
print("ok" if "now     " + line in diff else "not ok", "diff: text")
P
is "each counter was tried" "" "$(cat "$T/err")"
while read -r line; do
    case $line in
    "ok "*) is "${line#ok }" "" "" ;;
    *) is "${line#not ok }" "in the first lines" "not there" ;;
    esac
done <"$T/claims"

# --- what is not a counter of a file: the library's log, masks, runtimes without a row, failed calls
mkdir -p "$T/log"
"$CENSUS" "$T/log" 7 mask=1 runtime=1,8.0.29,1,1,1,1,1,1,1 || exit 1
printf 'the tool calls is refused: it needs a start\n' >"$T/log/7/log"
try "$SXS" report "$T/log"
is "the log and masks: text, first lines" "7/log: the tool calls is refused: it needs a start
values are masked: of texts the length was recorded (SXSPROF_MASK)" "$(head -n 2 "$T/out")"
"$CENSUS" "$T/forked" 8 children=1 runtime=1,8.0.29,1,1,1,1,1,1,1 || exit 1
is "children that are counted with their parent: text, first line" \
    "process 8: forked children had no memory of their own: what they did is counted here" "$("$SXS" report "$T/forked" | head -n 1)"
is "children that are counted with their parent: JSON" "['children_counted']" "$("$SXS" report --format json "$T/forked" | python3 -c '
import json, sys
print([m["what"] for m in json.load(sys.stdin)["missing"]])')"
is "the log and masks: JSON" "['log', 'masked']" "$("$SXS" report --format json "$T/log" | python3 -c '
import json, sys
print([m["what"] for m in json.load(sys.stdin)["missing"]])')"
finish

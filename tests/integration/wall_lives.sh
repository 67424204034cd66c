# SPDX-License-Identifier: MIT
# wall_lives.sh - samples of wall-clock time on real runtimes: the weights of a thread's samples, and the time that
# the report says was not sampled, add up to the thread's life, which the app measures itself. For threads that live
# 20, 50 and 200 ms, that sleep, or compute and sleep, also beside threads that compute all the time.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/named/named.dll" ] || skip_all "$0" "the app named is not built"

# lives CLAIM ALLOWED: compares $tmp/json with what the app printed to $tmp/log. ALLOWED: ms that each thread may take
# from its code's last line to its end
lives() {
    python3 - "$tmp/json" "$tmp/log" "$2" "$tmp"/s/*/samples >"$tmp/said" 2>&1 <<'PY'
import collections, json, struct, sys

def recorded_lives(path):
    """Seconds between start and end of each thread, by its number, as the file has them."""
    data, lives = open(path, "rb").read(), collections.Counter()
    for chunk in range(4096, len(data), 256 << 10):
        at, used = chunk + 16, min(struct.unpack_from("<I", data, chunk + 8)[0], 256 << 10)
        while at + 8 <= chunk + used:
            size, mark, kind = struct.unpack_from("<IHH", data, at)
            if mark != 0xa5c3 or size < 8:
                break
            if kind == 2:
                tid, _, _, started, ended = struct.unpack_from("<IIQQQ", data, at + 8)
                lives[tid] += max(ended - started, 0) / 1e9 if ended else 0
            at += size
    return lives

lives = recorded_lives(sys.argv[4])
report = json.load(open(sys.argv[1]))
allowed = float(sys.argv[3]) / 1e3
found = [line.split()[1:] for line in open(sys.argv[2]) if line.startswith("lives: ")]
assert found, "the app printed nothing"
for name in {f[0] for f in found}:
    rows = [f for f in found if f[0] == name]
    count, inner, outer = (sum(float(f[i]) for f in rows) for i in (1, 2, 3))
    threads = [t for t in report["profile_threads"] if t["name"] == name]
    sampled, unsampled = sum(t["total_ns"] for t in threads) / 1e9, sum(t["unsampled_ns"] for t in threads) / 1e9
    # On a busy machine a thread may wait long for a processor on its way out, where the app no longer measures it.
    life = sum(lives[tid] for tid in {t["tid"] for t in threads})
    print(name, "sampled", sampled, "not", unsampled, "life", inner, "to", outer, "recorded", life)
    assert 0.99 * inner <= sampled + unsampled
    assert sampled + unsampled <= max(1.001 * life + count * 0.001, 1.01 * outer + count * allowed)
processes = report["profile"]["processes"]
assert sum(p["unsampled_ns"] for p in processes) >= sum(t["unsampled_ns"] for t in report["profile_threads"])
PY
    check "$1" $? "$tmp/said"
    sed 's/^/# /' "$tmp/said"
}
run() { # TOOL VERSION WORDS
    rm -rf "$tmp/s"
    timeout -k 5 120 "$sxsprof" run --quiet --tool "$1" -o "$tmp/s" -- "$runsxs" --timeout 100 "$2" named "$3" >"$tmp/log" 2>&1 &&
        "$sxsprof" report --format json "$tmp/s" >"$tmp/json" 2>>"$tmp/log"
    check "$2: $1: a recorded run of $3 succeeds" $? "$tmp/log"
}
for v in 8 9 $net10; do
    for tool in sample:wall=100 wait; do
        run $tool $v "naps=20:20:4 naps=20:50:4 naps=10:200:4 many=20:50:4"
        lives "$v: $tool: samples and what is not sampled are the lives of short threads" 5
        run $tool $v "load=6 naps=20:50:4 many=10:200:4"
        lives "$v: $tool: so they are beside a load" 40
    done
done
"$sxsprof" report --data samples "$tmp/s" >"$tmp/text" 2>&1
grep -qE '^  [0-9]+ threads?, [0-9.]+ s of their life not sampled' "$tmp/text"
check "the text says in its first lines how much of the lives of threads was not sampled" $? "$tmp/text"
finish

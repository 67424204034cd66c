#!/bin/bash
# SPDX-License-Identifier: MIT
# push.sh - records three real runtimes in one process and checks that what sxsprof push sends, decoded with the
# schemas of pprof and OTLP, has the values of the reports; and that a process is pushed while it runs.
. "$(dirname "$0")/lib.sh"
versions=$(real_versions)
[ -n "$versions" ] || skip_all "pushes of real runtimes" "no real runtimes in $BUILD/runtimes"
python=$(for p in /usr/bin/python3 python3; do "$p" -c 'import google.protobuf' 2>/dev/null && echo $p && break; done)
official=/usr/share/gocode/src/github.com/google/pprof/proto
[ -n "$python" ] && command -v protoc >/dev/null && [ -f $official/profile.proto ] ||
    skip_all "pushes of real runtimes" "no protoc, Python library protobuf or schema of pprof here (Debian: protobuf-compiler, python3-protobuf, golang-github-google-pprof-dev)"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY DEBUGINFOD_URLS
server=
pid=
trap 'kill $server $pid 2>/dev/null; rm -rf "$tmp"' EXIT
mkdir "$tmp/kept"
python3 tests/command/push_receiver.py "$tmp/kept" >"$tmp/port" 2>"$tmp/log" &
server=$!
wait_until test -s "$tmp/port"
to=http://127.0.0.1:$(cat "$tmp/port")
protoc -I $official --descriptor_set_out="$tmp/pprof.set" profile.proto &&
    protoc -I cmd/push --descriptor_set_out="$tmp/otlp.set" otlp.proto || exit 1
if [ -n "${OTLP_PROTO:-}" ]; then # a folder with the official schemas
    protoc --include_imports -I "$OTLP_PROTO" --descriptor_set_out="$tmp/otlp.set" \
        opentelemetry/proto/collector/profiles/v1development/profiles_service.proto || exit 1
fi

apps=$(for v in $versions; do printf '%s stress "" ' "$v"; done)
eval "timeout -k 5 120 $sxsprof run --quiet --tool sample:cpu=499 --tool alloc --tool locks -o $tmp/s -- $runsxs --timeout 100 $apps" >"$tmp/log" 2>&1
check "a session of all real runtimes is recorded" $? "$tmp/log"
for format in pyroscope ingest otlp; do
    rm -rf "$tmp/kept"/[0-9]* && "$sxsprof" push --server "$to" --format $format --period 1s "$tmp/s" >"$tmp/log" 2>&1 &&
        "$python" tests/command/push_decode.py compare "$tmp/pprof.set" "$tmp/otlp.set" "$sxsprof" "$tmp/s" "$tmp/kept" 12 >"$tmp/log" 2>&1
    check "$format: stacks, functions, runtimes and types of locks have the values of the reports" $? "$tmp/log"
done
n=$(sed -n 's/^runtimes: //p' "$tmp/log" | wc -w)
[ "$n" -eq "$(wc -w <<<"$versions")" ]
check "every runtime is in it" $? "$tmp/log"

# A process that is pushed while it runs: each second when it is complete, the rest when it has ended.
rm -rf "$tmp/kept"/[0-9]*
"$sxsprof" push --server "$to" --follow "$tmp/running" --period 1s --queue "$tmp/q" >"$tmp/log" 2>&1
[ $? -eq 2 ]
check "a folder that is not there is refused" $? "$tmp/log"
mkdir "$tmp/running"
"$sxsprof" push --server "$to" --follow "$tmp/running" --period 1s --queue "$tmp/q" >"$tmp/follow" 2>&1 &
pid=$!
arrived() { [ "$(find "$tmp/kept" -name '*.pprof' | wc -l)" -ge "$1" ]; }
newest=$(tail -n 1 <<<"$versions")
timeout -k 5 120 "$sxsprof" run --quiet --tool sample:wall=199 -o "$tmp/running/one" -- "$runsxs" --timeout 100 "$newest" stress "until=$tmp/end" >"$tmp/log" 2>&1 &
program=$!
wait_until arrived 2
kill -0 $program 2>/dev/null
check "batches arrive while the program runs" $? "$tmp/follow"
kill -9 $pid
touch "$tmp/end"
wait $program
check "the program was recorded" $? "$tmp/log"
"$sxsprof" push --server "$to" --follow "$tmp/running" --period 1s --queue "$tmp/q" >"$tmp/follow" 2>&1 &
pid=$!
sums() { # samples pushed, and samples of the report
    "$python" - "$tmp" "$sxsprof" 2>/dev/null <<'P'
import glob, gzip, subprocess, sys
sys.argv, tmp, sxsprof = ["", "fields", sys.argv[1] + "/otlp.set"], sys.argv[1], sys.argv[2]
sys.stdout = open("/dev/null", "w")
sys.path.insert(0, "tests/command")
import push_decode as d
sys.stdout = sys.__stdout__
cls, got, want, ids = d.message(d.pool_of(tmp + "/pprof.set"), d.PROFILES), d.new_sums(), d.new_sums(), {}
import json
for f in glob.glob(tmp + "/kept/*.json"):  # at least once: each batch counts once
    ids[json.load(open(f))["headers"]["Sxsprof-Batch"]] = f[:-5] + ".pprof"
for f in ids.values():
    d.read_pprof(cls, open(f, "rb").read(), got)
subprocess.run([sxsprof, "report", "--format", "pprof", "-o", tmp + "/report", tmp + "/running/one"], check=True, stderr=subprocess.DEVNULL)
d.read_pprof(cls, open(tmp + "/report", "rb").read(), want)
print("equal" if got == want and got else "pushed %d of %d" % tuple(sum(sum(c.values()) for k, c in x.items() if k[1] == "count") for x in (got, want)))
P
}
complete() { [ "$(sums)" = equal ]; }
wait_until complete
check "after kill -9 and a new start, every sample has arrived once" $? "$tmp/follow"
kill -INT $pid
wait $pid
check "SIGINT ends it with status 0" $? "$tmp/follow"
pid=
finish

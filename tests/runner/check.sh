#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh - tests the runner of tests with small test programs: what counts as a failure, how many
# programs run at once, which are in a shard, and that no processes and files are left.
# run: without sanitizers
cd "$(dirname "$0")/../.." || exit 1
set -u
T=$(mktemp -d "${TMPDIR:-/tmp}/sxsprof-runner.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
mkdir "$T/build" "$T/tmp"
failed=0

is() { # CLAIM EXPECTED GOT
    if [ "$2" = "$3" ]; then echo "ok - $1"; else
        echo "not ok - $1"
        printf '%s\n' "expected: $2" "got: $3" | sed 's/^/# /'
        failed=1
    fi
}
program() { # NAME: makes a test program from standard input
    cat >"$T/$1.sh"
}
# runs VARIABLE=VALUE... -- NAME...: runs test programs; the output is then in $T/out, the status in
# $status
runs() {
    local set=()
    while [ "$1" != -- ]; do set+=("$1") && shift; done
    shift
    env -u TESTS -u CASE -u SHARD -u RESULTS BUILD="$T/build" TMPDIR="$T/tmp" "${set[@]}" \
        python3 -B tests/runner/run.py "${@/#/$T/}" >"$T/out" 2>&1
    status=$?
}
one() { # CLAIM STATUS:LAST-LINE: runs the test program on standard input
    program one
    runs JOBS=1 -- one.sh
    is "$1" "$2" "$status:$(tail -n 1 "$T/out")"
}

# ---- results
# --------------------------------------------------------------------------------------
one "results of all kinds are added up" "1:2 passed, 1 failed, 3 skipped" <<'S'
printf '%s\n' 'ok 1 - a' 'not ok 2 - b' 'ok 3 - c # SKIP why' 'not ok 4 # SKIP as cmocka words it' 'ok' 'okay' 'ok 6 # skip'
S
one "only skipped: nothing was tested" "1:0 passed, 0 failed, 1 skipped" <<'S'
echo 'ok 1 - a # SKIP why'
S
one "a status that is not 0 is a failure" "1:1 passed, 1 failed, 0 skipped" <<'S'
echo 'ok 1 - a'; exit 3
S
one "a failure that was printed is not counted twice" "1:1 passed, 1 failed, 0 skipped" <<'S'
echo 'ok 1 - a'; echo 'not ok 2 - b'; exit 3
S
one "so is a signal" "1:1 passed, 1 failed, 0 skipped" <<'S'
echo 'ok 1 - a'; ulimit -c 0; kill -SEGV $$
S
one "so is silence" "1:0 passed, 1 failed, 0 skipped" <<'S'
echo 'nothing of note'
S
one "so is a plan that is not kept" "1:2 passed, 1 failed, 0 skipped" <<'S'
printf '%s\n' 1..3 'ok 1' 'ok 2'
S
one "several plans promise their sum" "0:3 passed, 0 failed, 0 skipped" <<'S'
printf '%s\n' 1..2 'ok 1' 'ok 2' 1..1 'ok 1'
S
program reports <<'S'
echo 'SUMMARY: ThreadSanitizer: data race a.c:1' >"${TSAN_OPTIONS##*log_path=}.1"; echo 'ok 1 - a'
S
runs SAN=thread -- reports.sh
is "so is a report of the thread sanitizer that the program did not notice" \
    "1:1 reports of the thread sanitizer:1 passed, 1 failed, 0 skipped" \
    "$status:$(grep '^[0-9]* reports' "$T/out"):$(tail -n 1 "$T/out")"
is "it is shown" 1 "$(grep -c 'not ok - the program caused a report: ThreadSanitizer: data race a.c:1' "$T/out")"
program long <<'S'
echo 'not ok 1 - the cause'; echo '# why'; for i in $(seq 2 150); do echo "ok $i"; done; echo 'not ok 151 - what followed'
S
runs -- long.sh
is "of a long output, the first failure and the end are shown" "1 1 1" \
    "$(grep -c '    not ok 1 - the cause' "$T/out") $(grep -c '    # why' "$T/out") $(grep -c '    not ok 151 - what followed' "$T/out")"
program slow <<'S'
echo 'ok 1 - before'; sleep 1000
S
runs TEST_TIMEOUT=1 -- slow.sh
is "so is a program that does not end" "1:1 passed, 1 failed, 0 skipped" "$status:$(tail -n 1 "$T/out")"
program fine <<'S'
echo 'ok 1 - fine'
S
runs RESULTS="$T/results" -- fine.sh fine.sh
is "the sums go to RESULTS" "2 0 0" "$(cat "$T/results")"
runs TESTS=none -- fine.sh
is "no program at all is no success" 1 "$status"

program cases <<'S'
printf '%s\n' 'ok 1 - the first' 'not ok 2 - another' 'ok 3 - the_second'
exit 1
S
runs CASE="the sec" -- cases.sh fine.sh
is "CASE=: one case by name" "0:1 passed, 0 failed, 0 skipped" "$status:$(tail -n 1 "$T/out")"
is "and nothing is said of programs without it" 0 "$(grep -c 'fine.sh' "$T/out")"
runs CASE=another -- cases.sh
is "one that fails" "1:0 passed, 1 failed, 0 skipped" "$status:$(tail -n 1 "$T/out")"
runs CASE=nowhere -- cases.sh fine.sh
is "a case that is nowhere is no success" "1:0 passed, 0 failed, 0 skipped" "$status:$(tail -n 1 "$T/out")"
program crash <<'S'
echo 'ok 1 - the first'; exit 3
S
runs CASE=first -- crash.sh
is "a program that ends badly fails with any case" "1:1 passed, 1 failed, 0 skipped" "$status:$(tail -n 1 "$T/out")"

# ---- shards
# -----------------------------------------------------------------------------------------------
names="s1.sh s2.sh s3.sh s4.sh s5.sh s6.sh s7.sh"
for name in $names; do program "${name%.sh}" <<<"echo $name >>'$T/ran'; echo 'ok 1'"; done
for shard in 1/3 2/3 3/3; do
    : >"$T/ran"
    # shellcheck disable=SC2086
    runs SHARD=$shard JOBS=1 -- $names
    is "SHARD=$shard runs a part" "0:1" "$status:$(grep -c "^shard ${shard%/*} of 3: [23] of 7 programs" "$T/out")"
    is "and says which" "$(sort "$T/ran")" "$(sed -n '/^shard /,/ ok /{ s/^    //p }' "$T/out" | tr ' ' '\n' | sed 's,.*/,,' | sort)"
    cat "$T/ran" >>"$T/all"
done
# shellcheck disable=SC2086
is "three shards together run each program once" "$(printf '%s\n' $names)" "$(sort "$T/all")"
runs SHARD=4/3 -- s1.sh
is "a shard that does not exist is refused" "2:SHARD: '4/3': expected K/N, with K from 1 to N, such as 1/4" "$status:$(cat "$T/out")"
is "the shards of all tests are disjoint, complete and equally long, in any order" ok "$(PYTHONPATH=tests/runner python3 -B - <<'P'
import random
import shards
rows = [line.split("\t") for line in open("tests/runner/times.tsv") if not line.startswith("#")]
times = {name: float(seconds) for name, seconds in rows}
for n in range(1, 9):
    parts = shards.divide(times, n)
    assert sorted(sum(parts, [])) == sorted(times), n
    order = list(times)
    random.shuffle(order)
    assert shards.divide({name: times[name] for name in order}, n) == parts, n
    sums = [sum(times[name] for name in part) for part in parts]
    assert max(sums) <= sum(times.values()) / n + max(times.values()), (n, sums)
print("ok")
P
)"

# ---- order and concurrency
# ------------------------------------------------------------------------
for me in left right; do # each program waits for the other
    other=$([ $me = left ] && echo right || echo left)
    program $me <<S
: >"$T/$me"
for i in \$(seq 3000); do [ -e "$T/$other" ] && echo 'ok 1 - met' && exit; sleep 0.01; done
S
done
runs JOBS=2 -- left.sh right.sh
is "JOBS=2: two at a time" "0:2 passed, 0 failed, 0 skipped" "$status:$(tail -n 1 "$T/out")"
for me in a b c d; do
    program $me <<S
$([ $me = c ] && echo '# run: alone')
echo "begin $me" >>"$T/order"; sleep 0.2; echo "end $me" >>"$T/order"; echo 'ok 1'
S
done
runs JOBS=3 -- a.sh b.sh c.sh d.sh
is "a program marked so runs alone" "begin c,end c" "$(grep -A 1 'begin c' "$T/order" | paste -sd,)"
program plain <<<"echo 'ok 1'"
program texts <<<"# run: without sanitizers
echo 'not ok 1'"
runs SAN=address -- plain.sh texts.sh
is "a program marked so is left out under sanitizers" "0:1 passed, 0 failed, 1 skipped" "$status:$(tail -n 1 "$T/out")"
is "the run says so" 1 "$(grep -c 'left out, because sanitizers add nothing to them: .*texts.sh' "$T/out")"
printf '%s\t%s\n' "$T/a.sh" 1 "$T/b.sh" 100 "$T/d.sh" 50 >"$T/build/test-times"
rm "$T/order"
runs JOBS=1 -- a.sh b.sh d.sh
is "the longest first" "begin b,begin d,begin a" "$(grep begin "$T/order" | paste -sd,)"
is "the time each took is kept" 3 "$(awk -F '\t' '$2 < 50' "$T/build/test-times" | grep -c "$T/[abd].sh")"
program environment <<'S'
trap 'echo "ok 1 - caught"' INT
[ -z "${SXSPROF_TOOLS+x}${CDPATH+x}${DOTNET_TieredPGO+x}${LD_PRELOAD+x}" ] && [ "$(umask)" = 0022 ] && kill -INT $$
[ "$(awk 'BEGIN { printf "%.1f", 1.5 }')" = 1.5 ] && echo 'ok 2'
S
(umask 077; trap '' INT; runs SXSPROF_TOOLS=x CDPATH=/ DOTNET_TieredPGO=0 LD_PRELOAD= LC_ALL=de_DE.UTF-8 -- environment.sh; exit $status)
is "whatever the caller's variables, umask and ignored signals are" "0:2 passed, 0 failed, 0 skipped" "$?:$(tail -n 1 "$T/out")"

# ---- processes and files that are left
# -------------------------------------------------------------
program leaves <<S
setsid bash -c 'echo \$\$ >>"$T/pids"; exec sleep 1000' &
timeout 1000 bash -c 'echo \$\$ >>"$T/pids"; exec sleep 1000' &
until [ "\$(wc -l <"$T/pids")" -eq 2 ]; do sleep 0.01; done
touch "\$TMPDIR/file"; echo 'not ok 1 - shows its lines'
S
: >"$T/pids"
gone() { # prints how many of the processes whose numbers are in the file $1 have ended
    local n=0 pid
    while read -r pid; do [ -e "/proc/$pid" ] || n=$((n + 1)); done <"$1"
    echo "$n of $(wc -l <"$1")"
}
runs -- leaves.sh
is "what a program leaves running is ended" "2 of 2" "$(gone "$T/pids")"
is "and named" 1 "$(grep -c '# left running: ' "$T/out")"
is "its files are removed" "" "$(ls -A "$T/tmp")"
program waits <<S
trap 'echo cleaned >>"$T/cleaned"' EXIT
echo \$\$ >>"$T/pids"; timeout 1000 sleep 1000
S
: >"$T/pids"
(trap '' INT; BUILD=$T/build TMPDIR=$T/tmp JOBS=2 exec python3 -B tests/runner/run.py "$T/waits.sh" "$T/waits.sh" "$T/waits.sh") \
    >"$T/out" 2>&1 &
for _ in $(seq 3000); do [ "$(wc -l <"$T/pids")" -eq 2 ] && break; sleep 0.01; done
kill -INT $!
wait $!
is "Ctrl-C: the status says so" "130:stopped by signal 2: 0 of 3 programs had ended" "$?:$(tail -n 1 "$T/out")"
is "all are ended, and could clean up" "2 of 2:2" "$(gone "$T/pids"):$(grep -c cleaned "$T/cleaned")"
is "nothing is left" "" "$(ls -A "$T/tmp")"

# ---- .ci/run adds up all parts
# ----------------------------------------------------------------------
mkdir "$T/bin"
printf '#!/bin/sh\necho "install ok installed"\n' >"$T/bin/dpkg-query"
cat >"$T/bin/make" <<'S'
#!/bin/sh
case "$*" in
*setup*) echo "$*" >"$LOG" ;; # .ci/run installs nothing here
*"all unit"*) ;;
*SAN=*) echo "5 0 1" >"$RESULTS" ;;
*lint*) [ "$LINT" = breaks ] && exit 2; echo "7 0 1" >"$RESULTS" ;;
*) echo "30 0 2" >"$RESULTS" ;;
esac
S
chmod +x "$T/bin/make" "$T/bin/dpkg-query"
ci() { LOG=$T/made PATH=$T/bin:$PATH TMPDIR=$T/tmp env -u PARTS -u NODES "$@" .ci/run >"$T/out" 2>&1; }
ci env LINT=fine
is "CI adds up tests, sanitizers and lint" "0:42 passed, 0 failed, 4 skipped" "$?:$(tail -n 1 "$T/out")"
is "and sets everything up before" "setup GROUPS=all" "$(cat "$T/made")"
ci env LINT=breaks
is "a part that breaks off is a failure" "1:35 passed, 1 failed, 3 skipped" "$?:$(tail -n 1 "$T/out")"
ci env LINT=fine PARTS=tests
is "one part alone" "0:30 passed, 0 failed, 2 skipped" "$?:$(tail -n 1 "$T/out")"
exit $failed

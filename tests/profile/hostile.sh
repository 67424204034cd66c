#!/bin/bash
# SPDX-License-Identifier: MIT
# hostile.sh - checks that reports of hostile sessions end, with memory in proportion to the size of the file.
# Prints TAP. All references in these sessions are valid, but following them without a bound takes minutes or
# gigabytes.
. "$(dirname "$0")/lib.sh"
compile make_hostile -O1

# ends KIND OPTION...: reports the session KIND within limits. VERB: another one than report. The limits count CPU time and memory of the
# process itself, so that a busy machine does not matter. CPU: the limit of CPU time in seconds. Sanitizers reserve terabytes of addresses, so have
# no memory limit.
ends() {
    local kind=$1 status
    shift
    (
        ulimit -t "${CPU:-60}"
        case $BUILD in */san-*) ;; *) ulimit -v 3000000 ;; esac
        exec "$BUILD/sxsprof" "${VERB:-report}" "$@" "$T/$kind"
    ) >"$T/out" 2>"$T/err"
    status=$?
    if [ $status -le 1 ] && ! grep -qE "out of memory|no memory|Cannot allocate memory" "$T/err" "$T/out"; then
        ok "$kind: ${VERB:-report} $*"
    else
        not_ok "$kind: ${VERB:-report} $*" "$(head -5 "$T/err")" "status $status"
    fi
}

for kind in chain jumps overlap; do
    "$T/make_hostile" "$T/$kind" $kind || exit 1
done
ends chain --thread main
ends chain --format html -o /dev/null
ends jumps --format chrome -o /dev/null
ends overlap --format json

# A trace whose header claims that it lasted for decades: its calls are cut at the steps of a time line.
compile make_calls
"$T/make_calls" "$T/decades" trace || exit 1
python3 - "$T"/decades/*/calls <<'PY' || exit 1
import struct, sys
with open(sys.argv[1], "r+b") as f:
    f.seek(56)
    f.write(struct.pack("<Q", (1 << 62) - 1)) # seen_ns
PY
for format in html speedscope firefox; do CPU=10 ends decades --format $format --data calls -o /dev/null; done

# Numbers of types, names and methods are high, and there are few of them.
compile make_heap
for n in 16 5000; do
    "$T/make_heap" "$T/sparse-$n" 1 sparse $n || exit 1
    VERB=heap ends sparse-$n
    ends sparse-$n --format json
done
for kind in events instrument; do
    compile make_$kind
    "$T/make_$kind" "$T/known-$kind" >"$T/out" || exit 1
    mkdir "$T/high-$kind"
    python3 - "$T" $kind <<'PY' || exit 1
import os, struct, sys
T, kind = sys.argv[1:]
made = T + "/high-" + kind
for pid in range(101, 141):
    os.mkdir("%s/%d" % (made, pid))
    for name in ("census", kind):
        data = open("%s/known-%s/4242/%s" % (T, "events" if name == "census" else kind, name), "rb").read()
        head = data[:64].replace(struct.pack("<I", 4242), struct.pack("<I", pid))
        data = bytearray(head + data[64:])
        if name == kind: # the number of the first record, below the limit of the reader
            data[0x1018:0x101c] = struct.pack("<I", (1 << 20) - 1 if kind == "instrument" else (1 << 22) - 1)
        open("%s/%d/%s" % (made, pid, name), "wb").write(data)
PY
    ends high-$kind --format json
done
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
# hostile.sh - checks that reports of hostile sessions end, with memory in proportion to the size of the file.
# Prints TAP. All references in these sessions are valid, but following them without a bound takes minutes or
# gigabytes.
. "$(dirname "$0")/lib.sh"
compile make_hostile -O1

# ends KIND OPTION...: reports the session KIND within limits. The limits count CPU time and memory of the
# process itself, so that a busy machine does not matter. CPU: the limit of CPU time in seconds. Sanitizers reserve terabytes of addresses, so have
# no memory limit.
ends() {
    local kind=$1 status
    shift
    (
        ulimit -t "${CPU:-60}"
        case $BUILD in */san-*) ;; *) ulimit -v 3000000 ;; esac
        exec "$BUILD/sxsprof" report "$@" "$T/$kind"
    ) >"$T/out" 2>"$T/err"
    status=$?
    if [ $status -le 1 ] && ! grep -q "out of memory" "$T/err"; then
        ok "$kind: report $*"
    else
        not_ok "$kind: report $*" "$(head -5 "$T/err")" "status $status"
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
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
# Sessions whose references are all valid, made so that following them costs far more than the file is large: the
# reports must end, within memory in proportion to the file. TAP.
. "$(dirname "$0")/lib.sh"
compile make_hostile -O1

# Reports KIND with the options that follow. Without a bound each of these takes minutes of CPU time, or gigabytes. The
# limits count what the process itself uses, so that a busy machine does not matter. A sanitizer reserves terabytes.
ends() {
    local kind=$1 status
    shift
    (
        ulimit -t 60
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
exit $failed

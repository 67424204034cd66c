# SPDX-License-Identifier: MIT
# native_aot.sh - runs a NativeAOT library beside three CLRs in one process.
# A NativeAOT library is one more runtime in the process: no callback reports its threads, and its signal
# handler always passes SIGRTMIN on.
. "$(dirname "$0")/lib.sh"
need_real 3
lib=$PWD/$BUILD/native_aot/native_aot.so
[ -e "$lib" ] || skip_all "native_aot" "the NativeAOT library is not built (no compiler package?)"
work="nre=100 div=50 gcs=10 loops=1 pool=50"
for how in "" --no-preload; do
    good=0
    for i in 1 2 3 4 5; do
        # shellcheck disable=SC2086
        timeout -k 5 60 "$sxsprof" run --quiet $how -- "$runsxs" --timeout 40 9 aothost "$lib 20" \
            $net10 stress "$work" 8 aothost "$lib 20" >"$tmp/log" 2>&1 && good=$((good + 1)) || cp "$tmp/log" "$tmp/bad"
    done
    if [ $good -eq 5 ]; then ok "a NativeAOT library faults and collects beside three CLRs ${how:-preloaded}: 5 of 5"
    else not_ok "a NativeAOT library beside three CLRs ${how:-preloaded}: $good of 5" "$tmp/bad"; fi
done
finish

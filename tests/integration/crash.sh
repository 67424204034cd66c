# SPDX-License-Identifier: MIT
# crash.sh - checks that a crash in one of three runtimes ends the process by the same signal as without the
# library, with and without preload, and leaves the same dump or core file.
. "$(dirname "$0")/lib.sh"
need_real 3

dies() { # KIND EXPECTED-STATUS
    for how in "" --no-preload; do
        # In a subshell, whose output goes to the log, because bash prints "Aborted" about its children.
        ( timeout -k 5 40 "$sxsprof" run --quiet $how -- "$runsxs" --timeout 30 8 hello 0 \
            $net10 crash "$1" 9 hello 0 ) >"$tmp/log" 2>&1
        s=$?
        if [ $s -eq "$2" ]; then ok "crash $1 among three runtimes ${how:-preloaded}: ends with status $2"
        else not_ok "crash $1 among three runtimes ${how:-preloaded}: status $s, expected $2" "$tmp/log"; fi
    done
}
dies segv 139
dies abort 134
dies unhandled 134
dies overflow 134
dies failfast 134
dies kill-abrt 134

# The crash dump that the runtime itself writes.
export DOTNET_DbgEnableMiniDump=1 DOTNET_DbgMiniDumpName="$tmp/dump.%p"
( timeout -k 5 60 "$sxsprof" run --quiet -- "$runsxs" --timeout 50 8 hello 0 9 crash segv ) >"$tmp/log" 2>&1
s=$?
n=$(ls "$tmp"/dump.* 2>/dev/null | grep -c .)
if [ $s -eq 139 ] && [ "$n" -eq 1 ]; then ok "DOTNET_DbgEnableMiniDump: the runtime writes one dump, then SIGSEGV ends the process"
else not_ok "DOTNET_DbgEnableMiniDump: $n dumps, status $s" "$tmp/log"; fi
unset DOTNET_DbgEnableMiniDump DOTNET_DbgMiniDumpName

# The core file of the kernel, on systems that write core files to the working folder.
case $(cat /proc/sys/kernel/core_pattern) in
[!/\|]*)
    ( ulimit -S -c "$(ulimit -H -c)"; cd "$tmp" && timeout -k 5 60 "$OLDPWD/$sxsprof" run --quiet -- \
        "$OLDPWD/$runsxs" --timeout 50 8 hello 0 9 crash segv ) >"$tmp/log" 2>&1
    if ls "$tmp"/core* >/dev/null 2>&1; then ok "a native crash leaves its core file"
    else not_ok "a native crash left no core file" "$tmp/log"; fi ;;
*) echo "ok $((n_test += 1)) - a native crash leaves its core file # SKIP cores are piped away here" ;;
esac
finish

# SPDX-License-Identifier: MIT
# assemblies.sh - checks the IL library on every method of the base class libraries and of tests/instr/odd.il.
# Each method is read, checked, written, changed, and converted to text and back. TAP. A sanitizer build tests
# one runtime only.
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}" "${SAN:=}"
work=$(mktemp -d "${TMPDIR:-/tmp}/sxsprof-instr.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

ran() { # NAME STATUS: fails if the program failed without a line "not ok"
    [ "$2" -eq 0 ] || grep -q '^not ok' "$work/out" || echo "not ok - $1: ended with status $2"
}
over() { # NAME FILE...
    what=$1
    shift
    for p in bodies signatures texts; do
        "$BUILD/tests/il_$p" "$@" >"$work/out" 2>&1
        status=$?
        # The output has lines of several programs, so their plans are removed.
        sed "/^1\\.\\./d; s/^\\(ok\\|not ok\\) \\([0-9]*\\) - /\\1 - $what, $p: /" "$work/out"
        ran "$what, $p" $status
    done
}

set -- build/runtimes/*/
[ -d "$1" ] || { echo "ok - base class libraries # SKIP no runtimes"; set --; }
[ -n "$SAN" ] && [ $# -gt 0 ] && set -- "$1"
for dir; do
    over "$(basename "$dir")" "$dir"*.dll
done

odd=build/managed/odd
if [ ! -f $odd/odd.dll ]; then
    echo "ok - an assembly of odd ones # SKIP no IL assembler"
    exit 0
fi
over odd $odd/odd.dll build/managed/calls/tail.dll
"$BUILD/sxsprof" il $odd/odd.dll >"$work/first" 2>"$work/err" &&
    python3 -B tests/instr/reassemble.py $odd/odd.il "$work/first" >"$work/again.il" &&
    $odd/ilasm -dll -quiet "-output=$work/odd.dll" "$work/again.il" >>"$work/err" 2>&1 &&
    "$BUILD/sxsprof" il "$work/odd.dll" >"$work/second" 2>>"$work/err" && cmp "$work/first" "$work/second" >>"$work/err" 2>&1
if [ $? -eq 0 ]; then
    echo "ok - ilasm makes the same $(grep -c '^\.method' "$work/first") bodies from the output of sxsprof il"
else
    echo "not ok - ilasm makes the same bodies from the output of sxsprof il"
    head -n 20 "$work/err" | sed 's/^/# /'
fi

# SPDX-License-Identifier: MIT
# Every method of the base class libraries, and of an assembly of odd ones made by ilasm: read, checked,
# written, changed, as text and back. Speaks TAP. A sanitizer build looks at every assembly of one runtime alone.
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}" "${SAN:=}"
work=$(mktemp -d "${TMPDIR:-/tmp}/sxsprof-instr.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

ran() { # name status: a program that failed without saying so counts
    [ "$2" -eq 0 ] || grep -q '^not ok' "$work/out" || echo "not ok - $1: ended with status $2"
}
over() { # name files...
    what=$1
    shift
    for p in bodies signatures texts; do
        "$BUILD/tests/il_$p" "$@" >"$work/out" 2>&1
        status=$?
        # Several programs speak here, so none of their plans holds for all.
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
    echo "ok - ilasm makes the same $(grep -c '^\.method' "$work/first") bodies of what sxsprof il prints"
else
    echo "not ok - ilasm makes the same bodies of what sxsprof il prints"
    head -n 20 "$work/err" | sed 's/^/# /'
fi

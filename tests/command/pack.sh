#!/bin/bash
# SPDX-License-Identifier: MIT
# pack.sh - checks that a packed session gives the same reports as its folder, on a machine without the
# program. Damaged and hostile files are refused and leave nothing behind.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
unset DEBUGINFOD_URLS
for maker in symbols calls events instrument; do
    $CC -std=gnu11 -D_GNU_SOURCE -g -I. "tests/profile/make_$maker.c" -o "$T/make_$maker" -lz || exit 1
done

# Two sessions with all files, and names in a library, a debug file and PDBs.
mkdir "$T/program" "$T/debug" "$T/here"
cat >"$T/lib.c" <<'C'
static __attribute__((noinline)) int deep_secret(int n) { return n * 3; }
int entry(int n);
int entry(int n) { return deep_secret(n) + 1; }
C
$CC -O1 -g -fPIC -shared -Wl,--build-id=sha1 -o "$T/whole.so" "$T/lib.c" || exit 1
objcopy --only-keep-debug "$T/whole.so" "$T/debug/some-name"
objcopy --strip-all "$T/whole.so" "$T/program/libwork.so"
address=$(nm "$T/whole.so" | awk '$3 == "deep_secret" { print $1 }')
id=$(readelf -n "$T/whole.so" | sed -n 's/.*Build ID: //p')
"$T/make_symbols" -a "$T/program/App.dll" "$T/program/App.pdb"
"$T/make_symbols" "$T/one" "$T/program/libwork.so" "$id" "$address" "$T/program/App.dll" &&
    "$T/make_symbols" "$T/two" /gone/libother.so "$id" "$address" "$T/program/App.dll" || exit 1
for kind in calls events instrument; do
    "$T/make_$kind" "$T/all" >/dev/null || exit 1
done
cp "$T/one/4242/samples" "$T/all/4242/samples"

# reports FOLDER OPTION...: writes reports of "one", "two" and "all" to FOLDER, in every format
reports() {
    local to=$1 s f
    shift
    mkdir "$to"
    for s in one two all; do
        for f in text json html collapsed speedscope pprof chrome firefox; do
            "$SXS" report -f $f "$@" "$T/$s$ext" >"$to/$s.$f" 2>"$to/$s.$f.err"
            echo $? >>"$to/$s.$f.err"
        done
        "$SXS" report --native "$@" "$T/$s$ext" >"$to/$s.native" 2>&1
        "$SXS" report --managed --thread main "$@" "$T/$s$ext" >"$to/$s.managed" 2>&1
    done
    "$SXS" diff "$@" "$T/one$ext" "$T/two$ext" >"$to/diff" 2>&1
    # only the names of the sessions may differ
    sed -i "s/\(one\|two\|all\)\.sxsprof/\1/g" "$to"/*
}
ext=
reports "$T/before" --symbols "$T/debug"
has "the reports have native names and managed lines" "$(cat "$T/before/all.text")" deep_secret lib.c:1 a.cs:300

try sh -c "cd '$T/here' && exec '$SXS' pack --symbols '$T/debug' '$T/one'"
is "pack writes a file with the folder's name" "0::one.sxsprof" "$status:$err:$(ls "$T/here")"
is "only the user may read the file" 600 "$(stat -c %a "$T/here/one.sxsprof")"
has "pack prints the contents of the file" "$out" "one.sxsprof: processes: 1, files: 2, names and lines: 3, " " B"
is "and what it carries" "carries: stacks with names of methods and files, command lines; values: all (SXSPROF_MASK=off when it was recorded)" \
    "$(sed -n 2p "$T/out")"
mv "$T/here/one.sxsprof" "$T/one.sxsprof"
"$CENSUS" "$T/masked" 1 mask=1 runtime=1,8.0.29,1,1,1,1,1,1,1
try "$SXS" pack -o "$T/masked.pack" "$T/masked"
has "of a masked session it says so" "$out" "carries: command lines; values: of texts the length only (SXSPROF_MASK=text when it was recorded)"
try "$SXS" pack -o "$T/values.pack" "$T/all"
has "it names what tools have recorded" "$out" "names of methods and files" "exceptions with their messages" "single calls with arguments and results"
for s in two all; do
    try "$SXS" pack --symbols "$T/debug" -o "$T/$s.sxsprof" "$T/$s"
    is "pack -o FILE ($s)" 0: "$status:$err"
done
has "all six files are packed" "$(cat "$T/out")" "files: 6"
try "$SXS" pack -o - --symbols "$T/debug" "$T/one"
cmp -s "$T/out" "$T/one.sxsprof"
is "a second pack, to standard output, has the same bytes" 0 $?
has "and what it carries is on standard error" "$err" "carries: stacks"
try "$SXS" pack -o "$T/no/such/file" "$T/one"
is "a file that cannot be written: status 2" 2 "$status"
has "a file that cannot be written: the message is one line" "$err" "-o $T/no/such/file: No such file or directory; expected a file that can be written"
try "$SXS" pack -o "$T/here" "$T/one"
has "-o with a folder is refused" "$status:$err" "2:" "-o $T/here: Is a directory"
got=$(python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$SXS" pack -o - "$T/one" </dev/null)
has "-o - is refused when standard output is a terminal" "$?:$got" "2:" "standard output is a terminal"

# --- on another machine
mv "$T/program" "$T/hidden"
mv "$T/debug" "$T/hidden-debug"
reports "$T/without"
cmp -s "$T/before/one.text" "$T/without/one.text"
is "without the program's files, a report of the folder has no names" 1 $?
for s in one two all; do mv "$T/$s" "$T/$s.away"; done
ext=.sxsprof
reports "$T/after"
for f in "$T/before"/*; do
    cmp -s "$f" "$T/after/${f##*/}"
    is "the report of the packed session is the same: ${f##*/}" 0 $?
done
is "reports of packed sessions leave nothing behind" "" "$(ls -A "$TMPDIR")"

mv "$T/one.away" "$T/nameless"
try "$SXS" pack -o "$T/nameless.sxsprof" "$T/nameless"
has "pack says which files have no names" "$status:$err" "0:" "$T/program/libwork.so: cannot be opened any more: its functions have no names"
try "$SXS" report "$T/nameless.sxsprof"
has "a report of the packed session says which files have no names" "$status:$err" "0:" "$T/program/libwork.so: cannot be opened any more"
lacks "a report of the packed session has no names" "$out" deep_secret
try "$SXS" report --symbols "$T/hidden-debug" "$T/nameless.sxsprof"
has "--symbols adds names that a packed session lacks" "$out" deep_secret
is "--symbols: the report has no message" 0: "$status:$err"
mv "$T/hidden" "$T/program"
echo 'int entry(void); int entry(void) { return 0; }' |
    $CC -g -fPIC -shared -Wl,--build-id=none -x c - -o "$T/program/libwork.so" || exit 1
try "$SXS" report "$T/nameless.sxsprof"
lacks "the files at the paths in a packed session are not used" "$out" a.cs
mv "$T/program" "$T/hidden"

# --- sessions that cannot be packed, and messages
try "$SXS" pack "$T/here"
is "a folder without a session: status 2" 2 "$status"
has "a folder without a session: the message is one line" "$err" "$T/here: no session" "expected a folder made by sxsprof record -o DIR"
try "$SXS" pack "$T/one.sxsprof"
is "a packed session cannot be packed: status 2" 2 "$status"
try "$SXS" pack
has "a missing DIR is reported" "$status:$err" "2:" "DIR is missing"
mkdir -p "$T/bad/4242"
cp "$T/nameless/4242/census" "$T/bad/4242"
printf 'damaged' >"$T/bad/4242/samples"
try "$SXS" pack -o "$T/bad.sxsprof" "$T/bad"
has "a damaged session is packed, and a message names the damaged file" "$status:$err" "1:" "$T/bad/4242/samples: "
try "$SXS" report "$T/bad.sxsprof"
has "messages name the packed file, not a temporary folder" "$err" "$T/bad.sxsprof/4242/samples: "
has "the status is that of a damaged session" "$status" 1

# --- signals
mkfifo "$T/fifo"
for signal in TERM INT HUP; do
    # Python starts the report, because a shell ignores SIGINT in background processes
    python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$SXS" report -f html -o "$T/fifo" "$T/all.sxsprof" 2>"$T/err" &
    reporter=$!
    for _ in {1..600}; do
        [ -e "$(echo "$TMPDIR"/sxsprof-pack-*/names)" ] && break
        sleep 0.1
    done
    [ -e "$(echo "$TMPDIR"/sxsprof-pack-*/names)" ]
    is "a running report has a private folder" 0 $?
    is "only the user may read the private folder" 700 "$(stat -c %a "$TMPDIR"/sxsprof-pack-*)"
    kill -s $signal $reporter
    wait $reporter 2>/dev/null
    got=$?
    is "SIG$signal ends the report" $((128 + $(kill -l $signal))) $got
    is "the report removes its private folder" "" "$(ls -A "$TMPDIR")"
done
"$SXS" report -f html "$T/all.sxsprof" 2>/dev/null | true
is "a closed pipe: the private folder is removed" "" "$(ls -A "$TMPDIR")"

# --- damaged and hostile files
mkdir "$T/hostile"
touch "$T/stamp"
python3 tests/command/hostile_packs.py "$T/all.sxsprof" "$T/hostile" || exit 1
try "$SXS" report "$T/hostile/whole"
is "an undamaged file of the maker of hostile files can be read" 0: "$status:$err"
cp "$T/out" "$T/whole.out"
try "$SXS" report "$T/hostile/unpacked"
cmp -s "$T/out" "$T/whole.out"
is "a folder unpacked by tar gives a report with names" 0: "$?:$err"
try "$SXS" pack -o "$T/again.sxsprof" "$T/hostile/unpacked"
try "$SXS" report "$T/again.sxsprof"
cmp -s "$T/out" "$T/whole.out"
is "a folder unpacked by tar can be packed again, with its names" 0: "$?:$err"
n=0
for f in "$T/hostile"/[0-9]*; do
    n=$((n + 1))
    reason=${f##*/[0-9][0-9][0-9]-}
    try timeout 60 "$SXS" report "$f"
    if [ "$reason" = or-the-same ]; then
        reason=
        [ "$status$err$(ls -A "$TMPDIR")" = 0 ] && cmp -s "$T/out" "$T/whole.out" && continue
    fi
    verdict="$status:$(wc -l <"$T/err"):$out:$(ls -A "$TMPDIR")"
    missing=
    for word in ${reason//_/ }; do
        case $err in *"$word"*) ;; *) missing="$missing $word" ;; esac
    done
    [ "$verdict$missing" = "2:1::" ] || not_ok "hostile file ${f##*/}" "$verdict" "missing:$missing" "$err"
done
[ $n -gt 90 ]
is "hostile and damaged files ($n) are refused with one line and leave nothing behind" 0 $?
is "no file was written outside the private folder" "" "$(ls -d /tmp/evil-sxsprof "$T"/evil* "$T"/tmp/evil* 2>/dev/null)"
try "$SXS" diff "$T/one.sxsprof" "$T/hostile/001-"*
has "diff refuses hostile files" "$status:$(ls -A "$TMPDIR"):$err" "2::" "expected a file made by sxsprof pack"
try env TMPDIR="$T/no-such" "$SXS" report "$T/one.sxsprof"
has "a missing TMPDIR: the message is one line" "$status:$err" "2:" "no folder can be made below TMPDIR: No such file"
finish

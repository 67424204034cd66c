#!/bin/bash
# SPDX-License-Identifier: MIT
# sxsprof report on cut, garbled and replaced files: a clear message, what is whole is kept.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
header=1080 row=656
two=(runtime=1,8.0.29,1,1,1,1,1,1,1 runtime=2,9.0.18,1,1,1,1,1,1,1)

# damaged CLAIM MESSAGE: besides $T/s/7 there is a whole process, which must still be reported.
damaged() {
    rm -rf "$T/s/1"
    "$CENSUS" "$T/s" 1 runtime=1,10.0.11,1,1,1,1,1,1,1
    try timeout 10 "$SXS" report "$T/s"
    has "$1: named in a message" "$err" "$T/s/7" "$2"
    is "$1: exit status 1" 1 "$status"
    has "$1: what is whole is kept" "$out" "10.0.11"
}
broken() { # CLAIM MESSAGE KEY=VALUE...
    local claim=$1 message=$2
    shift 2
    rm -rf "$T/s"
    "$CENSUS" "$T/s" 7 "${two[@]}" "$@"
    damaged "$claim" "$message"
}

broken "an empty file" "cut: 0 bytes" cut=0
broken "a cut header" "cut: $((header - 1)) bytes" cut=$((header - 1))
broken "a header without rows" "0 of 2 runtimes are whole" cut=$header
broken "a cut row" "1 of 2 runtimes are whole" cut=$((header + row + 17))
has "a cut row: the row before it is kept" "$out" "8.0.29"
lacks "a cut row: itself is not" "$out" "9.0.18"
broken "unused rows cut away" "2 of 2 runtimes are whole" cut=$((header + 2 * row))
has "unused rows cut away: all are kept" "$out" "8.0.29" "9.0.18"
broken "wrong magic" "not a census file" magic=SXSCENT
broken "another version" "format version 2, this command reads version 1" version=2
broken "another size" "says it has 43063 bytes" size=43063
broken "another row size" "in rows of 655" row_size=655
broken "too long a file" "the rest is left unread" pad=3
has "too long a file: its rows are kept" "$out" "9.0.18"
broken "too many runtimes" "says 4000000000 runtimes, at most 64" rows=4000000000
has "too many runtimes: the real ones are kept" "$out" "9.0.18"
broken "an impossible state" "row 3 left out: state 77" runtime=3,7.0,77,1,1,1,1,1,1
broken "a command without an end" "the command has no end" fill=command
has "a command without an end: cut" "$out" "xxx"
broken "a version without an end" "the version in runtime row 1 has no end" fill=version
broken "a path without an end" "the path in runtime row 1 has no end" fill=path

replaced() { # CLAIM MESSAGE COMMAND...: in an empty folder 7
    local claim=$1 message=$2
    shift 2
    rm -rf "$T/s"
    mkdir -p "$T/s/7"
    (cd "$T/s/7" && "$@")
    damaged "$claim" "$message"
}
"$CENSUS" "$T/other" 9 "${two[@]}"
replaced "no census file" "No such file" true
replaced "a folder in its place" "not a regular file" mkdir census
replaced "a pipe in its place" "not a regular file" mkfifo census
replaced "a link in its place" "symbolic link: not followed" ln -s "$T/other/9/census" census
replaced "a link to a device" "symbolic link: not followed" ln -s /dev/zero census
rm -rf "$T/s" && mkdir "$T/s" && ln -s "$T/other/9" "$T/s/7"
damaged "a link for a process's folder" "not a folder"
lacks "a link for a process's folder: not followed" "$out" "9.0.18"
rm -rf "$T/s" && mkdir "$T/s" && echo text >"$T/s/7"
damaged "a file for a process's folder" "not a folder"

# Garbage of any kind may be refused, and may not crash or hang the command.
rm -rf "$T/s"
"$CENSUS" "$T/s" 7 "${two[@]}"
is "100 garbled files: no crash, and JSON that can be read" "" "$(python3 - "$SXS" "$T/s" <<'PY'
import json, random, subprocess, sys
sxs, session = sys.argv[1:]
file = session + "/7/census"
whole = open(file, "rb").read()
for seed in range(100):
    r = random.Random(seed)
    b = bytearray(whole)
    for _ in range(r.choice([1, 10, 1000])):
        at = r.choice([24, 1080, 3000, len(b)])
        b[r.randrange(at)] = r.randrange(256)
    open(file, "wb").write(b[:r.choice([len(b), r.randrange(len(b))])])
    for form in "text", "json":
        p = subprocess.run([sxs, "report", "--format", form, session], capture_output=True, timeout=20)
        if p.returncode not in (0, 1):
            print("seed", seed, "exit status", p.returncode, p.stderr.decode())
        elif form == "json":
            json.loads(p.stdout)
PY
)"

rm -rf "$T/s"
mkdir "$T/s"
touch "$T/s/notes" && mkdir "$T/s/1x" "$T/s/-2" "$T/s/3-" "$T/s/12345678901"
"$CENSUS" "$T/s" 7 "${two[@]}"
try "$SXS" report "$T/s"
is "other names in the folder are left alone" "0:" "$status:$err"
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# damaged.sh - checks how sxsprof report reads cut, garbled and replaced files of a session.
# A message names the file, and the report has every part that is whole.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
header=1080 row=656
two=(runtime=1,8.0.29,1,1,1,1,1,1,1 runtime=2,9.0.18,1,1,1,1,1,1,1)

# damaged CLAIM MESSAGE: reports the damaged process $T/s/7 and a whole process, which must be in the report.
damaged() {
    rm -rf "$T/s/1"
    "$CENSUS" "$T/s" 1 runtime=1,10.0.11,1,1,1,1,1,1,1
    try timeout 10 "$SXS" report "$T/s"
    has "$1: a message names the file" "$err" "$T/s/7" "$2"
    is "$1: exit status 1" 1 "$status"
    has "$1: the whole process is reported" "$out" "10.0.11"
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
lacks "a cut row: the cut row is left out" "$out" "9.0.18"
broken "the unused rows are cut away" "2 of 2 runtimes are whole" cut=$((header + 2 * row))
has "the unused rows are cut away: all runtimes are kept" "$out" "8.0.29" "9.0.18"
broken "wrong magic" "not a census file" magic=SXSCENT
broken "another version" "format version 2, this command reads version 1" version=2
broken "another size" "says it has 43063 bytes" size=43063
broken "another row size" "in rows of 655" row_size=655
broken "a file that is too long" "the rest is left unread" pad=3
has "a file that is too long: its rows are kept" "$out" "9.0.18"
broken "too many runtimes" "says 4000000000 runtimes, at most 64" rows=4000000000
has "too many runtimes: the runtimes in the file are kept" "$out" "9.0.18"
broken "an impossible state" "row 3 left out: state 77" runtime=3,7.0,77,1,1,1,1,1,1
broken "a command without an end" "the command has no end" fill=command
has "a command without an end: it is cut" "$out" "xxx"
broken "a version without an end" "the version in runtime row 1 has no end" fill=version
broken "a path without an end" "the path in runtime row 1 has no end" fill=path

replaced() { # CLAIM MESSAGE COMMAND...: the command runs in an empty process folder 7
    local claim=$1 message=$2
    shift 2
    rm -rf "$T/s"
    mkdir -p "$T/s/7"
    (cd "$T/s/7" && "$@")
    damaged "$claim" "$message"
}
"$CENSUS" "$T/other" 9 "${two[@]}"
replaced "no census file" "No such file" true
replaced "a folder in place of the census file" "not a regular file" mkdir census
replaced "a pipe in place of the census file" "not a regular file" mkfifo census
replaced "a link in place of the census file" "symbolic link: not followed" ln -s "$T/other/9/census" census
replaced "a link to a device in place of the census file" "symbolic link: not followed" ln -s /dev/zero census
rm -rf "$T/s" && mkdir "$T/s" && ln -s "$T/other/9" "$T/s/7"
damaged "a link in place of a process folder" "not a folder"
lacks "a link in place of a process folder: it is not followed" "$out" "9.0.18"
rm -rf "$T/s" && mkdir "$T/s" && echo text >"$T/s/7"
damaged "a file in place of a process folder" "not a folder"

# Any garbled file may be refused, but the command must not crash or hang.
rm -rf "$T/s"
"$CENSUS" "$T/s" 7 "${two[@]}"
is "100 garbled files: no crash, and the JSON can be parsed" "" "$(python3 - "$SXS" "$T/s" <<'PY'
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
is "other names in the session folder are ignored" "0:" "$status:$err"
finish

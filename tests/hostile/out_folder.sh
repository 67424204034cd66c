#!/bin/bash
# SPDX-License-Identifier: MIT
# out_folder.sh - plays settings that name a folder which is no session folder: /, a home folder, a folder of files.
# Neither the library (SXSPROF_OUT) nor the command (-o) may put a session among what is there.
. "$(dirname "$0")/lib.sh"
[ -e "$BUILD/fakeclr/8.0/libcoreclr.so" ] || skip_all "$0" "the simulated runtimes are not built"
clsid=$(sed -n 's/^#define SXSPROF_CLSID "\(.*\)"/\1/p' include/sxsprof.h)
library=$(realpath "$BUILD/libsxsprof.so")

host() { # OUT [NAME=VALUE...]: run a program that records into OUT
    local out=$1; shift
    env CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER="$clsid" CORECLR_PROFILER_PATH="$library" SXSPROF_OUT="$out" "$@" \
        timeout -k 5 60 "$runsxs" /st --timeout 50 fake:8.0 '!modules 1; jit 1' "" >"$tmp/out" 2>"$tmp/err"
    status=$?
}
refused() { # CLAIM OUT: the program runs, one line says why, and nothing is made in OUT
    local before after
    before=$(ls -A "$2")
    host "$2" ${3:+"$3"}
    after=$(ls -A "$2")
    [ $status = 0 ] && [ "$before" = "$after" ] && [ "$(grep -c 'nothing is recorded' "$tmp/err")" = 1 ]
    check "$1" $? "$tmp/err"
    # What another version has made is not left behind in the file system's root.
    comm -13 <(echo "$before" | sort) <(echo "$after" | sort) | grep -xE '[0-9]+|kept|[0-9TZ]+-[0-9]+' |
        while read -r name; do rm -r "${2%/}/$name"; done
}
recorded() { # CLAIM OUT
    host "$2" ${3:+"$3"}
    [ $status = 0 ] && find "$2" -name census | grep -q . && ! [ -s "$tmp/err" ]
    check "$1" $? "$tmp/err"
}

refused "SXSPROF_OUT=/ is refused" /
refused "SXSPROF_OUT=/ with segments is refused" / SXSPROF_KEEP=1m
refused "SXSPROF_OUT=// is refused" //tmp/..
mkdir -m 700 "$tmp/home" && touch "$tmp/home/.profile"
refused "a home folder with hidden files only is refused" "$tmp/home"
refused "the same with segments" "$tmp/home" SXSPROF_KEEP=1m
mkdir -m 700 "$tmp/files" "$tmp/files/2026" && touch "$tmp/files/letter"
refused "a folder of files, and of a folder that is no process's, is refused" "$tmp/files"
grep -q "it has 'letter' in it" "$tmp/err"; check "the line names the file" $? "$tmp/err"

recorded "a new folder is made" "$tmp/new"
[ "$(stat -c %a "$tmp/new")" = 700 ]; check "only its user can enter it" $?
recorded "another process is added to a session" "$tmp/new"
[ "$(find "$tmp/new" -name census | wc -l)" = 2 ]; check "both processes are there" $?
mkdir -m 755 "$tmp/empty" && recorded "an empty folder is used" "$tmp/empty"
mkdir -m 700 "$tmp/disk" "$tmp/disk/lost+found" && recorded "the root of a file system is used" "$tmp/disk"
recorded "segments are added to a folder of segments" "$tmp/ring" SXSPROF_KEEP=1m
recorded "and again" "$tmp/ring" SXSPROF_KEEP=1m
# A service that starts again: its folder has reports and copies in it, which its user has put there.
for dir in new ring; do
    touch "$tmp/$dir/today.html" "$tmp/$dir/.hidden" && mkdir "$tmp/$dir/old" && ln -s old "$tmp/$dir/link"
    n=$(find "$tmp/$dir" -name census | wc -l) keep=NOTHING=1
    [ $dir = new ] || keep=SXSPROF_KEEP=1m
    recorded "reports beside a session do not stop it: $dir" "$tmp/$dir" $keep
    [ "$(find "$tmp/$dir" -name census | wc -l)" -gt "$n" ] && [ -e "$tmp/$dir/today.html" ]
    check "a record is added, and the reports stay: $dir" $?
done

# The command.
cannot() { # CLAIM DIR TEXT [OPTION...]
    local claim=$1 dir=$2 text=$3; shift 3
    "$sxsprof" run "$@" -o "$dir" -- touch "$tmp/ran" >"$tmp/out" 2>"$tmp/err"
    [ $? = 2 ] && [ ! -e "$tmp/ran" ] && grep -qF "$text" "$tmp/err"
    check "$claim" $? "$tmp/err"
    rm -f "$tmp/ran"
}
cannot "-o / is refused" / "in it"
cannot "-o / with --append is refused" / "in it" --append
cannot "-o with a home folder is refused, with --keep, too" "$tmp/home" "'.profile'" --keep 1m
cannot "-o with a folder of files is refused" "$tmp/files" "'letter'" --append
cannot "-o with a session, and a report beside it, is refused without --append" "$tmp/new" "expected --append"
cannot "--keep does not take the folder of a session" "$tmp/new" "in it, which is not of a session" --keep 1m
"$sxsprof" run --quiet -o "$tmp/new" --append -- true >"$tmp/out" 2>"$tmp/err"
check "--append adds to a session with a report beside it" $? "$tmp/err"
finish

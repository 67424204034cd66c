#!/bin/sh
# SPDX-License-Identifier: MIT
# hosts.sh - builds the hosts of tests/hosts/ that are not C programs, into DIR: those in Go and
# Java. Silent when they are newer than their sources; the tests say which hosts they skip. Nothing is fetched.
# usage: setup/hosts.sh [--present] [DIR]        (default: build/hosts)
. "$(dirname "$0")/lib.sh"
sources=$here/../tests/hosts
open_folder "${1:-$here/../build/hosts}"
log=$dir/build.log

# make builds this library, which hosts in Go link with. Before that there is nothing to do; make check-run comes after it.
[ -f "$dir/libhosting.so" ] || exit 0

if is_new "$dir/Host.class" "$sources/programs/java/Host.java"; then
    :
elif ! command -v javac >/dev/null 2>&1; then
    say "left out the host in Java: no javac here"
elif ! javac -d "$dir" "$sources/programs/java/Host.java" >"$log" 2>&1; then
    fail_with "$log"
fi

build_go() { # folder of programs/, name
    is_new "$dir/$2" "$sources/programs/$1" "$sources"/*.h && return
    if ! command -v go >/dev/null 2>&1; then
        say "left out the host $2: no go here"
        return
    fi
    say "building the host $2"
    (cd "$sources/programs/$1" && CGO_LDFLAGS="-L$dir -Wl,-rpath,$dir" CGO_ENABLED=1 GOCACHE="$dir/.go" GOFLAGS=-mod=mod \
        GOPROXY=off go build -o "$dir/$2" .) >"$log" 2>&1 || fail_with "$log"
}

build_go go go_host
build_go go_faults go_faults
build_go go_preempts go_preempts
rm -f "$log"

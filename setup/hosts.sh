#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the hosts of tests/hosts/ that are not C programs, into DIR: those in Go and Java. Silent when they are newer than
# their sources; a missing compiler is one line, and the status is 0: the tests say which hosts they skip.
# usage: setup/hosts.sh [DIR]        (default: build/hosts)
set -u
here=$(cd "$(dirname "$0")" && pwd)
sources=$here/../tests/hosts
dir=${1:-$here/../build/hosts}

say() { printf 'hosts: %s\n' "$*"; }

mkdir -p "$dir" || exit 1
dir=$(cd "$dir" && pwd)
log=$dir/build.log

is_new() { # result source...
    result=$1
    shift
    [ -e "$result" ] && ! find "$@" -newer "$result" | grep -q .
}

if is_new "$dir/Host.class" "$sources/programs/java/Host.java"; then
    :
elif ! command -v javac >/dev/null 2>&1; then
    say "left out the host in Java: no javac here"
elif ! javac -d "$dir" "$sources/programs/java/Host.java" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi

build_go() { # folder of programs/, name
    is_new "$dir/$2" "$sources/programs/$1" "$sources"/*.h && return
    if ! command -v go >/dev/null 2>&1; then
        say "left out the host $2: no go here"
        return
    fi
    say "building the host $2"
    (cd "$sources/programs/$1" && CGO_LDFLAGS="-L$dir -Wl,-rpath,$dir" CGO_ENABLED=1 GOCACHE="$dir/.go" GOFLAGS=-mod=mod \
        GOPROXY=off go build -o "$dir/$2" .) >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
}

build_go go go_host
build_go go_faults go_faults
build_go go_preempts go_preempts
rm -f "$log"

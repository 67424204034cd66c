#!/bin/sh
# SPDX-License-Identifier: MIT
# setup.sh - `make setup`: installs Debian packages, then gets everything else that the tests, the demos and
# the benchmarks use: runtimes, apps for them, hosts, tools and node modules. That is fetched through NuGet
# and npm into build/, and needs no root. What is there is not fetched again.
# usage: setup/setup.sh [--present] [GROUP...]
#   GROUP       a group of setup/packages.txt besides "build", or all for every group. What a group lacks
#               is said, and the setup goes on; without the packages of the group "build" it ends
#   --present   install and fetch nothing: build apps and hosts whose sources have changed, with what is on
#               this machine, and say in one line what is missing; of what only benchmarks use, if "bench" is
#               among the groups
. "$(dirname "$0")/lib.sh"
cd "$here/.." || exit 1

install() { # GROUP...
    sh setup/packages.sh build || exit 1
    [ "$*" != all ] || set -- $(sed 's/#.*//' setup/packages.txt | awk 'NF == 2 && $1 != "build" && !seen[$1]++ { print $1 }')
    for group; do
        sh setup/packages.sh "$group" || say "the packages of the group $group are not all there"
    done
}

get() { # SCRIPT [DIR]
    script=$1
    shift
    sh "setup/$script.sh" ${present:+--present} "$@"
}

# In this order: an app must be there before it is precompiled.
get_all() {
    get runtimes build/runtimes && get managed build/managed && get ilasm build/managed &&
        get crossgen build/managed build/runtimes && get aspnet build/aspnet &&
        get native_aot build/native_aot && get dotnet_trace build/tools && get clrmd build/tools || return
    [ -z "$present" ] || get hosts build/hosts || return # nothing of them is fetched
    case "${present:+no} $*" in
    "no "*bench* | " "*) get cecil build/tools ;;
    esac
}

# The scripts of node modules say what is missing on standard error.
get_modules() { # SCRIPT DIR WHAT
    why=$(get "$1" "$2" 2>&1 >/dev/null) || say "left out $3: $why"
}

# Prints all lines of get_all but those that begin with "NAME: lacks": these become one line. The last
# line of the input is the status.
join_missing() {
    awk '
        $2 == "lacks" { sub(/^[^ ]* lacks /, ""); missing = missing (missing ? ", " : "") $0; next }
        $1 == "status" { status = $2; next }
        { print; fflush() }
        END { if (missing) print "setup: not here: " missing "; get it by: make setup"; exit status }'
}

if [ -n "$present" ]; then
    { get_all "$@"; echo "status $?"; } | join_missing
else
    install "$@"
    get_all || exit 1
    get_modules browser build/node "the tests that open pages"
    get_modules page_lint build/node_lint "the check of the scripts of pages"
fi

#!/bin/sh
# SPDX-License-Identifier: MIT
# packages.sh - installs the missing Debian packages of groups of setup/packages.txt; silent when
# none is. usage: setup/packages.sh [--missing] [GROUP...]        (default: build)
#   --missing   install nothing: say in one line which are missing and how to get them, with status 1; this is what
#               the targets of the Makefile do, which install nothing: make setup [GROUPS="GROUP..."] does
. "$(dirname "$0")/lib.sh"
list=$here/packages.txt
only_say=
[ "${1:-}" != --missing ] || { only_say=1; shift; }
[ $# -gt 0 ] || set -- build

rows() { sed 's/#.*//' "$list" | awk 'NF == 2'; }

wanted=
for group in "$@"; do
    of_group=$(rows | awk -v group="$group" '$1 == group { print $2 }')
    if [ -z "$of_group" ]; then
        groups=$(rows | awk '!seen[$1]++ { print $1 }' | paste -s -d ' ')
        printf 'packages: no group "%s", expected one of: %s\n' "$group" "$groups" >&2
        exit 2
    fi
    wanted="$wanted $of_group"
done
group=$*
groups=$(printf '%s\n' "$@" | grep -vx build | paste -s -d ' ')

[ -z "$only_say" ] || command -v dpkg-query >/dev/null 2>&1 || exit 0 # the compiler says what it lacks
if ! command -v dpkg-query >/dev/null 2>&1; then
    # shellcheck disable=SC2086
    say "this is not Debian, nothing is installed; the group $group needs:" $wanted
    exit 0
fi

missing=
for package in $wanted; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
        *' ok installed') ;;
        *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0
[ -z "$only_say" ] || die "missing:$missing; get them by: make setup${groups:+ GROUPS=\"$groups\"}, or: sudo apt-get install$missing"

root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 ||
        die "no root and no sudo here; let root run: apt-get install$missing"
    root=sudo
fi

log=$(mktemp) || die "cannot make a temporary file"
trap 'rm -f "$log"' EXIT

# A failed step shows its own words, below one line that says which step it was.
step() {
    what=$1
    shift
    say "$what"
    $root env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 </dev/null && return
    cat "$log" >&2
    die "failed: $*"
}

step "reading the package lists" apt-get update -qq
step "installing$missing" apt-get install -y -qq --no-install-recommends $missing

# A server that came as a service just now does not run as one: the tests start their own.
for package in $missing; do
    if [ -d /run/systemd/system ] && dpkg -L "$package" | grep -q "/systemd/system/$package.service$"; then
        step "stopping the service $package" systemctl disable --quiet --now "$package.service"
    fi
done

#!/bin/sh
# SPDX-License-Identifier: MIT
# packages.sh - installs the missing Debian packages of a group of setup/packages.txt; silent when
# none is. usage: setup/packages.sh [GROUP]        (default: build)
. "$(dirname "$0")/lib.sh"
list=$here/packages.txt
group=${1:-build}

rows() { sed 's/#.*//' "$list" | awk 'NF == 2'; }

wanted=$(rows | awk -v group="$group" '$1 == group { print $2 }')
if [ -z "$wanted" ]; then
    groups=$(rows | awk '!seen[$1]++ { print $1 }' | paste -s -d ' ')
    printf 'packages: no group "%s", expected one of: %s\n' "$group" "$groups" >&2
    exit 2
fi

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
